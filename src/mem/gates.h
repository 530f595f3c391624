/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of `cyclops mem --fail-if` may be about: the loads. */
#ifndef CYCLOPS_MEM_GATES_H
#define CYCLOPS_MEM_GATES_H

#include "cpu/cpu.h"
#include "gate/gate.h"
#include "mem/rows.h"

enum { MEM_N_QUANTITIES = 8 };

extern const struct quantity mem_quantities[MEM_N_QUANTITIES];

struct mem_loads_source {
	const struct cpu_source *source; /* NULL: not known */
	uint64_t n;
};

/* The facts about loads that gates need. Zeroed is empty. */
struct mem_loads {
	const struct session *session;
	uint64_t n, n_walks, n_translated; /* loads; those of which translation is told */
	uint64_t n_usable, n_full;	   /* with a total latency; with a saturated one */
	struct histogram totals;	   /* total latency of all */
	VEC_OF(struct mem_loads_source) sources;
};

/* Takes them from rows that are by data source, and that are all shown. */
void mem_loads_take(struct mem_loads *, const struct session *, const struct mem_rows *);
void mem_loads_release(struct mem_loads *);

/* Fails if there are no such loads, or no such data source. */
int mem_loads_measure(const struct mem_loads *, const struct gate *, struct measured *out,
		      struct err *);

#endif
