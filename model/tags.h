/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set-associative cache without contents, only tags, with least-recently-used replacement. A set
 * of sixteen ways is one cache line of the host:
 *
 *	tags | newest … oldest | newest … oldest | …
 */
#ifndef CYCLOPS_MODEL_TAGS_H
#define CYCLOPS_MODEL_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tags {
	unsigned n_ways, set_shift; /* log2 of the number of sets */
	uint32_t *tags;
};

/*
 * An empty table; n_sets is a power of two. Lines below 2^32 * n_sets have distinct tags; the tags
 * of higher lines are hashed.
 */
void tags_init(struct tags *, size_t n_sets, unsigned n_ways);
void tags_release(struct tags *);

/* Does the line hit? If so it becomes the one used last. */
bool tags_use(struct tags *, uint64_t line);

/* Adds a line that is not in the table, as the one used last; evicts the oldest of its set. */
void tags_put(struct tags *, uint64_t line);

static inline size_t tags_set(const struct tags *t, uint64_t line)
{
	return (size_t)(line & (((uint64_t)1 << t->set_shift) - 1)) * t->n_ways;
}

/* Prefetches the set of the line into the host's caches. */
static inline void tags_host_prefetch(const struct tags *t, uint64_t line)
{
	__builtin_prefetch(&t->tags[tags_set(t, line)]);
}

#endif
