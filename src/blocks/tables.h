/* SPDX-License-Identifier: Apache-2.0 */
/* The basic blocks of a function as tables and as a drawing. */
#ifndef CYCLOPS_BLOCKS_TABLES_H
#define CYCLOPS_BLOCKS_TABLES_H

#include "annotate/blocks.h"
#include "base/text.h"
#include "cycles/ranges.h"
#include "table/table.h"

/*
 * Which blocks are drawn: all, or the hottest that have 95 % if there are very many. To be freed.
 */
bool *cfg_blocks_to_draw(const struct cfg *, size_t *out_n);

/* The graph in the language of Graphviz, and as text of at most `width` columns. */
void cfg_draw_dot(const struct cfg *, struct text *out);
void cfg_draw_text(const struct cfg *, unsigned width, bool has_unicode, struct text *out);

/*
 * The tables "blocks", "edges", "loops", "segments", "shadow" of the function; "positions" and
 * "instructions" of the stacks.
 */
struct blocks_tables {
	struct table answer; /* for people only */
	struct table blocks, edges, loops, segments, positions, instructions, shadow;
	struct tables shown;
};

/* `costs`: cycle accounting of the blocks; NULL: not possible. */
void blocks_tables_make(const struct cfg *, const struct cycle_ranges *costs, size_t top,
			bool is_text, struct blocks_tables *out);
void blocks_tables_release(struct blocks_tables *);

#endif
