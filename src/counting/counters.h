/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many counters there really are. No file says it: others may hold some (another profiler,
 * the x86 NMI watchdog), and virtual machines are given fewer than the CPU has.
 */
#ifndef CYCLOPS_COUNTING_COUNTERS_H
#define CYCLOPS_COUNTING_COUNTERS_H

#include <sched.h>

#include "pmu/pmu.h"

enum { COUNTERS_MAX = 32 };

/*
 * Programmable counters of a core PMU that are free for this process at the moment, by trying:
 * not the one that counts cycles besides. 0 if nothing can be counted there. The thread that
 * asks is moved to the PMU's CPUs while it does.
 */
unsigned counters_free(struct pmus *, const struct pmu *core);

/* Moves this thread to the CPUs of the PMU, if it has its own; `old` is where it was. */
void counters_move_to(const struct pmu *core, cpu_set_t *old);

#endif
