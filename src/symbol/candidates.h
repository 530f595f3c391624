/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths where a file may be, as patterns that are tried in order. A word in braces is replaced by a
 * part. A pattern with an unknown part is skipped; one with {debug} is tried for each directory of
 * debug files.
 *
 *	"{debug}/.build-id/{id}.debug"	"{folder}/.debug/{link}"
 */
#ifndef CYCLOPS_SYMBOL_CANDIDATES_H
#define CYCLOPS_SYMBOL_CANDIDATES_H

#include <stdbool.h>

#include "elf/elf_file.h"
#include "symbol/symbols.h"

enum candidate_part {
	PART_SYMFS, /* may be empty, the others may not */
	PART_PATH,
	PART_CACHE,
	PART_ID, /* "ab/cdef…" */
	PART_DEBUG,
	PART_FOLDER,
	PART_RECORDED_FOLDER,
	PART_LINK,
	N_PARTS,
};

/* The parts by enum candidate_part; NULL: not known. Borrowed. PART_DEBUG is set by the search. */
struct candidates {
	const struct symbols_options *options;
	const char *parts[N_PARTS];
	char id[BUILD_ID_TEXT + 1];
};

/* Sets {symfs}, {debug} and {cache}; `cache` may be NULL. */
void candidates_init(struct candidates *, const struct symbols_options *, const char *cache);

void candidates_set_id(struct candidates *, const struct build_id *);

/* Called for each path; true ends the search. */
typedef bool candidate_test(void *context, const char *path);

/* Tries the patterns, up to a NULL. Returns whether one passed. */
bool candidates_try(struct candidates *, const char *const *patterns, candidate_test *,
		    void *context);

#endif
