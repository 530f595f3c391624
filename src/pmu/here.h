/* SPDX-License-Identifier: Apache-2.0 */
/* Which events of the catalog this machine can count: what its PMU tells, or trying. */
#ifndef CYCLOPS_PMU_HERE_H
#define CYCLOPS_PMU_HERE_H

#include "cpu/cpu.h"
#include "cpu/pmu.h"
#include "pmu/pmu.h"

enum { HERE_NOT_KNOWN = -1, HERE_NO = 0, HERE_YES = 1 };

struct here {
	struct pmus pmus;
	const struct pmu *core; /* whose events it is about; NULL: there is no PMU */
	const struct cpu *cpu;	/* of its cores; NULL: not known, or not Arm */
	bool is_allowed;	/* may events be counted by whoever asks? */
	bool is_this_machine;	/* else the CPU asked for is not here, and nothing is known */
};

/*
 * Looks for cores that are `asked`, or for those of this machine (NULL). `is_allowed` is what
 * trying to count said. Release it in any case.
 */
void here_init(struct here *, const char *root, const struct catalog *, const struct cpu *asked,
	       bool is_allowed);
void here_release(struct here *);

/* Can the event be counted? HERE_NO of all events if there is no PMU or it may not be used. */
int here_can_count(void *here, const struct cpu_event *);

/* Why nothing at all can be counted, in words; NULL if something can. */
const char *here_why_not(const struct here *);

#endif
