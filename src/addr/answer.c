/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/samples.h"
#include "addr/huge.h"
#include "addr/rows.h"
#include "addr/summary.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"
#include "session/interval.h"
#include "table/answer.h"
#include "variables/code.h"

enum { DEFAULT_LINE = 64 };

static const char *const by_names[N_ADDR_BYS] = {
	[ADDR_BY_OBJECT] = "object", [ADDR_BY_TYPE] = "type",
	[ADDR_BY_FIELD] = "field",   [ADDR_BY_LINE] = "line",
	[ADDR_BY_PAGE] = "page",     [ADDR_BY_HUGEPAGE] = "hugepage",
	[ADDR_BY_NODE] = "node",     [ADDR_BY_INSTRUCTION] = "instruction",
	[ADDR_BY_OFFSET] = "offset",
};

static const char *by_name_at(const void *context, size_t i)
{
	(void)context;
	return i < N_ADDR_BYS ? by_names[i] : NULL;
}

int addr_by_parse(const char *text, enum addr_by *out, struct err *err)
{
	char names[256];

	for (int i = 0; i < N_ADDR_BYS; i++) {
		if (strcmp(by_names[i], text) == 0) {
			*out = (enum addr_by)i;
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "--by: there is no key '%s'; there are %s",
		       text, list_words(by_name_at, NULL, names, sizeof(names)));
}

/* The scans of an answer and their results. */
struct work {
	struct session *session;
	const struct select *select;
	const struct addr_request *request;
	struct addr_report *report;
	struct addr_options page_options, options;
	struct analysis pages, fine;
	struct addr_huge huge; /* of `pages` */
	struct addr_objects objects;
	struct names names;
	struct strings strings;
	struct data_names data_names;
	struct addr_source source;
	struct addr_named named;
};

static bool needs_objects(enum addr_by by)
{
	return by == ADDR_BY_OBJECT || by == ADDR_BY_TYPE || by == ADDR_BY_FIELD;
}

static bool needs_pages(const struct addr_request *r)
{
	return r->by != ADDR_BY_LINE && r->by != ADDR_BY_INSTRUCTION &&
	       (r->by != ADDR_BY_OFFSET || r->object != NULL);
}

static const enum addr_grain grains[N_ADDR_BYS] = {
	[ADDR_BY_OBJECT] = ADDR_FIELDS,	 [ADDR_BY_TYPE] = ADDR_FIELDS,
	[ADDR_BY_FIELD] = ADDR_FIELDS,	 [ADDR_BY_LINE] = ADDR_LINES,
	[ADDR_BY_PAGE] = ADDR_PAGES,	 [ADDR_BY_HUGEPAGE] = ADDR_PAGES,
	[ADDR_BY_NODE] = ADDR_PAGES,	 [ADDR_BY_INSTRUCTION] = ADDR_INSTRUCTIONS,
	[ADDR_BY_OFFSET] = ADDR_OFFSETS,
};

static uint64_t line_bytes(const struct session *s)
{
	unsigned bytes = s->cpu == NULL ? 0 : cpu_cache_line(s->cpu);

	return bytes > 0 ? bytes : DEFAULT_LINE;
}

static void scan_pages(struct work *w)
{
	w->page_options = (struct addr_options){
		.grain = ADDR_PAGES,
		.without_slices = grains[w->request->by] != ADDR_PAGES,
	};
	w->pages = (struct analysis){ .class = &addr_class, .options = &w->page_options };
	scan_part(w->session, w->select,
		  &(struct scan_wish){
			  .without_places = true, .only_memory = true, .without_targets = true },
		  &w->pages, 1);
	addr_huge_init(&w->huge, w->pages.result);
}

/* Sets the window to the object that --object names. */
static int place_object(struct work *w, struct err *err)
{
	const struct strings *strings = symbols_strings(w->session->symbols);
	const struct addr_range *found = NULL;

	for (size_t i = 0; i < w->objects.variables.n; i++) {
		const struct addr_range *r = &w->objects.variables.items[i];
		const struct addr_object *object = &w->objects.list.items[r->object];

		if (strcmp(strings_get(strings, object->name), w->request->object) != 0)
			continue;
		if (found != NULL)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--object: '%s' is at 0x%" PRIx64 " and at 0x%" PRIx64
				       "; choose one with --type and --base, or a process with "
				       "--select pid=N",
				       w->request->object, found->first, r->first);
		found = r;
		w->options.window = (struct addr_window){
			.base = r->first,
			.size = object->element_size > 0 ? object->element_size : object->size,
			.process = r->process,
		};
		w->options.window.count = object->size / w->options.window.size;
		w->source.window_type = object->element;
	}
	if (found == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--object: no access to a variable '%s' was sampled (cyclops addr "
			       "--by object --all lists sampled ones)",
			       w->request->object);
	return 0;
}

static int parse_base(const char *text, struct addr_window *out, struct err *err)
{
	char *end;

	out->base = strtoull(text, &end, 0);
	out->count = 1;
	if (end != text && *end == ',')
		out->count = strtoull(end + 1, &end, 0);
	if (end == text || *end != '\0' || out->count == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--base: found '%s', wanted ADDRESS or ADDRESS,COUNT", text);
	return 0;
}

/* A type by name, or a size in bytes. */
static int addr_parse_type(struct work *w, struct err *err)
{
	const char *text = w->request->type;
	char *end;
	uint64_t size = strtoull(text, &end, 0);

	if (*end != '\0' || end == text) {
		w->source.window_type =
			symbols_find_type(w->session->symbols, w->session->pool, text);
		size = types_get(symbols_types(w->session->symbols), w->source.window_type)->size;
		if (size == 0)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--type: no debug information of a type '%s' in the files "
				       "of this capture; or give a size in bytes",
				       text);
	}
	if (size == 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--type: found a size of 0 bytes, wanted at least 1");
	w->options.window.size = size;
	return 0;
}

static int make_window(struct work *w, struct err *err)
{
	const struct addr_request *r = w->request;

	if (r->object != NULL)
		return place_object(w, err);
	if (r->type == NULL || r->base == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--by offset needs --object, or --type and --base");
	if (parse_base(r->base, &w->options.window, err) < 0)
		return -1;
	return addr_parse_type(w, err);
}

/* --type without --base: all objects of the type. */
static int choose_type(struct work *w, struct err *err)
{
	if (addr_parse_type(w, err) < 0)
		return -1;
	if (w->source.window_type.v == 0)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--type %s: a size needs --base ADDR, the address of the first struct",
			w->request->type);
	w->source.only_type =
		types_plain(symbols_types(w->session->symbols), w->source.window_type);
	return 0;
}

/* Names pages or lines by the object at their lowest sampled address. */
static void name_groups(struct work *w, const struct addr *a)
{
	struct data_query *queries = mem_zalloc(a->keys.n + 1, sizeof(*queries));

	for (uint32_t i = 0; i < a->keys.n; i++) {
		uint64_t process = tuples_get(&a->keys, i)[0];

		queries[i] = (struct data_query){
			.process = process == ADDR_KERNEL ? 0 : (uint32_t)process,
			.time_ns = addr_briefs_first_ns(&a->sums, i),
			.address = addr_briefs_least(&a->sums, i),
			.size = 1,
		};
	}
	data_names_init(&w->data_names, w->session, queries, a->keys.n);
	w->source.page_names = &w->data_names;
	free(queries);
}

/*
 * May something on a page be told from the rest of it? By a variable, or by code that accesses memory without one. By
 * slices, too: the scan by page does not count them.
 */
static bool has_parts_of_pages(const struct work *w)
{
	const struct modules *modules = timeline_modules(w->session->timeline);

	if (w->objects.variables.n > 0 || w->session->slices.n > 0)
		return true;
	for (uint32_t i = 1; i < modules->list.n; i++)
		if (symbols_has_code(w->session->symbols, (struct module_id){ i }))
			return true;
	return false;
}

/* Runs the scans that the rows need: by page, if objects are needed, then by the grain. */
static int addr_find_source(struct work *w, struct err *err)
{
	enum addr_by by = w->request->by;

	if (needs_pages(w->request))
		scan_pages(w);
	if (needs_objects(by) || w->request->object != NULL)
		addr_objects_init(&w->objects, w->session, &w->huge);
	w->options = (struct addr_options){
		.grain = grains[by],
		.line_bytes = line_bytes(w->session),
		.objects = &w->objects,
	};
	if (by == ADDR_BY_OFFSET && make_window(w, err) < 0)
		return -1;
	if (by == ADDR_BY_FIELD && w->request->type != NULL && choose_type(w, err) < 0)
		return -1;
	if (w->options.grain == ADDR_FIELDS && !has_parts_of_pages(w)) {
		w->fine.result = addr_of_pages(w->pages.result, &w->options);
	} else if (w->options.grain != ADDR_PAGES) {
		w->fine = (struct analysis){ .class = &addr_class, .options = &w->options };
		scan(w->session, w->select, &w->fine, 1);
	}
	if (w->options.grain == ADDR_FIELDS)
		w->named = addr_by_code(w->fine.result, &w->objects);
	w->source.addr = w->fine.result != NULL ? w->fine.result : w->pages.result;
	w->source.objects = &w->objects;
	w->source.strings = &w->strings;
	w->source.line_bytes = w->options.line_bytes;
	w->source.has_intervals =
		!w->source.addr->is_sampled && spe_interval_range(w->session).longest > 0;
	if (by == ADDR_BY_LINE || by == ADDR_BY_PAGE || by == ADDR_BY_HUGEPAGE)
		name_groups(w, w->source.addr);
	if (by == ADDR_BY_INSTRUCTION || by == ADDR_BY_OFFSET)
		names_init(&w->names, w->session, NULL,
			   by == ADDR_BY_INSTRUCTION ? SYMBOLS_LINES : SYMBOLS_FUNCTIONS);
	w->source.names = &w->names;
	return 0;
}

/* Adds the tables of advice: structs to split, huge pages. */
static void add_advice(struct work *w, const struct addr_rows *rows)
{
	struct addr_report *report = w->report;
	struct addr_walks walks;

	if (needs_objects(rows->by)) {
		addr_splits_table(rows, &report->splits);
		if (table_n_rows(&report->splits) > 0)
			*vec_add(&report->shown.list) = &report->splits;
	}
	if (w->pages.result == NULL || rows->by == ADDR_BY_OFFSET || rows->by == ADDR_BY_NODE)
		return;
	addr_walks_init(&walks, &w->huge);
	addr_walks_table(&walks, &report->coverage);
	if (rows->by == ADDR_BY_OBJECT)
		addr_summary_walks(&walks, &report->answer);
	if (table_n_rows(&report->coverage) > 0)
		*vec_add(&report->shown.list) = &report->coverage;
	addr_walks_release(&walks);
}

static void add_heap_note(const struct session *s, struct table *t)
{
	struct text text = { 0 };

	data_heap_text(s, &text);
	if (text.n > 0) {
		text_char(&text, '\0');
		table_note(t, "heap: %s", text.bytes);
	}
	text_release(&text);
}

static void addr_answer_add_notes(struct work *w, const struct addr_rows *rows)
{
	struct table *t = &w->report->rows;
	const struct addr *a = w->source.addr;

	if (rows->total.n == 0)
		table_note(t, "%s", no_data_addresses);
	else if (rows->keys.n == 0 && rows->source->only_type.v != 0)
		table_note(t, "no sampled access to a %s", w->request->type);
	if (a->is_sampled) {
		access_samples_note(w->session, t);
	} else {
		spe_filters_note(w->session, t);
		access_samples_note_unused(w->session, t);
	}
	add_heap_note(w->session, t);
	if (a->n_without_address > 0)
		table_note(t, "accesses without an address, not shown: %s",
			   table_human(t, cell_count(a->n_without_address), "accesses"));
	if (w->named.n > 0)
		table_note(t,
			   "%" PRIu64 " access%s to memory without variables (heap, stack): types "
			   "come from the code, for %.1f %% of them%s",
			   w->named.n, w->named.n == 1 ? "" : "es",
			   100 * (double)w->named.n_named / (double)w->named.n,
			   w->named.n_named == 0 || w->named.n_named == w->named.n
				   ? ""
				   : ". Several *p may be parts of one object");
	if (rows->by == ADDR_BY_INSTRUCTION && rows->total.n > 0)
		table_note(
			t,
			"'multiple of N': the stride is N or a divisor of N, as samples are many "
			"operations apart");
	if (rows->by == ADDR_BY_NODE && rows->total.page_nodes == 0)
		table_note(t, "NUMA nodes of pages are not known: the capture has no physical "
			      "addresses or no memory topology");
}

static void work_release(struct work *w)
{
	addr_huge_release(&w->huge);
	addr_class.free(w->pages.result);
	addr_class.free(w->fine.result);
	if (w->objects.session != NULL)
		addr_objects_release(&w->objects);
	names_release(&w->names);
	if (w->data_names.session != NULL)
		data_names_release(&w->data_names);
	strings_release(&w->strings);
}

int addr_report_make(struct session *s, const struct select *select,
		     const struct addr_request *request, struct addr_report *out, struct err *err)
{
	struct work w = { .session = s, .select = select, .request = request, .report = out };
	struct addr_rows rows;
	int rc = -1;

	strings_init(&w.strings);
	if (addr_find_source(&w, err) == 0) {
		addr_rows_init(&rows, &w.source, request->by);
		rc = addr_rows_table(&rows, request, &out->rows, err);
		answer_init(&out->answer);
		*vec_add(&out->shown.list) = &out->answer;
		*vec_add(&out->shown.list) = &out->rows;
		if (request->by == ADDR_BY_OBJECT)
			addr_summary_object(&rows, &out->answer);
		else if (request->by == ADDR_BY_INSTRUCTION)
			addr_summary_instruction(&rows, &out->answer);
		if (rc == 0) {
			addr_answer_add_notes(&w, &rows);
			add_advice(&w, &rows);
		}
		addr_rows_release(&rows);
	}
	work_release(&w);
	return rc;
}

void addr_report_release(struct addr_report *r)
{
	table_release(&r->answer);
	table_release(&r->rows);
	table_release(&r->splits);
	table_release(&r->coverage);
	vec_release(&r->shown.list);
	*r = (struct addr_report){ 0 };
}
