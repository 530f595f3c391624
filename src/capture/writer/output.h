/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file under a writer: records appended through a buffer. The buffer begins at a record
 * and holds whole ones, so wherever writing stops, the end of the last whole record on disk
 * is known, and the header in the file says it.
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
	AUXTRACE_RECORD_SIZE = RECORD_HEADER_SIZE + 40,
	DATA_SIZE_AT = 48, /* in the file header: bytes of whole records */
};

struct output {
	int fd;
	char *path;
	char *full_path; /* NULL: not known */
	uint64_t device, inode;
	uint64_t data_at; /* position of the first record; set by the user */
	uint64_t end;	  /* of the whole records on disk: where the buffer belongs */
	uint8_t *buffer;
	size_t used;
	bool has_tail; /* features stand behind the records, and the header says so */
	bool has_failed;
	struct err err; /* the first error; nothing is written after it */
};

/* A piece of something to be written. */
struct piece {
	const void *bytes;
	size_t size;
};

/* Creates the file, or fails naming it. */
int output_open(struct output *, const char *path, struct err *);

/* Opens a file that is there, and leaves it as it is. `end` is for the user to set, too. */
int output_reopen(struct output *, const char *path, struct err *);

/* Closes without flushing, frees. The error stays. */
void output_close(struct output *);

/* Keeps an error of the user's, as if writing had failed behind what is there. */
void output_fail(struct output *, enum err_code, const char *what);

/* Writes anywhere in the file. Returns how many bytes got there. */
size_t output_write_at(struct output *, const void *bytes, size_t size, uint64_t at);

/* Appends whole records as they stand. */
void output_records(struct output *, const void *records, size_t size);

/* Appends one record that consists of the pieces (trace data behind it included). */
void output_record(struct output *, const struct piece *pieces, size_t n);

/* Writes what is in the buffer. */
void output_flush(struct output *);

/* Cuts off what lies behind the last whole record. */
void output_cut(struct output *);

#endif
