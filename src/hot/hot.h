/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of hotspots: sums of records (hot/sums/sums.h) by what the keys of a view stand for. */
#ifndef CYCLOPS_HOT_HOT_H
#define CYCLOPS_HOT_HOT_H

#include <stdbool.h>

#include "base/err.h"
#include "gate/gate.h"
#include "hot/sums/group.h"
#include "hot/sums/sums.h"
#include "hot/sums/view.h"
#include "session/names.h"
#include "table/table.h"

/*
 * Fills `out` (to be released by the caller also after a failure). Fails if there is no
 * column `sort`.
 */
int hot_table(const struct hot *, const struct names *, const struct hot_view *, struct table *out,
	      struct err *);

/* The same of groups that are there. */
int hot_table_of(struct hot_grouping *, struct table *out, struct err *);

/* What the event of a group is called; the text may be one of the table's. */
const char *hot_event_text(const struct hot *, uint64_t event, struct table *);

/*
 * The heaviest function of the first event: the first row of a table by function. Ids are 0 if its
 * name or module is not known. False if there are no records.
 */
bool hot_heaviest_function(const struct hot *, const struct names *, struct str_id *out_function,
			   struct module_id *out_module);

enum { HOT_N_QUANTITIES = 3 };

/* What conditions of --fail-if may be about: shares of rows, by name. */
extern const struct quantity hot_quantities[HOT_N_QUANTITIES];

/*
 * What one of them came to, for the first event of the view. Rows of one name in several modules, and code
 * inlined in several places, add up. Fails if there is no such row.
 */
int hot_measure(const struct hot *, const struct names *, const struct hot_view *,
		const struct gate *, struct measured *out, struct err *);

/*
 * Adds the notes below a table of hotspots: SPE latencies overlap and are not run time; filtered
 * records are not all of the program.
 */
void hot_table_notes(const struct hot *, const struct hot_view *, struct table *);

#endif
