/* SPDX-License-Identifier: Apache-2.0 */
/* Counts made by hand, with known metrics, walks and findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/cpu_choice.h"
#include "metrics/inside.h"
#include "metrics/thresholds.h"
#include "stat/tables.h"
#include "stat/types.h"
#include "../cpu/embedded_catalog.h"

struct event_count {
	const char *event;
	double value;
};

static struct cpu_pmu *open_pmu(const struct catalog *catalog, const char *name)
{
	struct cpu_pmu *pmu = NULL;
	struct err err;

	if (cpu_pmu_open(catalog, catalog_cpu_find(catalog, name), 0, &pmu, &err) < 0)
		fail_msg("%s", err.text);
	return pmu;
}

/* Adds an event that was counted `running` of `enabled` nanoseconds, in a group. */
static struct count *add(struct counts *c, const char *event, double value, uint64_t enabled,
			 uint64_t running, uint32_t group)
{
	struct count *count = counts_add(c, event);

	count->value = value;
	count->enabled_ns = enabled;
	count->running_ns = running;
	count->group = group;
	return count;
}

static void sums_over_cpus_and_intervals(void **state)
{
	struct counts c = { 0 };
	struct stat_totals t;

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		struct count *count = add(&c, "INST_RETIRED", 100, 10, 5, 0);

		count->cpu = cpu;
		count->interval = (uint32_t)cpu / 2;
	}
	stat_totals_init(&t, c.items.items, c.items.n);
	assert_int_equal(t.list.n, 1);
	assert_true(t.list.items[0].value == 400);
	assert_true(stat_total_coverage(&t.list.items[0]) == 0.5);
	assert_int_equal(stat_total_mark(&t.list.items[0], 0.2), MARK_SCALED);
	assert_int_equal(stat_total_mark(&t.list.items[0], 0.6), MARK_SPARSE);
	stat_totals_release(&t);
	counts_release(&c);
}

static void keeps_repeated_events_apart(void **state)
{
	struct counts c = { 0 };
	struct stat_totals t;

	(void)state;
	add(&c, "CPU_CYCLES", 1000, 100, 50, 1);
	add(&c, "INST_RETIRED", 500, 100, 50, 1);
	add(&c, "CPU_CYCLES", 1400, 100, 60, 2);
	add(&c, "L1D_CACHE", 7, 100, 60, 2);
	stat_totals_init(&t, c.items.items, c.items.n);
	assert_int_equal(t.list.n, 4);
	/* Of both groups: 500 + 840 in 110 of 100. */
	assert_true(floor(stat_totals_find(&t, "cpu_cycles")->value) == 1218);
	assert_true(stat_totals_find_in(&t, "CPU_CYCLES", 2)->value == 1400);
	assert_true(stat_totals_find_in(&t, "CPU_CYCLES", 1)->value == 1000);
	assert_null(stat_totals_find(&t, "L2D_CACHE"));
	stat_totals_release(&t);
	counts_release(&c);
}

/* IPC of one window, not of a mixture of two. */
static void prefers_events_of_one_group(void **state)
{
	struct cpu_pmu *n1 = open_pmu(*state, "neoverse-n1");
	const struct cpu_metric *ipc = cpu_metric_find(n1, "ipc");
	struct counts c = { 0 };
	struct stat_totals t;
	struct stat_value v;

	add(&c, "CPU_CYCLES", 1000, 100, 50, 1);
	add(&c, "INST_RETIRED", 500, 100, 50, 1);
	add(&c, "CPU_CYCLES", 1400, 100, 100, 2);
	stat_totals_init(&t, c.items.items, c.items.n);
	v = stat_evaluate(ipc, &t, 0, 0.2);
	assert_true(v.is_known);
	assert_true(v.value == 0.5);
	assert_true(v.coverage == 0.5);
	assert_int_equal(v.mark, MARK_SCALED);
	stat_totals_release(&t);
	counts_release(&c);
	cpu_pmu_free(n1);
}

static void says_what_is_missing(void **state)
{
	struct cpu_pmu *n1 = open_pmu(*state, "neoverse-n1");
	struct cpu_pmu *a78 = open_pmu(*state, "cortex-a78");
	static const struct {
		struct event_count cycles, instructions;
		uint8_t state;
		bool is_user_only;
		const char *lacks;
	} cases[] = {
		{ { "CPU_CYCLES", 5 }, { NULL, 0 }, 0, false, "INST_RETIRED" },
		{ { "CPU_CYCLES", 0 }, { "INST_RETIRED", 5 }, 0, false, "a divisor" },
		{ { "CPU_CYCLES", 5 },
		  { "INST_RETIRED", 5 },
		  COUNT_NOT_COUNTED,
		  false,
		  "INST_RETIRED" },
		{ { "CPU_CYCLES", 5 }, { "INST_RETIRED", 5 }, 0, true, "the same modes" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts c = { 0 };
		struct stat_totals t;
		struct stat_value v;

		add(&c, cases[i].cycles.event, cases[i].cycles.value, 0, 0, 0);
		if (cases[i].instructions.event != NULL) {
			struct count *last = add(&c, cases[i].instructions.event,
						 cases[i].instructions.value, 0, 0, 0);

			last->state = cases[i].state;
			last->is_user_only = cases[i].is_user_only;
		}
		stat_totals_init(&t, c.items.items, c.items.n);
		v = stat_evaluate(cpu_metric_find(n1, "ipc"), &t, 0, 0.2);
		assert_false(v.is_known);
		if (strstr(v.lacks, cases[i].lacks) == NULL)
			fail_msg("'%s' is not '%s'", v.lacks, cases[i].lacks);
		stat_totals_release(&t);
		counts_release(&c);
	}
	cpu_pmu_free(n1);
	cpu_pmu_free(a78);
}

static void marks_full_counters(void **state)
{
	struct counts c = { 0 };
	struct stat_totals t;

	(void)state;
	add(&c, "CPU_CYCLES", 4294967295.0, 10, 10, 0);
	stat_totals_init(&t, c.items.items, c.items.n);
	assert_int_equal(stat_total_mark(&t.list.items[0], 0.2), MARK_SATURATED);
	stat_totals_release(&t);
	counts_release(&c);
}

/* The names of the groups and pointed nodes that a walk comes by, in order. */
static void describe_walk(const struct stat *s, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < s->steps.n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s ", s->steps.items[i].metric->name,
				      s->steps.items[i].is_pointed ? "!" : "");
	for (size_t i = 0; i < s->groups.n; i++)
		n += (size_t)snprintf(out + n, size - n, "[%s]", s->groups.items[i]->name);
}

static void check_walk(const struct catalog *catalog, const char *cpu,
		       const struct event_count *events, const struct stat_options *options,
		       const char *expected)
{
	struct cpu_pmu *pmu = open_pmu(catalog, cpu);
	struct counts c = { 0 };
	struct stat s;
	char text[2048];

	for (; events->event != NULL; events++)
		add(&c, events->event, events->value, 10, 10, 0);
	counts_name(&c, pmu);
	stat_init(&s, pmu, &c, options);
	describe_walk(&s, text, sizeof(text));
	assert_string_equal(text, expected);
	stat_release(&s);
	counts_release(&c);
	cpu_pmu_free(pmu);
}

static const struct event_count n1_backend[] = {
	{ "CPU_CYCLES", 1000 }, { "STALL_FRONTEND", 20 }, { "STALL_BACKEND", 840 }, { 0 }
};

static void walks_the_n1(void **state)
{
	static const struct event_count frontend[] = {
		{ "CPU_CYCLES", 1000 }, { "STALL_FRONTEND", 500 }, { "STALL_BACKEND", 100 }, { 0 }
	};
	static const struct event_count nothing[] = {
		{ "CPU_CYCLES", 1000 }, { "STALL_FRONTEND", 29.9 }, { "STALL_BACKEND", 96.3 }, { 0 }
	};
	static const char *const low[] = { "backend_stalled_cycles=5", NULL };
	const struct stat_options by_default = { 0 }, level_1 = { .level = 1 };
	const struct stat_options careful = { .thresholds = low };

	check_walk(*state, "neoverse-n1", n1_backend, &by_default,
		   "frontend_stalled_cycles backend_stalled_cycles! [DTLB_Effectiveness]"
		   "[L1D_Cache_Effectiveness][L2_Cache_Effectiveness][LL_Cache_Effectiveness]"
		   "[Operation_Mix][Branch_Effectiveness]");
	check_walk(*state, "neoverse-n1", frontend, &by_default,
		   "frontend_stalled_cycles! backend_stalled_cycles [Branch_Effectiveness]"
		   "[ITLB_Effectiveness][L1I_Cache_Effectiveness][L2_Cache_Effectiveness]"
		   "[LL_Cache_Effectiveness]");
	check_walk(*state, "neoverse-n1", nothing, &by_default,
		   "frontend_stalled_cycles backend_stalled_cycles [Branch_Effectiveness]");
	check_walk(*state, "neoverse-n1", nothing, &careful,
		   "frontend_stalled_cycles backend_stalled_cycles! [DTLB_Effectiveness]"
		   "[L1D_Cache_Effectiveness][L2_Cache_Effectiveness][LL_Cache_Effectiveness]"
		   "[Operation_Mix][Branch_Effectiveness]");
	check_walk(*state, "neoverse-n1", n1_backend, &level_1,
		   "frontend_stalled_cycles backend_stalled_cycles! ");
}

/* Without the number of slots, stalled cycles and the groups of the same side. */
static void falls_back_on_stalled_cycles(void **state)
{
	const struct stat_options by_default = { 0 };

	check_walk(*state, "generic-pmuv3", n1_backend, &by_default,
		   "backend_stalled_cycles! frontend_stalled_cycles [DTLB_Effectiveness]"
		   "[L1D_Cache_Effectiveness][L2_Cache_Effectiveness][LL_Cache_Effectiveness]"
		   "[Operation_Mix][Branch_Effectiveness]");
}

/* A name and the MIDR, PMU or events by which the CPU of counts is known. */
static void knows_the_cpu_of_counts(void **state)
{
	static const struct {
		const char *event, *cpu;
		uint64_t midr;
		const char *id;
	} cases[] = {
		{ "cycles", NULL, 0, "linux-generic" },
		{ "instructions:u", NULL, 0, "linux-generic" },
		{ "cycles", NULL, 0x413fd0c1, "neoverse-n1" },
		{ "cycles", NULL, 0x410ffff0, "generic-pmuv3" },
		{ "cycles", NULL, 0x610f0231, "linux-generic" }, /* Apple: known by name only */
		{ "inst_retired", NULL, 0x610fff01, "linux-generic" },
		{ "inst_retired", NULL, 0, "generic-pmuv3" },
		{ "armv8_pmuv3_0/l1d_cache/u", NULL, 0, "generic-pmuv3" },
		{ "armv8_cortex_a72/cycles/", NULL, 0, "cortex-a72" },
		{ "armv8_neoverse_n1/inst_retired/", NULL, 0, "neoverse-n1" },
		{ "cycles", "Neoverse V1", 0, "neoverse-v1" },
		{ "cycles", "neoverse_v2", 0, "neoverse-v2" },
		{ "cpu/inst_retired.any/", NULL, 0, "linux-generic" },
		{ "cpu_core/cycles/", NULL, 0, "linux-generic" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts c = { .cpu = cases[i].cpu, .midr = cases[i].midr };

		counts_add(&c, cases[i].event);
		assert_string_equal(cpu_id(stat_cpu(*state, &c)), cases[i].id);
		counts_release(&c);
	}
}

/* Counts of a CPU that is not known are not given names of Arm's. */
static void claims_nothing_for_other_cpus(void **state)
{
	const struct cpu *cpu;
	struct cpu_pmu *pmu;
	struct counts c = { 0 };
	struct stat_options options = { .for_programs = true };
	struct stat_answer answer;
	struct err err;
	double ipc = 0;

	add(&c, "cycles", 1000, 10, 10, 0);
	add(&c, "instructions", 1500, 10, 10, 0);
	add(&c, "cpu/event=0x24,umask=0x3f/", 20, 10, 10, 0);
	cpu = stat_cpu(*state, &c);
	pmu = open_pmu(*state, cpu_id(cpu));
	assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
	assert_int_equal(table_n_rows(&answer.metrics), 1);
	assert_string_equal(table_cell(&answer.metrics, 0, 0)->text, "ipc");
	ipc = table_cell(&answer.metrics, 0, 1)->number;
	assert_true(ipc == 1.5);
	stat_answer_release(&answer);
	counts_release(&c);
	cpu_pmu_free(pmu);
}

/* A task on cores of two types: each has its own events and formulas, and nothing is scaled. */
static void keeps_types_of_cores_apart(void **state)
{
	static const struct {
		const char *metrics, *cpu;
		double ipc;
	} expected[] = {
		{ "metrics@armv8_cortex_a53", "cortex-a53", 0.4 },
		{ "metrics@armv8_cortex_a72", "cortex-a72", 1.5 },
	};
	const struct stat_options options = { .for_programs = true };
	struct counts c = { 0 };
	struct stat_types types;
	struct err err = { 0 };

	add(&c, "armv8_cortex_a53/cpu_cycles/", 1000, 100, 50, 0);
	add(&c, "armv8_cortex_a53/inst_retired/", 400, 100, 50, 0);
	add(&c, "armv8_cortex_a72/cpu_cycles/", 3000, 100, 100, 0);
	add(&c, "armv8_cortex_a72/inst_retired/", 4500, 100, 100, 0);
	add(&c, "page-faults", 7, 100, 100, 0);
	if (stat_types_make(*state, NULL, &c, &options, &types, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(types.list.n, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct table *metrics = tables_find(&types.shown, expected[i].metrics);
		const struct stat_type *type = &types.list.items[i];

		assert_string_equal(cpu_id(type->facts->cpu), expected[i].cpu);
		assert_non_null(metrics);
		assert_true(table_cell(metrics, 0, 1)->number == expected[i].ipc);
		assert_string_equal(table_cell(metrics, 0, 3)->text, "exact");
		assert_int_equal(table_n_rows(&type->answer.events), 3);
	}
	assert_true(table_cell(&types.list.items[0].answer.events, 0, 1)->count == 500);
	stat_types_release(&types);
	counts_release(&c);
}

static void add_mixed(struct counts *c, double a53, double a72)
{
	add(c, "armv8_cortex_a53/cpu_cycles/", a53, 100, 100, 0);
	add(c, "armv8_cortex_a72/cpu_cycles/", a72, 100, 100, 0);
}

static void compares_types_of_cores_by_themselves(void **state)
{
	const struct stat_options options = { .for_programs = true };
	struct counts before = { 0 }, after = { 0 }, other = { 0 };
	struct stat_types old, made;
	struct err err = { 0 };

	add_mixed(&before, 1000, 3000);
	add_mixed(&after, 2000, 1500);
	if (stat_types_compare(*state, NULL, &before, &after, &options, &old, &made, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(made.list.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct table *events = &made.list.items[i].answer.events;
		int change = table_column(events, "change");

		assert_true(change > 0);
		assert_true(table_cell(events, 0, (size_t)change)->number == (i == 0 ? 1 : -0.5));
	}
	stat_types_release(&made);
	stat_types_release(&old);

	add(&other, "armv8_cortex_a72/cpu_cycles/", 1, 100, 100, 0);
	assert_int_equal(
		stat_types_compare(*state, NULL, &other, &after, &options, &old, &made, &err), -1);
	assert_non_null(strstr(err.text, "the runs used different core types"));
	stat_types_release(&made);
	stat_types_release(&old);
	counts_release(&before);
	counts_release(&after);
	counts_release(&other);
}

static void add_pmu(struct counts *c, const char *name, uint64_t midr)
{
	*vec_add(&c->pmus) = (struct count_pmu){ .name = name, .midr = midr, .n_counters = 6 };
}

/* Counted here: PMUs have names that tell nothing, but MIDRs; times are those of turns. */
static void knows_types_of_cores_by_their_midr(void **state)
{
	static const char *const ids[] = { "neoverse-n1", "neoverse-v1" };
	const struct stat_options options = { .for_programs = true };
	struct counts c = { .midr = 0x413fd0c1, .has_own_times = true };
	struct stat_types types;
	struct err err = { 0 };

	add_pmu(&c, "armv8_pmuv3_0", 0x413fd0c1);
	add_pmu(&c, "armv8_pmuv3_1", 0x411fd401);
	add(&c, "CPU_CYCLES", 1000, 100, 50, 0);
	c.items.items[0].pmu = "armv8_pmuv3_0";
	add(&c, "CPU_CYCLES", 3000, 100, 100, 0);
	c.items.items[1].pmu = "armv8_pmuv3_1";
	if (stat_types_make(*state, NULL, &c, &options, &types, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(types.list.n, COUNT(ids));
	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_string_equal(cpu_id(types.list.items[i].facts->cpu), ids[i]);
		assert_int_equal(types.list.items[i].counts.n_counters, 6);
	}
	/* scaled by whoever counted: not taken back */
	assert_true(table_cell(&types.list.items[0].answer.events, 0, 1)->count == 1000);
	stat_types_release(&types);
	counts_release(&c);
}

static size_t n_costly(const struct cpu_pmu *pmu, const struct event_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += !cpu_event_is_free(pmu, set->events[i].event);
	return n;
}

static bool holds(const struct event_set *outer, const struct event_set *inner)
{
	for (size_t i = 0; i < inner->n; i++) {
		bool has = false;

		for (size_t j = 0; j < outer->n; j++)
			has |= outer->events[j].event == inner->events[i].event;
		if (!has)
			return false;
	}
	return true;
}

/* All events of a metric are in one set; a set is larger than the PMU only if a metric is. */
static void check_packing(const struct cpu_pmu *pmu, size_t n_counters)
{
	const struct stat_options options = { .all = true };
	struct event_sets wanted = { 0 }, packed = { 0 };
	struct err err;
	size_t most = n_counters;

	assert_int_equal(stat_wanted(pmu, &options, &wanted, &err), 0);
	assert_int_equal(wanted.list.n, pmu->n_metrics);
	event_sets_pack(pmu, &wanted, n_counters, &packed);
	assert_true(packed.list.n <= wanted.list.n);
	for (size_t i = 0; i < wanted.list.n; i++) {
		bool is_held = false;

		if (n_costly(pmu, &wanted.list.items[i]) > most)
			most = n_costly(pmu, &wanted.list.items[i]);
		for (size_t j = 0; j < packed.list.n; j++)
			is_held |= holds(&packed.list.items[j], &wanted.list.items[i]);
		assert_true(is_held);
	}
	for (size_t j = 0; j < packed.list.n; j++)
		assert_true(n_costly(pmu, &packed.list.items[j]) <= most);
	event_sets_release(&packed);
	event_sets_release(&wanted);
}

static void packs_sets(void **state)
{
	const struct catalog *catalog = *state;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		struct cpu_pmu *pmu = open_pmu(catalog, cpu_id(catalog_cpu_at(catalog, i)));

		for (size_t n = 2; n <= 8; n += 2)
			check_packing(pmu, n);
		cpu_pmu_free(pmu);
	}
}

static const struct cpu_node *parent_of(const struct cpu_pmu *pmu, const struct cpu_metric *m)
{
	for (size_t i = 0; i < pmu->topdown.n_nodes; i++)
		for (size_t j = 0; j < pmu->topdown.nodes[i].next_metrics.n; j++)
			if (pmu->topdown.nodes[i].next_metrics.items[j] == m)
				return &pmu->topdown.nodes[i];
	return NULL;
}

static bool is_unreachable(const struct cpu_pmu *pmu, const struct cpu_node *node)
{
	for (size_t i = 0; i < pmu->topdown.unreachable.n; i++)
		if (pmu->topdown.unreachable.items[i] == node->metric)
			return true;
	return false;
}

static void tell(struct counts *c, const struct cpu_metric *m, double value)
{
	*vec_add(&c->metrics) = (struct count_metric){ .name = m->name, .value = value };
}

/* Intervals of different length weigh as much as they lasted. One said twice counts once. */
static void averages_what_is_told_of_intervals(void **state)
{
	const struct stat_options options = { 0 };
	struct cpu_pmu *pmu = open_pmu(*state, "neoverse-n2");
	const struct cpu_metric *m = cpu_metric_find(pmu, "frontend_bound");
	struct counts c = { 0 };
	struct table t = { 0 };
	struct stat s;

	tell(&c, m, 20);
	tell(&c, m, 99);
	stat_init(&s, pmu, &c, &options);
	assert_float_equal(stat_value_of(&s, m)->value, 20, 1e-9);
	stat_release(&s);

	c.metrics.items[1] = (struct count_metric){ "FRONTEND_BOUND", NULL, 40, 1 };
	vec_add(&c.intervals)->end_ns = 1000;
	vec_add(&c.intervals)->end_ns = 4000;
	stat_init(&s, pmu, &c, &options);
	assert_float_equal(stat_value_of(&s, m)->value, 35, 1e-9);
	assert_true(stat_value_of(&s, m)->is_told);
	stat_intervals_table(&s, &t);
	assert_int_equal(table_n_rows(&t), 2);
	table_release(&t);
	stat_release(&s);
	counts_release(&c);
	cpu_pmu_free(pmu);
}

static bool has_group(const struct stat *s, const struct cpu_group *group)
{
	for (size_t i = 0; i < s->groups.n; i++)
		if (s->groups.items[i] == group)
			return true;
	return false;
}

/* Did the walk come by the metric, and point at it if it must? */
static bool has_step(const struct stat *s, const struct cpu_metric *m, bool is_pointed)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.items[i].metric == m)
			return s->steps.items[i].is_pointed || !is_pointed;
	return false;
}

/*
 * Tells 90 % for the node and those above it, and 1 % for all others: the walk must come to it,
 * point at it, look at its parts and its groups, and point at nothing else.
 */
static size_t follows_node(const struct cpu_pmu *pmu, const struct cpu_node *node)
{
	const struct stat_options options = { 0 };
	struct counts c = { 0 };
	struct stat s;
	size_t n_pointed = 0, depth = 0;

	for (const struct cpu_node *n = node; n != NULL; n = parent_of(pmu, n->metric), depth++)
		tell(&c, n->metric, 90);
	for (size_t i = 0; i < pmu->topdown.n_nodes; i++)
		tell(&c, pmu->topdown.nodes[i].metric, 1); /* the first that is told counts */
	stat_init(&s, pmu, &c, &options);
	for (size_t i = 0; i < s.steps.n; i++)
		n_pointed += s.steps.items[i].is_pointed;
	if (is_unreachable(pmu, node)) {
		assert_int_equal(n_pointed, 0);
	} else {
		if (!has_step(&s, node->metric, true))
			fail_msg("%s: the walk does not come to %s", cpu_id(pmu->cpu),
				 node->metric->name);
		assert_int_equal(n_pointed, depth);
		for (size_t i = 0; i < node->next_metrics.n; i++)
			assert_true(has_step(&s, node->next_metrics.items[i], false));
		for (size_t i = 0; i < node->next_groups.n; i++)
			assert_true(has_group(&s, node->next_groups.items[i]));
	}
	stat_release(&s);
	counts_release(&c);
	return 1;
}

/* The walk of every published tree: a root that is all there is leads to what it names. */
static void follows_every_tree(void **state)
{
	const struct catalog *catalog = *state;
	size_t n_followed = 0;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		struct cpu_pmu *pmu = open_pmu(catalog, cpu_id(catalog_cpu_at(catalog, i)));

		for (size_t n = 0; n < pmu->topdown.n_nodes; n++)
			n_followed += follows_node(pmu, &pmu->topdown.nodes[n]);
		cpu_pmu_free(pmu);
	}
	assert_int_equal(n_followed, 350);
}

/* Threads that do not run wait for something or for a CPU: the switches tell, or do not. */
static void tells_why_it_did_not_run(void **state)
{
	static const struct {
		double busy_ns;
		uint64_t n_gave_up, n_put_off;
		uint32_t n_runs;
		const char *claim, *evidence, *remedy;
	} cases[] = {
		{ 3e8, 3, 53, 1, "the program mostly waited, probably for a CPU: it used 30.0 %",
		  "left a CPU 3 times to wait, and 53 times for another task", "idle machine" },
		{ 3e8, 53, 3, 1, "the program mostly waited: it used 30.0 %", "53 times to wait",
		  "find what the program waits for" },
		/* a long sleep */
		{ 1e7, 1, 2, 1, "the program mostly waited: it used 1.0 %", "1 time to wait",
		  "if other tasks" },
		/* all runs together */
		{ 3e8, 1, 9, 0, "probably for a CPU", "", "" },
		{ 3e8, 4, 9, 2, "the program mostly waited: it used 30.0 %",
		  "left a CPU 2 times to wait, and 5 times for another task in each run",
		  "if other tasks" },
		{ 3e8, 0, 0, 1, "the program mostly waited: it used 30.0 %", "is not known",
		  "if other tasks" },
	};
	struct cpu_pmu *pmu = open_pmu(*state, "neoverse-n1");
	const struct stat_options options = { 0 };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts c = { .elapsed_ns = 1000000000,
				    .n_runs = cases[i].n_runs,
				    .n_gave_up = cases[i].n_gave_up,
				    .n_put_off = cases[i].n_put_off };
		struct stat_answer answer;
		struct err err = { 0 };
		const char *const wanted[] = { cases[i].claim, cases[i].evidence, cases[i].remedy };
		const char *const names[] = { "claim", "evidence", "try" };

		add(&c, "task-clock", cases[i].busy_ns, 10, 10, 0)->unit = "ns";
		assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
		for (size_t k = 0; k < COUNT(wanted); k++) {
			const struct table *t = &answer.findings;
			int column = table_column(t, names[k]);
			const char *said = table_cell(t, 0, (size_t)column)->text;

			if (strstr(said, wanted[k]) == NULL)
				fail_msg("case %zu: '%s' does not say '%s'", i, said, wanted[k]);
		}
		stat_answer_release(&answer);
		counts_release(&c);
	}
	cpu_pmu_free(pmu);
}

/*
 * The L2 is shared: its misses are the front end's only as far as the L1I has some, else branches
 * that wait are left, which is told as what it is.
 */
static void evidence_fits_the_front_end(void **state)
{
	static const struct {
		double l1i; /* refills; those of the L2 are 800 */
		const char *says, *says_not;
	} cases[] = {
		{ 4, "284 stalled cycles for each mispredicted branch", "L2 line" },
		{ 399, "284 stalled cycles for each mispredicted branch", "L2 line" },
		{ 400, "80.0 L2 line refills per 1000 instructions", "for each" },
		{ -1, "80.0 L2 line refills per 1000 instructions", "for each" }, /* not counted */
	};
	struct cpu_pmu *pmu = open_pmu(*state, "neoverse-n1");
	const struct stat_options options = { .thresholds = (const char *const[]){
						      "l1i_cache_mpki=50", NULL } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts c = { .n_runs = 1 };
		struct stat_answer answer;
		struct err err = { 0 };
		const char *said;

		add(&c, "CPU_CYCLES", 40000, 10, 10, 0);
		add(&c, "STALL_FRONTEND", 21300, 10, 10, 0);
		add(&c, "STALL_BACKEND", 4000, 10, 10, 0);
		add(&c, "INST_RETIRED", 10000, 10, 10, 0);
		add(&c, "L2D_CACHE_REFILL", 800, 10, 10, 0);
		add(&c, "BR_MIS_PRED_RETIRED", 75, 10, 10, 0);
		if (cases[i].l1i >= 0)
			add(&c, "L1I_CACHE_REFILL", cases[i].l1i, 10, 10, 0);
		assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
		said = table_cell(&answer.findings, 0,
				  (size_t)table_column(&answer.findings, "evidence"))
			       ->text;
		if (strstr(said, cases[i].says) == NULL || strstr(said, cases[i].says_not) != NULL)
			fail_msg("case %zu: '%s'", i, said);
		stat_answer_release(&answer);
		counts_release(&c);
	}
	cpu_pmu_free(pmu);
}

/* What the walk asks for without a check is there for every CPU. */
static void has_thresholds_of_the_walk(void **state)
{
	static const char *const names[] = { THRESHOLD_COVERAGE, THRESHOLD_BUSY, THRESHOLD_TIE,
					     THRESHOLD_SUM,	 THRESHOLD_LEAF, THRESHOLD_COST };
	const struct catalog *catalog = *state;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		struct cpu_pmu *pmu = open_pmu(catalog, cpu_id(catalog_cpu_at(catalog, i)));
		double value = 0;

		for (size_t k = 0; k < COUNT(names); k++)
			assert_true(stat_threshold(pmu, NULL, names[k], &value) && value > 0);
		cpu_pmu_free(pmu);
	}
}

static void refuses_unknown_names(void **state)
{
	static const char *const bad_groups[] = { "L1D_Cache", NULL };
	static const char *const bad_metrics[] = { "ipc,l1d_cache_mpk", NULL };
	static const char *const bad_thresholds[] = { "backend_bond=3", NULL };
	static const char *const no_number[] = { "ipc=much", NULL };
	static const struct {
		struct stat_options options;
		const char *says;
	} cases[] = {
		{ { .groups = bad_groups }, "did you mean L1D_Cache_Effectiveness?" },
		{ { .metrics = bad_metrics }, "did you mean l1d_cache_mpki?" },
		{ { .thresholds = bad_thresholds }, "did you mean backend_bound?" },
		{ { .thresholds = no_number }, "wanted NAME=VALUE" },
	};
	struct cpu_pmu *pmu = open_pmu(*state, "neoverse-n1");

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts c = { 0 };
		struct stat_answer answer;
		struct err err = { 0 };

		counts_add(&c, "CPU_CYCLES")->value = 1;
		assert_int_equal(stat_answer_make(pmu, &c, &cases[i].options, &answer, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
		stat_answer_release(&answer);
		counts_release(&c);
	}
	cpu_pmu_free(pmu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_over_cpus_and_intervals),
		cmocka_unit_test(keeps_repeated_events_apart),
		cmocka_unit_test(prefers_events_of_one_group),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(marks_full_counters),
		cmocka_unit_test(walks_the_n1),
		cmocka_unit_test(falls_back_on_stalled_cycles),
		cmocka_unit_test(knows_the_cpu_of_counts),
		cmocka_unit_test(claims_nothing_for_other_cpus),
		cmocka_unit_test(keeps_types_of_cores_apart),
		cmocka_unit_test(knows_types_of_cores_by_their_midr),
		cmocka_unit_test(compares_types_of_cores_by_themselves),
		cmocka_unit_test(packs_sets),
		cmocka_unit_test(averages_what_is_told_of_intervals),
		cmocka_unit_test(follows_every_tree),
		cmocka_unit_test(evidence_fits_the_front_end),
		cmocka_unit_test(tells_why_it_did_not_run),
		cmocka_unit_test(has_thresholds_of_the_walk),
		cmocka_unit_test(refuses_unknown_names),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}
