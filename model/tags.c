/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tags.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The tag of an empty way. */
#define NO_TAG UINT32_MAX

void tags_init(struct tags *t, size_t n_sets, unsigned n_ways)
{
	size_t n = n_sets * n_ways;

	assert(n_sets > 0 && (n_sets & (n_sets - 1)) == 0 && n_ways > 0);
	*t = (struct tags){
		.n_ways = n_ways,
		.set_shift = (unsigned)__builtin_ctzll(n_sets),
		.tags = mem_aligned(n, sizeof(*t->tags)),
	};
	memset(t->tags, 0xff, n * sizeof(*t->tags));
}

void tags_release(struct tags *t)
{
	free(t->tags);
	*t = (struct tags){ 0 };
}

/* High bits of the line, which only lines of page tables have (tlb.c), are hashed into the tag. */
static uint32_t tag_of(const struct tags *t, uint64_t line)
{
	const uint32_t odd = 0x9e3779b1;
	uint64_t high = line >> t->set_shift;
	uint32_t tag = (uint32_t)high + (uint32_t)(high >> 32) * odd;

	return tag < NO_TAG ? tag : NO_TAG - 1;
}

/* Moves the first `n` ways of a set back by one, and puts the tag in front. */
static void to_front(uint32_t *ways, unsigned n, uint32_t tag)
{
	memmove(&ways[1], &ways[0], n * sizeof(*ways));
	ways[0] = tag;
}

bool tags_use(struct tags *t, uint64_t line)
{
	uint32_t *ways = &t->tags[tags_set(t, line)], tag = tag_of(t, line);
	unsigned way = 0;

	while (way < t->n_ways && ways[way] != tag)
		way++;
	if (way == t->n_ways)
		return false;
	to_front(ways, way, tag);
	return true;
}

void tags_put(struct tags *t, uint64_t line)
{
	uint32_t *ways = &t->tags[tags_set(t, line)], tag = tag_of(t, line);

	to_front(ways, t->n_ways - 1, tag);
}
