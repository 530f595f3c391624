/* SPDX-License-Identifier: Apache-2.0 */
/* The walk down a top-down tree that is made up here, with values made up for its metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "metrics/inside.h"

/*
 *	bad_bound ─┬─ memory ─┬─ l1
 *	           ├─ core    └─ l2
 *	           └─ (lonely: of the same group as memory, but no node names it)
 *	other: the same, of another group: it is not shown there
 *	good_bound: better when it is high; has no parts
 *
 * Stalled cycles, bad_stalls and good_stalls, stand for the roots if no root is known.
 */
enum metric { BAD, GOOD, MEMORY, CORE, L1, L2, LONELY, OTHER, BAD_STALLS, GOOD_STALLS, N_METRICS };

enum group { STALLS, BRANCHES, MEMORY_GROUP, OTHER_GROUP, L1_GROUP, N_GROUPS };

enum { MAX_TEXT = 512 };

#define UNKNOWN -1.0
#define ALL_UNKNOWN                                                                                \
	{                                                                                          \
		UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,   \
			UNKNOWN                                                                    \
	}

static struct cpu_metric metrics[N_METRICS] = {
	[BAD] = { .name = "bad_bound" },
	[GOOD] = { .name = "good_bound", .better = BETTER_HIGHER },
	[MEMORY] = { .name = "memory" },
	[CORE] = { .name = "core" },
	[L1] = { .name = "l1" },
	[L2] = { .name = "l2" },
	[LONELY] = { .name = "lonely" },
	[OTHER] = { .name = "other" },
	[BAD_STALLS] = { .name = "bad_stalls" },
	[GOOD_STALLS] = { .name = "good_stalls", .better = BETTER_HIGHER },
};

#define METRICS(...)                                                                               \
	{                                                                                          \
		(const struct cpu_metric *[]){ __VA_ARGS__ },                                      \
			sizeof((const struct cpu_metric *[]){ __VA_ARGS__ }) / sizeof(void *)      \
	}

static struct cpu_group groups[N_GROUPS] = {
	[STALLS] = { .name = "Cycle_Accounting",
		     .metrics = METRICS(&metrics[BAD_STALLS], &metrics[GOOD_STALLS]) },
	[BRANCHES] = { .name = "Branch_Effectiveness" },
	[MEMORY_GROUP] = { .name = "Memory" },
	[OTHER_GROUP] = { .name = "Other" },
	[L1_GROUP] = { .name = "L1" },
};

#define GROUP(which)                                                                               \
	{                                                                                          \
		(const struct cpu_group *[]){ &groups[which] }, 1                                  \
	}

static struct cpu_node nodes[] = {
	{ .metric = &metrics[BAD],
	  .next_metrics = METRICS(&metrics[MEMORY], &metrics[CORE]),
	  .next_groups = GROUP(MEMORY_GROUP) },
	{ .metric = &metrics[MEMORY],
	  .group = &groups[MEMORY_GROUP],
	  .next_metrics = METRICS(&metrics[L1], &metrics[L2]),
	  .next_groups = GROUP(L1_GROUP) },
	{ .metric = &metrics[CORE], .group = &groups[OTHER_GROUP] },
	{ .metric = &metrics[LONELY], .group = &groups[MEMORY_GROUP] },
	{ .metric = &metrics[OTHER], .group = &groups[OTHER_GROUP] },
};

static struct cpu_threshold thresholds[] = {
	{ "bad_bound", 20 },	{ "good_bound", 50 }, { "bad_stalls", 20 },
	{ THRESHOLD_LEAF, 10 }, { THRESHOLD_TIE, 5 },
};

/* In order, as cpu_metric_find() and cpu_group_find() want them. */
static struct cpu_name metric_names[] = {
	{ "bad_bound", BAD },	{ "bad_stalls", BAD_STALLS },	{ "core", CORE },
	{ "good_bound", GOOD }, { "good_stalls", GOOD_STALLS }, { "l1", L1 },
	{ "l2", L2 },		{ "lonely", LONELY },		{ "memory", MEMORY },
	{ "other", OTHER },
};
static struct cpu_name group_names[] = {
	{ "Branch_Effectiveness", BRANCHES }, { "Cycle_Accounting", STALLS }, { "L1", L1_GROUP },
	{ "Memory", MEMORY_GROUP },	      { "Other", OTHER_GROUP },
};
_Static_assert(COUNT(metric_names) == N_METRICS && COUNT(group_names) == N_GROUPS, "all of them");

static const struct cpu_pmu pmu = {
	.metrics = metrics,
	.groups = groups,
	.metric_names = metric_names,
	.group_names = group_names,
	.n_metrics = N_METRICS,
	.n_groups = N_GROUPS,
	.thresholds = { thresholds, COUNT(thresholds) },
	.topdown = { .roots = METRICS(&metrics[BAD], &metrics[GOOD]),
		     .unreachable = METRICS(&metrics[LONELY], &metrics[OTHER]),
		     .nodes = nodes,
		     .n_nodes = COUNT(nodes) },
};

static const struct {
	const char *name;
	double values[N_METRICS];
	uint32_t sparse; /* bit by metric: counted too seldom */
	unsigned level;
	const char *expected; /* depth, name, ! pointed at, + beside, parent; then groups */
} cases[] = {
	{ "nothing is above its threshold",
	  { 20, 30, 90, 90 },
	  0,
	  0,
	  "1 bad_bound, 1 good_bound, [Branch_Effectiveness]" },
	{ "down to the leaves",
	  { 60, 30, 40, 10, 11, 30, 1, UNKNOWN, UNKNOWN, UNKNOWN },
	  0,
	  0,
	  "1 bad_bound!, 2 memory!<bad_bound, 3 l1<memory, 3 l2!<memory, 2 core<bad_bound, 2 "
	  "lonely+<bad_bound, 1 good_bound, "
	  "[Memory][L1][Branch_Effectiveness]" },
	{ "two that are nearly as bad",
	  { 60, 30, 40, 35, 1, 1, 1, UNKNOWN, UNKNOWN, UNKNOWN },
	  0,
	  0,
	  "1 bad_bound!, 2 memory!<bad_bound, 3 l1<memory, 3 l2<memory, 2 core!<bad_bound, 2 "
	  "lonely+<bad_bound, 1 good_bound, "
	  "[Memory][L1][Branch_Effectiveness]" },
	{ "… and just not",
	  { 60, 30, 40, 34.9, 1, 1, 1, UNKNOWN, UNKNOWN, UNKNOWN },
	  0,
	  0,
	  "1 bad_bound!, 2 memory!<bad_bound, 3 l1<memory, 3 l2<memory, 2 core<bad_bound, 2 "
	  "lonely+<bad_bound, 1 good_bound, "
	  "[Memory][L1][Branch_Effectiveness]" },
	{ "what is good does not compete",
	  { 30, 65, 1, 1, 1, 1, 1, UNKNOWN, UNKNOWN, UNKNOWN },
	  0,
	  0,
	  "1 bad_bound!, 2 memory<bad_bound, 2 core<bad_bound, 2 lonely+<bad_bound, 1 good_bound!, "
	  "[Memory][Branch_Effectiveness]" },
	{ "the first level only", { 60, 30, 40, 10 }, 0, 1, "1 bad_bound!, 1 good_bound, " },
	{ "the second at most",
	  { 60, 30, 40, 10, 40, 40 },
	  0,
	  2,
	  "1 bad_bound!, 2 memory!<bad_bound, 2 core<bad_bound, 2 lonely+<bad_bound, 1 good_bound, "
	  "[Memory][Branch_Effectiveness]" },
	{ "what was counted too seldom points nowhere",
	  { 60, 30, 40, 12 },
	  1u << MEMORY,
	  0,
	  "1 bad_bound!, 2 memory<bad_bound, 2 core!<bad_bound, 2 lonely+<bad_bound, 1 good_bound, "
	  "[Memory][Branch_Effectiveness]" },
	{ "stalled cycles lead to the parts of the root of their name",
	  { UNKNOWN, UNKNOWN, 40, 10, 1, 1, 1, UNKNOWN, 60, 5 },
	  0,
	  0,
	  "1 bad_stalls!, 2 memory!<bad_stalls, 3 l1<memory, 3 l2<memory, 2 core<bad_stalls, "
	  "2 lonely+<bad_stalls, 1 good_stalls, [Memory][L1][Branch_Effectiveness]" },
	{ "… or nowhere, if that has none",
	  { UNKNOWN, UNKNOWN, 40, 10, 1, 1, 1, UNKNOWN, 5, 60 },
	  0,
	  0,
	  "1 bad_stalls, 1 good_stalls!, [Branch_Effectiveness]" },
	{ "nothing is known", ALL_UNKNOWN, 0, 0,
	  "1 bad_bound, 1 good_bound, [Branch_Effectiveness]" },
};

static void describe(const struct stat *s, char out[MAX_TEXT])
{
	size_t n = 0;

	for (size_t i = 0; i < s->steps.n; i++) {
		const struct stat_step *step = &s->steps.items[i];
		bool is_root = step->parent == STEP_NO_PARENT;

		n += (size_t)snprintf(out + n, MAX_TEXT - n, "%u %s%s%s%s%s, ", step->depth,
				      step->metric->name, step->is_pointed ? "!" : "",
				      step->is_beside ? "+" : "", is_root ? "" : "<",
				      is_root ? "" : s->steps.items[step->parent].metric->name);
	}
	for (size_t i = 0; i < s->groups.n; i++)
		n += (size_t)snprintf(out + n, MAX_TEXT - n, "[%s]", s->groups.items[i]->name);
}

static void the_walk_follows_what_is_worst(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct stat_options options = { .level = cases[i].level };
		struct stat_value values[N_METRICS] = { 0 };
		struct stat s = { .pmu = &pmu, .options = &options, .values = values };
		bool has_picture = false;
		char text[MAX_TEXT];

		for (size_t m = 0; m < N_METRICS; m++) {
			values[m].is_known = cases[i].values[m] >= 0;
			values[m].value = cases[i].values[m];
			if (cases[i].sparse >> m & 1)
				values[m].mark = MARK_SPARSE;
			has_picture |= values[m].is_known;
		}
		s.roots = stat_roots(&s);
		stat_walk(&s);
		describe(&s, text);
		print_message("%s\n", cases[i].name);
		assert_string_equal(text, cases[i].expected);
		assert_int_equal(stat_has_picture(&s), has_picture);
		vec_release(&s.steps);
		vec_release(&s.groups);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_walk_follows_what_is_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
