/* SPDX-License-Identifier: Apache-2.0 */
/* How well the callers of SPE records are known. */
#include "callers/callers.h"

#include "quality/parts.h"

enum callers_column {
	CALLERS_FUNCTION,
	CALLERS_THREAD,
	CALLERS_RECORDS,
	CALLERS_STACKS,
	CALLERS_ERROR,
	CALLERS_LATENCY_ERROR,
	CALLERS_MISSES_ERROR,
	N_CALLERS_COLUMNS
};

static const struct column callers_columns[] = {
	[CALLERS_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "function of the SPE records" },
	[CALLERS_THREAD] = { "thread", NULL, "", CELL_COUNT, 0,
			     "its thread; none: all threads of a process that have few stacks" },
	[CALLERS_RECORDS] = { "records", NULL, "records", CELL_COUNT, 0,
			      "SPE records whose callers are estimated" },
	[CALLERS_STACKS] = { "stacks", NULL, "stacks", CELL_COUNT, 0,
			     "samples with call chains that they are estimated from" },
	[CALLERS_ERROR] = { "error_records", "± records", "", CELL_NUMBER, COLUMN_SHARE,
			    "half of the 95 % interval of the share of records that a caller has" },
	[CALLERS_LATENCY_ERROR] = { "error_latency", "± latency", "", CELL_NUMBER, COLUMN_SHARE,
				    "the same of its share of total latency" },
	[CALLERS_MISSES_ERROR] = { "error_l1d_misses", "± L1D refill", "", CELL_NUMBER,
				   COLUMN_SHARE, "the same of its share of misses of the L1D" },
};

void quality_callers(struct session *s, size_t top, struct table *out)
{
	struct callers_known known;
	struct names names = { 0 };
	size_t n = 0;

	if (callers_known_of_all(s).n_records > 0)
		names_init(&names, s, NULL, SYMBOLS_FUNCTIONS);
	table_init(out, "callers", "Callers of SPE records, estimated", callers_columns,
		   N_CALLERS_COLUMNS);
	for (; callers_known_at(s, n, &known); n++) {
		struct cell *row;

		if (n >= top)
			continue;
		row = table_add_row(out);
		row[CALLERS_FUNCTION] = cell_text(names_function(&names, known.place));
		if (known.is_by_thread)
			row[CALLERS_THREAD] = cell_count(known.id);
		row[CALLERS_RECORDS] = cell_count(known.n_records);
		row[CALLERS_STACKS] = cell_count(known.n_stacks);
		for (size_t q = 0; q < N_CALLERS_QUANTITIES; q++)
			row[CALLERS_ERROR + q] = cell_number(known.error[q]);
	}
	if (n > top)
		table_note(out, "%zu more; --all shows them", n - top);
	names_release(&names);
}
