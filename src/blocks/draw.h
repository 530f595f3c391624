/* SPDX-License-Identifier: Apache-2.0 */
/* What the drawings of a control flow graph have in common. Private to this folder. */
#ifndef CYCLOPS_BLOCKS_DRAW_H
#define CYCLOPS_BLOCKS_DRAW_H

#include "blocks/tables.h"

/* "walk.c:31", of an instruction, in the function itself; nothing if it is not known. */
void cfg_line_text(const struct cfg *, size_t instruction, struct text *out);

/* Is an edge the way that execution mostly takes out of its block, and often at all? */
bool cfg_is_hot_path(const struct cfg *, const struct block_edge *);

#endif
