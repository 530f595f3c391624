/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up machines: files of /proc and /sys below a temporary directory. */
#ifndef CYCLOPS_TESTS_COLLECT_TREE_H
#define CYCLOPS_TESTS_COLLECT_TREE_H

#include <stddef.h>

struct tree_file {
	const char *path; /* "/proc/…"; NULL ends a list */
	const char *text; /* a newline is added, as the kernel does; NULL: an empty directory */
};

/* The root to hand to the code under test. */
struct tree {
	char root[64];
};

void tree_make(struct tree *, const struct tree_file *files);
void tree_add(const struct tree *, const char *path, const char *text);
void tree_remove(struct tree *);

/* PMUs of machines that tests share. */
extern const struct tree_file tree_neoverse_n1[]; /* with SPE and a mesh */
extern const struct tree_file tree_big_little[];
extern const struct tree_file tree_without_pmu[];

#endif
