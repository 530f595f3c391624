/* SPDX-License-Identifier: Apache-2.0 */
/* Which events cyclops stat chooses on made-up machines. */
#include "stat/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "../pmu/tree.h"
#include "base/alloc.h"

#define MIDR(cpu) "/sys/devices/system/cpu/cpu" #cpu "/regs/identification/midr_el1"
#define DEVICES "/sys/bus/event_source/devices"

/* A machine, and what is counted on it. */
struct subject {
	struct tree tree;
	struct stat_plan plan;
	struct counts counts;
	struct err err;
};

static struct catalog *catalog;

static unsigned six_counters(struct pmus *pmus, const struct pmu *pmu)
{
	(void)pmus;
	return strcmp(pmu->name, "armv8_cortex_a53") == 0 ? 4 : 6;
}

static void set_up(struct subject *s, const struct tree_file *machine, const char *midr_0,
		   const char *midr_4, struct plan_machine options)
{
	memset(s, 0, sizeof(*s));
	tree_make(&s->tree, machine);
	if (midr_0 != NULL)
		tree_add(&s->tree, MIDR(0), midr_0);
	if (midr_4 != NULL)
		tree_add(&s->tree, MIDR(4), midr_4);
	options.root = s->tree.root;
	options.n_free = six_counters;
	if (stat_plan_init(&s->plan, &options, catalog, &s->err) < 0)
		fail_msg("%s", s->err.text);
}

static void begin(struct subject *s, const struct stat_options *stat)
{
	if (stat_plan_begin(&s->plan, stat, &s->err) < 0)
		fail_msg("%s", s->err.text);
}

static void tear_down(struct subject *s)
{
	stat_plan_release(&s->plan);
	counts_release(&s->counts);
	tree_remove(&s->tree);
}

static const struct event_spec *find(const struct subject *s, const char *name, const char *pmu)
{
	for (size_t i = 0; i < s->plan.specs.list.n; i++) {
		const struct event_spec *spec = &s->plan.specs.list.items[i];

		if (strcasecmp(spec->name, name) == 0 &&
		    (pmu == NULL || (spec->pmu != NULL && strcmp(spec->pmu->name, pmu) == 0)))
			return spec;
	}
	return NULL;
}

/* The group of an event that has to be there; 0: none. */
static uint32_t group_of(const struct subject *s, const char *name)
{
	const struct event_spec *spec = find(s, name, NULL);

	if (spec == NULL)
		fail_msg("%s is not planned", name);
	return spec != NULL ? spec->group : UINT32_MAX;
}

/* This PMU tells of three events. Only what it has, or may have, is in groups. */
static void what_is_missing_takes_no_room(void **state)
{
	const struct stat_options all = { .all = true };
	struct subject s;
	size_t n_grouped = 0;

	(void)state;
	set_up(&s, tree_neoverse_n1, "0x413fd0c1", NULL, (struct plan_machine){ 0 });
	begin(&s, &all);
	assert_string_equal(cpu_id(s.plan.cores.items[0].facts->cpu), "neoverse-n1");
	assert_int_equal(s.plan.cores.items[0].slots, 8);
	for (size_t i = 0; i < s.plan.specs.list.n; i++) {
		const struct event_spec *spec = &s.plan.specs.list.items[i];

		if (spec->group == 0)
			continue;
		n_grouped++;
		assert_true(pmu_has_event(spec->pmu, spec->attr.config));
	}
	assert_true(n_grouped > 0);
	assert_non_null(find(&s, "L1D_CACHE_REFILL", NULL));
	assert_int_equal(group_of(&s, "L1D_CACHE_REFILL"), 0);
	assert_true(group_of(&s, "INST_RETIRED") > 0);
	tear_down(&s);
}

/* Software events need no counter, so six others beside them still fit. */
static void software_events_take_no_counters(void **state)
{
	const char *const names[] = {
		"page-faults,LD_SPEC,ST_SPEC,DP_SPEC,ASE_SPEC,VFP_SPEC,BR_IMMED_SPEC,faults", NULL
	};
	const struct stat_options stat = { .events = names };
	struct subject s;

	(void)state;
	set_up(&s, tree_neoverse_n1, "0x413fd0c1", NULL, (struct plan_machine){ 0 });
	begin(&s, &stat);
	assert_int_equal(stat_plan_n_groups(&s.plan), 1);
	assert_int_equal(group_of(&s, "page-faults"), 0);
	assert_int_equal(group_of(&s, "LD_SPEC"), group_of(&s, "BR_IMMED_SPEC"));
	assert_int_equal(s.plan.specs.list.n, 8 + 1); /* and cycles, which are free */
	tear_down(&s);
}

static const char a53[] = "armv8_cortex_a53", a72[] = "armv8_cortex_a72";

/* Cores of two types, which have the events of the method. */
static const struct tree_file two_types[] = {
	{ DEVICES "/armv8_cortex_a53/type", "8" },
	{ DEVICES "/armv8_cortex_a53/cpus", "0-3" },
	{ DEVICES "/armv8_cortex_a53/format/event", "config:0-15" },
	{ DEVICES "/armv8_cortex_a72/type", "9" },
	{ DEVICES "/armv8_cortex_a72/cpus", "4-5" },
	{ DEVICES "/armv8_cortex_a72/format/event", "config:0-15" },
	{ NULL, NULL },
};

/* A task may be on either type: each has its own events, in one group, so nothing takes turns. */
static void types_of_cores_have_groups_of_their_own(void **state)
{
	const struct stat_options method = { 0 };
	struct subject s;
	size_t n_groups[2] = { 0 };

	(void)state;
	set_up(&s, two_types, "0x410fd034", "0x410fd083",
	       (struct plan_machine){ .is_of_tasks = true });
	begin(&s, &method);
	assert_int_equal(s.plan.cores.n, 2);
	assert_string_equal(cpu_id(s.plan.cores.items[0].facts->cpu), "cortex-a53");
	assert_string_equal(cpu_id(s.plan.cores.items[1].facts->cpu), "cortex-a72");
	for (int i = 0; i < 2; i++) {
		const char *pmu = i == 0 ? a53 : a72;
		uint32_t group = 0;

		assert_non_null(find(&s, "CPU_CYCLES", pmu));
		assert_non_null(find(&s, "INST_RETIRED", pmu));
		for (size_t k = 0; k < s.plan.specs.list.n; k++) {
			const struct event_spec *spec = &s.plan.specs.list.items[k];

			if (spec->pmu != NULL)
				assert_int_equal(spec->attr.type, spec->pmu->type);
			if (spec->group == 0 || strcmp(spec->pmu->name, pmu) != 0)
				continue;
			n_groups[i] += spec->group != group;
			group = spec->group;
		}
	}
	assert_int_equal(n_groups[0], 1);
	assert_int_equal(n_groups[1], 1);
	assert_non_null(find(&s, "page-faults", NULL));
	stat_plan_describe(&s.plan, &s.counts);
	assert_int_equal(s.counts.pmus.n, 2);
	assert_int_equal(s.counts.pmus.items[1].midr, 0x410fd083);
	assert_int_equal(s.counts.pmus.items[0].n_counters, 4);
	assert_true(s.counts.has_own_times);
	tear_down(&s);
}

static void only_cores_that_are_asked_for_are_planned(void **state)
{
	const struct stat_options method = { 0 };
	struct subject s;

	(void)state;
	set_up(&s, two_types, "0x410fd034", "0x410fd083", (struct plan_machine){ .cpus = "4" });
	begin(&s, &method);
	assert_int_equal(s.plan.cores.n, 1);
	assert_string_equal(cpu_id(s.plan.cores.items[0].facts->cpu), "cortex-a72");
	assert_null(find(&s, "CPU_CYCLES", a53));
	tear_down(&s);
}

static void without_a_pmu_there_are_software_events(void **state)
{
	const struct stat_options method = { 0 };
	struct subject s;

	(void)state;
	set_up(&s, tree_without_pmu, NULL, NULL, (struct plan_machine){ 0 });
	begin(&s, &method);
	assert_int_equal(s.plan.specs.list.n, 4);
	stat_plan_describe(&s.plan, &s.counts);
	assert_true(s.counts.has_no_pmu);
	tear_down(&s);
}

static void count_event(struct counts *c, const char *event, double value)
{
	struct count *count = counts_add(c, event);

	count->value = value;
	count->pmu = "armv8_pmuv3_0";
	count->enabled_ns = count->running_ns = 1000;
}

/* Pretends that each event planned was counted; those not named here came to `otherwise`. */
static void count_planned(struct subject *s, double backend, double otherwise)
{
	for (size_t i = 0; i < s->plan.specs.list.n; i++) {
		const char *name = s->plan.specs.list.items[i].name;
		double value = otherwise;

		if (strcmp(name, "CPU_CYCLES") == 0)
			value = 1000;
		if (strcmp(name, "INST_RETIRED") == 0)
			value = 500;
		if (strcmp(name, "STALL_BACKEND") == 0)
			value = backend;
		count_event(&s->counts, name, value);
	}
}

/* A Neoverse N1 that names no events: it may have all of them. */
static const struct tree_file n1_silent[] = {
	{ DEVICES "/armv8_pmuv3_0/type", "8" },
	{ DEVICES "/armv8_pmuv3_0/cpus", "0-3" },
	{ DEVICES "/armv8_pmuv3_0/format/event", "config:0-15" },
	{ NULL, NULL },
};

static void later_steps_count_what_the_first_points_to(void **state)
{
	const struct stat_options first = { .level = 1 }, method = { 0 };
	struct subject s;
	size_t n_steps = 0;

	(void)state;
	for (int is_bound = 0; is_bound < 2; is_bound++) {
		set_up(&s, n1_silent, "0x413fd0c1", NULL, (struct plan_machine){ 0 });
		begin(&s, &first);
		assert_non_null(find(&s, "STALL_BACKEND", NULL));
		assert_null(find(&s, "L2D_CACHE_REFILL", NULL));
		count_planned(&s, is_bound ? 700 : 100, 10);
		assert_int_equal(stat_plan_next(&s.plan, &method, &s.counts, &s.err), 0);
		assert_true((find(&s, "L2D_CACHE", NULL) != NULL) == is_bound);
		/* that nothing stands out takes a look at each branch, what stands out does not */
		assert_non_null(find(&s, "L2D_CACHE_REFILL", NULL));
		assert_true((find(&s, "L1I_CACHE_REFILL", NULL) == NULL) == is_bound);
		/* stalls do not show what the wrong path costs: branches are looked at always */
		assert_non_null(find(&s, "BR_MIS_PRED_RETIRED", NULL));
		assert_null(find(&s, "page-faults", NULL));
		for (n_steps = 0; s.plan.specs.list.n > 0; n_steps++) {
			assert_true(n_steps < 8);
			count_planned(&s, 700, 10);
			assert_int_equal(stat_plan_next(&s.plan, &method, &s.counts, &s.err), 0);
		}
		tear_down(&s);
	}
}

/* Is any group on that holds the event? */
static bool is_on_for(const struct subject *s, const bool *is_on, const char *event)
{
	for (size_t i = 0; i < s->plan.specs.list.n; i++)
		if (strcmp(s->plan.specs.list.items[i].name, event) == 0 &&
		    is_on[s->plan.specs.list.items[i].group])
			return true;
	return false;
}

static void a_single_run_counts_what_matters_so_far(void **state)
{
	const struct stat_options method = { 0 };
	const char *const roots[] = { "CPU_CYCLES", "INST_RETIRED", "STALL_BACKEND",
				      "STALL_FRONTEND" };
	bool is_on[64] = { false };
	struct stat_choice choice = { .stat = &method };
	struct subject s;
	size_t n_on = 0;

	(void)state;
	set_up(&s, n1_silent, "0x413fd0c1", NULL, (struct plan_machine){ 0 });
	choice.plan = &s.plan;
	begin(&s, &method);
	assert_true(stat_plan_n_groups(&s.plan) > STAT_PLAN_TURNS);
	assert_true(s.plan.specs.n_groups < COUNT(is_on));

	/* nothing is known: the first stage alone */
	stat_plan_choose(&choice, &s.counts, is_on, s.plan.specs.n_groups);
	for (size_t i = 0; i < COUNT(is_on); i++)
		n_on += is_on[i];
	assert_int_equal(n_on, 1);
	for (size_t i = 0; i < COUNT(roots); i++)
		assert_true(is_on_for(&s, is_on, roots[i]));

	/* the back end: what explains it, as far as turns go */
	for (size_t i = 0; i < COUNT(roots); i++)
		count_event(&s.counts, roots[i], i == 2 ? 700 : i == 3 ? 10 : 1000);
	stat_plan_choose(&choice, &s.counts, is_on, s.plan.specs.n_groups);
	n_on = 0;
	for (size_t i = 0; i < COUNT(is_on); i++)
		n_on += is_on[i];
	assert_int_equal(n_on, STAT_PLAN_TURNS);
	for (size_t i = 0; i < COUNT(roots); i++)
		assert_true(is_on_for(&s, is_on, roots[i]));
	assert_true(is_on_for(&s, is_on, "L1D_CACHE_REFILL"));
	tear_down(&s);
}

static int open_catalog(void **state)
{
	struct err err;

	(void)state;
	return catalog_open(NULL, &catalog, &err);
}

static int close_catalog(void **state)
{
	(void)state;
	catalog_free(catalog);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_takes_no_room),
		cmocka_unit_test(software_events_take_no_counters),
		cmocka_unit_test(types_of_cores_have_groups_of_their_own),
		cmocka_unit_test(only_cores_that_are_asked_for_are_planned),
		cmocka_unit_test(without_a_pmu_there_are_software_events),
		cmocka_unit_test(later_steps_count_what_the_first_points_to),
		cmocka_unit_test(a_single_run_counts_what_matters_so_far),
	};

	return cmocka_run_group_tests(tests, open_catalog, close_catalog);
}
