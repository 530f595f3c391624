/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_feedback.h"

#include <string.h>

#include "cli/message.h"

struct feedback_output {
	struct printer printer;
	struct err *err;
};

static int write_piece(void *context, const struct text *text)
{
	struct feedback_output *out = context;

	return printer_write(&out->printer, text, out->err);
}

/* Each line is a message. */
static void print_lines(struct text *note)
{
	char *line, *rest;

	text_char(note, '\0');
	for (line = strtok_r(note->bytes, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		message_print("%s", line);
}

int export_feedback(struct session *s, const struct select *select,
		    const struct feedback_request *request, const struct output_options *options,
		    struct err *err)
{
	const struct output_options bare = { .path = options->path, .inputs = options->inputs };
	struct feedback_output out = { .err = err };
	struct text note = { 0 };
	int rc;

	if (printer_open(&out.printer, &bare, "csv", "export", s, err) < 0)
		return -1;
	rc = printer_need_file(&out.printer, err);
	if (rc == 0)
		rc = feedback_write(s, select, request, write_piece, &out, &note, err);
	rc = printer_close(&out.printer, rc, err);
	if (rc == 0)
		print_lines(&note);
	text_release(&note);
	return rc;
}
