/* SPDX-License-Identifier: Apache-2.0 */
#include "model/frames.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 64, PROCESS_SHIFT = 48 };

/* Virtual addresses have at most 52 bits. */
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
	vec_release(&f->freed);
	vec_release(&f->n_users);
	*f = (struct frames){ 0 };
}

static size_t frames_home(const struct frames *f, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15 >> 32) & f->mask;
}

/* The slot of a leaf, or the empty slot to put it into. */
static size_t find_slot(const struct frames *f, uint64_t key)
{
	size_t i = frames_home(f, key);

	while (f->slots[i] != NULL && f->slots[i]->key != key)
		i = (i + 1) & f->mask;
	return i;
}

static void frames_grow(struct frames *f)
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
		frames_grow(f);
	f->slots[find_slot(f, key)] = leaf;
	return leaf;
}

/* Entries behind it move forward so that searches still find them. */
static void remove_leaf(struct frames *f, struct frames_leaf *leaf)
{
	size_t hole = find_slot(f, leaf->key);

	for (size_t i = (hole + 1) & f->mask; f->slots[i] != NULL; i = (i + 1) & f->mask) {
		size_t from_home = (i - frames_home(f, f->slots[i]->key)) & f->mask;

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

static uint64_t frames_key(uint32_t process, uint64_t page)
{
	return page >> FRAMES_LEAF_SHIFT | (uint64_t)process << PROCESS_SHIFT;
}

static uint32_t new_frame(struct frames *f)
{
	uint32_t number = f->freed.n > 0 ? f->freed.items[--f->freed.n] : ++f->n;

	if (f->n_users.n > 0) {
		while (f->n_users.n <= number)
			vec_add(&f->n_users);
		f->n_users.items[number] = 1;
	}
	return number;
}

/* A page gives up the frame. The frame is freed with its last page. */
static void release_frame(struct frames *f, uint32_t number)
{
	if (f->n_users.n == 0 || --f->n_users.items[number] == 0)
		*vec_add(&f->freed) = number;
}

/* The entry of a page in its leaf; allocates leaf and frame. */
static uint32_t *frame_entry(struct frames *f, uint32_t process, uint64_t va)
{
	uint64_t page = va >> f->shift, key = frames_key(process, page);
	struct frames_leaf *leaf = find_leaf(f, key);
	uint32_t *number;

	if (leaf == NULL)
		leaf = add_leaf(f, key);
	f->last = leaf;
	number = &leaf->numbers[page % FRAMES_LEAF];
	if (*number == 0) {
		leaf->n++;
		*number = new_frame(f);
	}
	return number;
}

uint32_t frames_get(struct frames *f, uint32_t process, uint64_t va)
{
	return (*frame_entry(f, process, va) & ~COPY_ON_WRITE) - 1;
}

uint32_t frames_write(struct frames *f, uint32_t process, uint64_t va)
{
	uint32_t *number = frame_entry(f, process, va), old = *number & ~COPY_ON_WRITE;

	if (old != *number) {
		*number = old;
		if (f->n_users.items[old] > 1) {
			release_frame(f, old);
			*number = new_frame(f);
		}
	}
	return *number - 1;
}

bool frames_copies(const struct frames *f, uint32_t process, uint64_t va)
{
	uint64_t page = va >> f->shift;
	const struct frames_leaf *leaf = find_leaf(f, frames_key(process, page));

	return leaf != NULL && (leaf->numbers[page % FRAMES_LEAF] & COPY_ON_WRITE) != 0;
}

/* Begins to count pages of frames: before the first fork each frame has one. */
static void count_users(struct frames *f)
{
	if (f->n_users.n > 0)
		return;
	while (f->n_users.n <= f->n)
		*vec_add(&f->n_users) = 1;
}

static void fork_leaf(struct frames *f, struct frames_leaf *from, uint32_t child,
		      const struct spans *shared)
{
	uint64_t first = (from->key & (((uint64_t)1 << PROCESS_SHIFT) - 1)) << FRAMES_LEAF_SHIFT;
	struct frames_leaf *to = add_leaf(f, frames_key(child, first));

	for (size_t i = 0; i < FRAMES_LEAF; i++) {
		if (from->numbers[i] == 0)
			continue;
		f->n_users.items[from->numbers[i] & ~COPY_ON_WRITE]++;
		if (!spans_hold(shared, (first + i) << f->shift))
			from->numbers[i] |= COPY_ON_WRITE;
		to->numbers[i] = from->numbers[i];
		to->n++;
	}
}

/*
 * A list of the leaves of a process: adding and removing leaves moves slots. The caller frees it.
 */
static size_t find_leaves(const struct frames *f, uint32_t process, struct frames_leaf ***out)
{
	struct frames_leaf **leaves = mem_alloc(f->n_leaves + 1, sizeof(struct frames_leaf *));
	size_t n = 0;

	for (size_t i = 0; i <= f->mask; i++)
		if (f->slots[i] != NULL && f->slots[i]->key >> PROCESS_SHIFT == process)
			leaves[n++] = f->slots[i];
	*out = leaves;
	return n;
}

void frames_fork(struct frames *f, uint32_t parent, uint32_t child, const struct spans *shared)
{
	struct frames_leaf **leaves;
	size_t n = find_leaves(f, parent, &leaves);

	count_users(f);
	for (size_t i = 0; i < n; i++)
		fork_leaf(f, leaves[i], child, shared);
	free(leaves);
}

/* Unmaps pages of one leaf, from `first` to before `end`. Frees the leaf with its last page. */
static size_t unmap_in_leaf(struct frames *f, struct frames_leaf *leaf, uint64_t first,
			    uint64_t end)
{
	size_t n = 0;

	for (uint64_t page = first; page < end; page++) {
		uint32_t *number = &leaf->numbers[page % FRAMES_LEAF];

		if (*number == 0)
			continue;
		release_frame(f, *number & ~COPY_ON_WRITE);
		*number = 0;
		n++;
	}
	leaf->n -= (uint32_t)n;
	if (leaf->n == 0)
		remove_leaf(f, leaf);
	return n;
}

size_t frames_unmap(struct frames *f, uint32_t process, uint64_t start, uint64_t end)
{
	uint64_t size = (uint64_t)1 << f->shift;
	uint64_t page = start / size + (start % size != 0), last = end >> f->shift;
	size_t n = 0;

	if (start > end || end > ADDRESSES_END)
		return 0;
	while (page < last) {
		uint64_t stop = (page | (FRAMES_LEAF - 1)) + 1;
		struct frames_leaf *leaf = find_leaf(f, frames_key(process, page));

		if (leaf != NULL)
			n += unmap_in_leaf(f, leaf, page, stop < last ? stop : last);
		page = stop;
	}
	return n;
}

void frames_exit(struct frames *f, uint32_t process)
{
	struct frames_leaf **leaves;
	size_t n = find_leaves(f, process, &leaves);

	for (size_t i = 0; i < n; i++)
		unmap_in_leaf(f, leaves[i], 0, FRAMES_LEAF);
	free(leaves);
}
