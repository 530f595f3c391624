/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/answer.h"
#include "html/pages/pages.h"
#include "html/pages/slices.h"
#include "mem/answer.h"

/* As `cyclops mem --all --histogram`, `--by-level` and `--by time`, and `cyclops addr --all` have them. */
static const struct mem_request by_source = { .with_histogram = true, .with_levels = true };
static const struct mem_request by_time = { .by = { { KEY_TIME }, 1 } };
static const struct addr_request by_object = { .by = ADDR_BY_OBJECT };

/* Without symbols the functions are addresses: of very many nobody looks at the last. */
enum { MOST_FUNCTION_ROWS = 2000, MOST_OBJECT_STRIPS = 24 };

/* A block for each part, so that the page draws what is asked for. */
static void add_part(struct html *h, const char *label, const struct tables *tables)
{
	if (tables->list.n > 0)
		html_add(h, "memory", label, tables);
}

static int add_times(struct html *h, struct session *s, const struct select *select,
		     struct err *err)
{
	struct mem_report report = { 0 };
	struct html_slices slices;
	struct table length = { 0 };
	int rc = 0;

	if (!html_slices_begin(&slices, s))
		return 0;
	rc = mem_report_make(s, select, &by_time, &report, err);
	if (rc == 0 && table_n_rows(&report.rows) > 0) {
		struct tables tables = { 0 };

		html_slices_table(&s->slices, &length);
		report.rows.title = "Over time";
		*vec_add(&tables.list) = &report.rows;
		*vec_add(&tables.list) = &length;
		add_part(h, "time", &tables);
		vec_release(&tables.list);
	}
	table_release(&length);
	mem_report_release(&report);
	html_slices_end(&slices, s);
	return rc;
}

/*
 * How often the first objects were accessed by slice of time: of each a column, as --time-slices has them. The
 * table of objects has no such columns, so that it is that of `cyclops addr`.
 */
static int add_object_times(struct html *h, struct session *s, const struct select *select,
			    struct err *err)
{
	const struct addr_request request = { .by = ADDR_BY_OBJECT, .top = MOST_OBJECT_STRIPS };
	struct addr_report report = { 0 };
	struct html_slices slices;
	struct table length = { 0 };
	int rc;

	if (!html_slices_begin(&slices, s))
		return 0;
	rc = addr_report_make(s, select, &request, &report, err);
	if (rc == 0 && table_n_rows(&report.rows) > 0) {
		struct tables tables = { 0 };

		html_slices_table(&s->slices, &length);
		*vec_add(&tables.list) = &report.rows;
		*vec_add(&tables.list) = &length;
		add_part(h, "object times", &tables);
		vec_release(&tables.list);
	}
	table_release(&length);
	addr_report_release(&report);
	html_slices_end(&slices, s);
	return rc;
}

static int add_objects(struct html *h, struct session *s, const struct select *select,
		       struct err *err)
{
	struct addr_report report = { 0 };
	int rc = addr_report_make(s, select, &by_object, &report, err);

	if (rc == 0 && table_n_rows(&report.rows) > 0)
		add_part(h, "objects", &report.shown);
	addr_report_release(&report);
	return rc;
}

int html_add_memory(struct html *h, struct session *s, const struct select *select, struct err *err)
{
	struct mem_report report = { 0 };
	int rc = mem_report_make(s, select, &by_source, &report, err);
	bool has_data = rc == 0 && table_n_rows(&report.rows) > 0;

	report.levels.title = "Levels of the memory hierarchy";
	if (has_data)
		table_show_top(&report.functions, MOST_FUNCTION_ROWS);
	if (has_data)
		add_part(h, "sources", &report.shown);
	mem_report_release(&report);
	if (has_data)
		rc = add_times(h, s, select, err);
	if (has_data && rc == 0)
		rc = add_objects(h, s, select, err);
	if (has_data && rc == 0)
		rc = add_object_times(h, s, select, err);
	return rc;
}
