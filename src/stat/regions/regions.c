/* SPDX-License-Identifier: Apache-2.0 */
/* The regions of a program that measured itself, each asked what limits it. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "findings/words.h"
#include "metrics/inside.h"
#include "stat/causes/causes.h"
#include "stat/regions/regions.h"

enum column_index {
	REGION,
	CALLS,
	TIME,
	EXCLUSIVE,
	SHARE,
	CYCLES,
	INSTRUCTIONS,
	IPC,
	THREADS,
	KIND,
	CLAIM,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[REGION] = { "region", "region", "", CELL_TEXT, 0, "its name" },
	[CALLS] = { "calls", "calls", "", CELL_COUNT, 0, "that ended, of all threads" },
	[TIME] = { "time_ns", "time", "ns", CELL_COUNT, 0, "elapsed time, summed over calls" },
	[EXCLUSIVE] = { "exclusive_ns", NULL, "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
			"time without the regions inside" },
	[SHARE] = { "share", "self", "", CELL_NUMBER, COLUMN_SHARE,
		    "its exclusive time, of that of all regions" },
	[CYCLES] = { "cycles", "cycles", "cycles", CELL_COUNT, COLUMN_TRUST, "of the CPUs" },
	[INSTRUCTIONS] = { "instructions", "instructions", "instructions", CELL_COUNT, COLUMN_TRUST,
			   "retired" },
	[IPC] = { "ipc", "IPC", "", CELL_NUMBER, 0, "instructions per cycle" },
	[THREADS] = { "threads", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "that it ran in" },
	[KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "kind of the first finding, or the metric beyond its threshold" },
	[CLAIM] = { "claim", "finding", "", CELL_TEXT, COLUMN_GROW | COLUMN_MESSAGE,
		    "what stands out" },
};

/* The counts of a region as those of a program; texts are borrowed. */
static void counts_of_region(const struct counts *all, const struct count_region *region,
			     struct counts *out)
{
	*out = (struct counts){
		.cpu = all->cpu,
		.midr = all->midr,
		.slots = all->slots,
		.n_counters = all->n_counters,
		.is_modelled = all->is_modelled,
		.has_no_pmu = all->has_no_pmu,
		.elapsed_ns = region->n_threads == 1 ? region->time_ns : 0,
	};
	for (size_t i = 0; i < region->items.n; i++)
		*vec_add(&out->items) = region->items.items[i];
}

static void put_total(const struct stat *s, const struct cpu_event *event, struct cell *cell)
{
	const struct stat_total *total = event == NULL ? NULL : stat_counted(s, event);

	if (total != NULL)
		*cell = cell_marked(cell_count((uint64_t)floor(total->value)),
				    stat_total_mark(total, 0));
}

static void put_finding(const struct stat *s, struct table *t, struct cell *row)
{
	struct findings found = { 0 };

	stat_find(s, &found);
	if (found.list.n > 0) {
		const struct finding *f = found.list.items[0];

		row[CLAIM] = table_text_cell(t, finding_claim_words(t, f));
		row[KIND] = table_text_cell(t, f->metric != NULL ? f->metric->name
								 : finding_kind_name(f->kind));
	}
	findings_release(&found);
}

static void add_region(const struct cpu_pmu *pmu, const struct counts *all,
		       const struct count_region *region, uint64_t all_ns,
		       const struct stat_options *options, struct table *t)
{
	struct counts counts;
	struct cell *row;
	struct stat s;
	double ipc;

	counts_of_region(all, region, &counts);
	stat_init(&s, pmu, &counts, options);
	row = table_add_row(t);
	row[REGION] = table_text_cell(t, region->name);
	row[CALLS] = cell_count(region->calls);
	row[TIME] = cell_count(region->time_ns);
	row[EXCLUSIVE] = cell_count(region->exclusive_ns);
	if (all_ns > 0)
		row[SHARE] = cell_number((double)region->exclusive_ns / (double)all_ns);
	put_total(&s, pmu->cycles, &row[CYCLES]);
	put_total(&s, pmu->instructions, &row[INSTRUCTIONS]);
	if (stat_value_named(&s, "ipc", &ipc))
		row[IPC] = cell_number(ipc);
	row[THREADS] = cell_count(region->n_threads);
	put_finding(&s, t, row);
	stat_release(&s);
	counts_release(&counts);
}

void stat_regions_table(const struct cpu_pmu *pmu, struct counts *counts,
			const struct stat_options *options, struct table *out)
{
	uint64_t all_ns = 0;

	table_init(out, "regions", NULL, columns, N_COLUMNS);
	counts_name(counts, pmu);
	for (size_t i = 0; i < counts->regions.n; i++)
		all_ns += counts->regions.items[i].exclusive_ns;
	for (size_t i = 0; i < counts->regions.n; i++)
		add_region(pmu, counts, &counts->regions.items[i], all_ns, options, out);
	table_sort(out, SHARE, false);
}
