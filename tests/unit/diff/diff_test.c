/* SPDX-License-Identifier: Apache-2.0 */
/* Changes, their certainty, conditions, and the file of a baseline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "diff/diff.h"
#include "../session/fixture.h"

static void add(struct measures *m, enum measure_kind kind, const char *name, const char *module,
		double value, double error, uint64_t samples)
{
	m->kinds |= 1u << kind;
	*vec_add(&m->list) = (struct measure){
		.kind = (uint8_t)kind,
		.event = samples > 0 ? "cycles" : "",
		.name = name,
		.module = module,
		.unit = "cycles",
		.value = value,
		.error = error,
		.samples = samples,
	};
}

static const struct diff_row *get(const struct diff *d, const char *name, const char *module)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct measure *m = diff_measure(&d->rows.items[i]);

		if (strcmp(m->name, name) == 0 && strcmp(m->module, module) == 0)
			return &d->rows.items[i];
	}
	fail_msg("no row of %s in %s", name, module);
	abort();
}

/*
 * A row is certain from 2.58 standard errors of the difference on, if it is the only one of its
 * kind.
 */
static void a_change_is_certain_beyond_its_error(void **state)
{
	static const struct {
		double a, a_error, b, b_error;
		enum diff_certainty certainty;
	} cases[] = {
		{ 1000, 30, 1000, 40, DIFF_NOISE },   { 1000, 30, 1128, 40, DIFF_NOISE },
		{ 1000, 30, 1130, 40, DIFF_CERTAIN }, { 1000, 30, 870, 40, DIFF_CERTAIN },
		{ 1000, 30, 872, 40, DIFF_NOISE },    { 1000, 0, 1000, 0, DIFF_NOISE },
		{ 1000, 0, 1001, 0, DIFF_CERTAIN },   { 1000, NAN, 2000, 1, DIFF_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct measures a = { 0 }, b = { 0 };
		struct diff d;

		add(&a, MEASURE_FUNCTION, "f", "m", cases[i].a, cases[i].a_error, 100);
		add(&b, MEASURE_FUNCTION, "f", "m", cases[i].b, cases[i].b_error, 100);
		diff_make(&a, &b, DIFF_PER_RUN, &d);
		assert_int_equal(d.rows.n, 1);
		if (d.rows.items[0].certainty != cases[i].certainty)
			fail_msg("case %zu: %d", i, (int)d.rows.items[0].certainty);
		diff_release(&d);
		measures_release(&a);
		measures_release(&b);
	}
}

/* What saturated counters show is a lower bound; the upper bound is ten times that. */
static void saturated_counters_are_no_answer(void **state)
{
	static const struct {
		double a, a_saturated, b, b_saturated;
		uint64_t n_saturated; /* of each run */
		enum diff_per per;
		enum diff_certainty certainty;
		double low, high; /* of the change */
	} cases[] = {
		/* All saturated in both runs: any change is possible. */
		{ 1000, 1000, 1000, 1000, 100, DIFF_PER_RUN, DIFF_SATURATED, -9000, 9000 },
		{ 1000, 1000, 2000, 2000, 100, DIFF_PER_RUN, DIFF_SATURATED, -8000, 19000 },
		/* Saturated in one run only: the change has a bound on one side. */
		{ 1000, 0, 2000, 500, 100, DIFF_PER_RUN, DIFF_CERTAIN, 1000, 5500 },
		{ 2000, 500, 1000, 0, 100, DIFF_PER_RUN, DIFF_CERTAIN, -5500, -1000 },
		{ 1000, 500, 2000, 0, 100, DIFF_PER_RUN, DIFF_SATURATED, -3500, 1000 },
		/* Little is saturated: the change is larger than what that hides. */
		{ 1000, 10, 2000, 10, 100, DIFF_PER_RUN, DIFF_CERTAIN, 910, 1090 },
		{ 1000, 1, 1000, 1, 100, DIFF_PER_RUN, DIFF_NOISE, -9, 9 },
		{ 1000, 10, 1000, 10, 100, DIFF_PER_RUN, DIFF_SATURATED, -90, 90 },
		/* Few saturated records: chance explains them. */
		{ 1000, 1000, 1000, 1000, 3, DIFF_PER_RUN, DIFF_NOISE, -9000, 9000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct measures a = { 0 }, b = { 0 };
		struct diff d;
		struct diff_range range;

		add(&a, MEASURE_FUNCTION, "f", "m", cases[i].a, 10, 100);
		a.list.items[0].saturated = cases[i].a_saturated;
		a.list.items[0].n_saturated = cases[i].a_saturated > 0 ? cases[i].n_saturated : 0;
		add(&b, MEASURE_FUNCTION, "f", "m", cases[i].b, 10, 100);
		b.list.items[0].saturated = cases[i].b_saturated;
		b.list.items[0].n_saturated = cases[i].b_saturated > 0 ? cases[i].n_saturated : 0;
		diff_make(&a, &b, cases[i].per, &d);
		range = diff_change_range(&d.rows.items[0]);
		if (d.rows.items[0].certainty != cases[i].certainty || range.low != cases[i].low ||
		    range.high != cases[i].high)
			fail_msg("case %zu: %d, %g to %g", i, (int)d.rows.items[0].certainty,
				 range.low, range.high);
		diff_release(&d);
		measures_release(&a);
		measures_release(&b);
	}
}

/* Saturated counters of other parts bound a share, too. */
static void saturated_counters_of_others_bound_a_share(void **state)
{
	struct measures a = { 0 }, b = { 0 };
	struct diff d;

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct measures *m = run == 0 ? &a : &b;

		add(m, MEASURE_TOTAL, "total", "", 1000, 10, 200);
		m->list.items[0].saturated = 500;
		m->list.items[0].n_saturated = 100;
		add(m, MEASURE_FUNCTION, "saturated", "m", 500, 5, 100);
		m->list.items[1].saturated = 500;
		m->list.items[1].n_saturated = 100;
		add(m, MEASURE_FUNCTION, "whole", "m", 500, 5, 100);
	}
	diff_make(&a, &b, DIFF_PER_TOTAL, &d);
	assert_int_equal(get(&d, "saturated", "m")->certainty, DIFF_SATURATED);
	assert_int_equal(get(&d, "whole", "m")->certainty, DIFF_SATURATED);
	assert_true(get(&d, "saturated", "m")->from_range.low == 0.5);
	assert_true(fabs(get(&d, "saturated", "m")->from_range.high - 5000. / 5500) < 1e-12);
	assert_true(fabs(get(&d, "whole", "m")->from_range.low - 500. / 5500) < 1e-12);
	assert_true(get(&d, "whole", "m")->from_range.high == 0.5);
	diff_release(&d);
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	assert_int_equal(get(&d, "whole", "m")->certainty, DIFF_NOISE);
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

/* Among a thousand functions the largest of many small differences is noise. */
static void many_rows_ask_for_more(void **state)
{
	struct measures a = { 0 }, b = { 0 };
	struct diff d;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char *name = arena_alloc(&a.memory, 8);

		snprintf(name, 8, "f%d", i);
		add(&a, MEASURE_FUNCTION, name, "m", 1000, 30, 100);
		add(&b, MEASURE_FUNCTION, name, "m", i == 7 ? 1300 : i == 8 ? 1150 : 1000, 40, 100);
	}
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	assert_int_equal(get(&d, "f7", "m")->certainty, DIFF_CERTAIN); /* 6 errors */
	assert_int_equal(get(&d, "f8", "m")->certainty, DIFF_NOISE);   /* 3 errors */
	assert_string_equal(diff_measure(&d.rows.items[0])->name, "f7");
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

static void rows_are_matched_across_builds(void **state)
{
	struct measures a = { 0 }, b = { 0 };
	struct diff d;

	(void)state;
	add(&a, MEASURE_FUNCTION, "main", "old", 10, 1, 10);
	add(&a, MEASURE_FUNCTION, "gone", "old", 100, 10, 100);
	add(&a, MEASURE_FUNCTION, "start", "libc", 1, 1, 1);
	add(&a, MEASURE_FUNCTION, "start", "old", 2, 1, 2);
	add(&a, MEASURE_FUNCTION, "init", "old", 6, 1, 6);
	add(&a, MEASURE_LINE, "main", "old", 3, 1, 3); /* another kind, in one run alone */
	add(&b, MEASURE_FUNCTION, "main", "new", 20, 1, 20);
	add(&b, MEASURE_FUNCTION, "start", "libc", 4, 1, 4);
	add(&b, MEASURE_FUNCTION, "start", "new", 5, 1, 5);
	add(&b, MEASURE_FUNCTION, "init", "new", 6, 1, 6);
	add(&b, MEASURE_FUNCTION, "init", "newer", 7, 1, 7);
	add(&b, MEASURE_FUNCTION, "fresh", "new", 8, 2.83, 8);
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	assert_int_equal(d.rows.n, 9);
	assert_true(get(&d, "main", "new")->from == 10 && get(&d, "main", "new")->to == 20);
	assert_true(get(&d, "start", "libc")->from == 1 && get(&d, "start", "libc")->to == 4);
	/* These are in several modules, so they are not paired. */
	assert_null(get(&d, "start", "old")->b);
	assert_null(get(&d, "start", "new")->a);
	assert_null(get(&d, "init", "old")->b);
	assert_null(get(&d, "init", "new")->a);
	assert_null(get(&d, "init", "newer")->a);
	assert_true(get(&d, "gone", "old")->to == 0 && get(&d, "gone", "old")->from == 100);
	assert_true(diff_share(get(&d, "gone", "old")) == -1);
	assert_true(isnan(diff_share(get(&d, "fresh", "new"))));
	assert_int_equal(get(&d, "gone", "old")->certainty, DIFF_CERTAIN);
	assert_int_equal(get(&d, "fresh", "new")->certainty, DIFF_NOISE); /* 8 ± 2.83 ± 1 */
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

/* Twice the work in twice the time: no change per second, and none of shares. */
static void costs_are_divided(void **state)
{
	struct measures a = { .elapsed_ns = 1000000000 }, b = { .elapsed_ns = 2000000000 };
	static const struct {
		enum diff_per per;
		double from, to;
		enum diff_certainty certainty;
		double squared_error;
	} cases[] = {
		{ DIFF_PER_RUN, 250, 500, DIFF_CERTAIN, 10 * 10 + 15 * 15 },
		{ DIFF_PER_SECOND, 250, 250, DIFF_NOISE, 10 * 10 + 7.5 * 7.5 },
		/* Part and total vary together: 100 / 2 + 20 * 20 / 16 of 1000, 225 / 2 + 30 * 30 / 16 of 2000. */
		{ DIFF_PER_TOTAL, 0.25, 0.25, DIFF_NOISE, 75 / 1e6 + 168.75 / 4e6 },
	};
	struct diff d;

	(void)state;
	add(&a, MEASURE_TOTAL, "total", "", 1000, 20, 1000);
	add(&a, MEASURE_FUNCTION, "f", "m", 250, 10, 250);
	add(&b, MEASURE_TOTAL, "total", "", 2000, 30, 2000);
	add(&b, MEASURE_FUNCTION, "f", "m", 500, 15, 500);
	for (size_t i = 0; i < COUNT(cases); i++) {
		diff_make(&a, &b, cases[i].per, &d);
		assert_true(get(&d, "f", "m")->from == cases[i].from);
		assert_true(get(&d, "f", "m")->to == cases[i].to);
		assert_int_equal(get(&d, "f", "m")->certainty, cases[i].certainty);
		assert_true(fabs(get(&d, "f", "m")->error / sqrt(cases[i].squared_error) - 1) <
			    1e-9);
		assert_true(get(&d, "total", "")->from == 1000);
		diff_release(&d);
	}
	measures_release(&a);
	measures_release(&b);
}

static void conditions_are_read(void **state)
{
	static const struct {
		const char *text, *name;
		int kind;
		bool is_less, or_equal, is_share;
		double limit;
	} cases[] = {
		{ "ipc < -3%", "ipc", -1, true, false, true, -0.03 },
		{ " total>=5 % ", "total", -1, false, true, true, 0.05 },
		{ "function:chase > 1e6", "chase", MEASURE_FUNCTION, false, false, false, 1e6 },
		{ "a<b>::c(int) <= 0%", "a<b>::c(int)", -1, true, true, true, 0 },
		{ "metric:ipc<0.5", "ipc", MEASURE_METRIC, true, false, false, 0.5 },
		{ "function: > 1", "function:", -1, false, false, false, 1 },
	};
	static const char *const bad[] = {
		"",	      "ipc",	   "< 3",	"ipc <", "ipc < x",
		"ipc < 3 %%", "ipc < 3 x", "ipc < nan", "> inf",
	};
	struct diff_gate g;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(diff_gate_parse(cases[i].text, &g, &err), 0);
		assert_int_equal(g.name_size, strlen(cases[i].name));
		assert_memory_equal(g.name, cases[i].name, g.name_size);
		assert_int_equal(g.kind, cases[i].kind);
		assert_int_equal(g.condition.is_less, cases[i].is_less);
		assert_int_equal(g.condition.or_equal, cases[i].or_equal);
		assert_int_equal(g.condition.unit == CONDITION_PERCENT, cases[i].is_share);
		assert_true(fabs(g.condition.limit - cases[i].limit) < 1e-12);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (diff_gate_parse(bad[i], &g, &err) == 0)
			fail_msg("'%s' is taken for a condition", bad[i]);
		assert_int_equal(err.code, ERR_USAGE);
	}
}

static void a_condition_trips_if_the_change_is_no_noise(void **state)
{
	static const struct {
		const char *text;
		size_t n_matches, n_met, n_tripped;
	} cases[] = {
		{ "grown > 5%", 1, 1, 1 },	     { "grown > 50%", 1, 0, 0 },
		{ "grown > 100", 1, 1, 1 },	     { "grown < 5%", 1, 0, 0 },
		{ "noisy > 5%", 1, 1, 0 },	     { "function:noisy > 5%", 1, 1, 0 },
		{ "fresh > 1000000%", 1, 1, 1 },     { "counted < -1%", 1, 1, 1 },
		{ "event:counted < -10%", 1, 1, 1 }, { "GROWN > 5%", 1, 1, 1 },
		{ "cycles > 5%", 1, 1, 1 },	     { "total > 5%", 1, 1, 1 },
		{ "function:cycles > 5%", 0, 0, 0 },
	};
	struct measures a = { .kinds = UINT32_MAX }, b = { .kinds = UINT32_MAX };
	struct diff_gate_result r;
	struct diff_gate g;
	struct diff d;
	struct err err;

	(void)state;
	add(&a, MEASURE_FUNCTION, "grown", "m", 1000, 10, 100);
	add(&b, MEASURE_FUNCTION, "grown", "m", 1200, 10, 120);
	add(&a, MEASURE_FUNCTION, "noisy", "m", 1000, 400, 10);
	add(&b, MEASURE_FUNCTION, "noisy", "m", 1400, 400, 14);
	add(&b, MEASURE_FUNCTION, "fresh", "m", 5000, 100, 500);
	add(&a, MEASURE_EVENT, "counted", "", 100, NAN, 0);
	add(&b, MEASURE_EVENT, "counted", "", 80, NAN, 0);
	add(&a, MEASURE_TOTAL, "total", "", 2000, 20, 200);
	add(&b, MEASURE_TOTAL, "total", "", 3000, 20, 300);
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(diff_gate_parse(cases[i].text, &g, &err), 0);
		assert_int_equal(diff_gate_check(&g, &d, &r, &err),
				 cases[i].n_matches > 0 ? 0 : -1);
		if (r.n_matches != cases[i].n_matches || r.n_met != cases[i].n_met ||
		    r.n_tripped != cases[i].n_tripped)
			fail_msg("%s: %zu %zu %zu", cases[i].text, r.n_matches, r.n_met,
				 r.n_tripped);
	}
	assert_int_equal(diff_gate_parse("grow > 1", &g, &err), 0);
	assert_int_equal(diff_gate_check(&g, &d, &r, &err), -1);
	assert_non_null(strstr(err.text, "did you mean 'grown'"));
	assert_int_equal(diff_gate_parse("xyz > 1", &g, &err), 0);
	assert_int_equal(diff_gate_check(&g, &d, &r, &err), -1);
	assert_non_null(strstr(err.text, "there are cycles"));
	assert_null(strstr(err.text, "need counts"));
	b.kinds &= ~(1u << MEASURE_METRIC);
	assert_int_equal(diff_gate_check(&g, &d, &r, &err), -1);
	assert_non_null(strstr(err.text, "ipc need counts"));
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

/* Nodes of cycle accounting: in the order of the tree; what one run did not collect is not 0. */
static void nodes_are_compared(void **state)
{
	static const struct {
		const char *text;
		size_t n_matches, n_tripped;
	} cases[] = {
		{ "load_latency > 20%", 1, 1 },	    { "cycles:load_latency > 20%", 1, 1 },
		{ "cycles:front_end > 1", 1, 1 },   { "cycles:u > 5%", 1, 1 },
		{ "cycles:CPU_CYCLES > 5%", 1, 0 },
	};
	static const char *const order[] = { "CPU_CYCLES", "load_latency", "front_end", "only_a" };
	struct measures a = { 0 }, b = { 0 };
	struct diff d;

	(void)state;
	add(&a, MEASURE_EVENT, "cycles:u", "", 100, 0, 0);
	add(&b, MEASURE_EVENT, "cycles:u", "", 200, 0, 0);
	add(&a, MEASURE_CYCLES, "CPU_CYCLES", "", 1000, 10, 100);
	add(&b, MEASURE_CYCLES, "CPU_CYCLES", "", 1010, 10, 100);
	add(&a, MEASURE_CYCLES, "load_latency", "", 400, 8, 100);
	add(&b, MEASURE_CYCLES, "load_latency", "", 600, 6, 100);
	add(&a, MEASURE_CYCLES, "front_end", "", 10, NAN, 100); /* a lower bound */
	add(&b, MEASURE_CYCLES, "front_end", "", 20, 1, 100);
	add(&a, MEASURE_CYCLES, "only_a", "", 50, 5, 100);
	for (size_t i = 0; i < a.list.n; i++)
		if (a.list.items[i].kind == MEASURE_CYCLES)
			a.list.items[i].event = "CPU_CYCLES";
	for (size_t i = 0; i < b.list.n; i++)
		if (b.list.items[i].kind == MEASURE_CYCLES)
			b.list.items[i].event = "CPU_CYCLES";
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	for (size_t i = 0; i < COUNT(order); i++)
		assert_string_equal(diff_measure(&d.rows.items[i + 1])->name, order[i]);
	assert_int_equal(get(&d, "load_latency", "")->certainty, DIFF_CERTAIN);
	assert_int_equal(get(&d, "front_end", "")->certainty, DIFF_UNKNOWN);
	assert_int_equal(get(&d, "only_a", "")->certainty, DIFF_UNKNOWN);
	assert_true(isnan(get(&d, "only_a", "")->to));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct diff_gate_result r;
		struct diff_gate g;
		struct err err;

		assert_int_equal(diff_gate_parse(cases[i].text, &g, &err), 0);
		assert_int_equal(diff_gate_check(&g, &d, &r, &err), 0);
		if (r.n_matches != cases[i].n_matches || r.n_tripped != cases[i].n_tripped)
			fail_msg("%s: %zu %zu", cases[i].text, r.n_matches, r.n_tripped);
	}
	diff_release(&d);

	/* shares of all cycles, whose error is independent */
	diff_make(&a, &b, DIFF_PER_TOTAL, &d);
	assert_true(get(&d, "load_latency", "")->from == 0.4);
	assert_true(fabs(get(&d, "load_latency", "")->error -
			 sqrt((64 + 0.16 * 100) / 1e6 +
			      (36 + 600.0 / 1010 * 600 / 1010 * 100) / (1010.0 * 1010))) < 1e-12);
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

/* A condition is undecided if saturated counters hide whether it is met. */
static void a_condition_is_undecided_by_saturated_counters(void **state)
{
	static const struct {
		const char *text;
		size_t n_met, n_undecided;
	} cases[] = {
		{ "f > 5%", 0, 1 },    { "f < -5%", 0, 1 },  { "f > 899%", 0, 1 },
		{ "f > 1000%", 0, 0 }, { "f > -91%", 1, 0 }, { "f > 1", 0, 1 },
		{ "f > 9001", 0, 0 },  { "g > 5%", 1, 0 },   { "g > 300%", 0, 1 },
		{ "g > 500%", 0, 0 },  { "few > 5%", 0, 0 },
	};
	struct measures a = { 0 }, b = { 0 };
	struct diff_tables tables = { 0 };
	struct diff_gate_result r;
	struct diff_gate g;
	struct diff d;
	struct err err;
	const struct table *functions;
	struct gates results;
	size_t at;

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct measures *m = run == 0 ? &a : &b;

		add(m, MEASURE_FUNCTION, "f", "m", 1000, 10, 100);
		m->list.items[0].saturated = 1000;
		m->list.items[0].n_saturated = 100;
		add(m, MEASURE_FUNCTION, "few", "m", 1000, 500, 4);
		m->list.items[1].saturated = 1000;
		m->list.items[1].n_saturated = 4;
		add(m, MEASURE_FUNCTION, "g", "m", 1000 * (run + 1), 10, 100);
	}
	b.list.items[2].saturated = 300;
	b.list.items[2].n_saturated = 100;
	diff_make(&a, &b, DIFF_PER_RUN, &d);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(diff_gate_parse(cases[i].text, &g, &err), 0);
		assert_int_equal(diff_gate_check(&g, &d, &r, &err), 0);
		if (r.n_met != cases[i].n_met || r.n_undecided != cases[i].n_undecided)
			fail_msg("%s: %zu %zu", cases[i].text, r.n_met, r.n_undecided);
	}
	assert_int_equal(diff_gate_parse("f > 5%", &g, &err), 0);
	gates_init(&results);
	assert_int_equal(diff_tables(&d, &g, 1, 0, &tables, &results, &err), 0);
	assert_int_equal(results.n_failed, 1);
	assert_non_null(strstr(results.results.items[0].sentence, "): FAIL"));
	assert_string_equal(
		table_cell(&results.table, 0, (size_t)table_column(&results.table, "certainty"))
			->text,
		"undecided");
	/* f: saturated counters may hide a change; g grew by at least 1000 */
	functions = &tables.kinds[MEASURE_FUNCTION];
	at = (size_t)table_column(functions, "change");
	assert_int_equal(table_cell(functions, 0, at)->type, CELL_NONE);
	assert_true(table_cell(functions, 1, at)->number == 1000);
	assert_int_equal(table_cell(functions, 1, at)->mark, MARK_SATURATED);
	at = (size_t)table_column(functions, "b");
	assert_int_equal(table_cell(functions, 0, at)->mark, MARK_SATURATED);
	assert_int_equal(table_cell(functions, 1, at)->mark, MARK_SATURATED);
	assert_int_equal(table_cell(functions, 2, at)->mark, MARK_SATURATED);
	gates_release(&results);
	diff_tables_release(&tables);
	diff_release(&d);
	measures_release(&a);
	measures_release(&b);
}

/* The error of a ratio follows from those of its events. */
static void counts_are_measures(void **state)
{
	struct counts counts = { .command = "true", .elapsed_ns = 5 };
	struct catalog *catalog;
	struct measures m = { 0 };
	struct cpu_pmu *pmu;
	struct count *c;
	struct err err;
	double ipc = 0, ipc_error = 0;

	(void)state;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	assert_int_equal(
		cpu_pmu_open(catalog, catalog_cpu_find(catalog, "neoverse-n1"), 0, &pmu, &err), 0);
	c = counts_add(&counts, "CPU_CYCLES");
	c->value = 1000;
	c->n_runs = 4;
	c->spread = 0.02;
	c = counts_add(&counts, "INST_RETIRED");
	c->value = 500;
	c->n_runs = 4;
	c->spread = 0.04;
	counts_add(&counts, "L1D_CACHE")->state = COUNT_NOT_SUPPORTED;
	counts.elapsed_spread = 0.01;
	measures_of_counts(&counts, pmu, &m);
	assert_int_equal(m.list.n, 4);
	assert_int_equal(m.list.items[0].kind, MEASURE_TOTAL);
	assert_string_equal(m.list.items[0].name, "time");
	assert_true(m.list.items[0].value == (double)counts.elapsed_ns);
	assert_true(fabs(m.list.items[0].error - 0.01 * m.list.items[0].value) < 1e-9);
	measures_add_time(&m, 0); /* it is there */
	assert_int_equal(m.list.n, 4);
	for (size_t i = 0; i < m.list.n; i++) {
		if (m.list.items[i].kind != MEASURE_METRIC)
			continue;
		assert_string_equal(m.list.items[i].name, "ipc");
		ipc = m.list.items[i].value;
		ipc_error = m.list.items[i].error;
	}
	assert_true(ipc == 0.5);
	assert_true(fabs(ipc_error - 0.5 * sqrt(0.01 * 0.01 + 0.02 * 0.02)) < 2e-4);
	assert_string_equal(m.cpu, "Neoverse N1");
	measures_release(&m);
	cpu_pmu_free(pmu);
	catalog_free(catalog);
	counts_release(&counts);
}

/* A capture with two cycles samples in one function, and SPE records. */
static void captures_are_measured(void **state)
{
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, FIRST, ALPHA, 1000, NULL, 0),
		sample_of(EVENT_CYCLES, FIRST + 4, ALPHA, 2000, NULL, 0),
		sample_of(EVENT_CYCLES, SECOND, ALPHA, 500, NULL, 0),
	};
	const struct contents contents = { .samples = samples, .n_samples = COUNT(samples) };

	(void)state;
	for (unsigned n_workers = 1; n_workers < 4; n_workers++) {
		struct measures m = { 0 };
		struct session s;
		double first = 0, first_error = 0;
		bool has_total = false;

		open_fixture(&contents, n_workers, &s);
		measures_of_session(&s, NULL, 1u << MEASURE_FUNCTION, &(struct shared_scan){ 0 },
				    &m);
		for (size_t i = 0; i < m.list.n; i++) {
			const struct measure *f = &m.list.items[i];

			if (f->kind == MEASURE_FUNCTION && strcmp(f->name, "first") == 0) {
				first = f->value;
				first_error = f->error;
				assert_int_equal(f->samples, 2);
			}
			has_total |= f->kind == MEASURE_TOTAL && f->value == 3500;
		}
		assert_true(has_total);
		assert_true(first == 3000);
		assert_true(fabs(first_error - sqrt(1000. * 1000 + 2000. * 2000)) < 1e-6);
		measures_release(&m);
		close_fixture(&s);
	}
}

/* Costs of records with a saturated counter are summed apart, too. */
static void saturated_counters_are_measured(void **state)
{
	const struct spe_record records[] = {
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 4095, 1000),
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 95, 2000),
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 4095, 3000),
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 4094, 4000),
	};
	const struct contents contents = { .records = records, .n_records = COUNT(records) };
	const double part = 2. * 4095 / (2 * 4095 + 95 + 4094);
	struct measures m = { 0 };
	struct session s;
	size_t n = 0;

	(void)state;
	open_fixture(&contents, 2, &s);
	measures_of_session(&s, NULL, 1u << MEASURE_FUNCTION, &(struct shared_scan){ 0 }, &m);
	for (size_t i = 0; i < m.list.n; i++) {
		if (strcmp(m.list.items[i].event, "arm_spe") != 0)
			continue;
		assert_int_equal(m.list.items[i].n_saturated, 2);
		assert_true(fabs(diff_saturated_part(&m.list.items[i]) - part) < 1e-12);
		n++;
	}
	assert_int_equal(n, 2); /* the total and the function */
	measures_release(&m);
	close_fixture(&s);
}

/* A record counts with the interval of its CPU; with an unknown one, as itself. */
static void intervals_of_cpus_may_differ(void **state)
{
	const struct spe_record records[] = {
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 10, 1000),
		spe_of(SECOND, ALPHA, SPE_OP_OTHER, 0, 20, 2000),
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 30, 3000),
		spe_of(SECOND, ALPHA, SPE_OP_OTHER, 0, 50, 4000),
	};
	const struct contents contents = { .records = records, .n_records = COUNT(records) };
	static const struct {
		uint64_t intervals[2]; /* half of the records each */
		double first, second;
	} cases[] = {
		{ { 100, 100 }, 4000, 7000 },
		{ { 100, 1000 }, 31000, 52000 },
		{ { 0, 1000 }, 30010, 50020 },
		{ { 1000, 0 }, 10030, 20050 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const double a = fmax(1, (double)cases[i].intervals[0]);
		const double b = fmax(1, (double)cases[i].intervals[1]);
		const double error = sqrt(100 * a * a + 900 * b * b);
		struct measures m = { 0 };
		struct session s;
		unsigned n = 0;

		open_fixture(&contents, 2, &s);
		s.intervals[0].mean = cases[i].intervals[0];
		s.intervals[1].mean = cases[i].intervals[1];
		measures_of_session(&s, NULL, 1u << MEASURE_FUNCTION, &(struct shared_scan){ 0 },
				    &m);
		for (size_t k = 0; k < m.list.n; k++) {
			const struct measure *f = &m.list.items[k];

			if (strcmp(f->event, "arm_spe") != 0)
				continue;
			n++;
			if (f->kind == MEASURE_TOTAL) {
				assert_true(f->value == cases[i].first + cases[i].second);
				assert_int_equal(f->samples, 4);
			} else if (strcmp(f->name, "first") == 0) {
				assert_true(f->value == cases[i].first);
				assert_true(fabs(f->error / error - 1) < 1e-12);
			} else {
				assert_string_equal(f->name, "second");
				assert_true(f->value == cases[i].second);
			}
		}
		assert_int_equal(n, 3);
		measures_release(&m);
		close_fixture(&s);
	}
}

static void put_baseline(struct text *out)
{
	struct measures m = { .command = "./app -n 3", .cpu = "Neoverse N1", .elapsed_ns = 77 };

	add(&m, MEASURE_FUNCTION, "f \"quoted\"", "m", 1e15 / 3, 12.5, 100);
	add(&m, MEASURE_METRIC, "ipc", "", 0.1, NAN, 0);
	m.list.items[0].saturated = 1000;
	m.list.items[0].n_saturated = 7;
	m.list.items[1].is_scaled = true;
	measures_write(&m, out);
	measures_release(&m);
}

static void a_baseline_comes_back(void **state)
{
	struct text file = { 0 }, again = { 0 };
	struct measures m = { 0 };
	struct err err;

	(void)state;
	put_baseline(&file);
	assert_true(measures_is_baseline(file.bytes, file.n));
	assert_int_equal(measures_read(file.bytes, file.n, "file", &m, &err), 0);
	assert_int_equal(m.list.n, 2);
	assert_string_equal(m.command, "./app -n 3");
	assert_int_equal(m.kinds, 1u << MEASURE_FUNCTION | 1u << MEASURE_METRIC);
	assert_true(isnan(m.list.items[0].error) && m.list.items[0].is_scaled);
	assert_string_equal(m.list.items[1].name, "f \"quoted\"");
	assert_true(fabs(m.list.items[1].value - 1e15 / 3) < 1);
	assert_true(m.list.items[1].saturated == 1000 && m.list.items[1].n_saturated == 7);
	measures_write(&m, &again);
	assert_int_equal(again.n, file.n);
	assert_memory_equal(again.bytes, file.bytes, file.n);
	measures_release(&m);
	text_release(&file);
	text_release(&again);
}

/* Files and functions may be named with any bytes; a baseline is text all the same. */
static void names_become_text(void **state)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "libc.so.6", "libc.so.6" },
		{ "", "" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "a\xff"
		  "b",
		  "a\\xffb" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "line\nbreak", "line\nbreak" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct measures m = { 0 }, back = { 0 };
		struct text file = { 0 };
		struct err err;

		add(&m, MEASURE_FUNCTION, "f", "", 1, 1, 1);
		m.list.items[0].module = measures_text(&m, cases[i].name);
		m.command = measures_text(&m, cases[i].name);
		assert_string_equal(m.command, cases[i].text);
		measures_write(&m, &file);
		assert_int_equal(measures_read(file.bytes, file.n, "file", &back, &err), 0);
		assert_string_equal(back.list.items[0].module, cases[i].text);
		measures_release(&m);
		measures_release(&back);
		text_release(&file);
	}
	assert_null(measures_text(&(struct measures){ 0 }, NULL));
}

/* A truncated file is an error, unless only the last newline is missing. */
static void a_cut_baseline_is_an_error(void **state)
{
	struct text file = { 0 };

	(void)state;
	put_baseline(&file);
	for (size_t size = 0; size < file.n; size++) {
		struct measures m = { 0 };
		char *copy = mem_strndup(file.bytes, size);
		struct err err;
		int rc = measures_read(copy, size, "file", &m, &err);

		assert_int_equal(rc, size == file.n - 1 ? 0 : -1);
		measures_release(&m);
		free(copy);
	}
	text_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_certain_beyond_its_error),
		cmocka_unit_test(saturated_counters_are_no_answer),
		cmocka_unit_test(saturated_counters_of_others_bound_a_share),
		cmocka_unit_test(many_rows_ask_for_more),
		cmocka_unit_test(rows_are_matched_across_builds),
		cmocka_unit_test(costs_are_divided),
		cmocka_unit_test(conditions_are_read),
		cmocka_unit_test(a_condition_trips_if_the_change_is_no_noise),
		cmocka_unit_test(nodes_are_compared),
		cmocka_unit_test(a_condition_is_undecided_by_saturated_counters),
		cmocka_unit_test(counts_are_measures),
		cmocka_unit_test(captures_are_measured),
		cmocka_unit_test(saturated_counters_are_measured),
		cmocka_unit_test(intervals_of_cpus_may_differ),
		cmocka_unit_test(a_baseline_comes_back),
		cmocka_unit_test(names_become_text),
		cmocka_unit_test(a_cut_baseline_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
