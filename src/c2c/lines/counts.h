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

/*
 * Counters of a byte each, all in as much as a few instructions add to at once. Whoever adds
 * to them empties them into large ones before they have counted more than C2C_TALLY_MAX
 * accesses.
 */
enum { C2C_TALLY_WORDS = 4, C2C_TALLY_COUNTS = 8 * C2C_TALLY_WORDS };
enum { C2C_TALLY_MAX = 255 };

struct c2c_tally {
	uint64_t words[C2C_TALLY_WORDS]; /* counter n is byte n % 8 of word n / 8 */
};

/* Byte n of each is bit n of its number. */
extern const uint64_t c2c_spread[256];

/* Counts an access in each counter of `mask` (bit n: counter n). */
static inline void c2c_tally_add(struct c2c_tally *t, uint32_t mask)
{
	static_assert(C2C_TALLY_WORDS == 4, "one line for each");
	t->words[0] += c2c_spread[mask & 0xff];
	t->words[1] += c2c_spread[mask >> 8 & 0xff];
	t->words[2] += c2c_spread[mask >> 16 & 0xff];
	t->words[3] += c2c_spread[mask >> 24];
}

static inline uint32_t c2c_tally_get(const struct c2c_tally *t, int count)
{
	return t->words[count / 8] >> 8 * (count % 8) & 0xff;
}

/* All bits of the counters of `mask`: what c2c_tally_has() asks for. */
static inline struct c2c_tally c2c_tally_of_mask(uint32_t mask)
{
	return (struct c2c_tally){ {
		0xff * c2c_spread[mask & 0xff],
		0xff * c2c_spread[mask >> 8 & 0xff],
		0xff * c2c_spread[mask >> 16 & 0xff],
		0xff * c2c_spread[mask >> 24],
	} };
}

/* Has any of those counters counted? */
static inline bool c2c_tally_has(const struct c2c_tally *t, const struct c2c_tally *mask)
{
	uint64_t any = 0;

	for (int i = 0; i < C2C_TALLY_WORDS; i++)
		any |= t->words[i] & mask->words[i];
	return any != 0;
}

static inline void c2c_tally_empty(struct c2c_tally *t, struct c2c_counts *to)
{
	for (int first = 0; first < C2C_N_COUNTS; first += 8) {
		uint64_t word = t->words[first / 8];

		for (int i = first; word != 0 && i < C2C_N_COUNTS; i++, word >>= 8)
			to->n[i] += word & 0xff;
	}
	*t = (struct c2c_tally){ 0 };
}

/* The sum of many of them, in as few instructions. Zeroed is empty. */
struct c2c_tally_sum {
	uint64_t even[C2C_TALLY_WORDS],
		odd[C2C_TALLY_WORDS]; /* every other counter, 16 bits each */
	uint32_t n;		      /* that are in there */
};

static inline void c2c_tally_sum_empty(struct c2c_tally_sum *s, struct c2c_counts *to)
{
	for (int i = 0; i < C2C_N_COUNTS; i++)
		to->n[i] += (uint16_t)((i % 2 ? s->odd : s->even)[i / 8] >> 8 * (i % 8 & 6));
	*s = (struct c2c_tally_sum){ 0 };
}

/* Adds one; `to` gets what there is no room for. */
static inline void c2c_tally_sum_add(struct c2c_tally_sum *s, const struct c2c_tally *t,
				     struct c2c_counts *to)
{
	const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);

	for (int i = 0; i < C2C_TALLY_WORDS; i++) {
		s->even[i] += t->words[i] & low;
		s->odd[i] += t->words[i] >> 8 & low;
	}
	if (++s->n == UINT16_MAX / C2C_TALLY_MAX)
		c2c_tally_sum_empty(s, to);
}

/* Counts an access in each counter of `mask` (bit n: counter n). */
static inline void c2c_count_in(struct c2c_counts *counts, uint32_t mask)
{
	for (; mask != 0; mask &= mask - 1)
		counts->n[__builtin_ctz(mask)]++;
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
 * The counters of each row, without C2C_NO_MAP, which takes a look at the timeline. 0: it is
 * none of the records that this is about.
 *
 * SPE: loads, stores and atomics, by the CPU's data source, and by the events where the CPU's
 * sources are not known or there is none. Samples: by their data_src; those of events that do
 * not record one are none of this, nor, where perf inject made a sample for each event of an SPE
 * record, any but the one for the operation itself.
 */
void c2c_classify(struct c2c_classifier *, const struct batch *, uint32_t out_masks[BATCH_ROWS]);

/* The same for a row, where few matter. */
uint32_t c2c_classify_row(struct c2c_classifier *, const struct batch *, size_t row);

/* Does such a row belong to a line, or has it no address? */
static inline bool c2c_is_of_line(uint32_t mask)
{
	const uint32_t not_of_line =
		C2C_BIT(LOAD_NO_ADDRESS) | C2C_BIT(STORE_NO_ADDRESS) | C2C_BIT(NO_ACCESS);

	return (mask & (C2C_BIT(RECORDS) | not_of_line)) == C2C_BIT(RECORDS);
}

/* By what was recorded, from perf_event.h's union perf_mem_data_src; `has_address`: not 0. */
uint32_t c2c_classify_data_src(uint64_t data_src, bool has_address);

#endif
