/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-associative tables with least-recently-used replacement: caches and TLBs. A set is kept
 * in order of use, so that what was used last is found first:
 *
 *	keys    | newest … oldest | newest … oldest | …	  one run of `n_ways` for each set
 *	entries | the same order                        |
 */
#ifndef CYCLOPS_MODEL_ASSOC_H
#define CYCLOPS_MODEL_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of an empty way. */
#define ASSOC_NONE UINT64_MAX

/* What is kept for a key. */
struct entry {
	uint64_t value; /* a cache: when the line arrives (cycles); a TLB: the frame */
	uint8_t state;	/* a cache: enum line_state */
	uint8_t source; /* a cache: enum source, where the line came from */
	bool is_early;	/* a cache: prefetched, and not used yet */
};

struct assoc {
	unsigned n_ways;
	uint64_t set_mask;
	uint64_t *keys;
	struct entry *entries; /* NULL: nothing is kept but keys */
};

/* An empty table; n_sets is a power of two. */
void assoc_init(struct assoc *, size_t n_sets, unsigned n_ways);
/* The same for keys alone: assoc_use() and assoc_put() are for these. */
void assoc_init_keys(struct assoc *, size_t n_sets, unsigned n_ways);
void assoc_release(struct assoc *);

/* The entry of a key, or NULL; the order of use stays. Valid until the next call for its set. */
struct entry *assoc_peek(const struct assoc *, uint64_t key);

/* The same, and the entry becomes the one used last. What assoc_find() does if it must look. */
struct entry *assoc_find_behind(struct assoc *, size_t set, uint64_t key);

static inline size_t assoc_set(const struct assoc *a, uint64_t key)
{
	return (size_t)(key & a->set_mask) * a->n_ways;
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

/* Of keys alone: is the key there? If so it becomes the one used last. */
bool assoc_use(struct assoc *, uint64_t key);

/* Of keys alone: puts a key that is not there in front of its set; the last one leaves. */
void assoc_put(struct assoc *, uint64_t key);

/* Takes a key out, if it is there. */
void assoc_remove(struct assoc *, uint64_t key);

/* Takes all keys out. */
void assoc_reset(struct assoc *);

#endif
