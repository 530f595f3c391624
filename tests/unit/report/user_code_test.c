/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries' and the kernel's time, rolled up to the program's own code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "findings/words.h"
#include "report/report.h"
#include "report/user_code.h"
#include "scan/scan.h"

enum { UNKNOWN = 0x1000, N_SAMPLES = 100 };

struct opened {
	struct session session;
	struct analysis hot;
	struct names names;
	struct user_code *user_code;
};

/* Each sample is at `at`; of so many the chain says that FIRST called it, of the rest SECOND. */
static void open_samples(struct opened *o, uint64_t at, size_t n_first, bool has_chains)
{
	const struct keys keys = { { KEY_FUNCTION, KEY_LINE }, 2 };
	uint64_t first[] = { at, FIRST + 4 }, second[] = { at, SECOND + 8 };
	struct sample samples[N_SAMPLES];

	for (size_t i = 0; i < N_SAMPLES; i++)
		samples[i] = sample_of(EVENT_CLOCK, at, ALPHA, 1000000,
				       i < n_first ? first : second, has_chains ? 2 : 1);
	open_fixture(&(struct contents){ .samples = samples, .n_samples = N_SAMPLES }, 2,
		     &o->session);
	o->hot = (struct analysis){ .class = &hot_class, .options = &report_hot_options };
	scan(&o->session, NULL, &o->hot, 1);
	hot_names(&o->session, o->hot.result, &keys, &o->names);
	o->user_code = user_code_new(o->hot.result, &o->names);
}

static void close_samples(struct opened *o)
{
	user_code_free(o->user_code);
	names_release(&o->names);
	hot_class.free(o->hot.result);
	close_fixture(&o->session);
}

static const char *cell_of(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, (size_t)table_column(t, column))->text;
}

/* Code outside of all files is nobody's own: it counts for who called it. */
static void time_counts_for_the_caller(void **state)
{
	struct opened o;
	struct table t;

	(void)state;
	open_samples(&o, UNKNOWN, 80, true);
	user_code_table(o.user_code, 0, &t);
	assert_int_equal(table_n_rows(&t), 2);
	assert_string_equal(cell_of(&t, 0, "function"), "first");
	assert_true(table_cell(&t, 0, (size_t)table_column(&t, "total"))->number == 0.8);
	assert_true(table_cell(&t, 0, (size_t)table_column(&t, "own"))->number == 0);
	assert_string_equal(cell_of(&t, 1, "function"), "second");
	table_release(&t);
	close_samples(&o);
}

/* The program's own code is in the table of functions: there is nothing to roll up. */
static void own_code_needs_no_table(void **state)
{
	struct opened o;
	struct table t;

	(void)state;
	open_samples(&o, MEMCPY, N_SAMPLES, true);
	assert_false(user_code_is_library(o.user_code, 1));
	user_code_table(o.user_code, 0, &t);
	assert_int_equal(table_n_rows(&t), 0);
	table_release(&t);
	close_samples(&o);
}

static const struct {
	bool has_chains;
	const char *claim, *remedy;
} cases[] = {
	{ true, "code outside all known files, called from first, has no symbols", "call-less" },
	{ false, "code outside all known files has no symbols", "call-chains" },
};

static void a_finding_says_who_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct findings found = { 0 };
		struct opened o;
		struct table t;

		open_samples(&o, UNKNOWN, 80, cases[i].has_chains);
		report_find(o.hot.result, &o.names, NULL, o.user_code, &found);
		findings_table(&found, &o.session, &t);
		assert_int_equal(table_n_rows(&t), 1);
		assert_string_equal(cell_of(&t, 0, "claim"), cases[i].claim);
		assert_string_equal(cell_of(&t, 0, "remedy_id"), cases[i].remedy);
		table_release(&t);
		findings_release(&found);
		close_samples(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_counts_for_the_caller),
		cmocka_unit_test(own_code_needs_no_table),
		cmocka_unit_test(a_finding_says_who_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
