/* SPDX-License-Identifier: Apache-2.0 */
/* The table "samples": a row for each PMU sample. Columns are stable; append new ones. */
#include "base/alloc.h"
#include "export/export_tables.h"

enum samples_column {
	SAMPLES_COL_CPU,
	SAMPLES_COL_PID,
	SAMPLES_COL_TID,
	SAMPLES_COL_TIME,
	SAMPLES_COL_EVENT,
	SAMPLES_COL_PERIOD,
	SAMPLES_COL_IP,
	SAMPLES_COL_MODULE,
	SAMPLES_COL_OFFSET,
	SAMPLES_COL_SYMBOL,
	SAMPLES_COL_ADDR,
	SAMPLES_COL_WEIGHT,
	SAMPLES_COL_DATA_SRC,
	SAMPLES_COL_CALLCHAIN,
	SAMPLES_COL_BRANCHES,
	SAMPLES_COL_WEIGHT2,
	SAMPLES_COL_WEIGHT3,
	SAMPLES_COL_PADDR,
	SAMPLES_N_COLS,
};

static const struct column columns[SAMPLES_N_COLS] = {
	[SAMPLES_COL_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "cpu that recorded it" },
	[SAMPLES_COL_PID] = { "pid", NULL, "", CELL_SIGNED, 0, "process id" },
	[SAMPLES_COL_TID] = { "tid", NULL, "", CELL_SIGNED, 0, "thread id" },
	[SAMPLES_COL_TIME] = { "time_ns", NULL, "ns", CELL_COUNT, 0, "time on the perf clock" },
	[SAMPLES_COL_EVENT] = { "event", NULL, "", CELL_TEXT, 0, "event that was sampled" },
	[SAMPLES_COL_PERIOD] = { "period", NULL, "events", CELL_COUNT, 0,
				 "events that the sample represents" },
	[SAMPLES_COL_IP] = { "ip", NULL, "", CELL_HEX, 0, "address of the instruction" },
	[SAMPLES_COL_MODULE] = { "module", NULL, "", CELL_TEXT, 0,
				 "path of the file that it lies in" },
	[SAMPLES_COL_OFFSET] = { "offset", NULL, "", CELL_HEX, 0, "offset in the module" },
	[SAMPLES_COL_SYMBOL] = { "symbol", NULL, "", CELL_TEXT, 0, "function, demangled" },
	[SAMPLES_COL_ADDR] = { "addr", NULL, "", CELL_HEX, 0, "data address" },
	[SAMPLES_COL_WEIGHT] = { "weight", NULL, "", CELL_COUNT, 0,
				 "latency or so, as the CPU gives it" },
	[SAMPLES_COL_DATA_SRC] = { "data_src", NULL, "", CELL_HEX, 0,
				   "union perf_mem_data_src, raw" },
	[SAMPLES_COL_CALLCHAIN] = { "callchain", NULL, "", CELL_TEXT, 0,
				    "addresses, innermost first, joined by :" },
	[SAMPLES_COL_BRANCHES] = { "branches", NULL, "", CELL_TEXT, 0,
				   "from/to/flags, newest first, joined by :" },
	[SAMPLES_COL_WEIGHT2] = { "weight2", NULL, "", CELL_COUNT, 0,
				  "second part of a weight of three, raw" },
	[SAMPLES_COL_WEIGHT3] = { "weight3", NULL, "", CELL_COUNT, 0, "third part of it, raw" },
	[SAMPLES_COL_PADDR] = { "paddr", NULL, "", CELL_HEX, 0, "physical data address" },
};

static const struct export_field fields[] = {
	EXPORT_FIELD(SAMPLES_COL_CPU, HAS_CPU, cpu, cell_count),
	EXPORT_FIELD(SAMPLES_COL_PID, HAS_PID, pid, export_id),
	EXPORT_FIELD(SAMPLES_COL_TID, HAS_TID, tid, export_id),
	EXPORT_FIELD(SAMPLES_COL_TIME, HAS_TIME, time_ns, cell_count),
	EXPORT_FIELD(SAMPLES_COL_PERIOD, HAS_PERIOD, period, cell_count),
	EXPORT_FIELD(SAMPLES_COL_IP, HAS_PC, pc, cell_hex),
	EXPORT_FIELD(SAMPLES_COL_ADDR, HAS_VA, va, cell_hex),
	EXPORT_FIELD(SAMPLES_COL_WEIGHT, HAS_WEIGHT, weight, cell_count),
	EXPORT_FIELD(SAMPLES_COL_DATA_SRC, HAS_DATA_SRC, data_src, cell_hex),
	EXPORT_FIELD(SAMPLES_COL_WEIGHT2, HAS_WEIGHT_PARTS, weight2, cell_count),
	EXPORT_FIELD(SAMPLES_COL_WEIGHT3, HAS_WEIGHT_PARTS, weight3, cell_count),
	EXPORT_FIELD(SAMPLES_COL_PADDR, HAS_PA, pa, cell_hex),
};

/* The kernel separates kernel and user frames with these values (PERF_CONTEXT_…). */
static bool is_context_marker(uint64_t word)
{
	return word >= (uint64_t)-4095;
}

/* Its addresses, in context->numbers. */
static struct export_list callchain_of(const struct export_context *c, const struct batch *b,
				       size_t row)
{
	struct export_list list = { .n_parts = 1 };
	uint64_t *out;

	if (!(b->has[row] & HAS_STACK))
		return list;
	text_reset(c->numbers);
	out = (void *)text_room(c->numbers, (b->stack[row].n + 1) * sizeof(*out)); /* not nothing */
	for (uint32_t i = 0; i < b->stack[row].n; i++) {
		uint64_t word = b->words.items[b->stack[row].first + i];

		if (!is_context_marker(word))
			out[list.n++] = word;
	}
	list.numbers = out;
	list.is_there = true;
	return list;
}

enum { BRANCH_PARTS = 3 };

static struct export_list branches_of(const struct export_context *c, const struct batch *b,
				      size_t row)
{
	struct export_list list = { .n_parts = BRANCH_PARTS };

	(void)c;
	if (!(b->has[row] & HAS_BRANCHES))
		return list;
	list.numbers = b->words.items + b->branches[row].first;
	list.n = b->branches[row].n / BRANCH_PARTS;
	list.is_there = true;
	return list;
}

static struct cell list_cell(const struct export_context *c, struct table *t,
			     struct export_list list)
{
	text_reset(c->scratch);
	export_list_text(c->scratch, &list);
	return export_scratch_cell(c, t);
}

static void export_samples_set_place(const struct export_context *c, const struct batch *b,
				     size_t row, struct cell *cells)
{
	const struct session *s = c->session;
	const struct modules *modules = timeline_modules(s->timeline);
	struct place place = session_place(s, b->place[row]);
	const char *function;

	if (place.module.v == 0)
		return;
	cells[SAMPLES_COL_MODULE] =
		cell_text(strings_get(modules->strings, modules_get(modules, place.module)->path));
	cells[SAMPLES_COL_OFFSET] = cell_hex(place.offset);
	function = function_names_find(c->names, b->place[row]);
	if (function != NULL)
		cells[SAMPLES_COL_SYMBOL] = cell_text(function);
}

static void samples_row(const struct export_context *c, const struct batch *b, size_t row,
			struct table *t, struct cell *cells)
{
	cells[SAMPLES_COL_EVENT] =
		cell_text(capture_event_name(c->session->capture, b->event[row]));
	if (b->has[row] & HAS_PLACE)
		export_samples_set_place(c, b, row, cells);
	cells[SAMPLES_COL_CALLCHAIN] = list_cell(c, t, callchain_of(c, b, row));
	cells[SAMPLES_COL_BRANCHES] = list_cell(c, t, branches_of(c, b, row));
}

static void spell_module(const void *context, uint64_t code, struct text *out)
{
	const struct export_context *c = context;
	const struct modules *modules = timeline_modules(c->session->timeline);
	struct module_id module = { (uint32_t)code };

	text_str(out, strings_get(modules->strings, modules_get(modules, module)->path));
}

/* The code is the name itself: equal names are one. */
static void spell_function(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, (const char *)(uintptr_t)code);
}

static const char *const branch_parts[BRANCH_PARTS] = { "from", "to", "flags" };

static const struct export_code codes[] = {
	{ SAMPLES_COL_EVENT, PARQUET_TEXT, sizeof(uint16_t), export_spell_event },
	{ SAMPLES_COL_MODULE, PARQUET_TEXT, sizeof(uint32_t), spell_module },
	{ SAMPLES_COL_OFFSET, PARQUET_UINT64, sizeof(uint64_t), NULL },
	{ SAMPLES_COL_SYMBOL, PARQUET_TEXT, sizeof(uint64_t), spell_function },
	{ SAMPLES_COL_CALLCHAIN, PARQUET_UINT64_LIST, 0, NULL },
	{ SAMPLES_COL_BRANCHES, PARQUET_UINT64_LIST, 0, NULL, branch_parts, BRANCH_PARTS },
};

enum { SHOWS_EVENT = 1, SHOWS_MODULE = 2, SHOWS_FUNCTION = 4 };

static void put_places(const struct export_context *c, const struct batch *b,
		       const struct export_put *out)
{
	uint32_t shows[BATCH_ROWS], modules[BATCH_ROWS];
	uint64_t offsets[BATCH_ROWS], functions[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++) {
		struct place place = { 0 };

		shows[row] = SHOWS_EVENT;
		if (b->has[row] & HAS_PLACE)
			place = session_place(c->session, b->place[row]);
		modules[row] = place.module.v;
		offsets[row] = place.offset;
		if (place.module.v == 0)
			continue;
		shows[row] |= SHOWS_MODULE;
		functions[row] = (uintptr_t)function_names_find(c->names, b->place[row]);
		if (functions[row] != 0)
			shows[row] |= SHOWS_FUNCTION;
	}
	out->rows(out->to, SAMPLES_COL_EVENT, b->event, sizeof(*b->event), shows, SHOWS_EVENT,
		  b->n);
	out->rows(out->to, SAMPLES_COL_MODULE, modules, sizeof(*modules), shows, SHOWS_MODULE,
		  b->n);
	out->rows(out->to, SAMPLES_COL_OFFSET, offsets, sizeof(*offsets), shows, SHOWS_MODULE,
		  b->n);
	out->rows(out->to, SAMPLES_COL_SYMBOL, functions, sizeof(*functions), shows, SHOWS_FUNCTION,
		  b->n);
}

static void samples_put(const struct export_context *c, const struct batch *b,
			const struct export_put *out)
{
	static const struct {
		size_t column;
		uint32_t has;
		struct export_list (*of)(const struct export_context *, const struct batch *,
					 size_t row);
	} lists[] = {
		{ SAMPLES_COL_CALLCHAIN, HAS_STACK, callchain_of },
		{ SAMPLES_COL_BRANCHES, HAS_BRANCHES, branches_of },
	};
	uint32_t in_some = 0;

	put_places(c, b, out);
	for (size_t row = 0; row < b->n; row++)
		in_some |= b->has[row];
	for (size_t i = 0; i < COUNT(lists); i++) {
		if (!(in_some & lists[i].has)) {
			out->absent(out->to, lists[i].column, b->n);
			continue;
		}
		for (size_t row = 0; row < b->n; row++) {
			struct export_list list = lists[i].of(c, b, row);

			out->list(out->to, lists[i].column, &list);
		}
	}
}

const struct export_table export_samples = {
	.name = "samples",
	.shortage = "no PMU samples",
	.kind = BATCH_SAMPLES,
	.wants_names = true,
	.columns = columns,
	.n_columns = COUNT(columns),
	.fields = fields,
	.n_fields = COUNT(fields),
	.row = samples_row,
	.codes = codes,
	.n_codes = COUNT(codes),
	.put = samples_put,
};
