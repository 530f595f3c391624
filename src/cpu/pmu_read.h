/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a CPU file: inside this folder only. */
#ifndef CYCLOPS_CPU_PMU_READ_H
#define CYCLOPS_CPU_PMU_READ_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "cpu/pmu.h"

/*
 * Fills a struct cpu_pmu from a CPU file; see cpu_pmu_open() for the MIDR. All of it is zero but the
 * thresholds, which are the usual ones.
 */
int cpu_pmu_read(struct cpu_pmu *, const json_t *object, uint64_t midr, struct err *);

/*
 * The lists of penalties and of the kernel's words, behind cpu_pmu_read(): the CPU's own first, then
 * what `base` has and they lack; NULL: no base.
 */
int cpu_pmu_read_costs(struct cpu_pmu *, const json_t *own, const json_t *base, struct err *);

#endif
