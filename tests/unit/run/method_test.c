/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `run`, of samples alone: SPE beside samples that have call chains. */
#include "run/method.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../session/fixture.h"
#include "spe/packet.h"

enum { N = 100, LIBRARY = 0x1000, CALL = FIRST + 4, DRAM = 0xe };

/* Loads of code outside of the program, from DRAM. */
static void add_records(struct spe_record *out)
{
	for (size_t i = 0; i < N; i++) {
		out[i] = spe_of(LIBRARY, ALPHA, SPE_OP_LDST, 0, 100, 2000 + 10 * i);
		out[i].has |= HAS_SOURCE;
		out[i].source = DRAM;
	}
}

static void make(size_t n_samples, struct session *s, struct method *out)
{
	static const uint64_t chain[] = { LIBRARY, CALL };
	struct spe_record records[N];
	struct sample samples[N];
	struct err err = { 0 };

	add_records(records);
	for (size_t i = 0; i < n_samples; i++) {
		/* Of another place, and of more weight than all latency of SPE. */
		samples[i] = sample_of(EVENT_CYCLES, i % 2 == 0 ? LIBRARY : SECOND, ALPHA, 1000000,
				       chain, i % 2 == 0 ? 2 : 1);
	}
	open_fixture(&(struct contents){ .records = records,
					 .n_records = N,
					 .samples = samples,
					 .n_samples = n_samples },
		     2, s);
	assert_int_equal(method_find(s, NULL, NULL, out, &err), 0);
	method_make_tables(s, out);
}

static const char *cell_of(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, (size_t)table_column(t, column))->text;
}

static bool is_shown(const struct method *m, const char *table)
{
	for (size_t i = 0; i < m->shown.list.n; i++)
		if (strcmp(m->shown.list.items[i]->name, table) == 0)
			return true;
	return false;
}

/* What a library waits for is told with the program's code that calls it, and its time is that code's. */
static void library_time_is_rolled_up(void **state)
{
	struct method m = { 0 };
	struct session s;

	(void)state;
	make(N, &s, &m);
	assert_true(is_shown(&m, "user_code"));
	assert_string_equal(cell_of(&m.report.user_code, 0, "function"), "first");
	assert_string_equal(cell_of(&m.findings, 0, "kind"), "memory-bound");
	assert_non_null(strstr(cell_of(&m.findings, 0, "claim"), ", called from first, waits for"));
	assert_non_null(strstr(cell_of(&m.findings, 0, "try"), "call it less often"));
	method_release(&m);
	close_fixture(&s);
}

static void without_chains_nothing_is_rolled_up(void **state)
{
	struct method m = { 0 };
	struct session s;

	(void)state;
	make(0, &s, &m);
	assert_false(is_shown(&m, "user_code"));
	assert_null(strstr(cell_of(&m.findings, 0, "claim"), "called from"));
	method_release(&m);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library_time_is_rolled_up),
		cmocka_unit_test(without_chains_nothing_is_rolled_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
