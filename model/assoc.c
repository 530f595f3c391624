/* SPDX-License-Identifier: Apache-2.0 */
#include "model/assoc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static_assert(sizeof(struct entry) == 8, "entries are small");

void assoc_init(struct assoc *a, size_t n_sets, unsigned n_ways)
{
	assert(n_sets > 0 && (n_sets & (n_sets - 1)) == 0 && n_ways > 0);
	*a = (struct assoc){
		.n_ways = n_ways,
		.set_mask = n_sets - 1,
		.keys = mem_aligned(n_sets * n_ways, sizeof(*a->keys)),
		.entries = mem_aligned(n_sets * n_ways, sizeof(*a->entries)),
	};
	memset(a->entries, 0, n_sets * n_ways * sizeof(*a->entries));
	assoc_reset(a);
}

void assoc_release(struct assoc *a)
{
	free(a->keys);
	free(a->entries);
	*a = (struct assoc){ 0 };
}

void assoc_reset(struct assoc *a)
{
	memset(a->keys, 0xff, (size_t)(a->set_mask + 1) * a->n_ways * sizeof(*a->keys));
}

/* The way of a key in its set, or n_ways. */
static unsigned find_way(const struct assoc *a, size_t set, uint64_t key)
{
	unsigned way = 0;

	while (way < a->n_ways && a->keys[set + way] != key)
		way++;
	return way;
}

struct entry *assoc_peek(const struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);
	unsigned way = find_way(a, set, key);

	return way < a->n_ways ? &a->entries[set + way] : NULL;
}

/* Moves the first `n` ways of a set back by one. */
static void make_room(struct assoc *a, size_t set, unsigned n)
{
	memmove(&a->keys[set + 1], &a->keys[set], n * sizeof(*a->keys));
	memmove(&a->entries[set + 1], &a->entries[set], n * sizeof(*a->entries));
}

struct entry *assoc_find_behind(struct assoc *a, size_t set, uint64_t key)
{
	unsigned way = find_way(a, set, key);
	struct entry entry;

	if (way == a->n_ways)
		return NULL;
	entry = a->entries[set + way];
	make_room(a, set, way);
	a->keys[set] = key;
	a->entries[set] = entry;
	return &a->entries[set];
}

struct entry *assoc_add(struct assoc *a, uint64_t key, uint64_t *out_key, struct entry *out_entry)
{
	size_t set = assoc_set(a, key);
	size_t last = set + a->n_ways - 1;

	assert(key != ASSOC_NONE);
	*out_key = a->keys[last];
	*out_entry = a->entries[last];
	make_room(a, set, a->n_ways - 1);
	a->keys[set] = key;
	a->entries[set] = (struct entry){ 0 };
	return &a->entries[set];
}

void assoc_remove(struct assoc *a, uint64_t key)
{
	size_t set = assoc_set(a, key);
	unsigned way = find_way(a, set, key);

	if (way == a->n_ways)
		return;
	memmove(&a->keys[set + way], &a->keys[set + way + 1],
		(a->n_ways - 1 - way) * sizeof(*a->keys));
	memmove(&a->entries[set + way], &a->entries[set + way + 1],
		(a->n_ways - 1 - way) * sizeof(*a->entries));
	a->keys[set + a->n_ways - 1] = ASSOC_NONE;
}
