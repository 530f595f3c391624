/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several sampled events a report is about. */
#ifndef CYCLOPS_REPORT_LEADING_H
#define CYCLOPS_REPORT_LEADING_H

#include "hot/sums/sums.h"
#include "table/table.h"

/*
 * Where cycles were sampled, else a clock, samples of all other events are forgotten: they say where
 * something happens, and nothing of how much time it takes. SPE records stay. Returns how many events
 * were left out.
 */
size_t leading_keep(struct hot *);

/* Says so below the table. */
void leading_note(const struct session *, size_t n_left, struct table *);

#endif
