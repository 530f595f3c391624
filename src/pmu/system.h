/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells in small files of /proc and /sys. All of it is read below a root
 * directory: "" is this machine, tests make others up.
 */
#ifndef CYCLOPS_PMU_SYSTEM_H
#define CYCLOPS_PMU_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

enum { SYSTEM_PATH_MAX = 1024, SYSTEM_LINE_MAX = 4096, SYSTEM_CPU_MAX = 65535 };

/*
 * The first line of a file, without its end, in `out`; the path is made of the root and the
 * formatted rest. False, and an empty `out`, if it cannot be read or does not fit.
 */
bool system_line(const char *root, char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The number, decimal or with 0x, that the file begins with. False: there is none. */
bool system_number(const char *root, int64_t *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends a whole file, at most 1 MiB of it. False if it cannot be read. */
bool system_text(const char *root, struct text *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Is there something of that name? */
bool system_has(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* May this process read what is there? */
enum system_access { SYSTEM_MISSING, SYSTEM_FORBIDDEN, SYSTEM_READABLE };
enum system_access system_access(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Names in a directory, sorted, without those that begin with a dot; from the arena. */
struct system_names {
	const char **items;
	size_t n;
};

/* Empty if there is no such directory. */
struct system_names system_list(const char *root, struct arena *, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A set of CPUs, as ranges: ascending, apart from each other. */
struct cpu_range {
	uint32_t first, last;
};

struct cpu_list {
	struct cpu_range *items; /* from the arena */
	size_t n;
};

/*
 * Reads a list such as "0-3,8" as sysfs and users write it. An empty text is the empty set.
 * Numbers go up to SYSTEM_CPU_MAX.
 */
int cpu_list_parse(const char *text, struct arena *, struct cpu_list *out, struct err *);

bool cpu_list_has(const struct cpu_list *, uint32_t cpu);
size_t cpu_list_n(const struct cpu_list *);

/* The CPU at that place of the ascending list; `index` < cpu_list_n(). */
uint32_t cpu_list_at(const struct cpu_list *, size_t index);

#endif
