/* SPDX-License-Identifier: Apache-2.0 */
/* The head of the answer: what was counted, on what, and how well. */
#include <math.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "metrics/cpu_choice.h"
#include "stat/tables.h"

static const struct column columns[] = {
	{ "name", NULL, "", CELL_TEXT, 0, "name of the fact" },
	{ "value", NULL, "", CELL_TEXT, COLUMN_GROW, "text of the fact" },
};

/* A line being put together. */
struct line {
	const struct stat *s;
	struct table *out;
	struct text text;
};

static void stat_run_counted(struct line *l)
{
	const struct counts *c = l->s->counts;
	double elapsed = stat_elapsed_ns(l->s);

	if (c->command != NULL)
		text_str(&l->text, c->command);
	if (c->source != NULL) {
		text_part(&l->text);
		text_format(&l->text, "counts of %s", c->source);
	}
	if (c->intervals.n > 0) {
		text_part(&l->text);
		text_format(&l->text, "%zu interval%s%s", c->intervals.n, plural(c->intervals.n),
			    c->intervals.n > 1 && c->items.n == 0 ? ": metrics are averaged by time"
								  : "");
	}
	if (c->n_runs > 1) {
		text_part(&l->text);
		text_format(&l->text, "%" PRIu32 " runs", c->n_runs);
	}
	if (elapsed > 0) {
		text_part(&l->text);
		text_str(&l->text, table_human(l->out, cell_count((uint64_t)elapsed), "ns"));
	}
	table_fact(l->out, "counted", &l->text);
}

static void stat_run_status(struct line *l)
{
	int status = l->s->counts->status;

	if (status == 0)
		return;
	text_format(&l->text, "the program ended with status %d", status);
	table_fact(l->out, "status", &l->text);
}

static void cpu(struct line *l)
{
	const struct cpu_pmu *pmu = l->s->pmu;
	uint64_t midr = pmu->midr;

	bool is_any_arm = strcmp(cpu_id(pmu->cpu), CPU_ANY_ARM) == 0;

	if (l->s->counts->has_no_pmu && pmu->is_generic)
		return;
	if (pmu->is_generic || is_any_arm)
		text_str(&l->text, pmu->is_generic && midr != 0 ? "not known" : "not given");
	else
		text_str(&l->text, cpu_name(pmu->cpu));
	if (midr != 0)
		text_format(&l->text, " r%up%u", (unsigned)(midr >> 20 & 0xf),
			    (unsigned)(midr & 0xf));
	if (pmu->is_other_revision)
		text_str(&l->text, " (with the formulas of this revision)");
	if (pmu->has_other_revisions && midr == 0 && l->s->counts->items.n > 0)
		text_format(&l->text,
			    ", of which revision is not known: formulas of old ones differ; give "
			    "--cpu %s:rXpY, or the MIDR",
			    cpu_id(pmu->cpu));
	if (l->s->counts->is_modelled)
		text_str(&l->text, ", modelled: simulated counts, not measured");
	if (pmu->is_generic && midr != 0)
		text_str(&l->text, ": its PMU is not in the catalog; only the kernel's generic "
				   "events are used");
	else if (pmu->is_generic)
		text_str(&l->text, ": only the kernel's generic events are used; give --cpu NAME "
				   "(cyclops list cpus)");
	if (pmu->is_architectural)
		text_str(&l->text, ": its own events are not in the catalog; only common PMUv3 "
				   "events are used");
	if (is_any_arm)
		text_str(&l->text,
			 ": only common Arm events are used; give --cpu NAME (cyclops list cpus)");
	table_fact(l->out, "CPU", &l->text);
}

static void quantity(struct line *l, const struct cpu_event *event, const char *unit)
{
	const struct stat_total *t = stat_counted(l->s, event);

	if (t == NULL)
		return;
	text_part(&l->text);
	text_str(&l->text, table_human(l->out, stat_count_cell(floor(t->value)), unit));
}

static void speed(struct line *l)
{
	double ipc;

	quantity(l, l->s->pmu->cycles, "cycles");
	quantity(l, l->s->pmu->instructions, "instructions");
	if (stat_value_named(l->s, "ipc", &ipc)) {
		text_part(&l->text);
		text_format(&l->text, "IPC %.2f", ipc);
	}
	table_fact(l->out, "speed", &l->text);
}

enum { NAMES_SHOWN = 4 };

/* "2 events that this machine does not have: L1D_CACHE, LL_CACHE_RD" */
static void refused(struct line *l, enum count_state state, const char *why)
{
	const struct stat_total *totals = l->s->totals.list.items;
	size_t n = 0, n_shown = 0;

	for (size_t i = 0; i < l->s->totals.list.n; i++)
		n += totals[i].state == state;
	if (n == 0)
		return;
	text_part(&l->text);
	text_format(&l->text, "%zu event%s %s", n, plural(n), why);
	for (size_t i = 0; i < l->s->totals.list.n && n_shown < NAMES_SHOWN; i++)
		if (totals[i].state == state)
			text_format(&l->text, "%s %s", n_shown++ == 0 ? ":" : ",", totals[i].event);
	if (n > n_shown)
		text_format(&l->text, " and %zu more", n - n_shown);
}

/* The least part of the time that events were counted, and those that were not at all. */
static void coverage(struct line *l)
{
	const struct counts *c = l->s->counts;
	double least = 1;
	size_t n = 0;

	for (size_t i = 0; i < l->s->totals.list.n; i++) {
		const struct stat_total *t = &l->s->totals.list.items[i];

		enum cell_mark mark = stat_total_mark(t, 0);

		if (t->state != COUNT_COUNTED || mark == MARK_EXACT || mark == MARK_IMPLAUSIBLE)
			continue;
		n++;
		if (stat_total_coverage(t) < least)
			least = stat_total_coverage(t);
	}
	if (c->n_counters > 0)
		text_format(&l->text, "%" PRIu32 " counter%s", c->n_counters,
			    plural(c->n_counters));
	if (c->has_no_pmu)
		text_str(
			&l->text,
			"no hardware counters here: only the kernel's own events (cyclops doctor)");
	if (n > 0) {
		text_part(&l->text);
		text_format(&l->text,
			    "%zu of %zu events were multiplexed: counted at least %.0f %% of the "
			    "time, scaled up%s",
			    n, l->s->totals.list.n, 100 * least,
			    c->n_counters > 0 && c->command != NULL ? " (--no-mux avoids this)"
								    : "");
	}
	if (!c->has_no_pmu)
		refused(l, COUNT_NOT_SUPPORTED, "not supported by this machine");
	refused(l, COUNT_NOT_COUNTED, "not counted");
	refused(l, COUNT_FORBIDDEN, "forbidden for this user");
	table_fact(l->out, "counters", &l->text);
}

/* What the catalog warns of, and slots that are not told. */
static void caution(struct line *l)
{
	bool needs_slots = false;

	for (size_t i = 0; i < l->s->pmu->topdown.roots.n; i++)
		needs_slots |= l->s->pmu->topdown.roots.items[i]->needs_slots;
	if (needs_slots && l->s->slots == 0)
		text_str(&l->text, "slots in a cycle: give --slots N (caps/slots of the PMU in "
				   "/sys/bus/event_source/devices of the measured machine)");
	table_fact(l->out, "missing", &l->text);
	if (l->s->pmu->note != NULL && !l->s->pmu->is_generic &&
	    strcmp(cpu_id(l->s->pmu->cpu), CPU_ANY_ARM) != 0)
		text_str(&l->text, l->s->pmu->note);
	table_fact(l->out, "caution", &l->text);
}

void stat_facts_table(const struct stat *s, struct table *out)
{
	struct line line = { .s = s, .out = out };

	table_init(out, "run", NULL, columns, COUNT(columns));
	out->style = TABLE_FACTS;
	out->readers = TABLE_FOR_PEOPLE;
	stat_run_counted(&line);
	stat_run_status(&line);
	if (s->options->as_rates && s->counts->date != NULL)
		text_str(&line.text, s->counts->date);
	table_fact(out, "date", &line.text);
	cpu(&line);
	speed(&line);
	coverage(&line);
	caution(&line);
	text_release(&line.text);
}
