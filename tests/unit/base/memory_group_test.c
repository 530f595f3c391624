/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/memory_group.h"
#include "base/path.h"

enum { MOST_FILES = 8 };

struct file {
	const char *path, *text;
};

#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"

static const struct {
	const char *what;
	struct file files[MOST_FILES];
	uint64_t limit, used;
} cases[] = {
	{ "nothing is known", { { NULL, NULL } }, UINT64_MAX, 0 },
	{ "no limit",
	  { { "/proc/self/cgroup", "0::/a\n" },
	    { V2 "/a/memory.max", "max\n" },
	    { V2 "/a/memory.stat", "anon 5\n" } },
	  UINT64_MAX,
	  0 },
	{ "version 2",
	  { { "/proc/self/cgroup", "0::/a/b\n" },
	    { V2 "/a/b/memory.max", "1000\n" },
	    { V2 "/a/b/memory.stat", "anon 300\nfile 900\nkernel 8\nshmem 20\nanon_thp 7\n" } },
	  1000,
	  320 },
	{ "the group around it leaves less",
	  { { "/proc/self/cgroup", "0::/a/b\n" },
	    { V2 "/a/b/memory.max", "1000\n" },
	    { V2 "/a/b/memory.stat", "anon 300\n" },
	    { V2 "/a/memory.max", "1100\n" },
	    { V2 "/a/memory.stat", "anon 1050\n" } },
	  1100,
	  1050 },
	{ "version 1, in a container that does not see the host's path",
	  { { "/proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/\n" },
	    { V1 "/memory.limit_in_bytes", "4096\n" },
	    { V1 "/memory.stat", "rss 1\nshmem 1\ntotal_rss 100\ntotal_shmem 30\n" } },
	  4096,
	  130 },
	{ "version 1, with another controller",
	  { { "/proc/self/cgroup", "2:hugetlb,memory:/\n" },
	    { V1 "/memory.limit_in_bytes", "9223372036854771712\n" },
	    { V1 "/memory.stat", "total_rss 100" } },
	  9223372036854771712u,
	  100 },
	{ "more is used than allowed",
	  { { "/proc/self/cgroup", "0::/\n" },
	    { V2 "/memory.max", "10\n" },
	    { V2 "/memory.stat", "anon 20\n" } },
	  10,
	  20 },
	{ "a limit without the uses",
	  { { "/proc/self/cgroup", "0::/\n" }, { V2 "/memory.max", "10\n" } },
	  UINT64_MAX,
	  0 },
	{ "no lines of the kernel's",
	  { { "/proc/self/cgroup", "::\nmemory\n0:\n\n:::/\n" }, { V2 "/memory.max", "" } },
	  UINT64_MAX,
	  0 },
};

static void write_file(const char *root, const struct file *f)
{
	char path[512];
	struct err err;
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, f->path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(path_make_folders(path, 0700, &err), 0);
	snprintf(path, sizeof(path), "%s%s", root, f->path);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(f->text, file);
	fclose(file);
}

static void the_group_that_leaves_least_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char root[] = "/tmp/cyclops-group-XXXXXX", command[64];
		struct memory_group found;

		assert_non_null(mkdtemp(root));
		for (size_t k = 0; k < MOST_FILES && cases[i].files[k].path != NULL; k++)
			write_file(root, &cases[i].files[k]);
		found = memory_group_read(root);
		snprintf(command, sizeof(command), "rm -rf %s", root);
		assert_int_equal(system(command), 0);
		if (found.limit_bytes != cases[i].limit ||
		    (cases[i].limit != UINT64_MAX && found.used_bytes != cases[i].used))
			fail_msg("%s: %ju of %ju", cases[i].what, (uintmax_t)found.used_bytes,
				 (uintmax_t)found.limit_bytes);
	}
}

static void paths_that_are_too_long_are_no_groups(void **state)
{
	char root[4096];

	(void)state;
	memset(root, 'a', sizeof(root) - 1);
	root[sizeof(root) - 1] = '\0';
	assert_true(memory_group_read(root).limit_bytes == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_group_that_leaves_least_is_found),
		cmocka_unit_test(paths_that_are_too_long_are_no_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
