/* SPDX-License-Identifier: Apache-2.0 */
/* For messages about words that do not exist: "did you mean …?", "there are …". */
#ifndef CYCLOPS_BASE_NEAREST_H
#define CYCLOPS_BASE_NEAREST_H

#include <stddef.h>

/* Yields words by number, and NULL behind the last. */
typedef const char *word_at(const void *context, size_t i);

/*
 * The words like `word`, best first, at most `max` of them: those that begin with it, then those
 * that have it inside, then those that are written much like it; equally good ones in their order.
 * Case does not matter. Returns how many.
 */
size_t nearest_words(const char *word, word_at *, const void *context, const char **out,
		     size_t max);

/* The first of them, or NULL if none is alike. */
const char *nearest_word(const char *word, word_at *, const void *context);

/* The words as "a, b, c" in `out`, of which it returns the address; what is too long is cut. */
const char *list_words(word_at *, const void *context, char *out, size_t size);

#endif
