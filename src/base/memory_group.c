/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces: Documentation/admin-guide/cgroup-v2.rst of Linux, "Memory", and cgroup-v1/memory.rst. */
#include "base/memory_group.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
	RESERVE_SHARE = 32, /* this part of the limit is left for what is small */
	SCARCE_SHARE = 4,   /* above this part of it memory is scarce */
};

/* The limit is that of the process: all its threads know when little is left. */
static atomic_bool is_scarce;

enum { PATH_BYTES = 1024, FILE_BYTES = 8192, N_USES = 2 };

/* How a version of the interface names what is asked. */
struct hierarchy {
	const char *controllers; /* in /proc/self/cgroup */
	const char *mount, *limit;
	const char *uses[N_USES]; /* in memory.stat, of the group and all below it */
};

static const struct hierarchy hierarchies[] = {
	{ "", "/sys/fs/cgroup", "memory.max", { "anon ", "shmem " } },
	{ "memory",
	  "/sys/fs/cgroup/memory",
	  "memory.limit_in_bytes",
	  { "total_rss ", "total_shmem " } },
};

/* The beginning of a file, with a NUL. False if it cannot be read. */
static bool read_beginning(char out[FILE_BYTES], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, FILE_BYTES - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_group_file(char out[FILE_BYTES], const char *folder, const char *name)
{
	char path[PATH_BYTES];
	int n = snprintf(path, sizeof(path), "%s/%s", folder, name);

	return n > 0 && (size_t)n < sizeof(path) && read_beginning(out, path);
}

/* The number behind a key at the start of a line; 0: there is none. */
static uint64_t value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0)
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

static uint64_t room_of(const struct memory_group *g)
{
	return g->limit_bytes > g->used_bytes ? g->limit_bytes - g->used_bytes : 0;
}

static void read_group(const struct hierarchy *h, const char *folder, struct memory_group *least)
{
	char text[FILE_BYTES];
	struct memory_group g = { 0 };

	if (!read_group_file(text, folder, h->limit) || text[0] < '0' || text[0] > '9')
		return;
	g.limit_bytes = strtoull(text, NULL, 10);
	if (!read_group_file(text, folder, "memory.stat"))
		return;
	for (int i = 0; i < N_USES; i++)
		g.used_bytes += value_of(text, h->uses[i]);
	if (room_of(&g) < room_of(least))
		*least = g;
}

/*
 * The group and those around it. In a container the path may be the host's, whose folders are not there: then
 * the mount itself is the container's.
 */
static void read_groups(const struct hierarchy *h, const char *root, const char *group,
			struct memory_group *least)
{
	char folder[PATH_BYTES];
	int n = snprintf(folder, sizeof(folder), "%s%s", root, h->mount);
	size_t start = (size_t)n;
	char *slash;

	if (n < 0 || start >= sizeof(folder))
		return;
	snprintf(folder + start, sizeof(folder) - start, "%s", group);
	do {
		read_group(h, folder, least);
		slash = strrchr(folder + start, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
}

/* Is the word in a list with commas? The empty word is in the empty list alone. */
static bool has_word(const char *list, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list, *end = list + n; at <= end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t size = (size_t)((comma != NULL ? comma : end) - at);

		if (size == len && memcmp(at, word, len) == 0)
			return true;
		at += size + 1;
	}
	return false;
}

/* A line is "NUMBER:CONTROLLERS:PATH". */
static void read_line(const char *root, const char *line, struct memory_group *least)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (path == NULL)
		return;
	controllers++;
	for (size_t i = 0; i < COUNT(hierarchies); i++)
		if (has_word(controllers, (size_t)(path - controllers), hierarchies[i].controllers))
			read_groups(&hierarchies[i], root, path + 1, least);
}

struct memory_group memory_group_read(const char *root)
{
	struct memory_group least = { .limit_bytes = UINT64_MAX };
	char text[FILE_BYTES], path[PATH_BYTES], *save = NULL;
	int n = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);

	if (n < 0 || (size_t)n >= sizeof(path) || !read_beginning(text, path))
		return least;
	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		read_line(root, line, &least);
	return least;
}

static uint64_t mebibytes(uint64_t bytes)
{
	return bytes >> 20;
}

bool memory_group_allows(size_t more_bytes, struct err *err)
{
	struct memory_group g = memory_group_read("");
	uint64_t usable = g.limit_bytes - g.limit_bytes / RESERVE_SHARE;

	if (g.limit_bytes == UINT64_MAX)
		return true;
	atomic_store(&is_scarce, g.used_bytes + more_bytes > usable / SCARCE_SHARE);
	if (g.used_bytes <= usable && more_bytes <= usable - g.used_bytes)
		return true;
	err_set(err, ERR_IO, ERR_NOWHERE,
		"out of memory: %" PRIu64 " of the %" PRIu64
		" MiB of the memory cgroup are in use, and %" PRIu64
		" MiB more are needed; give it more, or select less (--select)",
		mebibytes(g.used_bytes), mebibytes(g.limit_bytes), mebibytes(more_bytes) + 1);
	return false;
}

bool memory_is_scarce(void)
{
	return atomic_load(&is_scarce);
}

uint64_t memory_size(void)
{
	long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t limit = memory_group_read("").limit_bytes, all;

	if (n_pages <= 0 || page_bytes <= 0)
		return 0;
	all = (uint64_t)n_pages * (uint64_t)page_bytes;
	return all < limit ? all : limit;
}
