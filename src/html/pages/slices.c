/* SPDX-License-Identifier: Apache-2.0 */
#include "html/pages/slices.h"

#include "base/alloc.h"
#include "scan/time_slices.h"

bool html_slices_begin(struct html_slices *of, struct session *s)
{
	struct err err;

	of->before = s->slices;
	return s->slices.n > 0 || scan_choose_slices(s, HTML_SLICES, true, &err) == 0;
}

void html_slices_end(const struct html_slices *of, struct session *s)
{
	s->slices = of->before;
}

static const struct column columns[] = {
	{ "slices", NULL, "slices", CELL_COUNT, COLUMN_MACHINE_ONLY, "of time" },
	{ "start_ns", NULL, "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "start of the first slice, from the start of the capture" },
	{ "width_ns", NULL, "ns", CELL_COUNT, COLUMN_MACHINE_ONLY, "of each slice" },
};

void html_slices_table(const struct slices *s, struct table *out)
{
	struct cell *row;

	table_init(out, "slices", "Slices of time", columns, COUNT(columns));
	out->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(out);
	row[0] = cell_count(s->n);
	row[1] = cell_count(slices_start_ns(s, 0));
	row[2] = cell_count(s->width_ns);
}
