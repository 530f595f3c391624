/* SPDX-License-Identifier: Apache-2.0 */
/* What microbenchmarks run on: this machine, or the machine model. */
#ifndef CYCLOPS_KERNEL_SUBJECT_H
#define CYCLOPS_KERNEL_SUBJECT_H

#include "cli/options.h"
#include "kernel/validation/on_machine.h"
#include "kernel/validation/on_model.h"
#include "pmu/here.h"
#include "pmu/machine.h"

/* Which; all borrowed. */
struct subject_options {
	const char *model;		/* NULL: this machine; "": the built-in model */
	const struct option_list *sets; /* parameters of the model */
	const char *catalog, *emulator, *plugin, *runner;
	unsigned l1_tlb,
		l2_tlb; /* pages that the machine's TLBs for data hold; 0: as the catalog has it */
};

struct subject {
	struct catalog *catalog;
	struct on_model model;
	bool is_modelled;

	struct here here; /* this machine … */
	struct machine machine;
	struct on_machine on_machine;
	uint64_t midr;

	const struct cpu *cpu; /* NULL: not known */
	struct cpu_pmu *facts; /* NULL: no hardware events can be counted */
	struct measurer measurer;
	struct cache_sizes sizes;
	unsigned architecture;
};

/* Finds out what can be counted there. To be released, also after an error. */
int subject_open(struct subject *, const struct subject_options *, struct err *);
void subject_release(struct subject *);

/* Why hardware events cannot be counted; NULL: they can. */
const char *subject_why_not(const struct subject *);

#endif
