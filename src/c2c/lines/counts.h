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
enum sharing_count {
	SHARING_RECORDS,
	SHARING_LOADS,
	SHARING_STORES,
	SHARING_L1,	   /* loads … that hit the core's own L1, … */
	SHARING_L2,	   /* … L2, or another core near by, */
	SHARING_LLC,	   /* … the last level cache or one as far away, without HITM */
	SHARING_STORE_ANY, /* stores of which the hardware does not tell the level */
	SHARING_NO_MAP,	   /* the address or the instruction is outside all known mappings */
	SHARING_LOCAL_PEER,
	SHARING_REMOTE_PEER, /* the data came out of another core's cache; of another socket */
	SHARING_LOCAL_HITM,
	SHARING_REMOTE_HITM, /* … which had modified it */
	SHARING_REMOTE_HIT,
	SHARING_LOCAL_DRAM,
	SHARING_REMOTE_DRAM,
	SHARING_EXCLUSIVE, /* loads from memory that nobody else had, */
	SHARING_SHARED,	   /* … or somebody had */
	SHARING_FILL_BUFFER,
	SHARING_MISS,
	SHARING_UNCACHED,
	SHARING_IO,
	SHARING_STORE_L1_HIT,
	SHARING_STORE_L1_MISS,
	SHARING_STORE_UNCACHED,
	SHARING_LOCKED,
	SHARING_BLOCKED_DATA,
	SHARING_BLOCKED_ADDRESS,
	SHARING_LOAD_NO_ADDRESS,
	SHARING_STORE_NO_ADDRESS,
	SHARING_NO_ACCESS, /* neither load nor store */
	SHARING_N_COUNTS,
};

#define SHARING_BIT(count) (UINT32_C(1) << SHARING_##count)

struct sharing_counts {
	uint32_t n[SHARING_N_COUNTS];
};

static inline void sharing_counts_add(struct sharing_counts *to, const struct sharing_counts *from)
{
	for (int i = 0; i < SHARING_N_COUNTS; i++)
		to->n[i] += from->n[i];
}

/*
 * Counters of a byte each, all in as much as a few instructions add to at once. Whoever adds
 * to them empties them into large ones before they have counted more than SHARING_TALLY_MAX
 * accesses.
 */
enum { SHARING_TALLY_WORDS = 4, SHARING_TALLY_COUNTS = 8 * SHARING_TALLY_WORDS };
enum { SHARING_TALLY_MAX = 255 };

struct sharing_tally {
	uint64_t words[SHARING_TALLY_WORDS]; /* counter n is byte n % 8 of word n / 8 */
};

/* Byte n of each is bit n of its number. */
extern const uint64_t sharing_spread[256];

/* Counts an access in each counter of `mask` (bit n: counter n). */
static inline void sharing_tally_add(struct sharing_tally *t, uint32_t mask)
{
	static_assert(SHARING_TALLY_WORDS == 4, "one line for each");
	t->words[0] += sharing_spread[mask & 0xff];
	t->words[1] += sharing_spread[mask >> 8 & 0xff];
	t->words[2] += sharing_spread[mask >> 16 & 0xff];
	t->words[3] += sharing_spread[mask >> 24];
}

static inline uint32_t sharing_tally_get(const struct sharing_tally *t, int count)
{
	return t->words[count / 8] >> 8 * (count % 8) & 0xff;
}

/* Has any counter of `mask` counted? */
static inline bool sharing_tally_has(const struct sharing_tally *t, uint32_t mask)
{
	uint64_t any = (t->words[0] & 0xff * sharing_spread[mask & 0xff]) |
		       (t->words[1] & 0xff * sharing_spread[mask >> 8 & 0xff]) |
		       (t->words[2] & 0xff * sharing_spread[mask >> 16 & 0xff]) |
		       (t->words[3] & 0xff * sharing_spread[mask >> 24]);

	return any != 0;
}

static inline void sharing_tally_empty(struct sharing_tally *t, struct sharing_counts *to)
{
	for (int first = 0; first < SHARING_N_COUNTS; first += 8) {
		uint64_t word = t->words[first / 8];

		for (int i = first; word != 0 && i < SHARING_N_COUNTS; i++, word >>= 8)
			to->n[i] += word & 0xff;
	}
	*t = (struct sharing_tally){ 0 };
}

/* Counts an access in each counter of `mask` (bit n: counter n). */
static inline void sharing_count_in(struct sharing_counts *counts, uint32_t mask)
{
	for (; mask != 0; mask &= mask - 1)
		counts->n[__builtin_ctz(mask)]++;
}

/* Sums that perf c2c shows. */
static inline uint64_t sharing_llc_misses(const struct sharing_counts *c)
{
	return (uint64_t)c->n[SHARING_LOCAL_DRAM] + c->n[SHARING_REMOTE_DRAM] +
	       c->n[SHARING_REMOTE_HITM] + c->n[SHARING_REMOTE_HIT];
}

/* Loads of which it is known where the data came from. */
static inline uint64_t sharing_placed_loads(const struct sharing_counts *c)
{
	return (uint64_t)c->n[SHARING_FILL_BUFFER] + c->n[SHARING_L1] + c->n[SHARING_L2] +
	       c->n[SHARING_LLC] + c->n[SHARING_LOCAL_HITM] + sharing_llc_misses(c);
}

static inline uint64_t sharing_placed_stores(const struct sharing_counts *c)
{
	return (uint64_t)c->n[SHARING_STORE_L1_HIT] + c->n[SHARING_STORE_L1_MISS] +
	       c->n[SHARING_STORE_ANY];
}

/* Which loads mean that cores fight over a line: the modes of perf c2c. */
enum sharing_mode {
	SHARING_BY_PEER, /* the data came out of another core's cache, modified or not */
	SHARING_BY_HITM, /* it had been modified there */
	SHARING_BY_LOCAL_HITM,
	SHARING_BY_REMOTE_HITM,
	SHARING_N_MODES,
};

/* The counters of a mode, as a mask. */
extern const uint32_t sharing_mode_masks[SHARING_N_MODES];

/* "peer", "tot", "lcl", "rmt". */
extern const char *const sharing_mode_names[SHARING_N_MODES];

static inline uint64_t sharing_contended(const struct sharing_counts *c, enum sharing_mode mode)
{
	uint64_t n = 0;

	for (uint32_t mask = sharing_mode_masks[mode]; mask != 0; mask &= mask - 1)
		n += c->n[__builtin_ctz(mask)];
	return n;
}

/* Remembers what it looked up. One for each worker. */
struct sharing_classifier;

struct sharing_classifier *sharing_classifier_new(const struct session *);
void sharing_classifier_free(struct sharing_classifier *);

/*
 * The counters of each row, without SHARING_NO_MAP, which takes a look at the timeline. 0: it is
 * none of the records that this is about.
 *
 * SPE: loads, stores and atomics, by the CPU's data source, and by the events where the CPU's
 * sources are not known or there is none. Samples: by their data_src; those of events that do
 * not record one are none of this, nor, where perf inject made a sample for each event of an SPE
 * record, any but the one for the operation itself.
 */
void sharing_classify(struct sharing_classifier *, const struct batch *,
		      uint32_t out_masks[BATCH_ROWS]);

/* Does such a row belong to a line, or has it no address? */
static inline bool sharing_is_of_line(uint32_t mask)
{
	return mask != 0 && !(mask & (SHARING_BIT(LOAD_NO_ADDRESS) | SHARING_BIT(STORE_NO_ADDRESS) |
				      SHARING_BIT(NO_ACCESS)));
}

/* By what was recorded, from perf_event.h's union perf_mem_data_src; `has_address`: not 0. */
uint32_t sharing_classify_data_src(uint64_t data_src, bool has_address);

#endif
