/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is written as a whole or not at all: what is written has no name until the end, so that
 * nobody finds half of an answer, and what was there before stays until then. What is no ordinary file,
 * such as a pipe, is written in place, and so is a file in a folder that takes no new ones.
 */
#ifndef CYCLOPS_BASE_OUTPUT_FILE_H
#define CYCLOPS_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* Zeroed: none is open. */
struct output_file {
	FILE *stream;	 /* to write to; the file's own */
	char *path;	 /* as given, for messages */
	char *target;	 /* what it replaces, behind symbolic links; NULL: it is written in place */
	char *temporary; /* its name on the way there */
	bool is_named;	 /* it has that name already */
};

/*
 * A new file is for its user alone (0600), one that is replaced keeps its rights. Fails where
 * output_file_check() does.
 */
int output_file_open(struct output_file *, const char *path, struct err *);

/*
 * Fails if writing to the path would overwrite a file of another user, or follow a symbolic link of one who is not root:
 * in folders that all may write, such as /tmp, others choose what is at a name.
 */
int output_file_check(const char *path, struct err *);

/* Would what is written to the path replace this file, perhaps by another name of it? Both must be there. */
bool output_file_replaces(const char *path, const char *file);

/* Gives the file its name at once, for readers that follow what grows. */
int output_file_publish(struct output_file *, struct err *);

/*
 * Closes the file, and gives it its name if `rc` is 0. Otherwise nothing is left of it. Returns `rc`, or -1
 * and an error if writing fails.
 */
int output_file_close(struct output_file *, int rc, struct err *);

#endif
