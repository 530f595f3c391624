/* SPDX-License-Identifier: Apache-2.0 */
/* What an SPE event was told to leave out (docs/reference/spe-interop.md, section 2). */
#ifndef CYCLOPS_ANALYSIS_SPE_FILTERS_H
#define CYCLOPS_ANALYSIS_SPE_FILTERS_H

#include <stdbool.h>

#include "analysis/session.h"
#include "base/text.h"
#include "capture/attr.h"
#include "table/table.h"

/* Appends ", only loads + stores, latency from 10 cycles, user only", or ", all operations". */
void spe_filters_text(const struct attr *, struct text *);

/* Are there operations that are not recorded because of their kind? */
bool spe_filters_hide_kinds(const struct attr *);

/* … or because of how they went: events, latency, data source? */
bool spe_filters_hide_outcomes(const struct attr *);

/* Is either so of the capture's SPE event? Totals then are of what passed, not of all. */
bool spe_filters_hide(const struct session *);

/* Notes it on a table of SPE records: what passed, and that the numbers are of that. */
void spe_filters_note(const struct session *, struct table *);

/*
 * Where records were filtered, column "estimated_operations" of a table gets a heading that does
 * not claim all operations. Before or after its rows.
 */
void spe_filters_name_estimates(const struct session *, struct table *);

#endif
