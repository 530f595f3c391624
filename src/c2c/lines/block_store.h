/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory of one size for all threads; what is in them is not defined. Many of them are one page. The kernel clears that
 * when it is first written to, and twice if two threads do so, while others wait for what is filled. So the next one is written to
 * before it is needed.
 */
#ifndef CYCLOPS_C2C_LINES_BLOCK_STORE_H
#define CYCLOPS_C2C_LINES_BLOCK_STORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/vec.h"

struct block_store {
	size_t n_first, block_size;
	pthread_mutex_t mutex;
	VEC_OF(void *) memory;
	char *next;
	size_t n_left; /* blocks from there on */
	void *spare;   /* the next page, or NULL */
	atomic_bool wants_spare;
	atomic_uint n_taken;
};

/* So many blocks are asked for at once when there is none. A zeroed store; blocks are borrowed from it until its release. */
void block_store_init(struct block_store *, size_t n_first, size_t block_size);
void block_store_release(struct block_store *);

void *block_store_take(struct block_store *);

/* Gets the next page if few blocks are left, and memory is not scarce. To be called where no other thread waits for the caller. */
void block_store_prepare(struct block_store *);

/* How many were taken. */
static inline unsigned block_store_n(const struct block_store *s)
{
	return atomic_load_explicit(&s->n_taken, memory_order_relaxed);
}

#endif
