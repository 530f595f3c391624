/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops report: what is in this capture, which code is hot, what stands out. */
#include "cli/question.h"
#include "cli/command.h"
#include "report/report.h"

static const struct usage usage = {
	"report",
	"[OPTIONS] [FILE]",
	"What is in this capture, what was lost, which code is hot, what stands out.",
};

static int report_answer(struct question *q, struct session *s, const struct select *select,
			 struct err *err)
{
	bool is_brief = !q->rows.all && q->rows.top == 0;
	struct report report = { 0 };
	int rc = report_make(s, select, is_brief ? REPORT_BRIEF : rows_to_show(&q->rows), &report,
			     err);

	if (rc == 0)
		rc = question_show(q, &report.shown, err);
	report_release(&report);
	return rc;
}

static int report_command(int argc, char **argv)
{
	struct question q = {
		.usage = &usage,
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = 1,
		.answer = report_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_report = {
	.usage = &usage,
	.purpose = "what is in this capture, which code is hot, what stands out",
	.reads = COMMAND_READS_CAPTURE,
	.run = report_command,
};
