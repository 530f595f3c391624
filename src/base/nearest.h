/* SPDX-License-Identifier: Apache-2.0 */
/* For messages about words that do not exist: "did you mean …?", "there are …". */
#ifndef CYCLOPS_BASE_NEAREST_H
#define CYCLOPS_BASE_NEAREST_H

#include <stddef.h>

/* Yields words by number, and NULL behind the last. */
typedef const char *word_at(const void *context, size_t i);

/* The word that begins with `word`, or the one most like it, or NULL if none is alike. */
const char *nearest_word(const char *word, word_at *, const void *context);

/* The words as "a, b, c" in `out`, of which it returns the address; what is too long is cut. */
const char *list_words(word_at *, const void *context, char *out, size_t size);

#endif
