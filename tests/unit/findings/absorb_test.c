/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings the finding of a contended line takes over, and in which order findings are told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "findings/finding.h"

/* The line is read by take() at take+0x8 and written by put() at put+0x10, of the program. */
static struct finding *add_line(struct findings *f)
{
	struct finding *line = findings_add(f, FINDING_TRUE_SHARING);

	line->sharing = arena_alloc(&f->memory, sizeof(*line->sharing));
	*line->sharing = (struct finding_sharing){
		.reads = { { .place = { .name = "take+0x8", .line = 3 } } },
		.writes = { { .place = { .name = "put+0x10", .line = 9 } } },
	};
	line->function = "take";
	line->writer = "put";
	line->module = "program";
	return line;
}

static const struct {
	enum finding_kind kind;
	const char *function, *module, *loop_place; /* NULL: not of a loop */
	uint32_t line;
	bool is_absorbed;
} cases[] = {
	{ FINDING_SHARED_DATA, "take", "program", NULL, 0, true },
	{ FINDING_SHARED_DATA, "put", "program", NULL, 0, true },
	{ FINDING_SHARED_DATA, "other", "program", NULL, 0, false },
	{ FINDING_SHARED_DATA, "take", "library", NULL, 0, false },
	{ FINDING_MEMORY_BOUND, "take", "program", NULL, 0, false },
	{ FINDING_DEPENDENCY_CHAIN, "put", "program", "put+0x10", 9, true },
	{ FINDING_STORE_BOUND, "put", "program", "put+0x10", 9, true },
	{ FINDING_LLC_BOUND, "take", "program", "take+0x8", 3, true },
	{ FINDING_DEPENDENCY_CHAIN, "take", "program", "take+0x40", 3, false },
	{ FINDING_DEPENDENCY_CHAIN, "take", "program", "take+0x8", 30, false },
	{ FINDING_DEPENDENCY_CHAIN, "take", "library", "take+0x8", 3, false },
	{ FINDING_DEPENDENCY_CHAIN, "take", "program", "", 0, false },
	{ FINDING_TLB_WALKS, "take", "program", "take+0x8", 3, false },
	{ FINDING_DRAM_LATENCY, "take", "program", "take+0x8", 3, false },
};

static void lines_take_over_what_waits_for_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct findings all = { 0 };
		struct finding *f = findings_add(&all, cases[i].kind), *line;
		struct finding_loop loop = { .is_loop = true };

		f->function = cases[i].function;
		f->module = cases[i].module;
		if (cases[i].loop_place != NULL) {
			f->loop = &loop;
			f->where = (struct finding_place){ .name = cases[i].loop_place,
							   .line = cases[i].line };
		}
		line = add_line(&all);
		findings_absorb(&all, line);
		assert_int_equal(all.list.n, cases[i].is_absorbed ? 1 : 2);
		assert_int_equal(line->evidence.n, cases[i].is_absorbed ? 1 : 0);
		if (cases[i].is_absorbed)
			assert_ptr_equal(line->evidence.items[0].finding, f);
		findings_release(&all);
	}
}

static const struct {
	enum finding_kind kind;
	double share;
	bool has_loop, is_time_known;
	uint32_t n_waits; /* of shared lines */
} told[] = {
	/* what records show */
	{ FINDING_DEPENDENCY_CHAIN, 0.25, true, true },
	{ FINDING_DRAM_LATENCY, 0.2, true, false },
	{ FINDING_FALSE_SHARING, 0.03, false, false, FINDING_FEW_WAITS },
	{ FINDING_METRIC, NAN, false, false },
	/* what code alone tells */
	{ FINDING_DIVISION, 0.6, true, false },
	{ FINDING_DEPENDENCY_CHAIN, 0.5, true, false },
	{ FINDING_STORE_FORWARDING, 0.4, true, false },
	/* what a handful of records show */
	{ FINDING_TRUE_SHARING, 0.7, false, false, FINDING_FEW_WAITS - 1 },
	/* where, not why */
	{ FINDING_HOT_FUNCTION, 0.9, false, false },
};

static void what_is_seen_comes_first(void **state)
{
	struct finding_loop loops[COUNT(told)];
	struct finding_sharing lines[COUNT(told)];
	struct findings all = { 0 };

	(void)state;
	for (size_t i = COUNT(told); i-- > 0;) {
		struct finding *f = findings_add(&all, told[i].kind);

		loops[i] = (struct finding_loop){ .iteration_ns = told[i].is_time_known ? 2 : NAN };
		f->size.share = told[i].share;
		f->loop = told[i].has_loop ? &loops[i] : NULL;
		lines[i] = (struct finding_sharing){
			.has_latency = true,
			.contended = { .n = told[i].n_waits },
		};
		f->sharing = told[i].n_waits > 0 ? &lines[i] : NULL;
	}
	findings_sort(&all);
	for (size_t i = 0; i < COUNT(told); i++)
		assert_int_equal(all.list.items[i]->kind, told[i].kind);
	findings_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_take_over_what_waits_for_them),
		cmocka_unit_test(what_is_seen_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
