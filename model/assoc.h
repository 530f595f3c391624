/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-associative tables with least-recently-used replacement: caches and TLBs. The ways of a set
 * are in order of use, so that a search finds recently used keys first:
 *
 *	keys    | newest … oldest | newest … oldest | …	  one run of `n_ways` for each set
 *	entries | the same order                        |
 *
 * The table of a large cache does not fit the host's caches. So entries are small, and a set of
 * eight ways begins at a cache line.
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

/* The contents of a way. */
struct entry {
	uint64_t value : 56;   /* cache: the cycle at which the line arrives; TLB: the frame */
	uint64_t state : 3;    /* cache: enum line_state; TLB: enum page_state */
	uint64_t source : 4;   /* cache: enum source, where the line came from */
	uint64_t is_early : 1; /* cache: prefetched, and not used yet */
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

/*
 * The entry of a key, or NULL. Does not change the order of use. Valid until the next call for its
 * set.
 */
struct entry *assoc_peek(const struct assoc *, uint64_t key);

/* Part of assoc_find(): the key is not in the first way of its set. */
struct entry *assoc_find_behind(struct assoc *, size_t set, uint64_t key);

static inline size_t assoc_set(const struct assoc *a, uint64_t key)
{
	return (size_t)(key & a->set_mask) * a->n_ways;
}

/* Prefetches the set of the key into the host's caches. */
static inline void assoc_host_prefetch(const struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);

	__builtin_prefetch(&a->keys[set]);
	__builtin_prefetch(&a->entries[set]);
}

/* The victim if `key` were added: the oldest key of its set; ASSOC_NONE: there is an empty way. */
static inline uint64_t assoc_oldest(const struct assoc *a, uint64_t key)
{
	return a->keys[assoc_set(a, key) + a->n_ways - 1];
}

/* The entry of a key, or NULL; the entry becomes the one used last. */
static inline struct entry *assoc_find(struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);

	return a->keys[set] == key ? &a->entries[set] : assoc_find_behind(a, set, key);
}

/*
 * Adds a key that is not in the table, as the one used last. Returns its zeroed entry. The victim
 * goes to *out_key (ASSOC_NONE: none) and *out_entry.
 */
struct entry *assoc_add(struct assoc *, uint64_t key, uint64_t *out_key, struct entry *out_entry);

/* Removes a key, if it is in the table. */
void assoc_remove(struct assoc *, uint64_t key);

/* Removes all keys. */
void assoc_reset(struct assoc *);

#endif
