/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that hotspots can be grouped by, as a table: what a key is made of, how it reads. */
#ifndef CYCLOPS_ANALYSIS_HOT_KEYS_H
#define CYCLOPS_ANALYSIS_HOT_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/hot.h"
#include "analysis/names.h"
#include "table/table.h"

enum { HOT_KEY_WORDS = 4, HOT_KEY_COLUMNS = 5 };

/* What a word of a key is, so that keys can be put into an order that is always the same. */
enum hot_word {
	WORD_NUMBER,
	WORD_SYMBOL, /* id of a string of the symbols */
	WORD_PLACE,  /* global place id */
	WORD_SOURCE, /* address of a struct cpu_source, or a raw value below 65536 */
};

struct hot_key_class {
	const char *name, *meaning;
	uint32_t dimensions; /* bits by enum hot_dimension */
	bool is_code;	     /* made from the place alone: callers have such a key too */
	bool needs_names, needs_lines;
	size_t n_words;
	enum hot_word words[HOT_KEY_WORDS];
	size_t n_columns;
	struct column columns[HOT_KEY_COLUMNS];
	void (*make)(const struct names *, const uint64_t *raw, uint64_t *words);
	void (*show)(const struct names *, const uint64_t *words, struct table *,
		     struct cell *cells);
};

/* By enum hot_key. */
extern const struct hot_key_class hot_key_classes[HOT_N_KEYS];

/* Slices of time alone: rows by them stand in their order, all of them. */
bool hot_keys_are_time(const struct hot_keys *);

/* The data source that a word of DIM_SOURCE stands for; NULL: absent or not known. */
const struct cpu_source *hot_source(uint64_t word);

/* Orders two words of this kind: by what they name, not by their numbers. */
int hot_word_compare(const struct names *, enum hot_word, uint64_t a, uint64_t b);

#endif
