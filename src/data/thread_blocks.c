/* SPDX-License-Identifier: Apache-2.0 */
#include "data/thread_blocks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"

static uint64_t begin_of(const struct thread_block *b)
{
	return b->start + b->first;
}

static uint64_t thread_blocks_end_of(const struct thread_block *b)
{
	return begin_of(b) + b->size;
}

static int thread_blocks_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of those that are the same, the one with a thread comes first. */
static int compare_blocks(const void *left, const void *right)
{
	const struct thread_block *a = left, *b = right;
	const int orders[] = {
		thread_blocks_compare(a->process, b->process),
		thread_blocks_compare(begin_of(a), begin_of(b)),
		thread_blocks_compare(b->size, a->size),
		thread_blocks_compare(a->start, b->start),
		thread_blocks_compare(a->module.v, b->module.v),
		thread_blocks_compare(b->tid, a->tid),
	};

	for (size_t i = 0; i < COUNT(orders); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

/* Are they parts of the same block? */
static bool is_same_block(const struct thread_block *a, const struct thread_block *b)
{
	return a->process == b->process && a->start == b->start && a->module.v == b->module.v;
}

static bool thread_blocks_overlap(const struct thread_block *a, const struct thread_block *b)
{
	return a->process == b->process && begin_of(b) - begin_of(a) < a->size;
}

void thread_blocks_build(struct thread_blocks *blocks)
{
	struct thread_block *list = blocks->list.items;
	size_t n = 0, widest = 0; /* that reaches furthest */

	if (blocks->list.n > 1)
		qsort(list, blocks->list.n, sizeof(*list), compare_blocks);
	for (size_t i = 0; i < blocks->list.n; i++) {
		struct thread_block own = list[i], *before = &list[widest];
		bool is_met = n > 0 && thread_blocks_overlap(before, &own);

		if (is_met && is_same_block(before, &own)) {
			before->tid = before->tid == 0 ? own.tid : before->tid;
			continue;
		}
		before->is_doubtful |= is_met;
		own.is_doubtful = is_met;
		list[n] = own;
		if (!is_met || thread_blocks_end_of(&own) > thread_blocks_end_of(before))
			widest = n;
		n++;
	}
	blocks->list.n = n;
}

void thread_blocks_release(struct thread_blocks *blocks)
{
	vec_release(&blocks->list);
}

const struct thread_block *thread_blocks_find(const struct thread_blocks *blocks, uint32_t process,
					      uint64_t address)
{
	const struct thread_block *items = blocks->list.items, *b;
	size_t behind = bisect(0, blocks->list.n, i,
			       items[i].process < process || (items[i].process == process &&
							      begin_of(&items[i]) <= address));

	if (behind == 0)
		return NULL;
	b = &items[behind - 1];
	return b->process == process && address - begin_of(b) < b->size && !b->is_doubtful ? b
											   : NULL;
}
