/* SPDX-License-Identifier: Apache-2.0 */
/* The captures that arguments name: files, and all in folders. */
#ifndef CYCLOPS_COLLECT_INPUTS_H
#define CYCLOPS_COLLECT_INPUTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"

/* Paths, in order of arguments and names. Zeroed is empty. */
struct inputs {
	VEC_OF(char *) paths;
};

void inputs_release(struct inputs *);

/*
 * Appends the captures of an argument: itself, if it is a file; of a folder, unless it is a capture of `perf record
 * --threads`, all files and such folders in it, at any depth, that begin as captures do. Fails if it cannot be read.
 */
int inputs_add(struct inputs *, const char *path, struct err *);

#endif
