/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <string.h>

#include "c2c/tables.h"
#include "capture/format/sample.h"
#include "findings/words.h"
#include "hot/elapsed.h"
#include "keys/keys.h"
#include "scan/scan.h"
#include "session/tip.h"

/* Rows of a brief table, and of each event where there are several. */
enum { BRIEF = 8, BRIEF_EACH = 3 };

#define DIM(name) (1u << DIM_##name)

const struct hot_options report_hot_options = {
	.dimensions = DIM(EVENT) | DIM(PLACE) | DIM(FRAME) | DIM(SOURCE),
	.event = -1,
};

static const struct hot_options process_options = {
	.dimensions = DIM(EVENT) | DIM(PROCESS),
	.event = -1,
};

/* Apart, because there would be a group for each place in each process else. */
enum part { CODE, PROCESSES, N_PARTS };

/* Sections of the report: more than a few rows each are for `cyclops hot`. */
static const struct section {
	struct hot_view view;
	enum part part;
	size_t least_rows; /* with fewer there is nothing to compare */
} sections[] = {
	{ { .keys = { { KEY_FUNCTION }, 1 }, .name = "functions", .title = "Functions" }, CODE, 1 },
	{ { .keys = { { KEY_LINE }, 1 }, .name = "lines", .title = "Source lines" }, CODE, 1 },
	{ { .keys = { { KEY_MODULE }, 1 }, .name = "modules", .title = "Modules" }, CODE, 2 },
	{ { .keys = { { KEY_PROCESS }, 1 }, .name = "processes", .title = "Processes" },
	  PROCESSES,
	  2 },
};

/* Are any source lines known? Without debug information the section is left out. */
static bool has_lines(const struct table *t)
{
	int column = table_column(t, "line");

	for (size_t row = 0; column >= 0 && row < table_n_rows(t); row++)
		if (table_cell(t, row, (size_t)column)->type != CELL_NONE)
			return true;
	return false;
}

/* Loads that may have waited for others, with fewer of which there is nothing to judge. */
enum { LEAST_WAITS = 5, SHARED_LINES = 3 };

/* Beyond the core's own caches. */
static bool may_wait(const struct cpu_source *source)
{
	return source != NULL && source->level != SOURCE_L1 && source->level != SOURCE_L2 &&
	       source->level != SOURCE_DEVICE;
}

/* May threads fight over cache lines in this capture? A closer look takes time. */
static bool may_share(const struct session *s, const struct hot *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if ((int)i != capture_spe(s->capture)->event &&
		    capture_event(s->capture, i)->attr.sample_type >> SAMPLE_DATA_SRC & 1)
			return true;
	for (uint32_t i = hot_next(code, 0); i < hot_end(code); i = hot_next(code, i + 1)) {
		uint64_t key[N_DIMENSIONS];

		hot_key(code, i, key);
		if (may_wait(key_source(key[DIM_SOURCE])))
			n += hot_cost(code, i)->n;
	}
	return n >= LEAST_WAITS;
}

/* Scans again: the places of the session are others afterwards. */
static int add_sharing(struct session *s, const struct select *select, struct findings *findings,
		       struct err *err)
{
	const struct c2c_request request = { .mode = -1,
					     .top = SHARED_LINES,
					     .with_objects = true };
	struct c2c sharing;
	struct c2c_labels labels = { 0 };
	int rc = c2c_run(s, select, &request, &sharing, err);

	if (rc == 0) {
		c2c_labels_init(&labels, &sharing);
		c2c_add_findings(&sharing, &labels, findings);
	}
	c2c_labels_release(&labels);
	c2c_release(&sharing);
	return rc;
}

/* Of less it is not shown which function took the time. */
static const double least_told = 0.5;

static void show_second(struct tables *shown, struct table *t)
{
	vec_add(&shown->list);
	memmove(&shown->list.items[2], &shown->list.items[1],
		(shown->list.n - 2) * sizeof(*shown->list.items));
	shown->list.items[1] = t;
}

/* Run time by function, where records tell it. Scans again: call chains of before are gone then. */
static int add_elapsed(struct session *s, const struct select *select, const struct hot *code,
		       const struct names *names, size_t top, struct report *out, struct err *err)
{
	const struct keys keys = { { KEY_FUNCTION }, 1 };
	const struct elapsed_request request = {
		.keys = &keys, .title = "Run time", .top = top, .is_brief = true
	};
	double told;

	if (elapsed_obstacle(s, select) != NULL)
		return 0;
	if (elapsed_table(s, select, code, names, &request, &out->elapsed, &told, err) < 0)
		return -1;
	if (told >= least_told)
		show_second(&out->shown, &out->elapsed);
	else
		table_note(&out->functions, "run time by function: mostly not told apart: %s",
			   tip(&out->functions, s, "hot --elapsed"));
	return 0;
}

/* What has most of the first event: a function, or for code without names its module. */
static const char *hottest_of(const struct hot *code, const struct names *names,
			      struct findings *memory)
{
	struct text text = { 0 };
	struct str_id function;
	struct module_id module;
	const char *out;

	if (!hot_heaviest_function(code, names, &function, &module))
		return NULL;
	if (function.v != 0)
		return findings_text(
			memory, strings_get(symbols_strings(code->session->symbols), function));
	text_format(&text, "code without names of %s", names_module(code->session, module));
	out = arena_strndup(&memory->memory, text.bytes, text.n);
	text_release(&text);
	return out;
}

static int make_tables(struct session *s, const struct select *select, const struct analysis *parts,
		       size_t top, struct report *out, struct err *err)
{
	const struct keys all = { { KEY_FUNCTION, KEY_LINE }, 2 };
	struct table *const tables[] = { &out->functions, &out->lines, &out->modules,
					 &out->processes };
	const struct hot *code = parts[CODE].result;
	struct names names;
	int rc = 0;

	if (top == REPORT_BRIEF)
		top = hot_n_events(code) > 2 ? BRIEF_EACH : BRIEF;
	facts_table(s, code, &out->facts);
	*vec_add(&out->shown.list) = &out->facts;
	hot_names(s, code, &all, &names);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && rc == 0; i++) {
		struct hot_view view = sections[i].view;

		view.top = top;
		rc = hot_table(parts[sections[i].part].result, &names, &view, tables[i], err);
		if (tables[i] == &out->functions)
			hot_table_notes(code, &view, tables[i]);
		if (table_n_rows(tables[i]) < sections[i].least_rows ||
		    (tables[i] == &out->lines && !has_lines(tables[i])))
			continue;
		*vec_add(&out->shown.list) = tables[i];
	}
	report_find(code, &names, &out->found);
	out->hottest = hottest_of(code, &names, &out->found);
	*vec_add(&out->shown.list) = &out->findings;
	if (rc == 0)
		rc = add_elapsed(s, select, code, &names, top, out, err);
	names_release(&names);
	return rc;
}

int report_make(struct session *s, const struct select *select, size_t top, struct report *out,
		struct err *err)
{
	struct hot_options code = report_hot_options, processes = process_options;
	struct analysis parts[N_PARTS] = {
		[CODE] = { .class = &hot_class, .options = &code },
		[PROCESSES] = { .class = &hot_class, .options = &processes },
	};
	bool looks_closer;
	int rc;

	if (s->slices.n > 0) {
		code.dimensions |= DIM(SLICE);
		processes.dimensions |= DIM(SLICE);
	}
	scan(s, select, parts, N_PARTS);
	rc = make_tables(s, select, parts, top, out, err);
	looks_closer = rc == 0 && may_share(s, parts[CODE].result);
	for (size_t i = 0; i < N_PARTS; i++) /* before the next scan takes as much */
		hot_class.free(parts[i].result);
	if (looks_closer)
		rc = add_sharing(s, select, &out->found, err);
	findings_table(&out->found, s, &out->findings);
	return rc;
}

void report_release(struct report *r)
{
	table_release(&r->facts);
	table_release(&r->elapsed);
	table_release(&r->functions);
	table_release(&r->lines);
	table_release(&r->modules);
	table_release(&r->processes);
	table_release(&r->findings);
	findings_release(&r->found);
	vec_release(&r->shown.list);
}
