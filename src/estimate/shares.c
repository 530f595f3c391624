/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/shares.h"

#include <math.h>

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

double share_spread(double squares, double n, double weight)
{
	return squares <= 0 || weight <= 0 ? 1 : squares * n / (weight * weight);
}

double share_error(double share, uint64_t n, uint64_t n_all, double spread, double rest_spread)
{
	if (n == 0 || n >= n_all || share >= 1)
		return 0;
	return 1.96 * share * (1 - share) *
	       sqrt(spread / (double)n + rest_spread / (double)(n_all - n));
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

void latency_share_bounds(struct latency_amount part, struct latency_amount whole,
			  double *out_least, double *out_most)
{
	const double more = LATENCY_SATURATED_TIMES - 1;
	double own = (double)part.cycles, most = own + more * (double)part.full;
	double rest = (double)(whole.cycles - part.cycles);
	double most_rest = rest + more * (double)(whole.full - part.full);

	*out_least = own + most_rest > 0 ? own / (own + most_rest) : 0;
	*out_most = most + rest > 0 ? most / (most + rest) : 0;
}

struct cell cell_latency_share(struct latency_amount part, struct latency_amount whole, uint64_t n)
{
	struct cell cell = cell_ratio(part.cycles, whole.cycles);

	return cell_sparse(cell_marked(cell, latency_share_mark(part, whole)), n);
}
