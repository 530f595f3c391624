/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, where those are on this machine. */
#ifndef CYCLOPS_ANNOTATE_SOURCE_H
#define CYCLOPS_ANNOTATE_SOURCE_H

#include <stdint.h>

#include "base/mapped.h"
#include "base/text.h"
#include "base/vec.h"

/* A file with the places where its lines begin. */
struct source_file {
	const char *path; /* as debug information has it; borrowed */
	struct mapped bytes;
	VEC_OF(uint32_t) starts;
};

/* Zeroed is empty. */
struct sources {
	const char *symfs; /* tried before the path itself; NULL: no */
	VEC_OF(struct source_file) files;
};

void sources_release(struct sources *);

/*
 * Appends the text of a line (from 1), blanks at its ends left out, tabs as blanks. Nothing
 * if the file is not there, too large, or has not so many lines.
 */
void sources_line(struct sources *, const char *path, uint32_t line, struct text *out);

#endif
