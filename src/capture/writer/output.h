/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a writer. Records are appended through a buffer that begins at a record and holds
 * whole ones. So the end of the last whole record on disk is always known, and it is in the file's
 * header.
 */
#ifndef CYCLOPS_CAPTURE_WRITER_OUTPUT_H
#define CYCLOPS_CAPTURE_WRITER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	RECORD_HEADER_SIZE = 8,
	RECORD_SIZE_MAX = UINT16_MAX,
	DATA_SIZE_AT = 48, /* offset in the file header: size of whole records */
};

struct output {
	int fd;
	char *path;
	char *full_path; /* NULL: not known */
	uint64_t device, inode;
	uint64_t data_at; /* position of the first record; set by the user of this */
	uint64_t end;	  /* end of the whole records on disk, where the buffer goes */
	uint8_t *buffer;
	size_t used;
	bool has_tail; /* features are behind the records, and the header says so */
	bool has_failed;
	struct err err; /* the first error, after which nothing is written */
};

/* A part of a record to be written. */
struct piece {
	const void *bytes;
	size_t size;
};

/* Creates the file. On failure the error names it. */
int output_open(struct output *, const char *path, struct err *);

/* Opens an existing file without changing it. The caller sets `end`, too. */
int output_reopen(struct output *, const char *path, struct err *);

/* Closes without flushing and frees. The error is kept. */
void output_close(struct output *);

/* Keeps an error of the caller: nothing is written after it. */
void output_fail(struct output *, enum err_code, const char *what);

/* Writes at a position of the file. Returns how many bytes were written. */
size_t output_write_at(struct output *, const void *bytes, size_t size, uint64_t at);

/* Appends whole records. */
void output_records(struct output *, const void *records, size_t size);

/* Appends a record of several parts, with the trace data behind it. */
void output_record(struct output *, const struct piece *pieces, size_t n);

/* Writes the content of the buffer. */
void output_flush(struct output *);

/* Truncates the file behind the last whole record. */
void output_cut(struct output *);

#endif
