/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the json files of a run: counts of PMU events, the truth, cycles by block. */
#ifndef CYCLOPS_MODEL_RESULTS_H
#define CYCLOPS_MODEL_RESULTS_H

#include "base/err.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/regions.h"
#include "model/tally.h"
#include "model/truth.h"

/* Fails if a file that the settings ask for cannot be written. Called before the program runs. */
int results_check(const struct config *, struct err *);

/*
 * Writes the counts of PMU events, for all CPUs together and for each that ran, as json:
 * events{NAME:{count,enabled_ns,running_ns}}, cpus[], regions[]. `regions`: NULL: they are lost.
 */
int results_write_counts(const struct config *, const struct counts *counts, const struct regions *,
			 struct err *);

/* Appends a json string: quotes, backslashes and control characters are escaped. */
void results_string(struct text *, const char *text);

/* The cycles of the machine or of a replica. */
struct timed_run {
	const struct ideal *ideal;
	const struct tally *tally;
	uint64_t cycles;     /* from the program's start to its end */
	uint64_t cpu_cycles; /* without idle ones, over all CPUs */
};

/*
 * Writes runs of the same program as json: runs[] with idealisation and cycles; blocks[] with
 * address and cycles of each run. `pcs`: first addresses of blocks, by number.
 */
int results_write_gains(const struct config *, const struct timed_run *runs, size_t n,
			bool is_parallel, const struct tuples *pcs, struct err *);

/* The last cycle of the machine, by its counts: busy and idle cycles of the CPU that has most. */
uint64_t results_last_cycle(const struct config *, const struct counts *counts);

/* Writes the truth as json. */
int results_write_truth(const struct config *, const struct truth *, struct err *);

#endif
