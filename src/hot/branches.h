/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of branch stacks (LBR, BRBE) as an answer to --event. */
#ifndef CYCLOPS_HOT_BRANCHES_H
#define CYCLOPS_HOT_BRANCHES_H

#include <stdbool.h>

#include "hot/event.h"

/* Does an event of the capture record branch stacks? Those recorded as call chains do not count. */
bool session_has_branches(const struct session *);

/*
 * Fails if the event needs a field that no entry has: whether branches were predicted, or their
 * kind. Never fails if the capture has SPE records, which have both.
 */
int hot_branches_check(const struct hot *, const struct hot_event *, struct err *);

/* Notes below the table: how many entries matched, and that they are no sample of all branches. */
void hot_branches_note(const struct hot *, struct table *);

#endif
