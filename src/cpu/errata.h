/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a CPU's revisions that change what it records: facts of the catalog. */
#ifndef CYCLOPS_CPU_ERRATA_H
#define CYCLOPS_CPU_ERRATA_H

#include <stdint.h>

#include "cpu/cpu.h"

/* What a fault affects, as far as an analysis asks for it. */
enum erratum_effect {
	ERRATUM_SPE_BIAS, /* SPE samples some operations more often than others */
	N_ERRATUM_EFFECTS,
};

struct cpu_erratum {
	const char *id; /* its maker's number: "1694299" */
	enum erratum_effect affects;
	const char *what;     /* is affected, in words for a sentence: "targets of branches" */
	const char *fixed_in; /* the first revision without it, "r4p1"; NULL: not known */
};

/*
 * The first fault with that effect that a core with this MIDR has; 0: whatever its revision.
 * NULL: none, or the CPU is NULL.
 */
const struct cpu_erratum *cpu_erratum_find(const struct cpu *, uint64_t midr, enum erratum_effect);

#endif
