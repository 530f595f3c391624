/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `stat --region FUNCTION -- PROGRAM`. */
#ifndef CYCLOPS_STAT_PROBES_TABLES_H
#define CYCLOPS_STAT_PROBES_TABLES_H

#include "stat/probes/follow.h"
#include "table/table.h"

/* All that was found. */
struct probe_result {
	const struct follow *follow;
	const struct call_counts *calls;
	const struct call_counts *empty; /* of calibration: its calls are none if it failed */
	double call_ns;		/* how much longer a call takes with its probes; 0: not known */
	const struct pmu *core; /* NULL: no PMU */
	uint64_t midr;		/* 0: not known */
	bool is_mixed;		/* cores of several types: counts are not scaled */
	bool by_thread;
};

/* For people: a row for each function and event, with the sentences that begin the answer. */
void probes_people_tables(const struct probe_result *, struct table *answer, struct table *regions);

/* For programs: as docs/schema/measure.json has them. */
void probes_program_tables(const struct probe_result *, struct table *run, struct table *regions);

#endif
