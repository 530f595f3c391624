/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of SPE events: which records were dropped (docs/reference/spe-interop.md, section 2). */
#ifndef CYCLOPS_SCAN_SPE_FILTERS_H
#define CYCLOPS_SCAN_SPE_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "batch/batch.h"
#include "capture/format/attr.h"
#include "scan/select.h"
#include "session/session.h"
#include "table/table.h"

/*
 * Appends ", only loads + stores, latency from 10 cycles, user only", or ", all operations"; of several SPE
 * events, if they differ, ", NAME: only loads; NAME: all operations".
 */
void spe_filters_text(const struct session *, struct text *);

/* Does the event drop records by kind of operation? */
bool spe_filters_hide_kinds(const struct attr *);

/* Does it drop records by outcome: events, latency, data source? */
bool spe_filters_hide_outcomes(const struct attr *);

/* Does any SPE event of the capture drop records? Then totals are not those of all operations. */
bool spe_filters_hide(const struct session *);

/*
 * Why the records that come to an analysis are not a sample of all operations, taken at equal
 * distances, as a clause for messages; NULL: they are. `select` may be NULL.
 */
const char *spe_filters_obstacle(const struct session *, const struct select *);

/* Why stores may be missing. Of several reasons, the first of these. */
enum spe_stores {
	SPE_STORES_ALL,
	SPE_STORES_BY_KIND,    /* other kinds of operations were asked for */
	SPE_STORES_BY_EVENT,   /* by events, which loads have more often than stores */
	SPE_STORES_BY_LATENCY, /* fast ones, as nearly all stores are */
};

enum spe_stores spe_filters_stores(const struct session *);

/* Does any SPE event of the capture drop records by outcome? */
bool spe_filters_thin(const struct session *);

/* The SPE events of a capture, to hold records to; borrowed. */
struct spe_filters {
	VEC_OF(const struct attr *) events; /* all of them if any drops records, else none */
};

void spe_filters_init(struct spe_filters *, const struct session *);
void spe_filters_release(struct spe_filters *);

/* Would any of the events have recorded this row? If not, the header is wrong. */
bool spe_filters_let_pass(const struct spe_filters *, const struct batch *, size_t row);

/* Did scans find so many such records (session->unfiltered) that the header cannot be right? */
bool spe_filters_are_contradicted(const struct session *);

/* Appends "6 605 of 12 186 records do not fit". */
void spe_filters_put_unfit(const struct session *, struct text *);

/* The highest minimum latency of the events: faster operations were not recorded by all of them. */
uint64_t spe_filters_least_cycles(const struct session *);

/* Appends "filtered when recorded (only loads): …", or that records contradict the header. False if nothing was filtered. */
bool spe_filters_sentence(const struct session *, struct text *);

/* Adds that sentence, and that samples were lost, as notes to a table of records. */
void spe_filters_note(const struct session *, struct table *);

/*
 * If records were filtered: gives the column "estimated_operations" a heading that does not claim
 * all operations. May be called before or after rows are added.
 */
void spe_filters_name_estimates(const struct session *, struct table *);

#endif
