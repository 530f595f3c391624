/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted, on what, and how well: the facts of run.c for programs. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/cpu_choice.h"
#include "stat/tables.h"

enum column_index {
	PROGRAM,
	SOURCE,
	DATE,
	RUNS,
	INTERVALS,
	TIME,
	CPU,
	CPU_ID,
	MIDR,
	CPU_IS_KNOWN,
	CYCLES,
	INSTRUCTIONS,
	IPC,
	COUNTERS,
	HAS_PMU,
	EVENTS,
	SHARED,
	LEAST_COVERAGE,
	NOT_SUPPORTED,
	NOT_COUNTED,
	FORBIDDEN,
	LACKS_SLOTS,
	GAVE_UP,
	PUT_OFF,
	STATUS,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[PROGRAM] = { "program", NULL, "", CELL_TEXT, 0, "that was counted" },
	[SOURCE] = { "source", NULL, "", CELL_TEXT, 0, "tool that counted, if not this one" },
	[DATE] = { "date", NULL, "", CELL_TEXT, 0, "as that tool wrote it" },
	[RUNS] = { "runs", NULL, "", CELL_COUNT, 0, "of the program, in all counts" },
	[INTERVALS] = { "intervals", NULL, "", CELL_COUNT, 0, "that counts were taken at" },
	[TIME] = { "time_ns", NULL, "ns", CELL_COUNT, 0, "how long one run took" },
	[CPU] = { "cpu", NULL, "", CELL_TEXT, 0,
		  "what it is called; absent: only what all such CPUs have in common is told" },
	[CPU_ID] = { "cpu_id", NULL, "", CELL_TEXT, 0, "its id in the catalog" },
	[MIDR] = { "midr", NULL, "", CELL_HEX, 0,
		   "MIDR_EL1 of the machine that counted, or of --cpu" },
	[CPU_IS_KNOWN] = { "cpu_is_known", NULL, "", CELL_BOOL, 0,
			   "its own events are, too, not only those of all such CPUs" },
	[CYCLES] = { "cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST, "of the CPUs" },
	[INSTRUCTIONS] = { "instructions", NULL, "instructions", CELL_COUNT, COLUMN_TRUST,
			   "retired" },
	[IPC] = { "ipc", NULL, "", CELL_NUMBER, 0, "instructions per cycle" },
	[COUNTERS] = { "counters", NULL, "", CELL_COUNT, 0, "programmable ones that were free" },
	[HAS_PMU] = { "has_pmu", NULL, "", CELL_BOOL, 0,
		      "else only the kernel's own events were counted" },
	[EVENTS] = { "events", NULL, "", CELL_COUNT, 0, "that were asked for" },
	[SHARED] = { "scaled_events", NULL, "", CELL_COUNT, 0,
		     "of these, that shared counters: scaled up to the whole time" },
	[LEAST_COVERAGE] = { "least_coverage", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			     "part of the time that the least counted of them was counted" },
	[NOT_SUPPORTED] = { "not_supported_events", NULL, "", CELL_COUNT, 0,
			    "that the machine does not have" },
	[NOT_COUNTED] = { "not_counted_events", NULL, "", CELL_COUNT, 0, "that found no counter" },
	[FORBIDDEN] = { "forbidden_events", NULL, "", CELL_COUNT, 0,
			"that this user may not count" },
	[LACKS_SLOTS] = { "lacks_slots", NULL, "", CELL_BOOL, 0,
			  "how many slots a cycle has is not known, and formulas need it" },
	[GAVE_UP] = { "voluntary_switches", NULL, "", CELL_COUNT, 0,
		      "times that its threads left a CPU to wait, in one run" },
	[PUT_OFF] = { "involuntary_switches", NULL, "", CELL_COUNT, 0,
		      "times that they left it for another task" },
	[STATUS] = { "exit_status", NULL, "", CELL_COUNT, 0,
		     "of the program, as shells give it, if it was not 0" },
};

static void put_cpu(const struct stat *s, struct cell *row)
{
	const struct cpu_pmu *pmu = s->pmu;
	bool is_any = pmu->is_generic || strcmp(cpu_id(pmu->cpu), CPU_ANY_ARM) == 0;

	if (!is_any) {
		row[CPU] = cell_text(cpu_name(pmu->cpu));
		row[CPU_ID] = cell_text(cpu_id(pmu->cpu));
	}
	if (s->pmu->midr != 0)
		row[MIDR] = cell_hex(s->pmu->midr);
	row[CPU_IS_KNOWN] = cell_bool(!is_any && !pmu->is_architectural);
}

static struct cell total_cell(const struct stat *s, const struct cpu_event *event)
{
	const struct stat_total *t = stat_counted(s, event);

	return t == NULL ? (struct cell){ 0 }
			 : cell_marked(stat_count_cell(floor(t->value)), stat_total_mark(t, 0));
}

/* How well events were counted. */
static void put_coverage(const struct stat *s, struct cell *row)
{
	uint64_t n[N_COUNT_STATES] = { 0 }, n_shared = 0;
	double least = 1;

	for (size_t i = 0; i < s->totals.list.n; i++) {
		const struct stat_total *t = &s->totals.list.items[i];
		enum cell_mark mark = stat_total_mark(t, 0);

		n[t->state]++;
		if (t->state != COUNT_COUNTED || mark == MARK_EXACT || mark == MARK_IMPLAUSIBLE)
			continue;
		n_shared++;
		least = fmin(least, stat_total_coverage(t));
	}
	row[EVENTS] = cell_count(s->totals.list.n);
	row[SHARED] = cell_count(n_shared);
	if (n_shared > 0)
		row[LEAST_COVERAGE] = cell_number(least);
	row[NOT_SUPPORTED] = cell_count(n[COUNT_NOT_SUPPORTED]);
	row[NOT_COUNTED] = cell_count(n[COUNT_NOT_COUNTED]);
	row[FORBIDDEN] = cell_count(n[COUNT_FORBIDDEN]);
}

static void put_switches(const struct counts *c, struct cell *row)
{
	uint32_t n_runs = c->n_runs > 0 ? c->n_runs : 1;

	if (c->n_gave_up + c->n_put_off == 0)
		return;
	row[GAVE_UP] = cell_count(c->n_gave_up / n_runs);
	row[PUT_OFF] = cell_count(c->n_put_off / n_runs);
}

static bool lacks_slots(const struct stat *s)
{
	for (size_t i = 0; i < s->pmu->topdown.roots.n; i++)
		if (s->pmu->topdown.roots.items[i]->needs_slots)
			return s->slots == 0;
	return false;
}

void stat_run_table(const struct stat *s, struct table *out)
{
	const struct counts *c = s->counts;
	double elapsed = stat_elapsed_ns(s), ipc;
	struct cell *row;

	table_init(out, "run", NULL, columns, COUNT(columns));
	out->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(out);
	row[PROGRAM] = table_text_cell(out, c->command);
	row[SOURCE] = table_text_cell(out, c->source);
	row[DATE] = table_text_cell(out, c->date);
	if (c->n_runs > 0)
		row[RUNS] = cell_count(c->n_runs);
	row[INTERVALS] = cell_count(c->intervals.n);
	if (elapsed > 0)
		row[TIME] = cell_count((uint64_t)elapsed);
	put_cpu(s, row);
	row[CYCLES] = total_cell(s, s->pmu->cycles);
	row[INSTRUCTIONS] = total_cell(s, s->pmu->instructions);
	if (stat_value_named(s, "ipc", &ipc))
		row[IPC] = cell_number(ipc);
	if (c->n_counters > 0)
		row[COUNTERS] = cell_count(c->n_counters);
	row[HAS_PMU] = cell_bool(!c->has_no_pmu);
	put_coverage(s, row);
	row[LACKS_SLOTS] = cell_bool(lacks_slots(s));
	put_switches(c, row);
	if (c->status != 0)
		row[STATUS] = cell_count((uint64_t)c->status);
}
