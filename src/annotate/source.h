/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, where those are on this machine. */
#ifndef CYCLOPS_ANNOTATE_SOURCE_H
#define CYCLOPS_ANNOTATE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mapped.h"
#include "base/text.h"
#include "base/vec.h"

/* A source file, and the offsets at which its lines begin. */
struct source_file {
	const char *path; /* as debug information has it; borrowed */
	struct mapped bytes;
	VEC_OF(uint32_t) starts;
};

/* Zeroed is empty. */
struct sources {
	const char *symfs; /* prefix that is tried before the path itself; NULL: none */
	VEC_OF(struct source_file) files;
};

void sources_release(struct sources *);

/*
 * Appends the text of a line (the first is 1) without leading and trailing blanks; tabs become
 * blanks. Appends nothing if the file is not there or too large, or has fewer lines.
 */
void sources_line(struct sources *, const char *path, uint32_t line, struct text *out);

/* The same with the leading blanks; a tab goes to the next multiple of eight columns. False: there is no such line. */
bool sources_indented_line(struct sources *, const char *path, uint32_t line, struct text *out);

#endif
