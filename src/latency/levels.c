/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double tolerance = 1.2, distinct = 1.25, shortest = 2;

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct search {
	const double *sizes;
	double *lowered;
	struct levels *out;
};

static double median_of_range(const double *values, size_t first, size_t last)
{
	size_t n = last - first + 1;
	double *copy = mem_alloc(n, sizeof(*copy)), median;

	memcpy(copy, values + first, n * sizeof(*copy));
	median = median_of(copy, n);
	free(copy);
	return median;
}

/* Finds the longest range in [from, to), then those left and right of it: in ascending order. */
static void find_between(const struct search *s, size_t from, size_t to)
{
	size_t first = 0, last = 0;
	double longest = 0;

	for (size_t i = from, end = from; i < to; i++) {
		double ratio;

		if (end < i)
			end = i;
		while (end + 1 < to && s->lowered[end + 1] <= s->lowered[i] * tolerance)
			end++;
		ratio = s->sizes[end] / s->sizes[i];
		if (ratio > longest) {
			longest = ratio;
			first = i;
			last = end;
		}
	}
	if (longest < shortest)
		return;
	find_between(s, from, first);
	if (s->out->n < LEVELS_MAX)
		s->out->items[s->out->n++] =
			(struct level){ first, last, median_of_range(s->lowered, first, last) };
	find_between(s, last + 1, to);
}

static void merge_alike(const struct search *s)
{
	struct levels *l = s->out;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct level *before = n == 0 ? NULL : &l->items[n - 1];

		if (before != NULL && l->items[i].latency < before->latency * distinct) {
			before->last = l->items[i].last;
			before->latency = median_of_range(s->lowered, before->first, before->last);
		} else {
			l->items[n++] = l->items[i];
		}
	}
	l->n = n;
}

void levels_find(const double *sizes, const double *latencies, size_t n, struct levels *out)
{
	struct search s = { sizes, mem_alloc(n, sizeof(double)), out };

	out->n = 0;
	for (size_t i = n; i-- > 0;)
		s.lowered[i] = i + 1 < n && s.lowered[i + 1] < latencies[i] ? s.lowered[i + 1]
									    : latencies[i];
	find_between(&s, 0, n);
	merge_alike(&s);
	free(s.lowered);
}
