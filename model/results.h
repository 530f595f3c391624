/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves behind besides the capture: counts of PMU events, and the truth. */
#ifndef CYCLOPS_MODEL_RESULTS_H
#define CYCLOPS_MODEL_RESULTS_H

#include "base/err.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/tally.h"
#include "model/truth.h"

/* Before the program runs: can the files be written that the settings ask for? */
int results_check(const struct config *, struct err *);

/*
 * Writes the events of the PMU, by name, of all CPUs together and of each that ran, as json:
 * events{NAME:{count,enabled_ns,running_ns}}, cpus[].
 */
int results_write_counts(const struct config *, const struct counts *counts, struct err *);

/* The cycles of a run, with something perfect or not. */
struct timed_run {
	const struct ideal *ideal;
	const struct tally *tally;
	uint64_t cycles;     /* from its beginning to its end */
	uint64_t cpu_cycles; /* in which a CPU ran, of all CPUs */
};

/*
 * Writes runs of the same program as json: runs[] with what was perfect and the cycles; blocks[]
 * of the address and the cycles of each run. `pcs`: of blocks, by number.
 */
int results_write_gains(const struct config *, const struct timed_run *runs, size_t n,
			bool is_parallel, const struct tuples *pcs, struct err *);

/* The machine's cycles by its counts: of the CPU that ran longest, waiting included. */
uint64_t results_last_cycle(const struct config *, const struct counts *counts);

/* Writes the truth as json. */
int results_write_truth(const struct config *, const struct truth *, struct err *);

#endif
