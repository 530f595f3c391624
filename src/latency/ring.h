/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for pointer chases, and the rings of pointers in it: each line has the address of the next one, the last
 * that of the first, and no line is left out.
 */
#ifndef CYCLOPS_LATENCY_RING_H
#define CYCLOPS_LATENCY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum ring_order {
	RING_RANDOM, /* all lines in random order */
	RING_PAGE,   /* pages in random order, in each its lines in random order */
	RING_LINE,   /* as the lines are in memory */
	N_RING_ORDERS,
};

/* "random" …; -1: there is no such order. */
const char *ring_order_name(enum ring_order);
int ring_order_find(const char *name);

/* Bytes of a cache line of this machine; 64 if nobody says. */
size_t ring_line_bytes(void);

/* Memory that is there: every page has been written. Zeroed is empty. */
struct ring_memory {
	char *start;
	size_t size;
	size_t page;  /* bytes */
	size_t line;  /* bytes */
	char *mapped; /* the whole mapping */
	size_t n_mapped;
};

/*
 * Maps memory of small or huge pages. Fails if there is not enough of it, or if the kernel gives no huge pages:
 * the error says what there is. `what` is what asks for it, for the error.
 */
int ring_memory_init(struct ring_memory *, size_t size, bool is_huge, const char *what,
		     struct err *);
void ring_memory_release(struct ring_memory *);

/* Bytes that may be asked for, by /proc/meminfo and the limits of control groups; UINT64_MAX: not known. */
uint64_t ring_memory_available(const char *root);

/*
 * Links the lines of the first `size` bytes, at least a line, and returns the first of the ring. `seed` decides the
 * order. Takes time in proportion to the number of lines.
 */
void **ring_link(const struct ring_memory *, size_t size, enum ring_order, uint64_t seed);

/* Links a line in each of the first `n_pages` pages, in random order. No two of 64 pages have it at the same offset. */
void **ring_link_pages(const struct ring_memory *, size_t n_pages, uint64_t seed);

/* Bytes of memory that linking a ring of so many lines takes beside the ring. */
size_t ring_link_cost(size_t n_lines);

/* Follows `n` pointers and returns the last. */
void **ring_follow(void **from, uint64_t n);

#endif
