/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/lines/block_store.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/memory_group.h"

enum { BLOCKS_SPARE = 96 }; /* so many are left when the next ones are asked for */

void block_store_init(struct block_store *s, size_t n_first, size_t block_size)
{
	s->n_first = n_first;
	s->block_size = block_size;
	pthread_mutex_init(&s->mutex, NULL);
}

void block_store_release(struct block_store *s)
{
	if (s->spare != NULL)
		mem_huge_free(s->spare, 1, MEM_HUGE);
	for (size_t i = 1; i < s->memory.n; i++)
		mem_huge_free(s->memory.items[i], 1, MEM_HUGE);
	if (s->memory.n > 0)
		free(s->memory.items[0]);
	vec_release(&s->memory);
	pthread_mutex_destroy(&s->mutex);
}

/* Takes the spare page, if there is one. */
static void *take_page(struct block_store *s)
{
	void *page = s->spare != NULL ? s->spare : mem_huge(1, MEM_HUGE);

	s->spare = NULL;
	return page;
}

/* A large page is for captures that need more than the first blocks. */
static void refill(struct block_store *s)
{
	bool is_first = s->memory.n == 0;

	/* until few are left again */
	atomic_store_explicit(&s->wants_spare, false, memory_order_relaxed);
	s->next = is_first ? mem_aligned(s->n_first, s->block_size) : take_page(s);
	s->n_left = is_first ? s->n_first : MEM_HUGE / s->block_size;
	*vec_add(&s->memory) = s->next;
}

void *block_store_take(struct block_store *s)
{
	void *block;

	pthread_mutex_lock(&s->mutex);
	if (s->n_left == 0)
		refill(s);
	block = s->next;
	s->next += s->block_size;
	s->n_left--;
	if (s->n_left == BLOCKS_SPARE)
		atomic_store_explicit(&s->wants_spare, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->n_taken, 1, memory_order_relaxed);
	pthread_mutex_unlock(&s->mutex);
	return block;
}

void block_store_prepare(struct block_store *s)
{
	unsigned char *page;
	void *surplus = NULL;

	if (!atomic_load_explicit(&s->wants_spare, memory_order_relaxed) ||
	    !atomic_exchange(&s->wants_spare, false) || memory_is_scarce())
		return;
	page = mem_huge(1, MEM_HUGE);
	*(volatile unsigned char *)page = 0;
	pthread_mutex_lock(&s->mutex);
	if (s->spare == NULL)
		s->spare = page;
	else
		surplus = page;
	pthread_mutex_unlock(&s->mutex);
	if (surplus != NULL)
		mem_huge_free(surplus, 1, MEM_HUGE);
}
