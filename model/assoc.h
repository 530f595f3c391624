/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-associative tables with least-recently-used replacement: caches and TLBs. A set is kept
 * in order of use, so that what was used last is found first:
 *
 *	keys    | newest … oldest | newest … oldest | …	  one run of `n_ways` for each set
 *	entries | the same order                        |
 *
 * The tables of a large cache do not fit those of the machine that this runs on: entries are small,
 * and a set of eight begins at a cache line.
 */
#ifndef CYCLOPS_MODEL_ASSOC_H
#define CYCLOPS_MODEL_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of an empty way. */
#define ASSOC_NONE UINT64_MAX

/* The largest value of an entry. Cycles take 800 years to get there. */
#define ENTRY_VALUE (((uint64_t)1 << 56) - 1)

/* What is kept for a key. */
struct entry {
	uint64_t value : 56;   /* a cache: when the line arrives (cycles); a TLB: the frame */
	uint64_t state : 3;    /* a cache: enum line_state */
	uint64_t source : 4;   /* a cache: enum source, where the line came from */
	uint64_t is_early : 1; /* a cache: prefetched, and not used yet */
};

struct assoc {
	unsigned n_ways;
	uint64_t set_mask;
	uint64_t *keys;
	struct entry *entries;
};

/* An empty table; n_sets is a power of two. */
void assoc_init(struct assoc *, size_t n_sets, unsigned n_ways);
void assoc_release(struct assoc *);

/* The entry of a key, or NULL; the order of use stays. Valid until the next call for its set. */
struct entry *assoc_peek(const struct assoc *, uint64_t key);

/* The same, and the entry becomes the one used last. What assoc_find() does if it must look. */
struct entry *assoc_find_behind(struct assoc *, size_t set, uint64_t key);

static inline size_t assoc_set(const struct assoc *a, uint64_t key)
{
	return (size_t)(key & a->set_mask) * a->n_ways;
}

/* The set of the key will be looked at soon. */
static inline void assoc_prefetch(const struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);

	__builtin_prefetch(&a->keys[set]);
	__builtin_prefetch(&a->entries[set]);
}

/* The key that leaves if one more is added to the set of this one; ASSOC_NONE: none. */
static inline uint64_t assoc_oldest(const struct assoc *a, uint64_t key)
{
	return a->keys[assoc_set(a, key) + a->n_ways - 1];
}

static inline struct entry *assoc_find(struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);

	return a->keys[set] == key ? &a->entries[set] : assoc_find_behind(a, set, key);
}

/*
 * Puts a key that is not there in front of its set and returns its zeroed entry. The key that
 * had to leave is stored in *out_key (ASSOC_NONE if none), its entry in *out_entry.
 */
struct entry *assoc_add(struct assoc *, uint64_t key, uint64_t *out_key, struct entry *out_entry);

/* Takes a key out, if it is there. */
void assoc_remove(struct assoc *, uint64_t key);

/* Takes all keys out. */
void assoc_reset(struct assoc *);

#endif
