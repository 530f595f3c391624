/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields may stand on one line. Two that a thread each writes must not; two that all
 * threads read and write alike may, for apart they wait as often; and between these it depends
 * on how often who does what. So the accesses that find the line gone are estimated, together
 * and apart: accesses come in any order, as samples do, and one finds the line gone if somebody
 * else wrote to it since the thread was there last.
 */
#ifndef CYCLOPS_C2C_FIX_LAYOUT_GROUPS_H
#define CYCLOPS_C2C_FIX_LAYOUT_GROUPS_H

#include "c2c/fix/layout.h"

/* Adds what threads do to a field to what they do to others. */
void layout_uses_add(struct layout_uses *, const struct layout_field *);

/* Gives each used field a group: which others it may share a line with. */
void layout_make_groups(struct layout *);

/* Are there fields on one line that had better not be? Of fields that have groups. */
bool layout_has_conflict(const struct layout *);

/* Do fields of one group come back after those of another? */
bool layout_takes_turns(const struct layout *);

/* What was found of a line last, as fields stand side by side. Zeroed at first. */
struct layout_last_line {
	bool is_known;
	uint64_t line;
	double waits;
};

/*
 * The part of the waiting on a used field's lines that would be left if it had them alone: that
 * is for its own bytes. From 0 to 1.
 */
double layout_own_part(const struct layout *, const struct layout_field *,
		       struct layout_last_line *);

#endif
