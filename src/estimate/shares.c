/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/shares.h"

/* Of the whole: where full counters hold more, shares are bounds. */
static const double least_full_share = 0.01;

struct cell cell_ratio(uint64_t part, uint64_t whole)
{
	return whole == 0 ? (struct cell){ 0 } : cell_number(ratio(part, whole));
}

struct cell cell_sparse(struct cell cell, uint64_t n)
{
	return n < SPARSE_BELOW && cell.type != CELL_NONE ? cell_marked(cell, MARK_SPARSE) : cell;
}

enum cell_mark latency_share_mark(struct latency_amount part, struct latency_amount whole)
{
	double little = least_full_share * (double)whole.cycles;
	double others = whole.full > part.full ? (double)(whole.full - part.full) : 0;

	if (part.cycles == whole.cycles) /* all of it, whatever it is */
		return MARK_EXACT;
	return mark_bound((double)part.full > little, others > little);
}

const char *latency_share_words(enum cell_mark mark)
{
	switch (mark) {
	case MARK_SATURATED:
		return "at least ";
	case MARK_AT_MOST:
		return "at most ";
	case MARK_UNCERTAIN:
		return "about ";
	default:
		return "";
	}
}

struct cell cell_latency_share(struct latency_amount part, struct latency_amount whole, uint64_t n)
{
	struct cell cell = cell_ratio(part.cycles, whole.cycles);

	return cell_sparse(cell_marked(cell, latency_share_mark(part, whole)), n);
}
