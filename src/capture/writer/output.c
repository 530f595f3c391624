/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/writer/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/output_file.h"
#include "capture/format/record.h"
#include "capture/writer/emit.h"

enum {
	FEATURES_AT = 72, /* in the file header */
	FEATURES_BYTES = 32,
	BUFFER_BYTES = 4 << 20,
	COPY_BYTES = 64 << 10, /* larger records are written from where they are */
	MOST_PIECES = 4,       /* of a record */
};

static void fail_at(struct output *o, enum err_code code, uint64_t at, const char *what)
{
	if (!o->has_failed)
		err_set(&o->err, code, at, "%s: %s", o->path, what);
	o->has_failed = true;
}

static int open_with(struct output *o, const char *path, int flags, const char *what,
		     struct err *err)
{
	struct stat status;
	int fd;

	if (output_file_check(path, err) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);

	if (fd < 0 || fstat(fd, &status) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot %s: %s", path, what,
			       strerror(errno));
	*o = (struct output){
		.fd = fd,
		.path = mem_strndup(path, strlen(path)),
		.full_path = realpath(path, NULL),
		.device = status.st_dev,
		.inode = status.st_ino,
		.buffer = mem_alloc(BUFFER_BYTES, 1),
	};
	return 0;
}

int output_open(struct output *o, const char *path, struct err *err)
{
	return open_with(o, path, O_CREAT | O_TRUNC, "create", err);
}

int output_reopen(struct output *o, const char *path, struct err *err)
{
	return open_with(o, path, 0, "open", err);
}

static bool is_the_file(const struct output *o, int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == o->device && status.st_ino == o->inode;
}

/*
 * Opens the file for each write if the descriptor is not ours any more. A program on the machine
 * model shares the process with its writer. It may close unknown descriptors, or use the number for
 * a file of its own.
 */
static int open_file(const struct output *o)
{
	int fd;

	if (is_the_file(o, o->fd) || o->full_path == NULL)
		return o->fd;
	fd = open(o->full_path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && is_the_file(o, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void output_close(struct output *o)
{
	if (is_the_file(o, o->fd) && close(o->fd) < 0)
		fail_at(o, ERR_IO, ERR_NOWHERE, strerror(errno));
	free(o->buffer);
	free(o->path);
	free(o->full_path);
	o->full_path = NULL;
	o->buffer = NULL;
	o->path = NULL;
}

/* The part with the next byte to be written, when `size` more bytes were. */
static struct iovec *skip_written(struct iovec *part, const struct iovec *end, size_t size)
{
	while (part < end && size >= part->iov_len)
		size -= (part++)->iov_len;
	if (size > 0) {
		part->iov_base = (uint8_t *)part->iov_base + size;
		part->iov_len -= size;
	}
	return part;
}

/* Writes pieces behind each other. Returns how many bytes were written. */
static size_t write_pieces(struct output *o, const struct piece *pieces, size_t n, uint64_t at)
{
	struct iovec parts[MOST_PIECES + 1], *end = parts + n, *next;
	size_t done = 0;
	int fd = open_file(o);

	assert(n <= COUNT(parts));
	for (size_t i = 0; i < n; i++)
		parts[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].bytes, pieces[i].size };
	next = skip_written(parts, end, 0);
	while (next < end) {
		ssize_t written = pwritev(fd, next, (int)(end - next), (off_t)(at + done));

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			fail_at(o, ERR_IO, at + done, strerror(errno));
		if (written <= 0)
			break;
		done += (size_t)written;
		next = skip_written(next, end, (size_t)written);
	}
	if (fd >= 0 && fd != o->fd)
		close(fd);
	return done;
}

size_t output_write_at(struct output *o, const void *bytes, size_t size, uint64_t at)
{
	return write_pieces(o, &(struct piece){ bytes, size }, 1, at);
}

/* Copies what is at an offset of pieces that follow each other. */
static void copy_of_pieces(const struct piece *p, size_t at, uint8_t *out, size_t size)
{
	for (size_t i = 0; i < size; i++, at++) {
		for (; at >= p->size; p++)
			at -= p->size;
		out[i] = ((const uint8_t *)p->bytes)[at];
	}
}

/* The size of the whole records in the first bytes of pieces, with the data behind AUXTRACE records. */
static size_t whole_records(const struct piece *pieces, size_t size)
{
	size_t at = 0;

	while (size - at >= RECORD_HEADER_SIZE) {
		uint8_t start[RECORD_HEADER_SIZE + 8];
		uint64_t next;

		copy_of_pieces(pieces, at, start, RECORD_HEADER_SIZE);
		next = load_u16(start + 6);
		if (load_u32(start) == RECORD_AUXTRACE && size - at >= AUXTRACE_RECORD_SIZE) {
			copy_of_pieces(pieces, at, start, sizeof(start));
			next += load_u64(start + RECORD_HEADER_SIZE);
		}
		if (next < RECORD_HEADER_SIZE || next > size - at)
			break;
		at += (size_t)next;
	}
	return at;
}

/* Sets the end of the last whole record on disk, in the header, too. */
static void set_end(struct output *o, uint64_t end)
{
	uint8_t data_size[8];

	o->end = end;
	store_u64(data_size, o->end - o->data_at);
	output_write_at(o, data_size, sizeof(data_size), DATA_SIZE_AT);
}

/* Before records overwrite the features, the header must not mention them any more. */
static void drop_tail(struct output *o)
{
	static const uint8_t none[FEATURES_BYTES];

	if (o->has_tail)
		output_write_at(o, none, sizeof(none), FEATURES_AT);
	o->has_tail = false;
}

/* Writes the content of the buffer, and the pieces behind it. */
static void write_out(struct output *o, const struct piece *pieces, size_t n)
{
	struct piece all[MOST_PIECES + 1] = { { o->buffer, o->used } };
	size_t size = o->used, done;

	assert(n <= MOST_PIECES);
	for (size_t i = 0; i < n; i++) {
		all[i + 1] = pieces[i];
		size += pieces[i].size;
	}
	o->used = 0;
	if (o->has_failed || size == 0)
		return;
	drop_tail(o);
	done = write_pieces(o, all, n + 1, o->end);
	set_end(o, o->end + (done == size ? size : whole_records(all, done)));
}

void output_flush(struct output *o)
{
	write_out(o, NULL, 0);
}

void output_fail(struct output *o, enum err_code code, const char *what)
{
	output_flush(o);
	fail_at(o, code, o->end, what);
}

static void output_append(struct output *o, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(o->buffer + o->used, bytes, size);
	o->used += size;
}

void output_records(struct output *o, const void *records, size_t size)
{
	output_record(o, &(struct piece){ records, size }, 1);
}

void output_record(struct output *o, const struct piece *pieces, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += pieces[i].size;
	if (size > COPY_BYTES) {
		write_out(o, pieces, n);
		return;
	}
	if (size > BUFFER_BYTES - o->used)
		output_flush(o);
	for (size_t i = 0; i < n; i++)
		output_append(o, pieces[i].bytes, pieces[i].size);
}

void output_cut(struct output *o)
{
	int fd = open_file(o);

	if (ftruncate(fd, (off_t)o->end) < 0)
		fail_at(o, ERR_IO, o->end, strerror(errno));
	if (fd >= 0 && fd != o->fd)
		close(fd);
}
