/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for call stacks, for formats that have each of them once, in a table. A path is a list of numbers that the
 * format chooses, outermost first, one path for each sample. Sorted in bounded memory (base/sorter.h).
 *
 *	path_numbers_init(&paths, by_node, memory_bytes);
 *	path_numbers_add(&paths, labels, n);
 *	if (path_numbers_finish(&paths, &err) == 0) {
 *		for (uint64_t at = 0, i = 0; i < n_samples; i++)
 *			… path_numbers_of_sample(&paths, &at)
 *		for (path_row_init(&row); path_numbers_next(&paths, &row);)
 *			…
 *	}
 *	path_numbers_release(&paths);
 */
#ifndef CYCLOPS_EXPORT_FORMATS_PATH_NUMBERS_H
#define CYCLOPS_EXPORT_FORMATS_PATH_NUMBERS_H

#include "base/sorter.h"

struct path_numbers {
	bool by_node; /* what begins alike is one node of a tree, and nodes have numbers; else whole paths */
	uint32_t n; /* numbers there are, from 0 on */
	uint64_t n_samples;
	struct sorter paths;   /* with the samples that have them */
	struct sorter samples; /* with the numbers of their paths */
	struct text key, value;
};

/* `memory_bytes`: for both sorters. */
void path_numbers_init(struct path_numbers *, bool by_node, size_t memory_bytes);
void path_numbers_release(struct path_numbers *);

/* Adds the path of the next sample: `n` labels, innermost first. */
void path_numbers_add(struct path_numbers *, const uint32_t *labels, size_t n);

/* Gives the numbers. -1 and an error if a temporary file cannot be written. */
int path_numbers_finish(struct path_numbers *, struct err *);

/* The number of the next sample from *at on, which begins with 0, in the order in which they were added. */
uint32_t path_numbers_of_sample(const struct path_numbers *, uint64_t *at);

#define PATH_NONE UINT32_MAX

/* A row of the table. */
struct path_row {
	uint32_t number;
	uint32_t parent, label;	 /* of a node: PATH_NONE, if it is outermost; its own label */
	VEC_OF(uint32_t) labels; /* of a path: all, outermost first */

	uint64_t at;
	struct sorter_record record; /* the path that nodes are of */
	uint32_t depth;		     /* nodes of it that were there */
	VEC_OF(uint32_t) open;	     /* their numbers */
	bool has_begun;
};

void path_row_init(struct path_row *);
void path_row_release(struct path_row *);

/* The next row, in order of numbers, parents before their children; false behind the last. */
bool path_numbers_next(const struct path_numbers *, struct path_row *);

#endif
