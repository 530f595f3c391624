/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many counters can be used now. No file of the system says that: another profiler or the NMI
 * watchdog of x86 may hold some, and a virtual machine may have fewer than the CPU.
 */
#ifndef CYCLOPS_COUNTING_COUNTERS_H
#define CYCLOPS_COUNTING_COUNTERS_H

#include <sched.h>

#include "pmu/pmu.h"

enum { COUNTERS_MAX = 32 };

/*
 * The number of free programmable counters of a core PMU, without the fixed cycle counter; found by
 * opening events. 0 if nothing can be counted there. The calling thread runs on the PMU's CPUs
 * meanwhile.
 */
unsigned counters_available(struct pmus *, const struct pmu *core);

/* Moves this thread to the CPUs of the PMU, if it lists any. `old` gets the previous affinity. */
void counters_move_to(const struct pmu *core, cpu_set_t *old);

#endif
