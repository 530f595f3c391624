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

/* To context->scratch: empty if nothing was recorded. */
static void write_callchain(const struct export_context *c, const struct batch *b, size_t row)
{
	const uint64_t *words = b->words.items;

	text_reset(c->scratch);
	if (!(b->has[row] & HAS_STACK))
		return;
	words += b->stack[row].first;
	for (uint32_t i = 0; i < b->stack[row].n; i++) {
		if (is_context_marker(words[i]))
			continue;
		if (c->scratch->n > 0)
			text_char(c->scratch, ':');
		text_hex(c->scratch, words[i]);
	}
}

/* The same. */
static void write_branches(const struct export_context *c, const struct batch *b, size_t row)
{
	const uint64_t *words = b->words.items;

	text_reset(c->scratch);
	if (!(b->has[row] & HAS_BRANCHES))
		return;
	words += b->branches[row].first;
	for (uint32_t i = 0; i + 3 <= b->branches[row].n; i += 3) {
		if (i > 0)
			text_char(c->scratch, ':');
		text_hex(c->scratch, words[i]);
		text_char(c->scratch, '/');
		text_hex(c->scratch, words[i + 1]);
		text_char(c->scratch, '/');
		text_hex(c->scratch, words[i + 2]);
	}
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
	write_callchain(c, b, row);
	cells[SAMPLES_COL_CALLCHAIN] = export_scratch_cell(c, t);
	write_branches(c, b, row);
	cells[SAMPLES_COL_BRANCHES] = export_scratch_cell(c, t);
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

static const struct export_code codes[] = {
	{ SAMPLES_COL_EVENT, PARQUET_TEXT, sizeof(uint16_t), export_spell_event },
	{ SAMPLES_COL_MODULE, PARQUET_TEXT, sizeof(uint32_t), spell_module },
	{ SAMPLES_COL_OFFSET, PARQUET_UINT64, sizeof(uint64_t), NULL },
	{ SAMPLES_COL_SYMBOL, PARQUET_TEXT, sizeof(uint64_t), spell_function },
	{ SAMPLES_COL_CALLCHAIN, PARQUET_TEXT, 0, NULL },
	{ SAMPLES_COL_BRANCHES, PARQUET_TEXT, 0, NULL },
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
		void (*write)(const struct export_context *, const struct batch *, size_t row);
	} texts[] = {
		{ SAMPLES_COL_CALLCHAIN, HAS_STACK, write_callchain },
		{ SAMPLES_COL_BRANCHES, HAS_BRANCHES, write_branches },
	};
	uint32_t in_some = 0;

	put_places(c, b, out);
	for (size_t row = 0; row < b->n; row++)
		in_some |= b->has[row];
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (!(in_some & texts[i].has)) {
			out->absent(out->to, texts[i].column, b->n);
			continue;
		}
		for (size_t row = 0; row < b->n; row++) {
			texts[i].write(c, b, row);
			out->text(out->to, texts[i].column, c->scratch);
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
