/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread ran on a CPU, by SWITCH, SWITCH_CPU_WIDE and ITRACE_START records. */
#ifndef CYCLOPS_PROCESS_SWITCHES_H
#define CYCLOPS_PROCESS_SWITCHES_H

#include <stdint.h>

#include "base/tuples.h"
#include "capture/format/record.h"
#include "process/history.h"

struct switches {
	struct tuples cpus;
	struct history tids; /* by number in `cpus` */
};

void switches_init(struct switches *);
void switches_release(struct switches *);

/* From this time on, thread `tid` runs on `cpu`. */
void switches_start(struct switches *, uint32_t cpu, uint64_t time_ns, uint32_t tid);

/* Takes a SWITCH or SWITCH_CPU_WIDE record. Ignored without a CPU or tid in `id`. */
void switches_take(struct switches *, const struct record_switch *, const struct sample_id *id,
		   uint64_t time_ns);

void switches_freeze(struct switches *);

/* The thread that ran on the cpu; HISTORY_NONE if not known. */
struct span switches_find(const struct switches *, uint32_t cpu, uint64_t time_ns);

#endif
