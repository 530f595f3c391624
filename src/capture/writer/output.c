/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/writer/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

size_t output_write_at(struct output *o, const void *bytes, size_t size, uint64_t at)
{
	const uint8_t *from = bytes;
	size_t done = 0;
	int fd = open_file(o);

	while (done < size) {
		ssize_t n = pwrite(fd, from + done, size - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail_at(o, ERR_IO, at + done, strerror(errno));
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (fd >= 0 && fd != o->fd)
		close(fd);
	return done;
}

/* The size of the whole records in the bytes, with the data behind AUXTRACE records. */
static size_t whole_records(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= RECORD_HEADER_SIZE) {
		uint64_t next = load_u16(bytes + at + 6);

		if (load_u32(bytes + at) == RECORD_AUXTRACE && size - at >= AUXTRACE_RECORD_SIZE)
			next += load_u64(bytes + at + RECORD_HEADER_SIZE);
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

static void write_records(struct output *o, const uint8_t *records, size_t size)
{
	size_t done;

	if (o->has_failed || size == 0)
		return;
	drop_tail(o);
	done = output_write_at(o, records, size, o->end);
	set_end(o, o->end + (done == size ? size : whole_records(records, done)));
}

void output_flush(struct output *o)
{
	write_records(o, o->buffer, o->used);
	o->used = 0;
}

void output_fail(struct output *o, enum err_code code, const char *what)
{
	output_flush(o);
	fail_at(o, code, o->end, what);
}

/* Makes room in the buffer; false if it is too small. */
static bool output_make_room(struct output *o, size_t size)
{
	if (size > BUFFER_BYTES - o->used)
		output_flush(o);
	return size <= BUFFER_BYTES;
}

static void output_append(struct output *o, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(o->buffer + o->used, bytes, size);
	o->used += size;
}

void output_records(struct output *o, const void *records, size_t size)
{
	if (output_make_room(o, size))
		output_append(o, records, size);
	else
		write_records(o, records, size);
}

/* Writes a record larger than the buffer, which must be empty. */
static void write_large(struct output *o, const struct piece *pieces, size_t n)
{
	uint64_t at = o->end;

	drop_tail(o);
	for (size_t i = 0; i < n && !o->has_failed; i++)
		at += output_write_at(o, pieces[i].bytes, pieces[i].size, at);
	if (!o->has_failed)
		set_end(o, at);
}

void output_record(struct output *o, const struct piece *pieces, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += pieces[i].size;
	if (!output_make_room(o, size)) {
		write_large(o, pieces, n);
		return;
	}
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
