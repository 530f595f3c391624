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

static struct cell callchain_cell(const struct export_context *c, const struct batch *b, size_t row,
				  struct table *t)
{
	const uint64_t *words = b->words.items + b->stack[row].first;

	text_reset(c->scratch);
	for (uint32_t i = 0; i < b->stack[row].n; i++) {
		if (is_context_marker(words[i]))
			continue;
		if (c->scratch->n > 0)
			text_char(c->scratch, ':');
		text_hex(c->scratch, words[i]);
	}
	return export_scratch_cell(c, t);
}

static struct cell branches_cell(const struct export_context *c, const struct batch *b, size_t row,
				 struct table *t)
{
	const uint64_t *words = b->words.items + b->branches[row].first;

	text_reset(c->scratch);
	for (uint32_t i = 0; i + 3 <= b->branches[row].n; i += 3) {
		if (i > 0)
			text_char(c->scratch, ':');
		text_hex(c->scratch, words[i]);
		text_char(c->scratch, '/');
		text_hex(c->scratch, words[i + 1]);
		text_char(c->scratch, '/');
		text_hex(c->scratch, words[i + 2]);
	}
	return export_scratch_cell(c, t);
}

static void export_samples_set_place(const struct export_context *c, const struct batch *b,
				     size_t row, struct cell *cells)
{
	const struct session *s = c->session;
	const struct modules *modules = timeline_modules(s->timeline);
	struct place place = session_place(s, b->place[row]);

	if (place.module.v == 0)
		return;
	cells[SAMPLES_COL_MODULE] =
		cell_text(strings_get(modules->strings, modules_get(modules, place.module)->path));
	cells[SAMPLES_COL_OFFSET] = cell_hex(place.offset);
	if (c->names->symbols[b->place[row]].function.v != 0)
		cells[SAMPLES_COL_SYMBOL] = cell_text(names_function(c->names, b->place[row]));
}

static void samples_row(const struct export_context *c, const struct batch *b, size_t row,
			struct table *t, struct cell *cells)
{
	export_fields(fields, COUNT(fields), b, row, cells);
	cells[SAMPLES_COL_EVENT] =
		cell_text(capture_event_name(c->session->capture, b->event[row]));
	if (b->has[row] & HAS_PLACE)
		export_samples_set_place(c, b, row, cells);
	if (b->has[row] & HAS_STACK)
		cells[SAMPLES_COL_CALLCHAIN] = callchain_cell(c, b, row, t);
	if (b->has[row] & HAS_BRANCHES)
		cells[SAMPLES_COL_BRANCHES] = branches_cell(c, b, row, t);
}

const struct export_table export_samples = {
	.name = "samples",
	.shortage = "no PMU samples",
	.kind = BATCH_SAMPLES,
	.wants_names = true,
	.columns = columns,
	.n_columns = COUNT(columns),
	.row = samples_row,
};
