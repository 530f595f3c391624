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

static void spell_type(const void *context, uint64_t code, struct text *out)
{
	const struct export_context *c = context;

	text_str(out, branch_type_name((unsigned)code, is_of_arm(c->session)));
}

static void spell_spec(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, branch_spec_name((unsigned)code));
}

static void spell_privilege(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, branch_privilege_name((uint8_t)code));
}

static const struct export_code codes[] = {
	{ BRANCHES_COL_SAMPLE, PARQUET_UINT64, sizeof(uint64_t), NULL },
	{ BRANCHES_COL_POSITION, PARQUET_UINT32, sizeof(uint32_t), NULL },
	{ BRANCHES_COL_MISPREDICTED, PARQUET_BOOL, sizeof(uint8_t), NULL },
	{ BRANCHES_COL_PREDICTED, PARQUET_BOOL, sizeof(uint8_t), NULL },
	{ BRANCHES_COL_TYPE, PARQUET_TEXT, sizeof(uint32_t), spell_type },
	{ BRANCHES_COL_SPEC, PARQUET_TEXT, sizeof(uint32_t), spell_spec },
	{ BRANCHES_COL_PRIV, PARQUET_TEXT, sizeof(uint32_t), spell_privilege },
	{ BRANCHES_COL_IN_TX, PARQUET_BOOL, sizeof(uint8_t), NULL },
	{ BRANCHES_COL_ABORT, PARQUET_BOOL, sizeof(uint8_t), NULL },
	{ BRANCHES_COL_EVENT, PARQUET_TEXT, sizeof(uint16_t), export_spell_event },
};

/* A row has a type, what is known of speculation and privilege, and a prediction. */
enum {
	SHOWS_ALWAYS = 1,
	SHOWS_TYPE = 2,
	SHOWS_SPEC = 4,
	SHOWS_PRIVILEGE = 8,
	SHOWS_PREDICTION = 16
};

/* The flags of entries, apart, as columns. */
struct flag_columns {
	uint32_t shows[BATCH_ROWS];
	uint32_t types[BATCH_ROWS], specs[BATCH_ROWS], privileges[BATCH_ROWS];
	uint8_t mispredicted[BATCH_ROWS], predicted[BATCH_ROWS];
	uint8_t in_transaction[BATCH_ROWS], aborts[BATCH_ROWS];
};

static void read_flags(const struct export_context *c, const struct batch *b,
		       struct flag_columns *out)
{
	bool is_arm = is_of_arm(c->session);

	for (size_t row = 0; row < b->n; row++) {
		struct branch_flags flags = branch_read_flags(b->branch_flags[row]);

		out->shows[row] =
			SHOWS_ALWAYS | (b->has[row] & HAS_EVENTS ? SHOWS_PREDICTION : 0) |
			(branch_type_name(flags.type, is_arm) != NULL ? SHOWS_TYPE : 0) |
			(branch_spec_name(flags.spec) != NULL ? SHOWS_SPEC : 0) |
			(branch_privilege_name(flags.privilege) != NULL ? SHOWS_PRIVILEGE : 0);
		out->types[row] = flags.type;
		out->specs[row] = flags.spec;
		out->privileges[row] = flags.privilege;
		out->mispredicted[row] = flags.is_mispredicted;
		out->predicted[row] = flags.is_predicted;
		out->in_transaction[row] = flags.is_in_transaction;
		out->aborts[row] = flags.is_abort;
	}
}

static void branches_put(const struct export_context *c, const struct batch *b,
			 const struct export_put *out)
{
	struct flag_columns flags;
	const struct {
		size_t column;
		const void *first;
		unsigned width;
		uint32_t bit;
	} columns_put[] = {
		{ BRANCHES_COL_SAMPLE, b->position, sizeof(*b->position), SHOWS_ALWAYS },
		{ BRANCHES_COL_POSITION, b->branch_position, sizeof(*b->branch_position),
		  SHOWS_ALWAYS },
		{ BRANCHES_COL_MISPREDICTED, flags.mispredicted, sizeof(uint8_t),
		  SHOWS_PREDICTION },
		{ BRANCHES_COL_PREDICTED, flags.predicted, sizeof(uint8_t), SHOWS_PREDICTION },
		{ BRANCHES_COL_TYPE, flags.types, sizeof(uint32_t), SHOWS_TYPE },
		{ BRANCHES_COL_SPEC, flags.specs, sizeof(uint32_t), SHOWS_SPEC },
		{ BRANCHES_COL_PRIV, flags.privileges, sizeof(uint32_t), SHOWS_PRIVILEGE },
		{ BRANCHES_COL_IN_TX, flags.in_transaction, sizeof(uint8_t), SHOWS_ALWAYS },
		{ BRANCHES_COL_ABORT, flags.aborts, sizeof(uint8_t), SHOWS_ALWAYS },
		{ BRANCHES_COL_EVENT, b->event, sizeof(*b->event), SHOWS_ALWAYS },
	};

	read_flags(c, b, &flags);
	for (size_t i = 0; i < COUNT(columns_put); i++)
		out->rows(out->to, columns_put[i].column, columns_put[i].first,
			  columns_put[i].width, flags.shows, columns_put[i].bit, b->n);
}

const struct export_table export_branches = {
	.name = "branches",
	.shortage = "no branch stacks were recorded (cyclops record --branches)",
	.kind = BATCH_BRANCHES,
	.columns = columns,
	.n_columns = COUNT(columns),
	.fields = fields,
	.n_fields = COUNT(fields),
	.row = branches_row,
	.codes = codes,
	.n_codes = COUNT(codes),
	.put = branches_put,
};
