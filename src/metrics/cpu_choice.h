/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the CPU of the catalog that given counts were made on. */
#ifndef CYCLOPS_METRICS_CPU_CHOICE_H
#define CYCLOPS_METRICS_CPU_CHOICE_H

#include "count/counts.h"
#include "cpu/cpu.h"

/*
 * By the MIDR, the name or the PMU that the counts bring along; else, if events have names of
 * the Arm architecture, what all Arm CPUs have in common; else the kernel's generic events.
 * Never NULL.
 */
const struct cpu *stat_cpu(const struct catalog *, const struct counts *);

#endif
