/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops c2c: which cache lines do threads contend for. */
#include <stddef.h>

#include "base/alloc.h"
#include "c2c/answer.h"
#include "c2c/gates.h"
#include "cli/question.h"
#include "cli/command.h"
#include "data/heap.h"

static const struct usage usage = {
	"c2c",
	"[OPTIONS] [FILE]",
	"Which cache lines threads contend for: false or true sharing, where, at what cost.",
};

/* Columns of the wide form: more than any terminal has. */
enum { WIDE = 1000 };

struct c2c_command {
	const char *mode, *coalesce, *sort, *heap_map;
	unsigned line_size, vector_length;
	bool double_line, physical;
	bool full, wide;
	const char *html; /* a file; NULL: none */

	struct c2c_request request; /* what that means */
};

static const struct option options[] = {
	{ "mode", 'd', OPTION_TEXT, offsetof(struct c2c_command, mode), "MODE",
	  "which loads are contended: peer (from another core's cache),\n                          "
	  "tot (HITM), lcl or rmt (HITM on this or another socket)" },
	{ "coalesce", 'c', OPTION_TEXT, offsetof(struct c2c_command, coalesce), "KEY[,KEY]",
	  "rows of accesses: by place (the default), process, thread,\n                          "
	  "module" },
	{ "sort", 0, OPTION_TEXT, offsetof(struct c2c_command, sort), "KEY",
	  "order of lines: cost (the default), count, records,\n                          stores, "
	  "address" },
	{ "line-size", 0, OPTION_COUNT, offsetof(struct c2c_command, line_size), "BYTES",
	  "size of a cache line (default: that of the CPU)" },
	{ "double-line", 0, OPTION_FLAG, offsetof(struct c2c_command, double_line), NULL,
	  "treat two neighbouring lines as one, as prefetchers do" },
	{ "vector-length", 0, OPTION_COUNT, offsetof(struct c2c_command, vector_length), "BITS",
	  "length of SVE vectors, where it was not recorded" },
	{ "physical", 0, OPTION_FLAG, offsetof(struct c2c_command, physical), NULL,
	  "group lines by physical address, over all processes" },
	{ "heap-map", 0, OPTION_INPUT, offsetof(struct c2c_command, heap_map), "FILE",
	  "classes of objects in a Java heap: see HEAP MAPS in\n                          "
	  "cyclops-c2c(1)" },
	{ "full", 0, OPTION_FLAG, offsetof(struct c2c_command, full), NULL, "all counters, too" },
	{ "wide", 0, OPTION_FLAG, offsetof(struct c2c_command, wide), NULL,
	  "all counters, with all columns" },
	{ "html", 0, OPTION_OUTPUT, offsetof(struct c2c_command, html), "FILE", HTML_HELP },
};

static int make_request(struct question *q, struct err *err)
{
	struct c2c_command *command = q->what.into;
	struct c2c_request *out = &command->request;

	if (command->html != NULL && html_check(err) < 0)
		return -1;
	*out = (struct c2c_request){
		.mode = -1,
		.line_bytes = command->line_size,
		.is_double = command->double_line,
		.by_physical = command->physical,
		.vector_bits = command->vector_length,
		.top = rows_to_show(&q->rows),
		.with_objects = true,
	};
	if (command->mode != NULL && c2c_mode_parse(command->mode, &out->mode, err) < 0)
		return -1;
	if (command->sort != NULL && c2c_sort_parse(command->sort, &out->sort, err) < 0)
		return -1;
	return command->coalesce == NULL
		       ? 0
		       : c2c_coalesce_parse(command->coalesce, &out->coalesce, err);
}

/* What gates measure. */
struct measuring {
	const struct c2c *sharing;
	const struct c2c_causes *causes;
};

static int measure_c2c_gate(void *context, const struct gate *g, struct measured *out,
			    struct err *err)
{
	const struct measuring *m = context;

	return c2c_measure(m->sharing, m->causes, g->quantity, out, err);
}

static int write_html(const struct question *q, const struct c2c *sharing,
		      struct c2c_labels *labels, struct err *err)
{
	const struct c2c_command *command = q->what.into;
	struct c2c_report report = { 0 };
	struct html h = { 0 };
	int rc;

	c2c_report_make(sharing, labels, C2C_FOR_PAGES, &report);
	html_add(&h, "sharing", NULL, &report.shown);
	rc = printer_html(&q->out, &h, command->html, q->out.session->path, err);
	html_release(&h);
	c2c_report_release(&report);
	return rc;
}

static int c2c_answer(struct question *q, struct session *s, const struct select *select,
		      struct err *err)
{
	const struct c2c_command *command = q->what.into;
	struct c2c_request request = command->request;
	struct c2c sharing = { 0 };
	struct c2c_labels labels = { 0 };
	struct c2c_report tables = { 0 };
	struct heap_map heap = { 0 };
	int rc = data_heap_open(s, &heap, command->heap_map, err);

	request.is_last = true;
	if (question_has_gates(q))
		request.top = 0; /* which lines are shown is no matter of how many there are */
	if (rc == 0)
		rc = c2c_run(s, select, &request, &sharing, err);
	if (rc == 0) {
		/* Findings have the drawings; for a program they are rows. */
		bool with_layouts = !question_is_for_reading(q);
		bool is_brief = !with_layouts && !command->full && !command->wide;
		struct measuring measuring = { &sharing, sharing.causes };

		if (command->wide)
			q->out.document.width = WIDE;
		sharing.request.top = command->request.top;
		if (with_layouts || command->html != NULL)
			c2c_labels_init(&labels, &sharing);
		else
			c2c_labels_init_shown(&labels, &sharing);
		q->lacks_data = sharing.n_lines == 0;
		c2c_report_make(&sharing, &labels,
				is_brief       ? C2C_BRIEF
				: with_layouts ? C2C_FOR_PROGRAMS
					       : C2C_FULL,
				&tables);
		rc = question_judge(q, measure_c2c_gate, &measuring, err);
		if (rc == 0)
			rc = question_show(q, &tables.shown, err);
		if (rc == 0 && command->html != NULL)
			rc = write_html(q, &sharing, &labels, err);
	}
	c2c_report_release(&tables);
	c2c_labels_release(&labels);
	c2c_release(&sharing);
	data_heap_close(s, &heap);
	return rc;
}

static int c2c_command(int argc, char **argv)
{
	struct c2c_command command = { 0 };
	struct question q = {
		.usage = &usage,
		.what = { "What:", options, COUNT(options), &command },
		.has_rows = QUESTION_ROWS_UNSORTED,
		.max_arguments = 1,
		.quantities = c2c_quantities,
		.n_quantities = C2C_N_QUANTITIES,
		.check = make_request,
		.answer = c2c_answer,
	};

	return question_ask(&q, argc, argv);
}

const struct command command_c2c = {
	.usage = &usage,
	.purpose = "cache lines that threads contend for: false and true sharing",
	.reads = COMMAND_READS_CAPTURE,
	.run = c2c_command,
};
