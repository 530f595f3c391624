/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What latency counters of SPE records add up to: means, and distributions to take
 * percentiles from. A counter that was full says "at least": it is left out of means, and in
 * distributions it stands above all others.
 *
 * 4095 counts as full also where counters are 16 bits wide (captures do not say how wide) and
 * it need not be: one value in 65536.
 */
#ifndef CYCLOPS_ESTIMATE_LATENCY_H
#define CYCLOPS_ESTIMATE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"

enum latency {
	LATENCY_TOTAL,	   /* dispatch to finished */
	LATENCY_EXECUTION, /* total - issue - translation */
	LATENCY_ISSUE,	   /* dispatch to issue */
	LATENCY_XLAT,	   /* translation */
	LATENCY_ACCESS,	   /* total - issue: execution and translation */
	N_LATENCIES,

	/* Of samples with a weight, whose first part counts as the total (access/samples.h). */
	LATENCY_INSTRUCTION = N_LATENCIES, /* second part: of the whole instruction */
	LATENCY_STAGE,			   /* third part: what that is depends on the CPU */
	N_ALL_LATENCIES,
};

enum latency_state {
	LATENCY_ABSENT, /* one of the counters it is made from was not recorded */
	LATENCY_USABLE,
	LATENCY_FULL, /* one of them was full */
};

/* The state of what is left of one latency without another one. */
static inline enum latency_state latency_state_of_difference(enum latency_state a,
							     enum latency_state b)
{
	if (a == LATENCY_ABSENT || b == LATENCY_ABSENT)
		return LATENCY_ABSENT;
	return a == LATENCY_USABLE && b == LATENCY_USABLE ? LATENCY_USABLE : LATENCY_FULL;
}

/* The latencies of one record, in cycles. */
struct latencies {
	uint16_t cycles[N_LATENCIES];
	uint8_t state[N_LATENCIES]; /* enum latency_state */
};

struct latencies latencies_of(const struct batch *, size_t row);

/* The same into an array: of many records it is quicker than to copy each. */
void latencies_read(struct latencies *, const struct batch *, size_t row);

/* What a full counter of an SPE record shows at least: all of 12 bits. */
enum { LATENCY_LEAST_FULL = 4095 };

/* Is this what a full counter of an SPE record shows? They have 12 bits, or 16. */
static inline bool latency_is_full(uint64_t cycles)
{
	return cycles == LATENCY_LEAST_FULL || cycles == 65535;
}

/*
 * Sums of many records, up to 2^32 - 1: 256 GiB of them. Each place has some. Full counters are kept
 * apart, so that a mean is of measured values only; bottleneck/ needs parts of a whole instead, and
 * adds what full counters show.
 */
struct latency_sum {
	uint64_t cycles;    /* of usable ones */
	uint32_t n, n_full; /* usable ones, and full ones */
};

/* Mean of the usable ones; NAN if there are none. */
double latency_mean(const struct latency_sum *);

/*
 * A distribution in bounded memory: exact up to HISTOGRAM_EXACT, then in 256 steps for each
 * doubling, so that a value read from it is within 0.2 %. Zeroed is empty. Counts up to
 * 2^32 - 1 of a value: 256 GiB of records.
 */
struct histogram {
	uint32_t *counts; /* by bucket */
	uint32_t n;	  /* buckets there are */
	uint64_t n_usable, n_full;
	uint32_t largest; /* usable value */
	uint32_t full;	  /* where counters were full: 4095, 65535 …; 0 if none was */
};

enum {
	HISTOGRAM_EXACT_BITS = 9,
	HISTOGRAM_EXACT = 1 << HISTOGRAM_EXACT_BITS,
	HISTOGRAM_STEPS = 256
};

/* Buckets: 0 … 511 each of one value, then 256 of two, 256 of four, … */
static inline uint32_t histogram_bucket(uint32_t value)
{
	unsigned shift;

	if (value < HISTOGRAM_EXACT)
		return value;
	shift = 31u - (unsigned)__builtin_clz(value) - (HISTOGRAM_EXACT_BITS - 1);
	return HISTOGRAM_EXACT + (shift - 1) * HISTOGRAM_STEPS + (value >> shift) - HISTOGRAM_STEPS;
}

/* For histogram_add(): what is not usable, or needs more buckets than there are. */
void histogram_add_rare(struct histogram *, uint32_t cycles, enum latency_state);

static inline void histogram_add(struct histogram *h, uint32_t cycles, enum latency_state state)
{
	uint32_t bucket = histogram_bucket(cycles);

	if (state != LATENCY_USABLE || bucket >= h->n) {
		histogram_add_rare(h, cycles, state);
		return;
	}
	h->counts[bucket]++;
	h->n_usable++;
	h->largest = cycles > h->largest ? cycles : h->largest;
}

void histogram_merge(struct histogram *into, const struct histogram *from);
void histogram_release(struct histogram *);

/*
 * The smallest value that is not below a part `q` (0 … 1) of all values, the middle of its
 * bucket where those are not exact; NAN if there are none. If that is among the full ones it
 * is where counters end, and *out_is_full.
 */
double histogram_quantile(const struct histogram *, double q, bool *out_is_full);

/* Usable values of [from, to), counted by bucket: exact where from and to begin buckets. */
uint64_t histogram_between(const struct histogram *, uint32_t from, uint32_t to);

#endif
