/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an access to memory counts as when it comes to caches: the counters of `perf c2c`,
 * which are the words that people know for it. One access may count in several of them.
 */
#ifndef CYCLOPS_C2C_LINES_COUNTS_H
#define CYCLOPS_C2C_LINES_COUNTS_H

#include <assert.h>
#include <stdint.h>

#include "batch/batch.h"
#include "session/session.h"

/* Those that most records count in stand together. */
enum c2c_count {
	C2C_RECORDS,
	C2C_LOADS,
	C2C_STORES,
	C2C_L1,	       /* loads … that hit the core's own L1, … */
	C2C_L2,	       /* … L2, or another core near by, */
	C2C_LLC,       /* … the last level cache or one as far away, without HITM */
	C2C_STORE_ANY, /* stores of which the hardware does not say the level */
	C2C_NO_MAP,    /* the address or the instruction is outside all known mappings */
	C2C_LOCAL_PEER,
	C2C_REMOTE_PEER, /* the data came out of another core's cache; of another socket */
	C2C_LOCAL_HITM,
	C2C_REMOTE_HITM, /* … which had modified it */
	C2C_REMOTE_HIT,
	C2C_LOCAL_DRAM,
	C2C_REMOTE_DRAM,
	C2C_EXCLUSIVE, /* loads from memory that nobody else had, */
	C2C_SHARED,    /* … or somebody had */
	C2C_FILL_BUFFER,
	C2C_MISS,
	C2C_UNCACHED,
	C2C_IO,
	C2C_STORE_L1_HIT,
	C2C_STORE_L1_MISS,
	C2C_STORE_UNCACHED,
	C2C_LOCKED,
	C2C_BLOCKED_DATA,
	C2C_BLOCKED_ADDRESS,
	C2C_LOAD_NO_ADDRESS,
	C2C_STORE_NO_ADDRESS,
	C2C_NO_ACCESS, /* neither load nor store */
	C2C_N_COUNTS,
};

/* Latencies are summed up as they are, but squares and ranks only of those up to here. */
enum { C2C_LATENCY_MAX = 65535 };

#define C2C_BIT(count) (UINT32_C(1) << C2C_##count)

struct c2c_counts {
	uint32_t n[C2C_N_COUNTS];
};

static inline void c2c_counts_add(struct c2c_counts *to, const struct c2c_counts *from)
{
	for (int i = 0; i < C2C_N_COUNTS; i++)
		to->n[i] += from->n[i];
}

/* Counts n accesses in each counter of `mask` (bit n: counter n). */
static inline void c2c_count_many(struct c2c_counts *counts, uint32_t mask, uint32_t n)
{
	for (; mask != 0; mask &= mask - 1)
		counts->n[__builtin_ctz(mask)] += n;
}

static inline void c2c_count_in(struct c2c_counts *counts, uint32_t mask)
{
	c2c_count_many(counts, mask, 1);
}

/* Sums that perf c2c shows. */
static inline uint64_t c2c_llc_misses(const struct c2c_counts *c)
{
	return (uint64_t)c->n[C2C_LOCAL_DRAM] + c->n[C2C_REMOTE_DRAM] + c->n[C2C_REMOTE_HITM] +
	       c->n[C2C_REMOTE_HIT];
}

/* Loads of which it is known where the data came from. */
static inline uint64_t c2c_placed_loads(const struct c2c_counts *c)
{
	return (uint64_t)c->n[C2C_FILL_BUFFER] + c->n[C2C_L1] + c->n[C2C_L2] + c->n[C2C_LLC] +
	       c->n[C2C_LOCAL_HITM] + c2c_llc_misses(c);
}

static inline uint64_t c2c_placed_stores(const struct c2c_counts *c)
{
	return (uint64_t)c->n[C2C_STORE_L1_HIT] + c->n[C2C_STORE_L1_MISS] + c->n[C2C_STORE_ANY];
}

/* Which loads mean that cores contend for a line: the modes of perf c2c. */
enum c2c_mode {
	C2C_BY_PEER, /* the data came out of another core's cache, modified or not */
	C2C_BY_HITM, /* it had been modified there */
	C2C_BY_LOCAL_HITM,
	C2C_BY_REMOTE_HITM,
	C2C_N_MODES,
};

/* The counters of a mode, as a mask. */
extern const uint32_t c2c_mode_masks[C2C_N_MODES];

/* "peer", "tot", "lcl", "rmt". */
extern const char *const c2c_mode_names[C2C_N_MODES];

static inline uint64_t c2c_contended(const struct c2c_counts *c, enum c2c_mode mode)
{
	uint64_t n = 0;

	for (uint32_t mask = c2c_mode_masks[mode]; mask != 0; mask &= mask - 1)
		n += c->n[__builtin_ctz(mask)];
	return n;
}

/* Those of them from another socket. */
static inline uint32_t c2c_contended_remote(const struct c2c_counts *c, enum c2c_mode mode)
{
	return mode == C2C_BY_PEER	   ? c->n[C2C_REMOTE_PEER]
	       : mode == C2C_BY_LOCAL_HITM ? 0
					   : c->n[C2C_REMOTE_HITM];
}

/* Remembers what it looked up. One for each worker. */
struct c2c_classifier;

struct c2c_classifier *c2c_classifier_new(const struct session *);
void c2c_classifier_free(struct c2c_classifier *);

/*
 * The rows that this is about, and the counters of each of them, without C2C_NO_MAP, which takes a look at the timeline. Returns
 * how many they are.
 *
 * SPE: loads, stores and atomics, by the CPU's data source, and by the events where the CPU's
 * sources are not known or there is none. Samples: by their data_src; those of events that do
 * not record one are none of this, nor, where perf inject made a sample for each event of an SPE
 * record, any but the one for the operation itself.
 */
size_t c2c_classify(struct c2c_classifier *, const struct batch *, uint16_t out_rows[BATCH_ROWS],
		    uint32_t out_masks[BATCH_ROWS]);

/* The same for a row, where few matter; 0: it is none of them. */
uint32_t c2c_classify_row(struct c2c_classifier *, const struct batch *, size_t row);

/* Does such a row belong to a line, or has it no address? */
static inline bool c2c_is_of_line(uint32_t mask)
{
	const uint32_t not_of_line =
		C2C_BIT(LOAD_NO_ADDRESS) | C2C_BIT(STORE_NO_ADDRESS) | C2C_BIT(NO_ACCESS);

	return (mask & (C2C_BIT(RECORDS) | not_of_line)) == C2C_BIT(RECORDS);
}

/* Adds what the rows count in that were classified since this was asked. */
void c2c_classifier_add_counts(struct c2c_classifier *, struct c2c_counts *to);

/* By what was recorded, from perf_event.h's union perf_mem_data_src; `has_address`: not 0. */
uint32_t c2c_classify_data_src(uint64_t data_src, bool has_address);

#endif
