/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files as read-only memory. */
#ifndef CYCLOPS_BASE_MAPPED_H
#define CYCLOPS_BASE_MAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Zeroed is empty. */
struct mapped {
	const uint8_t *bytes;
	size_t size;
};

/* Maps the file at `path` as mapped_from_fd() does. A directory or a missing file is an error. */
int mapped_open(struct mapped *, const char *path, struct err *);

/*
 * Maps what can be read from `fd` to its end: a regular file from its start, anything else
 * (a pipe) through an unlinked temporary file. `name` is for messages. Does not close `fd`.
 */
int mapped_from_fd(struct mapped *, int fd, const char *name, struct err *);

/*
 * A temporary file without a name, in the directory of TMPDIR or in /tmp. It is gone when
 * closed and no longer mapped. NULL and an error if none can be made.
 */
FILE *temporary_file(struct err *);

/* The error of a write to one that failed, by errno. Returns -1. */
int temporary_file_failed(struct err *);

/* Maps what has been written to a temporary file. */
int mapped_from_stream(struct mapped *, FILE *, struct err *);

/*
 * Maps the pages of the bytes [from, to) at once, where the kernel can: Linux 5.14. Else each costs a fault when it is
 * read first, and is not prefetched before.
 */
void mapped_populate(const struct mapped *, uint64_t from, uint64_t to);

/*
 * Tells the kernel that the bytes [from, to) are not needed soon (madvise). They stay readable, but
 * resident memory does not grow with the size of the file.
 */
void mapped_forget(const struct mapped *, uint64_t from, uint64_t to);

/* The same at once, but for the last 64 KiB: of files that are read in order. */
void mapped_drop(const struct mapped *, uint64_t from, uint64_t to);

struct pool;

/*
 * The same for nearly all of a file that is released next, by all threads: one alone takes a tenth of the time it took to read. Threads of
 * other pools may do so at the same time, while munmap() lets no other thread do it.
 */
void mapped_drop_all(const struct mapped *, struct pool *);

/* The same for one of the pieces that it does it in. */
enum { MAPPED_PIECES = 16 };
void mapped_drop_piece(const struct mapped *, size_t piece);

void mapped_release(struct mapped *);

#endif
