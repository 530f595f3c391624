/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/pool.h"

enum {
	COPY_BYTES = 1 << 20,
	FORGOTTEN_BYTES = 16 << 20, /* a multiple of the size of any page */
	LARGEST_PAGE = 64 << 10,    /* that processes have by themselves: AArch64 */
};

static int map_fd(struct mapped *out, int fd, off_t file_size, const char *name, struct err *err)
{
	size_t size = (size_t)file_size;
	void *bytes = NULL;

	if ((off_t)size != file_size) {
		errno = EFBIG;
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: too large for a 32-bit program",
			       name);
	}

	if (size > 0) {
		bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED)
			return err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot map %zu bytes: %s",
				       name, size, strerror(errno));
	}
	*out = (struct mapped){ .bytes = bytes, .size = size };
	return 0;
}

/* Some file systems cannot create files without a name; there the file is unlinked at once. */
static int open_unnamed(const char *directory)
{
	char path[PATH_MAX];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/cyclops-XXXXXX", directory) >= (int)sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

FILE *temporary_file(struct err *err)
{
	const char *directory = getenv("TMPDIR");
	FILE *stream;
	int fd;

	if (directory == NULL || directory[0] == '\0')
		directory = "/tmp";
	fd = open_unnamed(directory);
	stream = fd < 0 ? NULL : fdopen(fd, "w+");
	if (stream == NULL) {
		err_set(err, ERR_IO, ERR_NOWHERE,
			"cannot make a temporary file in %s: %s (TMPDIR names another place)",
			directory, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return stream;
}

int temporary_file_failed(struct err *err)
{
	return err_set(err, ERR_IO, ERR_NOWHERE,
		       "cannot write a temporary file: %s (TMPDIR names another place)",
		       strerror(errno));
}

/* Copies a stream that cannot be mapped to an unnamed temporary file, and maps that. */
static int spool_stream(struct mapped *out, int fd, const char *name, struct err *err)
{
	FILE *copy = temporary_file(err);
	char *buffer = NULL;
	ssize_t got = 0;
	int rc = -1;

	if (copy == NULL)
		return err_within(err, "%s", name);
	buffer = mem_alloc(COPY_BYTES, 1);
	while ((got = read(fd, buffer, COPY_BYTES)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			err_set(err, ERR_IO, ERR_NOWHERE, "%s: cannot read: %s", name,
				strerror(errno));
			goto out;
		}
		if (fwrite(buffer, 1, (size_t)got, copy) != (size_t)got) {
			err_set(err, ERR_IO, ERR_NOWHERE,
				"%s: cannot write the temporary copy: %s (TMPDIR names another "
				"place)",
				name, strerror(errno));
			goto out;
		}
	}
	rc = mapped_from_stream(out, copy, err);
out:
	free(buffer);
	fclose(copy);
	return rc;
}

int mapped_from_fd(struct mapped *out, int fd, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: is a directory", name);
	/*
	 * Files of /proc have size 0, and those of /sys have a size but cannot be mapped: both are
	 * read.
	 */
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		if (map_fd(out, fd, st.st_size, name, err) == 0)
			return 0;
		if (errno != ENODEV)
			return -1;
	}
	return spool_stream(out, fd, name, err);
}

int mapped_from_stream(struct mapped *out, FILE *stream, struct err *err)
{
	struct stat st;

	if (fflush(stream) != 0 || fstat(fileno(stream), &st) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "temporary file: %s", strerror(errno));
	return map_fd(out, fileno(stream), st.st_size, "temporary file", err);
}

int mapped_open(struct mapped *out, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "%s: %s", path, strerror(errno));
	rc = mapped_from_fd(out, fd, path, err);
	close(fd);
	return rc;
}

/* Each call flushes the TLBs of all threads, so small ranges are collected first. */
void mapped_forget(const struct mapped *m, uint64_t from, uint64_t to)
{
	from -= from % FORGOTTEN_BYTES;
	to -= to % FORGOTTEN_BYTES;
	if (m->bytes != NULL && from < to && to <= m->size)
		madvise((void *)(uintptr_t)(m->bytes + from), to - from, MADV_DONTNEED);
}

void mapped_drop(const struct mapped *m, uint64_t from, uint64_t to)
{
	from -= from % LARGEST_PAGE;
	to -= to % LARGEST_PAGE;
	if (m->bytes != NULL && from < to && to <= m->size)
		madvise((void *)(uintptr_t)(m->bytes + from), to - from, MADV_DONTNEED);
}

void mapped_populate(const struct mapped *m, uint64_t from, uint64_t to)
{
	from -= from % LARGEST_PAGE;
#ifdef MADV_POPULATE_READ
	if (m->bytes != NULL && from < to && to <= m->size)
		madvise((void *)(uintptr_t)(m->bytes + from), to - from, MADV_POPULATE_READ);
#endif
}

/* Each flushes the TLBs of all threads. */
void mapped_drop_piece(const struct mapped *m, size_t piece)
{
	uint64_t bytes = m->size / MAPPED_PIECES;

	bytes -= bytes % LARGEST_PAGE;
	mapped_drop(m, (uint64_t)piece * bytes, ((uint64_t)piece + 1) * bytes);
}

static void drop_piece(void *context, size_t piece, unsigned worker)
{
	(void)worker;
	mapped_drop_piece(context, piece);
}

void mapped_drop_all(const struct mapped *m, struct pool *pool)
{
	if (m->bytes != NULL && pool != NULL)
		pool_run(pool, MAPPED_PIECES, drop_piece, (void *)(uintptr_t)m);
}

void mapped_release(struct mapped *m)
{
	if (m->bytes != NULL)
		munmap((void *)(uintptr_t)m->bytes, m->size);
	*m = (struct mapped){ 0 };
}
