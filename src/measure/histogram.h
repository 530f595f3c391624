/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms: values below 64 have a bucket each, every octave above them has 64 of equal
 * width. So a bucket is at most 1/64 of its lower end wide.
 */
#ifndef CYCLOPS_MEASURE_HISTOGRAM_H
#define CYCLOPS_MEASURE_HISTOGRAM_H

#include <stdint.h>

enum {
	HISTOGRAM_BITS = 6,
	HISTOGRAM_LINEAR = 1 << HISTOGRAM_BITS,
	HISTOGRAM_TOP = 48, /* values from 2^48 on are in the last bucket */
	HISTOGRAM_BUCKETS = (HISTOGRAM_TOP - HISTOGRAM_BITS + 1) * HISTOGRAM_LINEAR,
};

static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(value | HISTOGRAM_LINEAR) - HISTOGRAM_BITS;

	if (value >> HISTOGRAM_TOP != 0)
		return HISTOGRAM_BUCKETS - 1;
	/* From the second octave on, the highest bit of the shifted value is one more octave. */
	return octave * HISTOGRAM_LINEAR + (unsigned)(value >> octave);
}

/* The lowest value of a bucket; of HISTOGRAM_BUCKETS, the first value above all. */
static inline uint64_t histogram_low(unsigned bucket)
{
	unsigned octave = bucket / HISTOGRAM_LINEAR;

	if (octave == 0)
		return bucket;
	return (uint64_t)(HISTOGRAM_LINEAR + bucket % HISTOGRAM_LINEAR) << (octave - 1);
}

/*
 * The upper end of the bucket with this part of all `n` values in or below it; 0 if there are none. Others
 * may add to the buckets meanwhile.
 */
static inline uint64_t histogram_upper_quantile(const uint64_t *buckets, uint64_t n, double part)
{
	uint64_t wanted = (uint64_t)(part * (double)n + 0.5), seen = 0;

	wanted = wanted == 0 ? 1 : wanted > n ? n : wanted;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && n > 0; i++) {
		seen += __atomic_load_n(&buckets[i], __ATOMIC_RELAXED);
		if (seen >= wanted)
			return histogram_low(i + 1) - 1;
	}
	return 0;
}

#endif
