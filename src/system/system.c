/* SPDX-License-Identifier: Apache-2.0 */
#include "system/system.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

enum { TEXT_MAX = 1 << 20, PIECE = 4096 };

/*
 * Reads a file to its end. Its size is not known before. O_NONBLOCK: the kernel's log waits for
 * more at its end.
 */
static bool system_read_all(const char *path, struct text *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t before = out->n;
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		n = read(fd, text_room(out, PIECE), PIECE);
		out->n += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && out->n - before < TEXT_MAX) ||
		 (n < 0 && (errno == EINTR || errno == EPIPE)));
	if (n < 0 && errno != EAGAIN) {
		out->n = before;
		close(fd);
		return false;
	}
	close(fd);
	return true;
}

bool system_text(const char *root, struct text *out, const char *format, ...)
{
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;

	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	return is_path && system_read_all(path, out);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

struct system_names system_list(const char *root, struct arena *memory, const char *format, ...)
{
	struct system_names names = { 0 };
	struct dirent **entries = NULL;
	char path[SYSTEM_PATH_MAX];
	va_list args;
	bool is_path;
	int n;

	va_start(args, format);
	is_path = system_path(root, format, args, path);
	va_end(args);
	n = is_path ? scandir(path, &entries, is_visible, by_name) : 0;
	if (n <= 0) {
		free(entries);
		return names;
	}
	names.items = arena_alloc(memory, (size_t)n * sizeof(*names.items));
	for (int i = 0; i < n; i++) {
		names.items[names.n++] =
			arena_strndup(memory, entries[i]->d_name, strlen(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return names;
}

/* Reads a number; false if there is none or it is too large for a CPU. */
static bool cpu_number(const char **at, uint32_t *out)
{
	uint32_t value = 0;
	const char *p = *at;

	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint32_t)(*p - '0');
		if (value > SYSTEM_CPU_MAX)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*out = value;
	return true;
}

static bool cpu_range(const char **at, struct cpu_range *out)
{
	if (!cpu_number(at, &out->first))
		return false;
	out->last = out->first;
	if (**at != '-')
		return true;
	++*at;
	return cpu_number(at, &out->last) && out->last >= out->first;
}

static int system_compare_ranges(const void *a, const void *b)
{
	const struct cpu_range *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Sorts ranges and joins those that touch or overlap. Returns how many are left. */
static size_t join_ranges(struct cpu_range *ranges, size_t n)
{
	size_t kept = 0;

	qsort(ranges, n, sizeof(*ranges), system_compare_ranges);
	for (size_t i = 1; i < n; i++) {
		if (ranges[i].first > ranges[kept].last + 1)
			ranges[++kept] = ranges[i];
		else if (ranges[i].last > ranges[kept].last)
			ranges[kept].last = ranges[i].last;
	}
	return kept + 1;
}

int cpu_list_parse(const char *text, struct arena *memory, struct cpu_list *out, struct err *err)
{
	VEC_OF(struct cpu_range) ranges = { 0 };
	struct cpu_list list = { 0 };
	const char *at = text;

	while (*at != '\0') {
		struct cpu_range range;

		if (!cpu_range(&at, &range) || (*at != ',' && *at != '\0') ||
		    (*at == ',' && at[1] == '\0')) {
			vec_release(&ranges);
			return err_set(err, ERR_FORMAT, (uint64_t)(at - text),
				       "'%s' is not a list of CPUs such as 0-3,8", text);
		}
		*vec_add(&ranges) = range;
		at += *at == ',';
	}
	if (ranges.n > 0) {
		list.n = join_ranges(ranges.items, ranges.n);
		list.items = arena_alloc(memory, list.n * sizeof(*list.items));
		memcpy(list.items, ranges.items, list.n * sizeof(*list.items));
	}
	vec_release(&ranges);
	*out = list;
	return 0;
}

bool cpu_list_has(const struct cpu_list *list, uint32_t cpu)
{
	for (size_t i = 0; i < list->n; i++)
		if (cpu >= list->items[i].first && cpu <= list->items[i].last)
			return true;
	return false;
}

size_t cpu_list_n(const struct cpu_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->items[i].last - list->items[i].first + 1;
	return n;
}

uint32_t cpu_list_at(const struct cpu_list *list, size_t index)
{
	for (size_t i = 0;; i++) {
		size_t n = list->items[i].last - list->items[i].first + 1;

		assert(i < list->n);
		if (index < n)
			return list->items[i].first + (uint32_t)index;
		index -= n;
	}
}
