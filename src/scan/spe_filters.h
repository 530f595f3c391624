/* SPDX-License-Identifier: Apache-2.0 */
/* What an SPE event was told to leave out (docs/reference/spe-interop.md, section 2). */
#ifndef CYCLOPS_SCAN_SPE_FILTERS_H
#define CYCLOPS_SCAN_SPE_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "batch/batch.h"
#include "capture/format/attr.h"
#include "session/session.h"
#include "table/table.h"

/* Appends ", only loads + stores, latency from 10 cycles, user only", or ", all operations". */
void spe_filters_text(const struct attr *, struct text *);

/* Are there operations that are not recorded because of their kind? */
bool spe_filters_hide_kinds(const struct attr *);

/* … or because of how they went: events, latency, data source? */
bool spe_filters_hide_outcomes(const struct attr *);

/* Is either so of any of the capture's SPE events? Totals then are of what passed, not of all. */
bool spe_filters_hide(const struct session *);

/* Why stores may be missing: of several reasons the first. */
enum spe_stores {
	SPE_STORES_ALL,
	SPE_STORES_BY_KIND,    /* other kinds of operations were asked for */
	SPE_STORES_BY_EVENT,   /* … or events, which are those of loads mostly */
	SPE_STORES_BY_LATENCY, /* quick ones, as nearly all are */
};

enum spe_stores spe_filters_stores(const struct session *);

/* Is the second? */
bool spe_filters_thin(const struct session *);

/*
 * Would the filter of any SPE event of the capture have let this record pass, as far as it says?
 * If not, the header is of another recording.
 */
bool spe_filters_let_pass(const struct session *, const struct batch *, size_t row);

/* Are there so many such records in what was scanned (session.h) that the header cannot be right? */
bool spe_filters_are_contradicted(const struct session *);

/* Operations that took fewer cycles were not recorded, at least not by all events. */
uint64_t spe_filters_least_cycles(const struct session *);

/*
 * Appends "filtered when recorded (only loads): …": what passed, of each event where they differ, and
 * that the numbers are of that; false if nothing was filtered.
 */
bool spe_filters_sentence(const struct session *, struct text *);

/* Notes it on a table of SPE records: what passed, and that the numbers are of that. */
void spe_filters_note(const struct session *, struct table *);

/*
 * Where records were filtered, column "estimated_operations" of a table gets a heading that does
 * not claim all operations. Before or after its rows.
 */
void spe_filters_name_estimates(const struct session *, struct table *);

#endif
