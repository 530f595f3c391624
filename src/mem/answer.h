/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `cyclops mem`: latencies by key, translation, events, bandwidth. */
#ifndef CYCLOPS_MEM_ANSWER_H
#define CYCLOPS_MEM_ANSWER_H

#include <stdbool.h>

#include "estimate/clock.h"
#include "keys/keys.h"
#include "mem/gates.h"
#include "scan/select.h"

struct mem_request {
	struct keys by;	  /* none: by source, and the functions with most latency */
	size_t top;	  /* rows of each kind; 0: all, of functions, too */
	const char *sort; /* name of a column of the table by key, or NULL */
	bool with_histogram;
	bool by_level;		     /* the table of levels alone */
	bool with_levels;	     /* that table, too */
	bool with_loads;	     /* what gates need; rows are by source then */
	bool only_total_percentiles; /* nobody sees those of other latencies */
	bool for_programs;	     /* all tables, also where all are empty for the same reason */
	uint32_t vector_bits;	     /* of SVE, where no record says it; 0: not given */
	const char *region;	     /* what is looked at, in words; NULL: everything */
	size_t groups_bytes;	     /* of struct mem_options; 0: what is usual */
	struct core_clock clock;     /* as given; unknown: derive it if that can be done */
};

/* The tables, to be released with mem_report_release(). Zeroed is empty. */
struct mem_report {
	struct table answer, rows, functions, translation, events, region, histogram, levels;
	struct tables shown;
	struct mem_loads loads; /* if wanted */
};

int mem_report_make(struct session *, const struct select *, const struct mem_request *,
		    struct mem_report *out, struct err *);
void mem_report_release(struct mem_report *);

#endif
