/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shares.h"

struct cell cell_ratio(uint64_t part, uint64_t whole)
{
	return whole == 0 ? (struct cell){ 0 } : cell_number(ratio(part, whole));
}

struct cell cell_sparse(struct cell cell, uint64_t n)
{
	return n < SPARSE_BELOW && cell.type != CELL_NONE ? cell_marked(cell, MARK_SPARSE) : cell;
}

struct cell cell_latency_share(uint64_t cycles, uint64_t whole, uint64_t n, bool is_cut)
{
	struct cell cell = cell_ratio(cycles, whole);

	return cell_sparse(is_cut ? cell_marked(cell, MARK_SATURATED) : cell, n);
}
