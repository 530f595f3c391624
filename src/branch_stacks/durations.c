/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/durations.h"

#include <stdlib.h>

static int compare_cycles(const void *left, const void *right)
{
	const struct segment_cycles *a = left, *b = right;

	return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

/* The smallest duration that is not below a part of all. */
static uint64_t quantile(const struct segment_cycles *times, size_t n, double wanted)
{
	uint64_t below = 0;

	for (size_t i = 0; i < n; i++) {
		below += times[i].n;
		if ((double)below >= wanted)
			return times[i].cycles;
	}
	return 0;
}

struct stack_duration stack_duration_of(struct segment_cycles *times, size_t n)
{
	struct stack_duration d = { 0 };

	if (n > 1)
		qsort(times, n, sizeof(*times), compare_cycles);
	for (size_t i = 0; i < n; i++)
		d.n += times[i].n;
	d.p50 = quantile(times, n, 0.5 * (double)d.n);
	d.p90 = quantile(times, n, 0.9 * (double)d.n);
	d.p99 = quantile(times, n, 0.99 * (double)d.n);
	return d;
}
