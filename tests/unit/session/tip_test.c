/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to paste: they repeat what was said of the capture, quoted for the shell. */
#include "session/tip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

static const char *const debug_dirs[] = { "/usr/lib/debug", "my symbols", NULL };

static const struct column columns[] = { { "function", NULL, "", CELL_TEXT, 0, "" } };

static const struct {
	const char *command;
	struct session session;
	const char *expected;
} cases[] = {
	{ "hot", { .path = "perf.data" }, "cyclops hot perf.data" },
	{ "mem --by instruction",
	  { .path = "a b.data", .select = "thread:it's" },
	  "cyclops mem --by instruction --select 'thread:it'\\''s' 'a b.data'" },
	{ "c2c",
	  { .path = "demo.data",
	    .interval_given = 1024,
	    .catalog_path = "mine.json",
	    .symbols_options = { .symfs = "root",
				 .debug_dirs = debug_dirs,
				 .kallsyms = "kallsyms",
				 .vmlinux = "vmlinux",
				 .use_debuginfod = true } },
	  "cyclops c2c --symfs root --debug-dir /usr/lib/debug --debug-dir 'my symbols' --kallsyms "
	  "kallsyms --vmlinux vmlinux --catalog mine.json --debuginfod --interval 1024 demo.data" },
};

static void tips_repeat_the_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct table table;

		table_init(&table, "rows", NULL, columns, COUNT(columns));
		assert_string_equal(tip(&table, &cases[i].session, cases[i].command),
				    cases[i].expected);
		table_release(&table);
	}
}

/* The CPU is named only if the user named it: what the capture says needs no option. */
static void a_given_cpu_is_repeated(void **state)
{
	struct catalog *catalog = NULL;
	struct session session = { .path = "perf.data" };
	struct table table;
	struct err err;

	(void)state;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	session.cpu = catalog_cpu_find(catalog, "neoverse-v2");
	table_init(&table, "rows", NULL, columns, COUNT(columns));
	assert_string_equal(tip(&table, &session, "hot"), "cyclops hot perf.data");
	session.cpu_is_given = true;
	assert_string_equal(tip(&table, &session, "hot"),
			    "cyclops hot --cpu neoverse-v2 perf.data");
	table_release(&table);
	catalog_free(catalog);
}

static const struct {
	const char *line, *program; /* NULL: not told */
} recorded[] = {
	{ "cyclops model --set dram_cycles=200 -o a.data -- ./walk 7", "./walk 7" },
	{ "perf record -e arm_spe// -- ./walk", "./walk" },
	{ "perf record -e arm_spe// ./walk", NULL },
	{ "cyclops record --spe -- ", NULL },
	{ "cyclops record --spe -- sh -c $HOME/walk", NULL },
	{ "", NULL },
};

static void programs_stand_behind_dashes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(recorded); i++) {
		const char *program = recorded_program(recorded[i].line);

		if (recorded[i].program == NULL)
			assert_null(program);
		else
			assert_string_equal(program, recorded[i].program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tips_repeat_the_options),
		cmocka_unit_test(a_given_cpu_is_repeated),
		cmocka_unit_test(programs_stand_behind_dashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
