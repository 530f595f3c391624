/* SPDX-License-Identifier: Apache-2.0 */
/* A set of numbers below a limit that finds the nearest member quickly (a tree of bit masks). */
#ifndef CYCLOPS_PROCESS_MARKS_H
#define CYCLOPS_PROCESS_MARKS_H

#include <stddef.h>
#include <stdint.h>

#define MARKS_NONE SIZE_MAX

enum { MARKS_LEVELS = 6 }; /* 64 to the 6th: 2^36 numbers */

/*
 * levels[0]: a bit for each number. levels[n + 1]: a bit for each word of levels[n] that is not 0.
 */
struct marks {
	uint64_t *levels[MARKS_LEVELS]; /* all in one allocation */
	size_t limit;
};

/* An empty set of numbers below `limit`, which is at most 2^36. */
void marks_init(struct marks *, size_t limit);
void marks_release(struct marks *);

void marks_set(struct marks *, size_t number);
void marks_clear(struct marks *, size_t number);

/* The greatest member that is not above `number`, or MARKS_NONE. */
size_t marks_at_or_before(const struct marks *, size_t number);

/* The least member above `number`, or MARKS_NONE. */
size_t marks_after(const struct marks *, size_t number);

#endif
