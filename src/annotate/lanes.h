/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrows between rows of a text, in lanes left of it. The shortest are in the innermost lanes:
 *
 *	╭──► ldr
 *	│╭── b.eq
 *	││   add
 *	│╰─► sub
 *	╰─── b.ne
 */
#ifndef CYCLOPS_ANNOTATE_LANES_H
#define CYCLOPS_ANNOTATE_LANES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

enum lane_style {
	LANE_DASHED,
	LANE_LIGHT,
	LANE_HEAVY,
};

struct lane_arrow {
	size_t from, to; /* rows */
	size_t group;	 /* arrows of one group share a lane; they go to one row */
	double weight;	 /* where lanes are short, groups of the lightest arrows have none */
	enum lane_style style;
	bool is_drawn; /* set by lanes_draw() */
};

typedef VEC_OF(struct lane_arrow) lane_arrows;

/*
 * Draws the arrows, in any order, in at most `most` lanes. Returns a string for each row, all of the same
 * width: at most `most` + 2 columns. They live in the arena.
 */
const char **lanes_draw(lane_arrows *, size_t n_rows, size_t most, bool has_unicode,
			struct arena *);

#endif
