/* SPDX-License-Identifier: Apache-2.0 */
/* Errata that change what a CPU records. Facts of the catalog. */
#ifndef CYCLOPS_CPU_ERRATA_H
#define CYCLOPS_CPU_ERRATA_H

#include <stdint.h>

#include "cpu/cpu.h"

/* What an erratum affects. */
enum erratum_effect {
	ERRATUM_SPE_BIAS, /* SPE samples some operations more often than others */
	N_ERRATUM_EFFECTS,
};

struct cpu_erratum {
	const char *id; /* the maker's number: "1694299" */
	enum erratum_effect affects;
	const char *what;     /* words for a sentence: "targets of branches" */
	const char *fixed_in; /* the first revision without the erratum, "r4p1"; NULL: not known */
};

/*
 * The first erratum with this effect on a core with this MIDR; MIDR 0: any revision. NULL if there
 * is none, or the CPU is NULL.
 */
const struct cpu_erratum *cpu_erratum_find(const struct cpu *, uint64_t midr, enum erratum_effect);

#endif
