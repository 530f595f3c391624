/* SPDX-License-Identifier: Apache-2.0 */
/* What entries of branch stacks can tell of an event, and what they cannot. */
#ifndef CYCLOPS_HOT_BRANCHES_H
#define CYCLOPS_HOT_BRANCHES_H

#include <stdbool.h>

#include "hot/event.h"

/* Does a sampled event of the capture record branch stacks, other than as call chains? */
bool session_has_branches(const struct session *);

/*
 * Refuses an event that needs what no entry says: whether branches were predicted, or their
 * kind. SPE records of the same capture can tell it, so with them nothing is refused.
 */
int hot_branches_check(const struct hot *, const struct hot_event *, struct err *);

/* Notes what the rows of branch entries are, and what they are not. */
void hot_branches_note(const struct hot *, struct table *);

#endif
