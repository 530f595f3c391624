/* SPDX-License-Identifier: Apache-2.0 */
/* The table "positions": what is wrong with the segments at each position of the stack. */
#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/stacks.h"
#include "estimate/shares.h"

enum positions_column {
	POSITIONS_COL_POSITION,
	POSITIONS_COL_SEGMENTS,
	POSITIONS_COL_IMPOSSIBLE,
	POSITIONS_COL_LEFT_OUT,
	POSITIONS_COL_FAULTS, /* one for each */
};

static const struct column columns[] = {
	[POSITIONS_COL_POSITION] = { "position", NULL, "", CELL_COUNT, 0,
				     "in the branch stack; 0 is the newest" },
	[POSITIONS_COL_SEGMENTS] = { "segments", NULL, "segments", CELL_COUNT, 0,
				     "recorded there" },
	[POSITIONS_COL_IMPOSSIBLE] = { "impossible", NULL, "", CELL_NUMBER, COLUMN_SHARE,
				       "part that the code cannot have run" },
	[POSITIONS_COL_LEFT_OUT] = { "left_out", NULL, "", CELL_BOOL, 0,
				     "all its segments are left out" },
};

void branch_stacks_positions(const struct branch_stacks *b, struct table *out)
{
	struct column *own;

	table_init(out, "positions", "Positions", columns, COUNT(columns));
	own = table_own_columns(out, N_SEGMENT_FAULTS);
	for (int fault = SEGMENT_GOOD + 1; fault < N_SEGMENT_FAULTS; fault++)
		own[out->n_columns++] = (struct column){
			segment_fault_id((enum segment_fault)fault),
			NULL,
			"segments",
			CELL_COUNT,
			0,
			segment_fault_text((enum segment_fault)fault),
		};
	for (size_t i = 0; i < b->n_positions; i++) {
		const struct stack_position *p = &b->positions[i];
		struct cell *cells = table_add_row(out);

		cells[POSITIONS_COL_POSITION] = cell_count(i);
		cells[POSITIONS_COL_SEGMENTS] = cell_count(p->n);
		cells[POSITIONS_COL_IMPOSSIBLE] = cell_number(stack_position_impossible(p));
		cells[POSITIONS_COL_LEFT_OUT] = cell_bool(b->options.left_out >> i & 1);
		for (int fault = SEGMENT_GOOD + 1; fault < N_SEGMENT_FAULTS; fault++)
			cells[POSITIONS_COL_FAULTS + fault - 1] = cell_count(p->by_fault[fault]);
	}
}
