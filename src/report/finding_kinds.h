/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of findings of functions, as a table: from when on one is told, and what helps. */
#ifndef CYCLOPS_REPORT_FINDING_KINDS_H
#define CYCLOPS_REPORT_FINDING_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate/shares.h"
#include "findings/finding.h"
#include "hot/sums/functions.h"

/* A function as a kind of finding looks at it. */
struct subject {
	const struct hot_function *f;
	const struct hot_cost *all; /* of its event, in the whole capture */
	bool is_spe, has_name;
	double share; /* of its event's weight */
};

/* How much a finding concerns, as a share of a whole that was estimated from samples. */
struct extent {
	double share;
	enum cell_mark mark; /* full counters of latencies make it a bound */
	uint64_t n, n_all;   /* samples it rests on, and those of the whole */

	/* Mean square of what its samples weigh by the square of their mean, and of the others. */
	double spread, rest_spread;
};

struct finding_class {
	enum finding_kind kind;
	double least_share; /* of less nothing is said */
	/* What it concerns; no samples if it does not apply. */
	struct extent (*extent)(const struct subject *);
	/* What its claim says: finding.value and finding.other; may be NULL. */
	void (*measure)(const struct subject *, struct finding *);
	const char *whole; /* branches that the share is of; NULL: it is of the event's weight */
	enum remedy_kind remedy;
	const char *command;	/* what tells more; NULL, without a remedy: what would give names */
	bool may_chase;		/* its place may load the next address that it loads from */
	enum hot_aspect aspect; /* what its place is the heaviest by */
	bool is_of_loops;	/* where it is known what loops wait for, that says it better */
};

/* Half the width of its 95 % interval: share_error(). */
double extent_error(const struct extent *);

/* Special before general: one that explains more stands for the plain "it is hot". */
extern const struct finding_class finding_classes[];
extern const size_t n_finding_classes;

#endif
