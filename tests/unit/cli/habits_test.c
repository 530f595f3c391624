/* SPDX-License-Identifier: Apache-2.0 */
/* What users of perf type: the table, translated values, command lines. */
#include "cli/habits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { LINE_MAX_WORDS = 8 };

static const struct {
	const char *command, *name;
	char letter;
	const char *value, *ours; /* ours NULL: refused */
} values[] = {
	{ "report", "comm", 0, "server", "comm == \"server\"" },
	{ "hot", "tid", 0, "1,22", "tid == 1 || tid == 22" },
	{ "hot", "sort", 0, "comm,dso,sym", "process,module,function" },
	{ "hot", "", 's', "pid,comm,cpu", "process,cpu" },
	{ "hot", "", 's', "overhead", NULL },
	{ "annotate", "", 'M', "intel", "intel" },
	{ "annotate", "", 'M', "gnu", NULL },
	{ "c2c", "coalesce", 0, "tid,iaddr", "thread,place" },
	{ "stat", "", 'x', ",", "csv" },
	{ "stat", "", 'x', ";", NULL },
	{ "record", "", 'j', "any,u", "any,u" },
};

static void values_become_ours(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		const struct habit *h = habit_find(values[i].command, values[i].name,
						   strlen(values[i].name), values[i].letter);
		char out[64];
		struct err err = { 0 };
		int rc;

		print_message("%s %s\n", values[i].command, values[i].value);
		assert_non_null(h);
		rc = habit_translate(h, values[i].value, out, sizeof(out), &err);
		assert_int_equal(rc, values[i].ours == NULL ? -1 : 0);
		if (values[i].ours != NULL)
			assert_string_equal(out, values[i].ours);
		else
			assert_int_equal(err.code, ERR_USAGE);
	}
}

static void room_is_bounded(void **state)
{
	const struct habit *h = habit_find("hot", "comm", 4, 0);
	static const char condition[] = "comm == \"abc\"";
	char out[sizeof(condition)];
	struct err err;

	(void)state;
	assert_int_equal(habit_translate(h, "abc", out, sizeof(out), &err), 0);
	assert_string_equal(out, condition);
	assert_int_equal(habit_translate(h, "abc", out, sizeof(out) - 1, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

/* Our own words stay what they are here. */
static void own_values_are_own(void **state)
{
	(void)state;
	assert_non_null(habit_of_value("hot", "sort", "dso,pid"));
	assert_null(habit_of_value("hot", "sort", "pid"));
	assert_null(habit_of_value("hot", "sort", "samples"));
	assert_null(habit_of_value("report", "sort", "dso"));
	assert_null(habit_of_value("hot", "format", "csv"));
}

static const struct {
	const char *theirs[LINE_MAX_WORDS], *ours[LINE_MAX_WORDS]; /* ours empty: refused */
	bool has_changed;
} lines[] = {
	{ { "c2c", "record", "-a", "--", "p" }, { "record", "--data", "-a", "--", "p" }, true },
	{ { "c2c", "report", "-i", "f" }, { "c2c", "-i", "f" }, true },
	{ { "mem", "record", "p" }, { "record", "--data", "p" }, true },
	{ { "mem", "f" }, { "mem", "f" }, false },
	{ { "report", "--sort=dso", "f" }, { "hot", "--sort=dso", "f" }, true },
	{ { "report", "-gcaller" }, { "hot", "-gcaller" }, true },
	{ { "report", "-" }, { "report", "-" }, false },
	{ { "record", "--", "report", "-g" }, { "record", "--", "report", "-g" }, false },
	{ { "list", "metric" }, { "list", "metrics" }, true },
	{ { "version" }, { "--version" }, true },
	{ { "script", "-F", "ip" }, { NULL }, false },
	{ { "stat", "record" }, { NULL }, false },
};

static void lines_become_ours(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char *argv[LINE_MAX_WORDS + 1] = { 0 };
		struct habit_line line;
		struct err err;
		int argc = 0, rc;

		for (; lines[i].theirs[argc] != NULL; argc++)
			argv[argc] =
				mem_strndup(lines[i].theirs[argc], strlen(lines[i].theirs[argc]));
		rc = habit_line_read(argc, argv, &line, &err);
		assert_int_equal(rc, lines[i].ours[0] == NULL ? -1 : 0);
		for (int k = 0; rc == 0 && k <= line.argc; k++) {
			if (lines[i].ours[k] == NULL)
				assert_null(line.argv[k]);
			else
				assert_string_equal(line.argv[k], lines[i].ours[k]);
		}
		if (rc == 0)
			assert_int_equal(line.has_changed, lines[i].has_changed);
		habit_line_release(&line);
		for (int k = 0; k < argc; k++)
			free(argv[k]);
	}
}

/* Each row says all that its kind needs. */
static void the_table_is_whole(void **state)
{
	const struct habit *h;

	(void)state;
	for (size_t i = 0; (h = habit_at(i)) != NULL; i++) {
		assert_true(h->letter != 0 || h->name != NULL);
		assert_true((h->kind == HABIT_NOTHING) == (h->ours == NULL));
		assert_true(h->only == NULL || h->fixed != NULL);
		assert_true(h->words == NULL || h->name != NULL);
		assert_true(h->kind != HABIT_SELECT || h->value == HABIT_VALUE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_ours), cmocka_unit_test(room_is_bounded),
		cmocka_unit_test(own_values_are_own), cmocka_unit_test(lines_become_ours),
		cmocka_unit_test(the_table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
