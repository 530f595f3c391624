/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/pool.h"

static void a_file_is_mapped_from_its_start(void **state)
{
	char path[] = "/tmp/cyclops-mapped-XXXXXX";
	int fd = mkstemp(path);
	struct mapped m = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(mapped_open(&m, path, &err), 0);
	assert_int_equal(m.size, 5);
	assert_memory_equal(m.bytes, "hello", 5);
	mapped_release(&m);
	assert_int_equal(mapped_from_fd(&m, fd, path, &err), 0);
	assert_int_equal(m.size, 5);
	mapped_release(&m);
	assert_null(m.bytes);
	close(fd);
	unlink(path);
}

static void an_empty_file_is_no_error(void **state)
{
	char path[] = "/tmp/cyclops-mapped-XXXXXX";
	struct mapped m = { 0 };
	struct err err;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(mapped_open(&m, path, &err), 0);
	assert_int_equal(m.size, 0);
	mapped_release(&m);
	unlink(path);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	struct mapped m = { 0 };
	struct err err;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "through a pipe", 14), 14);
	close(ends[1]);
	assert_int_equal(mapped_from_fd(&m, ends[0], "-", &err), 0);
	assert_int_equal(m.size, 14);
	assert_memory_equal(m.bytes, "through a pipe", 14);
	mapped_release(&m);
	close(ends[0]);
}

/* Any range is accepted, also outside of the file and in the wrong order. */
static void forgotten_bytes_can_be_read_again(void **state)
{
	enum { PAGE = 4096, SIZE = 3 * PAGE + 5 };
	static const uint64_t places[] = { 0, 1, PAGE, PAGE + 1, 2 * PAGE, SIZE, UINT64_MAX };
	const size_t n = sizeof(places) / sizeof(*places);
	struct mapped m = { 0 };
	struct err err;
	FILE *file = temporary_file(&err);

	(void)state;
	for (int i = 0; i < SIZE; i++)
		fputc('a' + i % 26, file);
	assert_int_equal(mapped_from_stream(&m, file, &err), 0);
	for (size_t i = 0; i < n * n; i++) {
		mapped_forget(&m, places[i / n], places[i % n]);
		for (int k = 0; k < SIZE; k++)
			assert_int_equal(m.bytes[k], 'a' + k % 26);
	}
	mapped_release(&m);
	mapped_forget(&m, 0, PAGE);
	fclose(file);
}

/* KiB of the mapping at `bytes` that are in memory, by the kernel. */
static unsigned resident_kib(const void *bytes)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long from, to;
	bool is_inside = false;
	unsigned kib = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			is_inside = (uintptr_t)bytes >= from && (uintptr_t)bytes < to;
		else if (is_inside && sscanf(line, "Rss: %u kB", &kib) == 1)
			break;
	}
	fclose(maps);
	return kib;
}

/* Only what is asked for, and nothing where there is no file. */
static void a_range_is_mapped_before_it_is_read(void **state)
{
	enum { SIZE = 24 << 20, MIB = 1 << 20 };
	struct mapped m = { 0 };
	struct err err;
	FILE *file = temporary_file(&err);

	(void)state;
	mapped_populate(&m, 0, MIB);
	for (int i = 0; i < SIZE; i++)
		putc_unlocked('a', file);
	assert_int_equal(mapped_from_stream(&m, file, &err), 0);
	mapped_populate(&m, 8 * MIB, SIZE + 1); /* not in the file */
	assert_int_equal(resident_kib(m.bytes), 0);
	mapped_populate(&m, 8 * MIB, 16 * MIB);
#ifdef MADV_POPULATE_READ
	/* Not in an old kernel. */
	if (madvise((void *)(uintptr_t)m.bytes, 0, MADV_POPULATE_READ) == 0) {
		assert_true(resident_kib(m.bytes) >= 8 * 1024);
		assert_true(resident_kib(m.bytes) <= 12 * 1024);
	}
#endif
	assert_int_equal(m.bytes[8 * MIB], 'a');
	mapped_release(&m);
	fclose(file);
}

static void a_file_dropped_by_all_threads_can_be_read_again(void **state)
{
	enum { SIZE = (13 << 20) + 5 };
	struct pool *pool = pool_new(3);
	struct mapped m = { 0 };
	struct err err;
	FILE *file = temporary_file(&err);

	(void)state;
	for (int i = 0; i < SIZE; i++)
		putc_unlocked('a' + i % 26, file);
	assert_int_equal(mapped_from_stream(&m, file, &err), 0);
	for (int i = 0; i < SIZE; i++)
		assert_int_not_equal(m.bytes[i], 0);
	assert_true(resident_kib(m.bytes) >= SIZE / 1024);
	mapped_drop_all(&m, pool);
	assert_true(resident_kib(m.bytes) <= 2048);
	for (int i = 0; i < SIZE; i++)
		if (m.bytes[i] != 'a' + i % 26)
			fail_msg("byte %d is %d", i, m.bytes[i]);
	mapped_release(&m);
	mapped_drop_all(&m, pool);
	pool_free(pool);
	fclose(file);
}

/* Files of the kernel have size 0 or a wrong one, and cannot be mapped. */
static void files_of_the_kernel_are_read(void **state)
{
	static const char *const paths[] = { "/proc/self/status", "/sys/kernel/notes",
					     "/sys/devices/system/cpu/online" };
	size_t n_tried = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct mapped m = { 0 };
		struct err err = { 0 };

		if (access(paths[i], R_OK) < 0) /* in a sandbox */
			continue;
		n_tried++;
		if (mapped_open(&m, paths[i], &err) < 0)
			fail_msg("%s", err.text);
		assert_true(m.size > 0);
		mapped_release(&m);
	}
	assert_true(n_tried > 0);
}

/* The message names the file; `out` is not touched. */
static void what_cannot_be_mapped_is_an_error(void **state)
{
	static const char *const paths[] = { "/tmp", "/nowhere/at/all", "/dev/null/x" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct mapped m = { 0 };
		struct err err = { 0 };

		assert_int_equal(mapped_open(&m, paths[i], &err), -1);
		assert_int_equal(err.code, ERR_IO);
		assert_non_null(strstr(err.text, paths[i]));
		assert_null(m.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_mapped_from_its_start),
		cmocka_unit_test(an_empty_file_is_no_error),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(forgotten_bytes_can_be_read_again),
		cmocka_unit_test(a_range_is_mapped_before_it_is_read),
		cmocka_unit_test(a_file_dropped_by_all_threads_can_be_read_again),
		cmocka_unit_test(files_of_the_kernel_are_read),
		cmocka_unit_test(what_cannot_be_mapped_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
