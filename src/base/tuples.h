/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns tuples of 64-bit words. Equal tuples have the same number, counted from 0 in order of
 * first appearance. With width 1 it maps a word to a dense index; values are kept in an array of
 * the caller, indexed by the number.
 */
#ifndef CYCLOPS_BASE_TUPLES_H
#define CYCLOPS_BASE_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUPLES_NONE UINT32_MAX

struct tuples {
	size_t width;	 /* words in a tuple */
	uint64_t *words; /* n * width, in order of numbers */
	uint32_t *slots; /* open addressing: number + 1, or 0; NULL: tuples_forget_index() */
	uint32_t n;
	uint32_t cap;  /* tuples that fit in `words` */
	uint32_t mask; /* slots - 1; slots is a power of two */
	uint64_t seed;
};

/* An empty table for tuples of `width` words, at least 1. */
void tuples_init(struct tuples *, size_t width);
void tuples_release(struct tuples *);

/* Removes all tuples, keeps the memory. */
void tuples_reset(struct tuples *);

/* Removes all tuples: of a table that grew the memory, too, which takes longer to clear than to have anew. */
void tuples_empty(struct tuples *);

/* The number of the tuple, which is added if it is new: then it is the old `n`. */
uint32_t tuples_add(struct tuples *, const uint64_t *tuple);

/*
 * The same for `n` consecutive tuples. Several times faster in large tables, because cache misses
 * overlap.
 */
void tuples_add_all(struct tuples *, const uint64_t *tuples, size_t n, uint32_t *out_numbers);

/* The same, faster if a tuple often equals the previous one. */
void tuples_add_runs(struct tuples *, const uint64_t *tuples, size_t n, uint32_t *out_numbers);

/*
 * Adds `n` tuples, which the caller writes to where this points before the next call, even if they are there: then equal tuples
 * have several numbers, of which tuples_add() finds any or none. For tuples that hardly ever come twice this is quicker.
 */
uint64_t *tuples_append(struct tuples *, uint32_t n, uint32_t *out_first);

/*
 * Frees what finds tuples: from here on they are got by their numbers, and appended, and no more. For tuples that are complete, or
 * known not to be there.
 */
void tuples_forget_index(struct tuples *);

/* Makes it again if it was forgotten. */
void tuples_index(struct tuples *);

/* Gives each tuple another number: i to the one that was order[i], of which there are `n`. */
void tuples_reorder(struct tuples *, const uint32_t *order);

/* The number of the tuple, or TUPLES_NONE. */
uint32_t tuples_find(const struct tuples *, const uint64_t *tuple);

/* Are two tuples equal? They are short, so a loop is faster than memcmp(). */
static inline bool tuples_equal(const uint64_t *a, const uint64_t *b, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The words of tuple `number`, valid until the next tuples_add(). */
static inline const uint64_t *tuples_get(const struct tuples *t, uint32_t number)
{
	return t->words + (size_t)number * t->width;
}

/* tuples_add(), faster if the tuple often is the one that `last` is the number of; any number will do. */
static inline uint32_t tuples_add_again(struct tuples *t, const uint64_t *tuple, uint32_t last)
{
	return last < t->n && tuples_equal(tuples_get(t, last), tuple, t->width)
		       ? last
		       : tuples_add(t, tuple);
}

#endif
