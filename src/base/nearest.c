/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 64, NEAREST_MAX = 16 };

/* The least length of a word to be searched as a prefix, and inside of other words. */
enum { LEAST_PREFIX = 2, LEAST_INSIDE = 3 };

/* Levenshtein distance, ignoring case. */
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
			size_t replace = diagonal + (tolower((unsigned char)a[i]) !=
						     tolower((unsigned char)b[j]));
			size_t step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = replace < step ? replace : step;
		}
	}
	return row[len];
}

/* The distance of a candidate from the word; SIZE_MAX if they are not similar. */
static size_t nearest_distance(const char *word, size_t len, const char *candidate)
{
	const char *inside = strcasestr(candidate, word);
	size_t distance;

	if (len >= LEAST_PREFIX && inside == candidate)
		return 0;
	if (len >= LEAST_INSIDE && inside != NULL)
		return 1;
	distance = edit_distance(word, candidate);
	return distance <= len / 2 ? distance : SIZE_MAX;
}

size_t nearest_words(const char *word, word_at *next, const void *context, const char **out,
		     size_t max)
{
	size_t distances[NEAREST_MAX], len = strlen(word), n = 0;
	const char *candidate;

	max = max < NEAREST_MAX ? max : NEAREST_MAX;
	if (len > LONGEST_WORD)
		return 0;
	for (size_t i = 0; (candidate = next(context, i)) != NULL; i++) {
		size_t distance = nearest_distance(word, len, candidate), at = n;

		while (at > 0 && distances[at - 1] > distance)
			at--;
		if (distance == SIZE_MAX || at == max)
			continue;
		n += n < max;
		memmove(&distances[at + 1], &distances[at], (n - 1 - at) * sizeof(*distances));
		memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof(*out));
		distances[at] = distance;
		out[at] = candidate;
	}
	return n;
}

const char *nearest_word(const char *word, word_at *next, const void *context)
{
	const char *found;

	return nearest_words(word, next, context, &found, 1) > 0 ? found : NULL;
}

const char *did_you_mean(const char *word, word_at *at, const void *context, const char *otherwise,
			 char *out, size_t size)
{
	const char *nearest = nearest_word(word, at, context);

	if (nearest != NULL)
		snprintf(out, size, "; did you mean %s?", nearest);
	else
		snprintf(out, size, "%s", otherwise);
	return out;
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
