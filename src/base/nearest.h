/* SPDX-License-Identifier: Apache-2.0 */
/* Finds similar words and lists words, for messages: "did you mean …?", "there are …". */
#ifndef CYCLOPS_BASE_NEAREST_H
#define CYCLOPS_BASE_NEAREST_H

#include <stddef.h>

/* Returns word number `i`; NULL behind the last. */
typedef const char *word_at(const void *context, size_t i);

/*
 * Finds words similar to `word`, at most `max`, best first: those that begin with it, those that
 * contain it, then those with a small edit distance. Equally good ones keep their order. Case is
 * ignored. Returns how many.
 */
size_t nearest_words(const char *word, word_at *, const void *context, const char **out,
		     size_t max);

/* The best similar word, or NULL. */
const char *nearest_word(const char *word, word_at *, const void *context);

/*
 * The end of a message about a word that does not exist: "; did you mean NEAREST?", or `otherwise` if
 * none is alike. In `out`, of which it returns the address; what is too long is cut.
 */
const char *did_you_mean(const char *word, word_at *, const void *context, const char *otherwise,
			 char *out, size_t size);

/* The words as "a, b, c" in `out`, of which it returns the address; what is too long is cut. */
const char *list_words(word_at *, const void *context, char *out, size_t size);

#endif
