/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page tables: which physical frame holds a page. A page gets the next free frame at its first use.
 * The order of first use is the same in each run, and pages that are first used in order have
 * frames in order. Frames of unmapped pages are used again, the last one first.
 *
 *	leaves: hash table of (process, page / FRAMES_LEAF)  ->  frames of 512 neighbouring pages
 *
 * A child of fork has the frames of its parent. Private pages are copied on write: the first to
 * write gets a frame of its own. Shared mappings stay shared.
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

/* Flag beside the number of a frame: a store to the page gets a new frame. */
#define COPY_ON_WRITE ((uint32_t)1 << 31)

/* Neighbouring pages of a process. */
struct frames_leaf {
	uint64_t key;		       /* process and page / FRAMES_LEAF */
	uint32_t n;		       /* pages that have a frame */
	uint32_t numbers[FRAMES_LEAF]; /* frame + 1, or 0; with COPY_ON_WRITE */
};

struct frames {
	struct frames_leaf **slots; /* open addressing with linear probing, at most half full */
	size_t mask, n_leaves;
	struct frames_leaf *last; /* used last; NULL: none */
	uint32_t n;		  /* frames that were ever used */
	VEC_OF(uint32_t) freed;	  /* frame + 1 */
	VEC_OF(uint32_t) n_users; /* by frame + 1: pages in it; empty until the first fork */
	unsigned shift;		  /* log2 of the size of a frame */
};

void frames_init(struct frames *, const struct params *);

/*
 * Sets the size of frames if the idealisation changes it. To be called before the first page is
 * used.
 */
void frames_make_ideal(struct frames *, const struct ideal *);

void frames_release(struct frames *);

/* The frame of an address, from 0 on. Allocates one if it has none. */
uint32_t frames_get(struct frames *, uint32_t process, uint64_t va);

/* The same for a store: copies a page that is copied on write. */
uint32_t frames_write(struct frames *, uint32_t process, uint64_t va);

/* Is the page marked as copied on write? */
bool frames_copies(const struct frames *, uint32_t process, uint64_t va);

/* Gives the child the frames of the parent. `shared`: addresses of shared mappings. */
void frames_fork(struct frames *, uint32_t parent, uint32_t child, const struct spans *shared);

/* Frees all frames of a process. */
void frames_exit(struct frames *, uint32_t process);

/*
 * Unmaps the addresses from `start` to before `end`. A frame that they cover in part stays. Returns
 * the number of pages that had a frame.
 */
size_t frames_unmap(struct frames *, uint32_t process, uint64_t start, uint64_t end);

#endif
