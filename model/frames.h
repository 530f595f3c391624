/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frame of physical memory holds a page: the next free one at its first use. The order of
 * first use is the same in each run, and pages that are used in order lie in order. Frames of
 * pages that are given up are used again, the last one first, so that memory is that of pages
 * in use:
 *
 *	leaves: table of (process, page / FRAMES_LEAF)  ->  512 frames, for pages side by side
 *
 * A process made by fork has the frames of its parent. Whichever writes to a page of its own
 * first gets a copy in a frame of its own; what both have mapped as shared stays shared.
 */
#ifndef CYCLOPS_MODEL_FRAMES_H
#define CYCLOPS_MODEL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/ideal.h"
#include "model/maps.h"
#include "model/params.h"

enum { FRAMES_LEAF_SHIFT = 9, FRAMES_LEAF = 1 << FRAMES_LEAF_SHIFT };

/* In the number of a frame: a store to the page gets a frame of its own. */
#define COPY_ON_WRITE ((uint32_t)1 << 31)

/* Neighbouring pages of a process. */
struct frames_leaf {
	uint64_t key;		       /* process and page / FRAMES_LEAF */
	uint32_t n;		       /* pages that have a frame */
	uint32_t numbers[FRAMES_LEAF]; /* of the frame, counted from 1; 0: none; COPY_ON_WRITE */
};

struct frames {
	struct frames_leaf **slots; /* open addressing with linear probing, at most half full */
	size_t mask, n_leaves;
	struct frames_leaf *last; /* that was used; NULL: none */
	uint32_t n;		  /* frames that were ever used */
	VEC_OF(uint32_t) given_up;
	VEC_OF(uint32_t) n_users; /* pages in each frame; empty until the first fork */
	unsigned shift;		  /* log2 of their size */
};

void frames_init(struct frames *, const struct params *);

/* Before the first page: their size, if the idealisation changes it. */
void frames_make_ideal(struct frames *, const struct ideal *);

void frames_release(struct frames *);

/* The number of the frame with that address, from 0 on. It gets one if it has none. */
uint32_t frames_get(struct frames *, uint32_t process, uint64_t va);

/* The same for a store: a page that is copied on write gets a frame that only it has. */
uint32_t frames_write(struct frames *, uint32_t process, uint64_t va);

/* Would frames_write() make a copy, or find that none is needed any more? */
bool frames_copies(const struct frames *, uint32_t process, uint64_t va);

/*
 * The child gets the frames of the parent. `shared` are the addresses where both see what either
 * writes.
 */
void frames_fork(struct frames *, uint32_t parent, uint32_t child, const struct spans *shared);

/* The process is gone, and its addresses with it. */
void frames_exit(struct frames *, uint32_t process);

/*
 * The addresses from `start` to `end` are given up. Frames of which they are a part only stay.
 * Returns how many had been used.
 */
size_t frames_forget(struct frames *, uint32_t process, uint64_t start, uint64_t end);

#endif
