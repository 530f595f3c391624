/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops report: what is in this capture, which code is hot, what stands out. */
#include <stddef.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/question.h"
#include "report/report.h"

static const struct usage usage = {
	"report",
	"[OPTIONS] [FILE]",
	"What is wrong, where, what it costs and what to change; then the hot code.",
};

struct report_command {
	bool is_verbose;
	const char *html; /* a file; NULL: none */
};

static const struct option options[] = {
	{ "verbose", 'v', OPTION_FLAG, offsetof(struct report_command, is_verbose), NULL,
	  "all facts about the capture" },
	{ "html", 0, OPTION_OUTPUT, offsetof(struct report_command, html), "FILE", HTML_HELP },
};

static int report_check(struct question *q, struct err *err)
{
	const struct report_command *command = q->what.into;

	return command->html != NULL ? html_check(err) : 0;
}

static int report_command_answer(struct question *q, struct session *s, const struct select *select,
				 struct err *err)
{
	bool is_brief = !q->rows.all && q->rows.top == 0;
	const struct report_command *command = q->what.into;
	const struct report_detail detail = { !is_brief, command->is_verbose };
	struct report report = { 0 };
	size_t top = !is_brief			? rows_to_show(&q->rows)
		     : question_shows_screen(q) ? REPORT_SCREEN
						: REPORT_BRIEF;
	int rc = report_make(s, select, top, &report, err);

	if (rc == 0 && question_shows_screen(q)) {
		report_screen(s, &detail, &report);
		rc = question_show(q, &report.screen, err);
	} else if (rc == 0) {
		rc = question_show(q, &report.shown, err);
	}
	report_release(&report);
	if (rc == 0 && command->html != NULL)
		rc = report_html(s, select, &q->out, command->html, err);
	return rc;
}

static int report_command(int argc, char **argv)
{
	struct report_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "How much:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = 1,
		.check = report_check,
		.answer = report_command_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_report = {
	.usage = &usage,
	.purpose = "what is wrong, where, what it costs, what to change",
	.reads = COMMAND_READS_CAPTURE,
	.run = report_command,
};
