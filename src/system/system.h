/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc and /sys. All paths are below a root directory: "" is this machine, tests
 * use others.
 */
#ifndef CYCLOPS_SYSTEM_SYSTEM_H
#define CYCLOPS_SYSTEM_SYSTEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

enum { SYSTEM_PATH_MAX = 1024, SYSTEM_LINE_MAX = 4096, SYSTEM_CPU_MAX = 65535 };

/* Makes the path of a file below the root; false if it is too long. */
bool system_path(const char *root, const char *format, va_list args, char out[SYSTEM_PATH_MAX])
	__attribute__((format(printf, 2, 0)));

/*
 * Reads the beginning of a file, at most size - 1 bytes, and ends it with a NUL. False and an empty
 * `out` if it cannot be read.
 */
bool system_beginning(const char *root, char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Reads the first line of a file, without its newline, to `out`. The path is the root and the
 * formatted rest. False and an empty `out` if it cannot be read or does not fit.
 */
bool system_line(const char *root, char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads the number, decimal or with 0x, at the start of a file. False if there is none. */
bool system_number(const char *root, int64_t *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends a whole file, at most 1 MiB. False if it cannot be read. */
bool system_text(const char *root, struct text *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Does the path exist? */
bool system_has(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Can this process read the path? */
enum system_access { SYSTEM_MISSING, SYSTEM_FORBIDDEN, SYSTEM_READABLE };
enum system_access system_access(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sorted names of directory entries, without those that begin with a dot. Memory of the arena. */
struct system_names {
	const char **items;
	size_t n;
};

/* Empty if the directory cannot be read. */
struct system_names system_list(const char *root, struct arena *, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* CPUs as ascending, separate ranges. */
struct cpu_range {
	uint32_t first, last;
};

struct cpu_list {
	struct cpu_range *items; /* memory of the arena */
	size_t n;
};

/* Parses a list such as "0-3,8". "" is the empty set. CPU numbers go up to SYSTEM_CPU_MAX. */
int cpu_list_parse(const char *text, struct arena *, struct cpu_list *out, struct err *);

bool cpu_list_has(const struct cpu_list *, uint32_t cpu);
size_t cpu_list_n(const struct cpu_list *);

/* The CPU at a position of the ascending list; `index` < cpu_list_n(). */
uint32_t cpu_list_at(const struct cpu_list *, size_t index);

#endif
