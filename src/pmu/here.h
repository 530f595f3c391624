/* SPDX-License-Identifier: Apache-2.0 */
/* Which events of the catalog this machine can count, as its PMU says or by opening them. */
#ifndef CYCLOPS_PMU_HERE_H
#define CYCLOPS_PMU_HERE_H

#include "cpu/cpu.h"
#include "cpu/pmu.h"
#include "pmu/pmu.h"

enum { HERE_NOT_KNOWN = -1, HERE_NO = 0, HERE_YES = 1 };

struct here {
	struct pmus pmus;
	const struct pmu *core; /* the PMU of these events; NULL: there is none */
	const struct cpu *cpu;	/* its cores; NULL: not known, or not Arm */
	bool is_allowed;	/* this user may count events */
	/* false: `asked` is the CPU of another machine, so nothing is known */
	bool is_this_machine;
};

/*
 * Looks for cores of the CPU `asked`, or of this machine's CPU (NULL). `is_allowed`: has counting
 * been tried with success? To be released in any case.
 */
void here_init(struct here *, const char *root, const struct catalog *, const struct cpu *asked,
	       bool is_allowed);
void here_release(struct here *);

/* An answer for the event. HERE_NO for all events if there is no PMU or counting is not allowed. */
int here_can_count(void *here, const struct cpu_event *);

/* Why no event can be counted, in words; NULL if some can. */
const char *here_why_not(const struct here *);

#endif
