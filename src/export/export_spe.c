/* SPDX-License-Identifier: Apache-2.0 */
/* The table "spe": a row for each SPE record. Columns are stable; append new ones. */
#include <string.h>

#include "base/alloc.h"
#include "export/export_tables.h"
#include "spe/names.h"
#include "spe/packet.h"

enum spe_column {
	SPE_COL_CPU,
	SPE_COL_PID,
	SPE_COL_TID,
	SPE_COL_TIME,
	SPE_COL_TS,
	SPE_COL_PC,
	SPE_COL_EL,
	SPE_COL_OP,
	SPE_COL_SUBCLASS,
	SPE_COL_EVENTS,
	SPE_COL_TOTAL,
	SPE_COL_ISSUE,
	SPE_COL_XLAT,
	SPE_COL_VADDR,
	SPE_COL_PADDR,
	SPE_COL_SOURCE,
	SPE_COL_TARGET,
	SPE_COL_TAKEN,
	SPE_COL_CONTEXT,
	SPE_COL_BRANCH,
	SPE_COL_PREV_TARGET,
	SPE_N_COLS,
};

static const struct column columns[SPE_N_COLS] = {
	[SPE_COL_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "cpu that recorded it" },
	[SPE_COL_PID] = { "pid", NULL, "", CELL_SIGNED, 0, "process id" },
	[SPE_COL_TID] = { "tid", NULL, "", CELL_SIGNED, 0, "thread id" },
	[SPE_COL_TIME] = { "time_ns", NULL, "ns", CELL_COUNT, 0, "time on the perf clock" },
	[SPE_COL_TS] = { "ts", NULL, "ticks", CELL_COUNT, 0, "timestamp packet: timer counts" },
	[SPE_COL_PC] = { "pc", NULL, "", CELL_HEX, 0, "address of the instruction" },
	[SPE_COL_EL] = { "el", NULL, "", CELL_COUNT, 0, "exception level" },
	[SPE_COL_OP] = { "op", NULL, "", CELL_TEXT, 0, "LD, ST, B or OTHER" },
	[SPE_COL_SUBCLASS] = { "subclass", NULL, "", CELL_TEXT, 0, "kind of operation" },
	[SPE_COL_EVENTS] = { "events", NULL, "", CELL_TEXT, 0,
			     "events that happened, joined by :" },
	[SPE_COL_TOTAL] = { "total_lat", NULL, "cycles", CELL_COUNT, 0, "dispatch to finished" },
	[SPE_COL_ISSUE] = { "issue_lat", NULL, "cycles", CELL_COUNT, 0, "dispatch to issue" },
	[SPE_COL_XLAT] = { "xlat_lat", NULL, "cycles", CELL_COUNT, 0, "address translation" },
	[SPE_COL_VADDR] = { "vaddr", NULL, "", CELL_HEX, 0, "virtual address of the data" },
	[SPE_COL_PADDR] = { "paddr", NULL, "", CELL_HEX, 0, "physical address of the data" },
	[SPE_COL_SOURCE] = { "source", NULL, "", CELL_TEXT, 0,
			     "data source in the CPU's words; raw if the CPU is not known" },
	[SPE_COL_TARGET] = { "target", NULL, "", CELL_HEX, 0, "where the branch went" },
	[SPE_COL_TAKEN] = { "taken", NULL, "", CELL_BOOL, 0, "whether the branch was taken" },
	[SPE_COL_CONTEXT] = { "context", NULL, "", CELL_HEX, 0, "CONTEXTIDR" },
	[SPE_COL_BRANCH] = { "branch", NULL, "", CELL_TEXT, 0,
			     "call, return or neither, of a branch, if the CPU says so" },
	[SPE_COL_PREV_TARGET] = { "prev_target", "previous target", "", CELL_HEX, 0,
				  "where the taken branch before went" },
};

static const struct export_field fields[] = {
	EXPORT_FIELD(SPE_COL_CPU, HAS_CPU, cpu, cell_count),
	EXPORT_FIELD(SPE_COL_PID, HAS_PID, pid, export_id),
	EXPORT_FIELD(SPE_COL_TID, HAS_TID, tid, export_id),
	EXPORT_FIELD(SPE_COL_TIME, HAS_TIME, time_ns, cell_count),
	EXPORT_FIELD(SPE_COL_TS, HAS_TICKS, ticks, cell_count),
	EXPORT_FIELD(SPE_COL_PC, HAS_PC, pc, cell_hex),
	EXPORT_FIELD(SPE_COL_TOTAL, HAS_TOTAL, total, cell_count),
	EXPORT_FIELD(SPE_COL_ISSUE, HAS_ISSUE, issue, cell_count),
	EXPORT_FIELD(SPE_COL_XLAT, HAS_XLAT, xlat, cell_count),
	EXPORT_FIELD(SPE_COL_VADDR, HAS_VA, va, cell_hex),
	EXPORT_FIELD(SPE_COL_PADDR, HAS_PA, pa, cell_hex),
	EXPORT_FIELD(SPE_COL_TARGET, HAS_TARGET, target, cell_hex),
	EXPORT_FIELD(SPE_COL_PREV_TARGET, HAS_PREV_TARGET, prev_target, cell_hex),
	EXPORT_FIELD(SPE_COL_CONTEXT, HAS_CONTEXT, context, cell_hex),
};

/* Codes of operations: class and payload. */
static unsigned op_code(const struct batch *b, size_t row)
{
	return (unsigned)b->op_class[row] << 8 | b->op[row];
}

static struct spe_op op_of_code(uint64_t code)
{
	return spe_op_of((uint8_t)(code >> 8), (uint8_t)code);
}

static void spell_op(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, op_of_code(code).op);
}

static void spell_subclass(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, op_of_code(code).subclass);
}

static void spell_branch(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, op_of_code(code).branch);
}

static void spell_events(const void *context, uint64_t events, struct text *out)
{
	(void)context;
	spe_events_text(events, ':', out);
}

/* Codes of data sources: the CPU, which knows its name, and the source. */
static uint64_t source_code(const struct batch *b, size_t row)
{
	uint32_t cpu = batch_cpu(b, row);

	return (uint64_t)cpu << 16 | b->source[row];
}

static const struct cpu_source *source_of_code(const struct export_context *c, uint64_t code)
{
	return session_source(c->session, (uint32_t)(code >> 16), (uint16_t)code);
}

static void spell_source(const void *context, uint64_t code, struct text *out)
{
	const struct cpu_source *source = source_of_code(context, code);

	if (source != NULL)
		text_str(out, source->name);
	else
		text_hex(out, (uint16_t)code);
}

static void set_operation(const struct batch *b, size_t row, struct cell *cells)
{
	struct spe_op op = op_of_code(op_code(b, row));

	cells[SPE_COL_OP] = cell_text(op.op);
	if (op.subclass[0] != '\0')
		cells[SPE_COL_SUBCLASS] = cell_text(op.subclass);
	if (op.branch != NULL)
		cells[SPE_COL_BRANCH] = cell_text(op.branch);
	if (op.is_branch && b->has[row] & HAS_EVENTS)
		cells[SPE_COL_TAKEN] = cell_bool(spe_branch_is_taken(b->op[row], b->events[row]));
}

static struct cell source_cell(const struct export_context *c, const struct batch *b, size_t row)
{
	const struct cpu_source *source = source_of_code(c, source_code(b, row));

	return source != NULL ? cell_text(source->name) : cell_hex(b->source[row]);
}

static void spe_row(const struct export_context *c, const struct batch *b, size_t row,
		    struct table *t, struct cell *cells)
{
	if (b->has[row] & HAS_PC)
		cells[SPE_COL_EL] = cell_count(batch_pc_level(b, row));
	if (b->has[row] & HAS_OP)
		set_operation(b, row, cells);
	if (b->has[row] & HAS_SOURCE)
		cells[SPE_COL_SOURCE] = source_cell(c, b, row);
	if (b->has[row] & HAS_EVENTS) {
		text_reset(c->scratch);
		spe_events_text(b->events[row], ':', c->scratch);
		cells[SPE_COL_EVENTS] = export_scratch_cell(c, t);
	}
}

static const struct export_code codes[] = {
	{ SPE_COL_EL, PARQUET_UINT32, sizeof(uint8_t), NULL },
	{ SPE_COL_OP, PARQUET_TEXT, sizeof(uint16_t), spell_op },
	{ SPE_COL_SUBCLASS, PARQUET_TEXT, sizeof(uint16_t), spell_subclass },
	{ SPE_COL_EVENTS, PARQUET_TEXT, sizeof(uint64_t), spell_events },
	{ SPE_COL_SOURCE, PARQUET_TEXT, sizeof(uint64_t), spell_source },
	{ SPE_COL_TAKEN, PARQUET_BOOL, sizeof(uint8_t), NULL },
	{ SPE_COL_BRANCH, PARQUET_TEXT, sizeof(uint16_t), spell_branch },
};

/* What a row has, for the columns whose presence is no bit of batch.has. */
enum { SHOWS_SUBCLASS = 1, SHOWS_EVENTS = 2, SHOWS_TAKEN = 4, SHOWS_BRANCH = 8 };

static void put_operations(const struct batch *b, const uint32_t *shows,
			   const struct export_put *out)
{
	uint16_t ops[BATCH_ROWS];
	uint8_t taken[BATCH_ROWS];

	for (size_t row = 0; row < b->n; row++) {
		ops[row] = (uint16_t)op_code(b, row);
		taken[row] = spe_branch_is_taken(b->op[row], b->events[row]);
	}
	out->rows(out->to, SPE_COL_OP, ops, sizeof(*ops), b->has, HAS_OP, b->n);
	out->rows(out->to, SPE_COL_SUBCLASS, ops, sizeof(*ops), shows, SHOWS_SUBCLASS, b->n);
	out->rows(out->to, SPE_COL_TAKEN, taken, sizeof(*taken), shows, SHOWS_TAKEN, b->n);
	out->rows(out->to, SPE_COL_BRANCH, ops, sizeof(*ops), shows, SHOWS_BRANCH, b->n);
}

/* What operations of a code show, by its twelve bits. */
static uint8_t shows_of_op(uint64_t code)
{
	struct spe_op op = op_of_code(code);

	return (uint8_t)((op.subclass[0] != '\0' ? SHOWS_SUBCLASS : 0) |
			 (op.is_branch ? SHOWS_TAKEN : 0) | (op.branch != NULL ? SHOWS_BRANCH : 0));
}

static void find_shows(const struct batch *b, uint32_t *out)
{
	enum { NOT_ASKED = 0xff };
	uint8_t of_op[1024]; /* by code */

	memset(of_op, NOT_ASKED, sizeof(of_op));
	for (size_t row = 0; row < b->n; row++) {
		bool has_events = (b->has[row] & HAS_EVENTS) != 0;
		unsigned code = op_code(b, row) % COUNT(of_op);

		if (of_op[code] == NOT_ASKED)
			of_op[code] = shows_of_op(code);
		out[row] = (b->has[row] & HAS_OP
				    ? of_op[code] & (has_events ? ~0u : ~(unsigned)SHOWS_TAKEN)
				    : 0) |
			   (has_events && b->events[row] != 0 ? SHOWS_EVENTS : 0);
	}
}

static void spe_put(const struct export_context *c, const struct batch *b,
		    const struct export_put *out)
{
	uint32_t shows[BATCH_ROWS];
	uint8_t levels[BATCH_ROWS];
	uint64_t sources[BATCH_ROWS];

	(void)c;
	find_shows(b, shows);
	for (size_t row = 0; row < b->n; row++) {
		levels[row] = (uint8_t)batch_pc_level(b, row);
		sources[row] = source_code(b, row);
	}
	put_operations(b, shows, out);
	out->rows(out->to, SPE_COL_EL, levels, sizeof(*levels), b->has, HAS_PC, b->n);
	out->rows(out->to, SPE_COL_EVENTS, b->events, sizeof(*b->events), shows, SHOWS_EVENTS,
		  b->n);
	out->rows(out->to, SPE_COL_SOURCE, sources, sizeof(*sources), b->has, HAS_SOURCE, b->n);
}

const struct export_table export_spe = {
	.name = "spe",
	.shortage = "no SPE records (cyclops record --spe)",
	.kind = BATCH_SPE,
	.columns = columns,
	.n_columns = COUNT(columns),
	.fields = fields,
	.n_fields = COUNT(fields),
	.row = spe_row,
	.codes = codes,
	.n_codes = COUNT(codes),
	.put = spe_put,
};
