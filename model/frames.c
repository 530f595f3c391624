/* SPDX-License-Identifier: Apache-2.0 */
#include "model/frames.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 64, PROCESS_SHIFT = 48 };

/* No program has addresses beyond. */
#define ADDRESSES_END ((uint64_t)1 << 52)

void frames_init(struct frames *f, const struct params *p)
{
	*f = (struct frames){
		.slots = mem_zalloc(FIRST_SLOTS, sizeof(struct frames_leaf *)),
		.mask = FIRST_SLOTS - 1,
		.shift = p->huge_pages ? HUGE_PAGE_SHIFT : PAGE_SHIFT,
	};
}

void frames_make_ideal(struct frames *f, const struct ideal *ideal)
{
	if (ideal->bits & IDEAL_HUGE_PAGES)
		f->shift = HUGE_PAGE_SHIFT;
}

void frames_release(struct frames *f)
{
	for (size_t i = 0; f->slots != NULL && i <= f->mask; i++)
		free(f->slots[i]);
	free(f->slots);
	vec_release(&f->given_up);
	*f = (struct frames){ 0 };
}

static size_t home(const struct frames *f, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15 >> 32) & f->mask;
}

/* The slot of a leaf, or the empty one where it belongs. */
static size_t find_slot(const struct frames *f, uint64_t key)
{
	size_t i = home(f, key);

	while (f->slots[i] != NULL && f->slots[i]->key != key)
		i = (i + 1) & f->mask;
	return i;
}

static void grow(struct frames *f)
{
	struct frames_leaf **old = f->slots;
	size_t n = f->mask + 1;

	f->slots = mem_zalloc(2 * n, sizeof(struct frames_leaf *));
	f->mask = 2 * n - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i] != NULL)
			f->slots[find_slot(f, old[i]->key)] = old[i];
	free(old);
}

static struct frames_leaf *find_leaf(const struct frames *f, uint64_t key)
{
	return f->last != NULL && f->last->key == key ? f->last : f->slots[find_slot(f, key)];
}

static struct frames_leaf *add_leaf(struct frames *f, uint64_t key)
{
	struct frames_leaf *leaf = mem_zalloc(1, sizeof(*leaf));

	leaf->key = key;
	if (2 * ++f->n_leaves > f->mask + 1)
		grow(f);
	f->slots[find_slot(f, key)] = leaf;
	return leaf;
}

/* Those that were pushed behind it move forward. */
static void remove_leaf(struct frames *f, struct frames_leaf *leaf)
{
	size_t hole = find_slot(f, leaf->key);

	for (size_t i = (hole + 1) & f->mask; f->slots[i] != NULL; i = (i + 1) & f->mask) {
		size_t from_home = (i - home(f, f->slots[i]->key)) & f->mask;

		if (from_home < ((i - hole) & f->mask))
			continue;
		f->slots[hole] = f->slots[i];
		hole = i;
	}
	f->slots[hole] = NULL;
	f->n_leaves--;
	f->last = NULL;
	free(leaf);
}

static uint64_t key_of(uint32_t process, uint64_t page)
{
	return page >> FRAMES_LEAF_SHIFT | (uint64_t)process << PROCESS_SHIFT;
}

uint32_t frames_get(struct frames *f, uint32_t process, uint64_t va)
{
	uint64_t page = va >> f->shift, key = key_of(process, page);
	struct frames_leaf *leaf = find_leaf(f, key);
	uint32_t *number;

	if (leaf == NULL)
		leaf = add_leaf(f, key);
	f->last = leaf;
	number = &leaf->numbers[page % FRAMES_LEAF];
	if (*number == 0) {
		leaf->n++;
		*number = f->given_up.n > 0 ? f->given_up.items[--f->given_up.n] : ++f->n;
	}
	return *number - 1;
}

/* The same within a leaf: pages from `first` to before `end`. */
static size_t forget_in(struct frames *f, struct frames_leaf *leaf, uint64_t first, uint64_t end)
{
	size_t n = 0;

	for (uint64_t page = first; page < end; page++) {
		uint32_t *number = &leaf->numbers[page % FRAMES_LEAF];

		if (*number == 0)
			continue;
		*vec_add(&f->given_up) = *number;
		*number = 0;
		n++;
	}
	leaf->n -= (uint32_t)n;
	if (leaf->n == 0)
		remove_leaf(f, leaf);
	return n;
}

size_t frames_forget(struct frames *f, uint32_t process, uint64_t start, uint64_t end)
{
	uint64_t size = (uint64_t)1 << f->shift;
	uint64_t page = start / size + (start % size != 0), last = end >> f->shift;
	size_t n = 0;

	if (start > end || end > ADDRESSES_END)
		return 0;
	while (page < last) {
		uint64_t stop = (page | (FRAMES_LEAF - 1)) + 1;
		struct frames_leaf *leaf = find_leaf(f, key_of(process, page));

		if (leaf != NULL)
			n += forget_in(f, leaf, page, stop < last ? stop : last);
		page = stop;
	}
	return n;
}
