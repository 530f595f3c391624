/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run time from the timestamps of SPE records (hot --elapsed). A record is taken every N
 * operations. So the time between two consecutive records of one thread on one CPU is what the N
 * operations between them took:
 *
 *	records  a   a   a   a   a   b   b   a   b   b   b   b
 *	          \_____________/ \ / \_________/ \_________/
 *	          steady: of row a edge  brief     steady: of row b
 *
 * Four or more consecutive records of one row of the answer are a steady run. The time between them
 * belongs to that row, except for short excursions to other code between two records. How many
 * operations excursions have is estimated from the records that sampled one. How long they took is
 * not known, but an operation delays others for no longer than from its issue to its completion,
 * which its record has. This gives a lower and an upper limit of each row's time. They are close
 * where code runs for longer than a sampling interval at a time. Where it alternates faster they
 * are far apart, and no time is claimed (docs/design.md).
 */
#ifndef CYCLOPS_HOT_ELAPSED_ELAPSED_H
#define CYCLOPS_HOT_ELAPSED_ELAPSED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "estimate/clock.h"
#include "hot/sums/sums.h"
#include "scan/select.h"
#include "scan/shared_scan.h"
#include "session/analysis.h"
#include "table/table.h"

struct elapsed_request {
	const struct keys *keys;
	const char *title; /* of the table, or NULL */
	size_t top;	   /* rows; 0: all */
	bool is_brief; /* beside others: the likely time of rows whose limits are far apart, too; few notes */
	bool has_intervals; /* what stands beside a brief table has +- of time: say what these rest on */
	const char *sort;	 /* name of a column, or NULL */
	struct core_clock clock; /* basis CLOCK_UNKNOWN: 2 GHz are assumed, as the slowest */
};

/* How much of the run time the rows tell, and the row that has most of it. */
struct elapsed_told {
	double share;		       /* of the time, 0 … 1: of rows whose time is known */
	bool has_first, is_first_told; /* of a brief table it may be the likely time only */
	bool has_limits;
	uint64_t first[N_KEYS * KEY_MAX_WORDS];	   /* that row: the words of its keys */
	double first_share, first_low, first_high; /* of the time, 0 … 1, and its limits */
};

/* Fails if one of the keys is of single operations (event, source …), which have no run time. */
int elapsed_check_keys(const struct keys *, struct err *);

/*
 * Why the run time is not known from this capture, as a clause for messages; NULL: it is. Of a brief table: why not even
 * shares of it are, for which filters of the recording leave enough.
 */
const char *elapsed_obstacle(const struct session *, const struct select *, bool is_brief);

/*
 * Scans once more and fills the table. `hot` is the result of a scan of the same session with the
 * dimensions of the keys; `names` has the names of its places. If elapsed_obstacle() is not NULL,
 * the table is empty and has it as a note. `out` is to be released also after a failure. `out_told`
 * may be NULL.
 */
int elapsed_table(struct session *, const struct select *, const struct hot *, const struct names *,
		  const struct elapsed_request *, struct table *out, struct elapsed_told *out_told,
		  struct err *);

/*
 * The same in steps, for answers that share a scan: new, the scan, table, free. All arguments are
 * borrowed until elapsed_answer_free().
 */
struct elapsed_answer;

struct elapsed_answer *elapsed_answer_new(struct session *, const struct select *,
					  const struct hot *, const struct names *,
					  const struct elapsed_request *, struct shared_scan *);
int elapsed_answer_table(struct elapsed_answer *, struct table *out, struct elapsed_told *out_told,
			 struct err *);
void elapsed_answer_free(struct elapsed_answer *);

#endif
