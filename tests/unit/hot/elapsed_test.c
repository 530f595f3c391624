/* SPDX-License-Identifier: Apache-2.0 */
/* Run time out of the times of records: whose it is, what is none, and what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../session/fixture.h"
#include "hot/elapsed/elapsed.h"
#include "hot/elapsed/inside.h"
#include "scan/scan.h"

enum {
	MS = 1000000,
	EACH_CPU = 12, /* records: long enough that limits are close */
	MAX_ROWS = 3,
};

/* What the fixture's interval leaves open: as many slow operations as no record need meet. */
static const double unmet_ms = 3.70 * 1025 * 150 / MS;

/* Of a thread's time: what is of the code that has all of its EACH_CPU records. */
#define met (1 - 3.70 / EACH_CPU)

/* A row as it should be: times in ms; told < 0: not told apart. */
struct expected {
	const char *name;
	double told, low, high;
	enum cell_mark mark;
};

/*
 * Records of a CPU: 'f' and 's' are alpha's in first() and second(), 't' of alpha's other thread in
 * second(), 'b' of another process.
 */
struct trace {
	const char *code;
	uint64_t step_ns;
	size_t pause_before; /* number of the record after a pause of 50 ms; 0: none */
};

struct test_case {
	const char *what;
	struct trace cpus[2];
	double covered_ms;
	struct expected rows[MAX_ROWS];
	const char *note; /* that must be there, or NULL */
};

static const struct test_case cases[] = {
	{ "each on a CPU of its own",
	  { { "ffffffffffff", MS, 0 }, { "ssssssssssss", MS / 2, 0 } },
	  16.5,
	  { { "first", 11, 11 - unmet_ms, 11 + unmet_ms, MARK_EXACT },
	    { "second", 5.5, 5.5 - unmet_ms, 5.5 + unmet_ms, MARK_SPARSE } },
	  "?: from, to are far apart" },
	{ "in turns",
	  { { "fsfsfsfsfsfs", MS, 0 }, { "fsfsfsfsfsfs", MS, 0 } },
	  22,
	  { { "first", -1, 0, 22, MARK_EXACT }, { "second", -1, 0, 22, MARK_EXACT } },
	  "cannot be assigned to one row" },
	{ "short, each in a thread of its own",
	  { { "ffffffffffff", MS / 1000, 0 }, { "tttttttttttt", MS / 1000, 0 } },
	  0.022,
	  { { "first", 0.011, 0.011 * met, 0.011 * (2 - met), MARK_SPARSE },
	    { "second", 0.011, 0.011 * met, 0.011 * (2 - met), MARK_SPARSE } },
	  NULL },
	{ "a pause is no run time",
	  { { "ffffffffffff", MS, 6 }, { "ffffffffffff", MS, 0 } },
	  21,
	  { { "first", 21, 21 - unmet_ms, 21, MARK_EXACT } },
	  "50.0 ms in which a thread waited" },
	{ "nor is the way to another thread",
	  { { "ffffffbfffff", MS, 0 }, { "ffffffffffff", MS, 0 } },
	  20,
	  { { "first", 20, 20 - unmet_ms, 20, MARK_EXACT },
	    { "[unknown]", -1, 0, unmet_ms, MARK_EXACT } },
	  "2.00 ms between records of different threads" },
};

/* Runs that begin or end where those of a CPU do, which is at the ends of the batch, or in it. */
static const struct trace cut[][2] = {
	{ { "sssfffffffff", MS, 0 }, { "fffffffffsss", MS, 0 } },
	{ { "fffffffffsss", MS, 0 }, { "sssfffffffff", MS, 0 } },
};

static struct spe_record record_of(char code, uint64_t time_ns)
{
	uint64_t pc = code == 'f' ? FIRST : code == 'b' ? TEXT_START : SECOND;
	uint32_t tid = code == 'b' ? BETA : code == 't' ? ALPHA_THREAD : ALPHA;

	return spe_of(pc, tid, 0, 0, 10, time_ns);
}

static void fill(const struct trace *t, struct spe_record *out)
{
	uint64_t time_ns = START_NS;

	for (size_t i = 0; i < EACH_CPU; i++) {
		time_ns += t->pause_before == i && i > 0 ? 50 * MS : t->step_ns;
		out[i] = record_of(t->code[i], time_ns);
	}
}

static void make_table(struct session *s, const struct keys *keys, struct table *out)
{
	const struct hot_options options = { .dimensions = keys_dimensions(keys), .event = -1 };
	const struct elapsed_request request = { .keys = keys };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names;
	struct err err;

	scan(s, NULL, &hot, 1);
	hot_names(s, hot.result, keys, &names);
	assert_int_equal(elapsed_table(s, NULL, hot.result, &names, &request, out, NULL, &err), 0);
	names_release(&names);
	hot_class.free(hot.result);
}

static const struct cell *cell_of(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, (size_t)table_column(t, column));
}

static void check_share(const struct table *t, size_t row, const char *column, double expected)
{
	double found = cell_of(t, row, column)->number;

	if (fabs(found - fmin(1, expected)) > 0.002)
		fail_msg("%s, %s: %g, not %g", cell_of(t, row, "function")->text, column, found,
			 expected);
}

static void check_row(const struct table *t, size_t row, const struct expected *e, double covered)
{
	const struct cell *told = cell_of(t, row, "time_share");

	assert_string_equal(cell_of(t, row, "function")->text, e->name);
	check_share(t, row, "time_low", fmax(0, e->low) / covered);
	check_share(t, row, "time_high", e->high / covered);
	assert_int_equal(told->type, e->told < 0 ? CELL_NONE : CELL_NUMBER);
	if (e->told < 0)
		return;
	check_share(t, row, "time_share", e->told / covered);
	assert_int_equal(told->mark, e->mark);
	assert_true(fabs((double)cell_of(t, row, "time_ns")->count - e->told * MS) < 2);
}

static bool has_note(const struct table *t, const char *text)
{
	for (size_t i = 0; i < t->notes.n; i++)
		if (strstr(t->notes.items[i], text) != NULL)
			return true;
	return false;
}

static bool has_mark(const struct table *t, const char *column)
{
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (cell_of(t, row, column)->mark != MARK_EXACT)
			return true;
	return false;
}

static void make_functions(const struct trace cpus[2], unsigned n_workers, struct session *s,
			   struct table *out)
{
	const struct keys keys = { { KEY_FUNCTION }, 1 };
	struct spe_record records[2 * EACH_CPU];

	for (size_t cpu = 0; cpu < 2; cpu++)
		fill(&cpus[cpu], records + cpu * EACH_CPU);
	open_fixture(&(struct contents){ .records = records, .n_records = 2 * EACH_CPU }, n_workers,
		     s);
	make_table(s, &keys, out);
}

static void check_case(const struct test_case *c, unsigned n_workers)
{
	struct session s;
	struct table t;
	size_t n = 0;

	make_functions(c->cpus, n_workers, &s, &t);
	while (n < MAX_ROWS && c->rows[n].name != NULL)
		n++;
	assert_int_equal(table_n_rows(&t), n);
	for (size_t row = 0; row < n; row++)
		check_row(&t, row, &c->rows[row], c->covered_ms);
	if (c->note != NULL && !has_note(&t, c->note))
		fail_msg("%s: no note '%s'", c->what, c->note);
	assert_int_equal(has_note(&t, "?: "), has_mark(&t, "time_share"));
	table_release(&t);
	close_fixture(&s);
}

static void time_is_of_who_ran(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2)
			check_case(&cases[i], n_workers);
}

/* Records of several CPUs may be one batch: where those of one end they may go on all the same. */
static void runs_are_cut_by_cpu(void **state)
{
	static const char *const columns[] = { "time_share", "time_low", "time_high" };

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
		struct session s[COUNT(cut)];
		struct table t[COUNT(cut)];

		for (size_t i = 0; i < COUNT(cut); i++)
			make_functions(cut[i], n_workers, &s[i], &t[i]);
		assert_int_equal(table_n_rows(&t[0]), 2);
		for (size_t row = 0; row < 2; row++)
			for (size_t i = 0; i < COUNT(columns); i++)
				check_share(&t[1], row, columns[i],
					    cell_of(&t[0], row, columns[i])->number);
		for (size_t i = 0; i < COUNT(cut); i++) {
			table_release(&t[i]);
			close_fixture(&s[i]);
		}
	}
}

/* Nothing else runs in a thread: what is between its records is certain, however few they are. */
static void threads_are_certain(void **state)
{
	const struct keys keys = { { KEY_THREAD }, 1 };
	const struct spe_record records[] = {
		record_of('f', MS),
		record_of('s', 2 * MS),
		record_of('b', MS),
		record_of('b', MS),
	};
	struct session s;
	struct table t;

	(void)state;
	open_fixture(&(struct contents){ .records = records, .n_records = COUNT(records) }, 1, &s);
	make_table(&s, &keys, &t);
	assert_int_equal(table_n_rows(&t), 2);
	assert_int_equal(cell_of(&t, 0, "tid")->number_signed, ALPHA);
	assert_int_equal(cell_of(&t, 0, "time_ns")->count, MS);
	assert_int_equal(cell_of(&t, 1, "time_ns")->count, 0);
	for (size_t row = 0; row < 2; row++)
		assert_true(cell_of(&t, row, "time_low")->number ==
			    cell_of(&t, row, "time_high")->number);
	table_release(&t);
	close_fixture(&s);
}

static void operations_are_refused(void **state)
{
	static const struct {
		const char *keys;
		int rc;
	} tries[] = { { "function,thread,cpu", 0 }, { "line", 0 },  { "operation", -1 },
		      { "function,source", -1 },    { "time", -1 }, { "event", -1 } };
	struct keys keys;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(tries); i++) {
		assert_int_equal(keys_parse(tries[i].keys, &keys, &err), 0);
		assert_int_equal(elapsed_check_keys(&keys, &err), tries[i].rc);
	}
}

/* From the stop before to the stop behind of the same stream; other streams have stops of their own. */
static void test_spans(void **state)
{
	static const struct {
		uint64_t of, time_ns, first_ns, last_ns;
	} spans[] = {
		{ 1, 50, 0, 100 },	   { 1, 150, 100, 200 },     { 1, 250, 200, UINT64_MAX },
		{ 2, 40, 0, 50 },	   { 2, 299, 50, 300 },	     { 2, 301, 300, UINT64_MAX },
		{ 0, 150, 0, UINT64_MAX }, { 3, 10, 0, UINT64_MAX },
	};
	static const struct elapsed_stop stops[] = {
		{ 1, 100 }, { 1, 200 }, { 2, 50 }, { 2, 300 }
	};
	struct elapsed_plan plan = { .session = NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(stops); i++)
		*vec_add(&plan.stops) = stops[i];
	for (size_t i = 0; i < COUNT(spans); i++) {
		struct elapsed_span span = elapsed_plan_span(&plan, spans[i].of, spans[i].time_ns);

		assert_int_equal(span.of, spans[i].of);
		assert_int_equal(span.first_ns, spans[i].first_ns);
		assert_int_equal(span.last_ns, spans[i].last_ns);
	}
	vec_release(&plan.stops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_of_who_ran),  cmocka_unit_test(runs_are_cut_by_cpu),
		cmocka_unit_test(threads_are_certain), cmocka_unit_test(operations_are_refused),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
