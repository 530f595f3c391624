/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops quality: can this capture be trusted? */
#include "cli/question.h"
#include "cli/command.h"
#include "quality/quality.h"

static const struct usage usage = {
	"quality",
	"[OPTIONS] [FILE]",
	"Whether a capture can be trusted: lost, filtered, saturated or biased samples.",
};

static int quality_answer(struct question *q, struct session *s, const struct select *select,
			  struct err *err)
{
	struct quality quality = { .is_for_people = question_is_for_reading(q) };
	int rc = quality_make(s, select, rows_to_show(&q->rows), &quality, err);

	if (rc == 0)
		rc = question_show(q, &quality.shown, err);
	quality_release(&quality);
	return rc;
}

static int quality_command(int argc, char **argv)
{
	struct question q = {
		.usage = &usage,
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = 1,
		.answer = quality_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_quality = {
	.usage = &usage,
	.purpose = "whether a capture can be trusted: lost, filtered, biased samples",
	.reads = COMMAND_READS_CAPTURE,
	.run = quality_command,
};
