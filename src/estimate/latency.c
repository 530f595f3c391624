/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/latency.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { GROW_BUCKETS = 64 };

static void latency_set(struct latencies *l, enum latency what, uint32_t has, uint32_t bit,
			uint16_t cycles)
{
	l->cycles[what] = cycles;
	l->state[what] = !(has & bit)		   ? LATENCY_ABSENT
			 : latency_is_full(cycles) ? LATENCY_FULL
						   : LATENCY_USABLE;
}

/* `a` and less of `b`, where both are known; counters that contradict each other give 0. */
static void set_difference(struct latencies *l, enum latency what, enum latency a, enum latency b)
{
	enum latency_state state = latency_state_of_difference((enum latency_state)l->state[a],
							       (enum latency_state)l->state[b]);

	l->state[what] = (uint8_t)state;
	if (state != LATENCY_USABLE)
		l->cycles[what] = l->cycles[a];
	else
		l->cycles[what] =
			l->cycles[a] > l->cycles[b] ? (uint16_t)(l->cycles[a] - l->cycles[b]) : 0;
}

void latencies_read(struct latencies *l, const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];

	latency_set(l, LATENCY_TOTAL, has, HAS_TOTAL, b->total[row]);
	latency_set(l, LATENCY_ISSUE, has, HAS_ISSUE, b->issue[row]);
	latency_set(l, LATENCY_XLAT, has, HAS_XLAT, b->xlat[row]);
	set_difference(l, LATENCY_ACCESS, LATENCY_TOTAL, LATENCY_ISSUE);
	if (has & HAS_XLAT) {
		set_difference(l, LATENCY_EXECUTION, LATENCY_ACCESS, LATENCY_XLAT);
	} else {
		l->cycles[LATENCY_EXECUTION] = l->cycles[LATENCY_ACCESS];
		l->state[LATENCY_EXECUTION] = l->state[LATENCY_ACCESS];
	}
}

struct latencies latencies_of(const struct batch *b, size_t row)
{
	struct latencies l;

	latencies_read(&l, b, row);
	return l;
}

double latency_mean(const struct latency_sum *s)
{
	return s->n == 0 ? NAN : (double)s->cycles / (double)s->n;
}

/* The first value of a bucket, and how many there are. */
static uint32_t bucket_start(uint32_t bucket, uint32_t *out_size)
{
	uint32_t above = bucket - HISTOGRAM_EXACT;
	unsigned shift = above / HISTOGRAM_STEPS + 1;

	*out_size = 1;
	if (bucket < HISTOGRAM_EXACT)
		return bucket;
	*out_size = 1u << shift;
	return (above % HISTOGRAM_STEPS + HISTOGRAM_STEPS) << shift;
}

static void reach(struct histogram *h, uint32_t n)
{
	if (n <= h->n)
		return;
	n = (n + GROW_BUCKETS - 1) / GROW_BUCKETS * GROW_BUCKETS;
	h->counts = mem_grow_zeroed(h->counts, h->n, n, sizeof(*h->counts));
	h->n = n;
}

void histogram_add_rare(struct histogram *h, uint32_t cycles, enum latency_state state)
{
	if (state == LATENCY_ABSENT)
		return;
	if (state == LATENCY_FULL) {
		h->n_full++;
		h->full = cycles > h->full ? cycles : h->full;
		return;
	}
	reach(h, histogram_bucket(cycles) + 1);
	histogram_add(h, cycles, state);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	reach(into, from->n);
	for (uint32_t i = 0; i < from->n; i++)
		into->counts[i] += from->counts[i];
	into->n_usable += from->n_usable;
	into->n_full += from->n_full;
	into->largest = from->largest > into->largest ? from->largest : into->largest;
	into->full = from->full > into->full ? from->full : into->full;
}

void histogram_release(struct histogram *h)
{
	free(h->counts);
	*h = (struct histogram){ 0 };
}

double histogram_quantile(const struct histogram *h, double q, bool *out_is_full)
{
	uint64_t n = h->n_usable + h->n_full, below = 0;
	uint64_t rank = (uint64_t)ceil(q * (double)n);
	uint32_t size, start;

	*out_is_full = false;
	if (n == 0)
		return NAN;
	rank = rank == 0 ? 1 : rank;
	if (rank > h->n_usable) {
		*out_is_full = true;
		return h->full;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		below += h->counts[i];
		if (below < rank)
			continue;
		start = bucket_start(i, &size);
		return fmin(start + (size - 1) / 2.0, h->largest);
	}
	return h->largest;
}

uint64_t histogram_between(const struct histogram *h, uint32_t from, uint32_t to)
{
	uint64_t n = 0;

	for (uint32_t i = histogram_bucket(from); i < h->n && i < histogram_bucket(to); i++)
		n += h->counts[i];
	return n;
}
