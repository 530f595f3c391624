/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of --by, as a table: how a key is made from dimensions, and its columns. */
#ifndef CYCLOPS_KEYS_KEYS_H
#define CYCLOPS_KEYS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "keys/dimension.h"
#include "session/names.h"
#include "table/table.h"

/* What rows can be grouped by. */
enum key {
	KEY_PROCESS,
	KEY_PROGRAM,
	KEY_THREAD,
	KEY_CPU,
	KEY_MODULE,
	KEY_FUNCTION,
	KEY_CALLER,
	KEY_LINE,
	KEY_INSTRUCTION,
	KEY_PLACE,
	KEY_EVENT,
	KEY_OPERATION,
	KEY_SOURCE,
	KEY_TIME,
	N_KEYS,
};

/* A list of keys, each at most once. */
struct keys {
	enum key keys[N_KEYS];
	size_t n;
};

/* Reads "function,cpu". An unknown key is an error that lists the keys. */
int keys_parse(const char *text, struct keys *out, struct err *);

/* The same of a command that does not take all: bits by enum key, which the error does not list. */
int keys_parse_some(const char *text, uint32_t not_taken, struct keys *out, struct err *);

enum { KEY_MAX_WORDS = 4, KEY_MAX_COLUMNS = 5 };

/* The word of KEY_FUNCTION that tells names_inlined(); 0: the function's own code. */
enum { KEY_INLINED = 2 };

/*
 * What a word of a key is: for sorting by what it stands for, not by ids, which differ between
 * runs.
 */
enum key_word {
	WORD_NUMBER,
	WORD_SYMBOL, /* id of a string of the symbols */
	WORD_PLACE,  /* global place id */
	WORD_SOURCE, /* address of a struct cpu_source, or a raw value below 65536 */
};

struct key_class {
	const char *name, *meaning;
	uint32_t dimensions; /* bits by enum dimension */
	bool is_code;	     /* made from the place alone, so callers can be grouped by it */
	bool needs_names, needs_lines;
	size_t n_words;
	enum key_word words[KEY_MAX_WORDS];
	size_t n_columns;
	struct column columns[KEY_MAX_COLUMNS];
	void (*make)(const struct names *, const uint64_t *raw, uint64_t *words);
	void (*show)(const struct names *, const uint64_t *words, struct table *,
		     struct cell *cells);
};

/* By enum key. */
extern const struct key_class key_classes[N_KEYS];

/* The dimensions that these keys need. */
uint32_t keys_dimensions(const struct keys *);

/* Appends the columns of these keys to a list of `n`, each once. Returns the new `n`. */
size_t keys_add_columns(const struct keys *, struct column *list, size_t n);

/* The dimensions that estimated totals need: DIM_CPU, if sampling intervals differ between CPUs. */
uint32_t estimate_dimensions(const struct session *);

/* Is this key among them? Is time? */
bool keys_have(const struct keys *, enum key);
bool keys_have_time(const struct keys *);

/* A row by these keys in words: "walk.c:6, DRAM", "cpu 2", "cc1 4711"; NULL: nothing of it is known. */
const char *keys_row_words(const struct keys *, const struct names *, const uint64_t *words,
			   struct table *);

/* Are all of them of code: functions, lines, instructions …, which chains can be grouped by? */
bool keys_are_code(const struct keys *);

/* Has each place a group of its own? */
bool keys_tell_places(const struct keys *);

/* Is time the only key? Then all slices are shown, in order of time. */
bool keys_are_time(const struct keys *);

/* The data source that a word of DIM_SOURCE stands for; NULL: absent or not known. */
const struct cpu_source *key_source(uint64_t word);

/* Compares two words of this kind by what they stand for. */
int key_word_compare(const struct names *, enum key_word, uint64_t a, uint64_t b);

#endif
