/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves behind besides the capture: counts of PMU events, and the truth. */
#ifndef CYCLOPS_MODEL_RESULTS_H
#define CYCLOPS_MODEL_RESULTS_H

#include "base/err.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/truth.h"

/* Before the program runs: can the files be written that the settings ask for? */
int results_check(const struct config *, struct err *);

/*
 * Writes the events of the PMU, by name, of all CPUs together and of each that ran, as json:
 * events{NAME:{count,enabled_ns,running_ns}}, cpus[].
 */
int results_write_counts(const struct config *, const struct counts *counts, struct err *);

/* Writes the truth as json. */
int results_write_truth(const struct config *, const struct truth *, struct err *);

#endif
