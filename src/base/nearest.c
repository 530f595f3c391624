/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST_WORD = 64 };

/* So much of a word says which one is meant. */
enum { LEAST_PREFIX = 2 };

/* Steps (insert, delete, replace) from one word to the other. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[LONGEST_WORD + 1];
	size_t len = strnlen(b, LONGEST_WORD);

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			size_t replace = diagonal + (a[i] != b[j]);
			size_t step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = replace < step ? replace : step;
		}
	}
	return row[len];
}

const char *nearest_word(const char *word, word_at *next, const void *context)
{
	size_t best = strlen(word) / 2 + 1; /* further away is not alike */
	const char *found = NULL;
	const char *candidate;

	if (strlen(word) > LONGEST_WORD)
		return NULL;
	for (size_t i = 0; (candidate = next(context, i)) != NULL; i++) {
		size_t len = strlen(word);
		bool begins = len >= LEAST_PREFIX && strncmp(word, candidate, len) == 0;
		size_t distance = begins ? 0 : edit_distance(word, candidate);

		if (distance < best) {
			best = distance;
			found = candidate;
		}
	}
	return found;
}

const char *list_words(word_at *next, const void *context, char *out, size_t size)
{
	const char *word;

	out[0] = '\0';
	for (size_t i = 0; (word = next(context, i)) != NULL; i++) {
		strncat(out, i > 0 ? ", " : "", size - strlen(out) - 1);
		strncat(out, word, size - strlen(out) - 1);
	}
	return out;
}
