/* SPDX-License-Identifier: Apache-2.0 */
/* The table "branches": a row for each branch stack entry. Columns are stable; append new ones. */
#include <string.h>

#include "base/alloc.h"
#include "capture/format/branches.h"
#include "export/export_tables.h"

enum branches_column {
	BRANCHES_COL_SAMPLE,
	BRANCHES_COL_POSITION,
	BRANCHES_COL_FROM,
	BRANCHES_COL_TO,
	BRANCHES_COL_MISPREDICTED,
	BRANCHES_COL_PREDICTED,
	BRANCHES_COL_CYCLES,
	BRANCHES_COL_TYPE,
	BRANCHES_COL_SPEC,
	BRANCHES_COL_PRIV,
	BRANCHES_COL_IN_TX,
	BRANCHES_COL_ABORT,
	BRANCHES_COL_EVENT,
	BRANCHES_COL_CPU,
	BRANCHES_COL_PID,
	BRANCHES_COL_TID,
	BRANCHES_COL_TIME,
	BRANCHES_N_COLS,
};

static const struct column columns[BRANCHES_N_COLS] = {
	[BRANCHES_COL_SAMPLE] = { "sample", NULL, "", CELL_HEX, 0,
				  "where the sample's record begins, as dump shows it" },
	[BRANCHES_COL_POSITION] = { "position", NULL, "", CELL_COUNT, 0,
				    "in the branch stack; 0 is the newest" },
	[BRANCHES_COL_FROM] = { "from", NULL, "", CELL_HEX, 0, "address of the branch" },
	[BRANCHES_COL_TO] = { "to", NULL, "", CELL_HEX, 0, "address it went to" },
	[BRANCHES_COL_MISPREDICTED] = { "mispredicted", NULL, "", CELL_BOOL, 0,
					"the prediction was wrong" },
	[BRANCHES_COL_PREDICTED] = { "predicted", NULL, "", CELL_BOOL, 0,
				     "the prediction was right" },
	[BRANCHES_COL_CYCLES] = { "cycles", NULL, "cycles", CELL_COUNT, 0,
				  "since the branch before" },
	[BRANCHES_COL_TYPE] = { "type", NULL, "", CELL_TEXT, 0,
				"kind of branch, as perf calls it" },
	[BRANCHES_COL_SPEC] = { "spec", NULL, "", CELL_TEXT, 0,
				"speculation and its outcome, as perf calls it" },
	[BRANCHES_COL_PRIV] = { "priv", NULL, "", CELL_TEXT, 0,
				"privilege at the target: user, kernel or hypervisor" },
	[BRANCHES_COL_IN_TX] = { "in_tx", NULL, "", CELL_BOOL, 0, "inside of a transaction" },
	[BRANCHES_COL_ABORT] = { "abort", NULL, "", CELL_BOOL, 0, "it aborted a transaction" },
	[BRANCHES_COL_EVENT] = { "event", NULL, "", CELL_TEXT, 0, "event that was sampled" },
	[BRANCHES_COL_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "cpu of the sample" },
	[BRANCHES_COL_PID] = { "pid", NULL, "", CELL_SIGNED, 0, "process id" },
	[BRANCHES_COL_TID] = { "tid", NULL, "", CELL_SIGNED, 0, "thread id" },
	[BRANCHES_COL_TIME] = { "time_ns", NULL, "ns", CELL_COUNT, 0,
				"time of the sample on the perf clock" },
};

static const struct export_field fields[] = {
	EXPORT_FIELD(BRANCHES_COL_FROM, HAS_PC, pc, cell_hex),
	EXPORT_FIELD(BRANCHES_COL_TO, HAS_TARGET, target, cell_hex),
	EXPORT_FIELD(BRANCHES_COL_CYCLES, HAS_BRANCH_CYCLES, branch_cycles, cell_count),
	EXPORT_FIELD(BRANCHES_COL_CPU, HAS_CPU, cpu, cell_count),
	EXPORT_FIELD(BRANCHES_COL_PID, HAS_PID, pid, export_id),
	EXPORT_FIELD(BRANCHES_COL_TID, HAS_TID, tid, export_id),
	EXPORT_FIELD(BRANCHES_COL_TIME, HAS_TIME, time_ns, cell_count),
};

static bool is_of_arm(const struct session *s)
{
	const char *arch = s->symbols_options.arch;

	return arch != NULL && strcmp(arch, "aarch64") == 0;
}

static void branches_row(const struct export_context *c, const struct batch *b, size_t row,
			 struct table *t, struct cell *cells)
{
	struct branch_flags flags = branch_read_flags(b->branch_flags[row]);

	export_fields(fields, COUNT(fields), b, row, cells);
	cells[BRANCHES_COL_SAMPLE] = cell_hex(b->position[row]);
	cells[BRANCHES_COL_POSITION] = cell_count(b->branch_position[row]);
	if (b->has[row] & HAS_EVENTS) {
		cells[BRANCHES_COL_MISPREDICTED] = cell_bool(flags.is_mispredicted);
		cells[BRANCHES_COL_PREDICTED] = cell_bool(flags.is_predicted);
	}
	cells[BRANCHES_COL_TYPE] =
		table_text_cell(t, branch_type_name(flags.type, is_of_arm(c->session)));
	cells[BRANCHES_COL_SPEC] = table_text_cell(t, branch_spec_name(flags.spec));
	cells[BRANCHES_COL_PRIV] = table_text_cell(t, branch_privilege_name(flags.privilege));
	cells[BRANCHES_COL_IN_TX] = cell_bool(flags.is_in_transaction);
	cells[BRANCHES_COL_ABORT] = cell_bool(flags.is_abort);
	cells[BRANCHES_COL_EVENT] =
		cell_text(capture_event_name(c->session->capture, b->event[row]));
}

const struct export_table export_branches = {
	.name = "branches",
	.shortage = "no branch stacks were recorded (cyclops record --branches)",
	.kind = BATCH_BRANCHES,
	.columns = columns,
	.n_columns = COUNT(columns),
	.row = branches_row,
};
