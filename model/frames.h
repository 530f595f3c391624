/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frame of physical memory holds a page: the next free one at its first use. The order of
 * first use is the same in each run, and pages that are used in order lie in order. Frames of
 * pages that are given up are used again, the last one first, so that memory is that of pages
 * in use:
 *
 *	leaves: table of (process, page / FRAMES_LEAF)  ->  512 frames, for pages side by side
 */
#ifndef CYCLOPS_MODEL_FRAMES_H
#define CYCLOPS_MODEL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/ideal.h"
#include "model/params.h"

enum { FRAMES_LEAF_SHIFT = 9, FRAMES_LEAF = 1 << FRAMES_LEAF_SHIFT };

/* Neighbouring pages of a process. */
struct frames_leaf {
	uint64_t key;		       /* process and page / FRAMES_LEAF */
	uint32_t n;		       /* pages that have a frame */
	uint32_t numbers[FRAMES_LEAF]; /* of the frame, counted from 1; 0: none */
};

struct frames {
	struct frames_leaf **slots; /* open addressing with linear probing, at most half full */
	size_t mask, n_leaves;
	struct frames_leaf *last; /* that was used; NULL: none */
	uint32_t n;		  /* frames that were ever used */
	VEC_OF(uint32_t) given_up;
	unsigned shift; /* log2 of their size */
};

void frames_init(struct frames *, const struct params *);

/* Before the first page: their size, if the idealisation changes it. */
void frames_make_ideal(struct frames *, const struct ideal *);

void frames_release(struct frames *);

/* The number of the frame with that address, from 0 on. It gets one if it has none. */
uint32_t frames_get(struct frames *, uint32_t process, uint64_t va);

/*
 * The addresses from `start` to `end` are given up. Frames of which they are a part only stay.
 * Returns how many had been used.
 */
size_t frames_forget(struct frames *, uint32_t process, uint64_t start, uint64_t end);

#endif
