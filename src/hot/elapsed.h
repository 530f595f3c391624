/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time goes, out of the times of SPE records. A record is taken every so many
 * operations, so the time between two that follow each other on a CPU, in one thread, is what
 * the operations between them took:
 *
 *	records  a   a   a   a   a   b   b   a   b   b   b   b
 *	          \_____________/ \ / \_________/ \_________/
 *	          steady: of row a edge  brief     steady: of row b
 *
 * Several records in a row of one row of the answer are a steady run: what is between them is of
 * that row, but for visits to other code that are too brief to be met at both ends. How many
 * operations those have is known from the records that met one: they are taken like all others.
 * How long they take is not; but an operation does not hold up others for longer than from its
 * issue to its end, which its record says. That gives limits of the time of a row, which are close
 * to each other where code runs for longer than an interval at a time, and far apart where it
 * alternates faster: then nothing is claimed (docs/design.md).
 */
#ifndef CYCLOPS_HOT_ELAPSED_H
#define CYCLOPS_HOT_ELAPSED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "estimate/clock.h"
#include "hot/hot.h"
#include "scan/select.h"
#include "scan/shared_scan.h"
#include "session/analysis.h"
#include "table/table.h"

struct elapsed_request {
	const struct keys *keys;
	const char *title;	 /* of the table, or NULL */
	size_t top;		 /* rows; 0: all */
	bool is_brief;		 /* only what is told apart, and few words */
	const char *sort;	 /* name of a column, or NULL */
	struct core_clock clock; /* basis CLOCK_UNKNOWN: a slow one is assumed */
};

/* Can rows be grouped by these keys? An error says by which not. */
int elapsed_check_keys(const struct keys *, struct err *);

/* Why this capture does not tell where the time goes, in a clause; NULL: it does. */
const char *elapsed_obstacle(const struct session *, const struct select *);

/*
 * Scans once more and fills the table. `hot` is the result of a scan of the same session with
 * the dimensions of the keys, `names` has names for them; places keep their ids. If there is an
 * obstacle the table is empty and says so. `out` is to be released also after a failure. Returns
 * by *out_told (NULL: do not) which part of the time, 0 … 1, is of rows that are told apart.
 */
int elapsed_table(struct session *, const struct select *, const struct hot *, const struct names *,
		  const struct elapsed_request *, struct table *out, double *out_told,
		  struct err *);

/*
 * The same in steps, for answers that share the scan: what is borrowed stays until elapsed_answer_free().
 */
struct elapsed_answer;

struct elapsed_answer *elapsed_answer_new(struct session *, const struct select *,
					  const struct hot *, const struct names *,
					  const struct elapsed_request *, struct shared_scan *);
int elapsed_answer_table(struct elapsed_answer *, struct table *out, double *out_told,
			 struct err *);
void elapsed_answer_free(struct elapsed_answer *);

#endif
