/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/times.h"

#include <stdlib.h>

enum { PART_OF_PEAK = 10, GAP_IN_PEAK = 2 };

void times_add(struct times *t, uint64_t value, uint64_t n)
{
	*vec_add(&t->list) = (struct time_count){ value, n };
	t->n += n;
}

static int compare_values(const void *a, const void *b)
{
	const struct time_count *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

void times_sort(struct times *t)
{
	size_t n = 0;

	if (t->list.n == 0)
		return;
	qsort(t->list.items, t->list.n, sizeof(*t->list.items), compare_values);
	for (size_t i = 0; i < t->list.n; i++) {
		if (n > 0 && t->list.items[n - 1].value == t->list.items[i].value)
			t->list.items[n - 1].n += t->list.items[i].n;
		else
			t->list.items[n++] = t->list.items[i];
	}
	t->list.n = n;
}

void times_release(struct times *t)
{
	vec_release(&t->list);
	t->n = 0;
}

/* From the mode in steps of `step` (1, -1) to the last value of the peak. */
static size_t peak_end(const struct times *t, size_t mode, size_t last, int step)
{
	uint64_t least = (t->list.items[mode].n + PART_OF_PEAK - 1) / PART_OF_PEAK;
	size_t end = mode;

	for (size_t i = mode; i != last;) {
		uint64_t gap;

		i = (size_t)((ptrdiff_t)i + step);
		gap = t->list.items[i].value > t->list.items[end].value
			      ? t->list.items[i].value - t->list.items[end].value
			      : t->list.items[end].value - t->list.items[i].value;
		if (gap > GAP_IN_PEAK)
			break;
		if (t->list.items[i].n >= least)
			end = i;
	}
	return end;
}

struct time_peak times_peak(const struct times *t)
{
	size_t mode = 0;

	for (size_t i = 1; i < t->list.n; i++)
		if (t->list.items[i].n > t->list.items[mode].n)
			mode = i;
	return (struct time_peak){
		.mode = t->list.items[mode].value,
		.low = t->list.items[peak_end(t, mode, 0, -1)].value,
		.high = t->list.items[peak_end(t, mode, t->list.n - 1, 1)].value,
	};
}

uint64_t times_quantile(const struct times *t, double q)
{
	uint64_t below = 0;

	for (size_t i = 0; i < t->list.n; i++) {
		below += t->list.items[i].n;
		if ((double)below >= q * (double)t->n)
			return t->list.items[i].value;
	}
	return t->list.items[t->list.n - 1].value;
}
