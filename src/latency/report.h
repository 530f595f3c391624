/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, or imported, as tables. */
#ifndef CYCLOPS_LATENCY_REPORT_H
#define CYCLOPS_LATENCY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "system/caches.h"
#include "latency/import.h"
#include "latency/loaded.h"
#include "latency/sweep.h"
#include "table/table.h"

/* The latency of a load that hits the L1D, and what single loads are measured longer than they take. */
struct load_to_use {
	double cycles;	 /* 0: not known */
	bool is_catalog; /* of the CPU's documents; else the mean of the chase in the smallest list */
	const char *cpu; /* its name; NULL: not known */
};

/* Where and how it was measured. */
struct latency_setting {
	const struct timer *timer;
	const struct caches *caches;
	enum ring_order order;
	uint64_t page_bytes;
	unsigned cpu;
	bool has_unicode; /* of whoever reads it: for drawings */
	bool is_emulated; /* by qemu-user, which gives it another machine's /proc */
	struct load_to_use load_to_use;
};

struct latency_report {
	struct table answer, levels, sizes, histogram, pages, clock, loaded;
	struct tables shown;
};

/* `is_verbose`: people are shown histograms and translations, too. */
void latency_report_sweep(struct latency_report *, const struct sweep *,
			  const struct latency_setting *, bool has_histograms, bool is_verbose);
void latency_report_imported(struct latency_report *, const struct imported *,
			     const struct load_to_use *);
void latency_report_loaded(struct latency_report *, const struct loaded *,
			   const struct latency_setting *);
void latency_report_release(struct latency_report *);

#endif
