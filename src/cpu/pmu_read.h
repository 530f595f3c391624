/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lists of a CPU file. For this folder only. */
#ifndef CYCLOPS_CPU_PMU_READ_H
#define CYCLOPS_CPU_PMU_READ_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "cpu/pmu.h"

/*
 * Fills a struct cpu_pmu, which is zero but for the default thresholds. `midr` as in
 * cpu_pmu_open().
 */
int cpu_pmu_read(struct cpu_pmu *, const json_t *object, uint64_t midr, struct err *);

/*
 * Reads penalties and the kernel's event names, after cpu_pmu_read(). `own` goes before `base`
 * (NULL: none).
 */
int cpu_pmu_read_costs(struct cpu_pmu *, const json_t *own, const json_t *base, struct err *);

#endif
