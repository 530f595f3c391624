/* SPDX-License-Identifier: Apache-2.0 */
/* The table "spe": a row for each SPE record. Columns are stable; append new ones. */
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
	EXPORT_FIELD(SPE_COL_CONTEXT, HAS_CONTEXT, context, cell_hex),
};

static void set_operation(const struct batch *b, size_t row, struct cell *cells)
{
	struct spe_op op = spe_op_of(b->op_class[row], b->op[row]);

	cells[SPE_COL_OP] = cell_text(op.op);
	if (op.subclass[0] != '\0')
		cells[SPE_COL_SUBCLASS] = cell_text(op.subclass);
	if (op.is_branch && b->has[row] & HAS_EVENTS)
		cells[SPE_COL_TAKEN] = cell_bool(spe_branch_is_taken(b->op[row], b->events[row]));
}

static struct cell source_cell(const struct export_context *c, const struct batch *b, size_t row)
{
	uint32_t cpu = b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
	const struct cpu_source *source = session_source(c->session, cpu, b->source[row]);

	return source != NULL ? cell_text(source->name) : cell_hex(b->source[row]);
}

static void spe_row(const struct export_context *c, const struct batch *b, size_t row,
		    struct table *t, struct cell *cells)
{
	export_fields(fields, COUNT(fields), b, row, cells);
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

const struct export_table export_spe = {
	.name = "spe",
	.shortage = "no SPE records (cyclops record --spe)",
	.kind = BATCH_SPE,
	.columns = columns,
	.n_columns = COUNT(columns),
	.row = spe_row,
};
