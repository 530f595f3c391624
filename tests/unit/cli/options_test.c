/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line comes to, or what is wrong with it. */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { MAX_WORDS = 24 };

struct first {
	bool all;
	const char *name, *color, *what;
	unsigned top;
};

struct second {
	unsigned workers;
	struct option_list select;
};

static const struct option first_options[] = {
	{ "all", 'a', OPTION_FLAG, offsetof(struct first, all), NULL, "" },
	{ "name", 'n', OPTION_TEXT, offsetof(struct first, name), "WORD", "" },
	{ "color", 'c', OPTION_OPTIONAL, offsetof(struct first, color), "[=WHEN]", "" },
	{ "what", 'w', OPTION_OPTIONAL_WORD, offsetof(struct first, what), "[=LIST]", "" },
	{ "top", 0, OPTION_NUMBER, offsetof(struct first, top), "N", "" },
};

static const struct option second_options[] = {
	{ "workers", 'j', OPTION_COUNT, offsetof(struct second, workers), "N", "" },
	{ "select", 's', OPTION_LIST, offsetof(struct second, select), "WHAT", "" },
};

static const struct {
	const char *words[MAX_WORDS]; /* behind the command; end with NULL */
	int rc;
	struct first first;
	unsigned workers;
	const char *selected[3], *arguments[3];
	int program; /* index of what options_find_program() finds, in `words`; -1: none */
} cases[] = {
	{ { NULL }, 0, { 0 }, .program = -1 },
	{ { "--all" }, 0, { .all = true }, .program = -1 },
	{ { "-a", "--all" }, 0, { .all = true }, .program = -1 },
	{ { "--all=yes" }, -1, .program = -1 },
	{ { "-ax" }, -1, .program = -1 }, /* letters do not come in bundles */
	{ { "--name", "x" }, 0, { .name = "x" }, .program = -1 },
	{ { "--name=x" }, 0, { .name = "x" }, .program = -1 },
	{ { "--name=" }, 0, { .name = "" }, .program = -1 },
	{ { "--name=a=b" }, 0, { .name = "a=b" }, .program = -1 },
	{ { "-n", "x" }, 0, { .name = "x" }, .program = -1 },
	{ { "-nx" }, 0, { .name = "x" }, .program = -1 },
	{ { "--name", "--all" }, 0, { .name = "--all" }, .program = -1 },
	{ { "--name" }, -1, .program = -1 },
	{ { "-n" }, -1, .program = -1 },
	{ { "--nam", "x" }, -1, .program = 1 },
	{ { "--names", "x" }, -1, .program = 1 },
	{ { "-x" }, -1, .program = -1 },
	{ { "--color" }, 0, { .color = "" }, .program = -1 },
	{ { "--color=on" }, 0, { .color = "on" }, .program = -1 },
	{ { "-con" }, 0, { .color = "on" }, .program = -1 },
	{ { "--color", "on" }, 0, { .color = "" }, .arguments = { "on" }, .program = 1 },
	{ { "--what" }, 0, { .what = "" }, .program = -1 },
	{ { "--what=a" }, 0, { .what = "a" }, .program = -1 },
	{ { "--what", "a" }, 0, { .what = "a" }, .program = -1 },
	{ { "--what", "a", "b" }, 0, { .what = "a" }, .arguments = { "b" }, .program = 2 },
	{ { "--what=a", "b" }, 0, { .what = "a" }, .arguments = { "b" }, .program = 1 },
	{ { "--what", "--all" }, 0, { .what = "", .all = true }, .program = -1 },
	{ { "--what", "--", "a" }, 0, { .what = "" }, .arguments = { "a" }, .program = 2 },
	{ { "--top", "12" }, 0, { .top = 12 }, .program = -1 },
	{ { "--top=0" }, 0, { .top = 0 }, .program = -1 },
	{ { "--top=4294967295" }, 0, { .top = UINT32_MAX }, .program = -1 },
	{ { "--top=4294967296" }, -1, .program = -1 },
	{ { "--top=99999999999999999999" }, -1, .program = -1 },
	{ { "--top=-1" }, -1, .program = -1 },
	{ { "--top=+1" }, -1, .program = -1 },
	{ { "--top= 1" }, -1, .program = -1 },
	{ { "--top=1x" }, -1, .program = -1 },
	{ { "--top=" }, -1, .program = -1 },
	{ { "--top=0x10" }, -1, .program = -1 },
	{ { "-j", "4" }, 0, .workers = 4, .program = -1 },
	{ { "-j4" }, 0, .workers = 4, .program = -1 },
	{ { "-j0" }, -1, .program = -1 },
	{ { "--top=1", "--top=2" }, 0, { .top = 2 }, .program = -1 },
	{ { "-s", "a", "--select=b" }, 0, .selected = { "a", "b" }, .program = -1 },
	{ { "a", "-a", "b" }, 0, { .all = true }, .arguments = { "a", "b" }, .program = 0 },
	{ { "-" }, 0, .arguments = { "-" }, .program = 0 },
	{ { "" }, 0, .arguments = { "" }, .program = 0 },
	{ { "-a", "--", "-n" }, 0, { .all = true }, .arguments = { "-n" }, .program = 2 },
	{ { "--", "--", "x" }, 0, .arguments = { "--", "x" }, .program = 1 },
	{ { "-n", "x", "ls" }, 0, { .name = "x" }, .arguments = { "ls" }, .program = 2 },
	{ { "-nx", "ls" }, 0, { .name = "x" }, .arguments = { "ls" }, .program = 1 },
	{ { "--name=x", "ls" }, 0, { .name = "x" }, .arguments = { "ls" }, .program = 1 },
};

struct parsed {
	struct first first;
	struct second second;
	struct arguments arguments;
	struct option_set sets[2];
	char *argv[MAX_WORDS + 1];
	int argc;
};

static void prepare(struct parsed *p, const char *const *words)
{
	*p = (struct parsed){ .argc = 1 };
	p->sets[0] = (struct option_set){ "", first_options, COUNT(first_options), &p->first };
	p->sets[1] = (struct option_set){ "", second_options, COUNT(second_options), &p->second };
	p->argv[0] = mem_strndup("cyclops", 7);
	for (; p->argc <= MAX_WORDS - 1 && words[p->argc - 1] != NULL; p->argc++)
		p->argv[p->argc] = mem_strndup(words[p->argc - 1], strlen(words[p->argc - 1]));
}

static void release(struct parsed *p)
{
	for (int i = 0; i < p->argc; i++)
		free(p->argv[i]);
}

static void same(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a != NULL)
		assert_string_equal(a, b);
}

/* As many arguments as there is room for, and more. */
static void many_arguments(void **state)
{
	char word[] = "abc", *argv[ARGUMENTS_MAX + 4];
	struct parsed p;
	struct err err = { 0 };

	(void)state;
	prepare(&p, (const char *const[]){ NULL });
	for (int i = 0; i < ARGUMENTS_MAX + 3; i++)
		argv[i] = word + i % 3;
	argv[ARGUMENTS_MAX + 3] = NULL;
	for (int n = ARGUMENTS_MAX - 1; n < ARGUMENTS_MAX + 3; n++) {
		assert_int_equal(options_parse(n + 1, argv, p.sets, 2, &p.arguments, &err), 0);
		assert_int_equal(p.arguments.n, n);
		for (int i = 0; i < n; i++)
			assert_ptr_equal(p.arguments.items[i], argv[i + 1]);
		arguments_release(&p.arguments);
	}
	release(&p);
}

static void lines_come_to_this(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct parsed p;
		struct err err = { 0 };
		int rc;

		print_message("%zu %s\n", i, cases[i].words[0]);
		prepare(&p, cases[i].words);
		rc = options_parse(p.argc, p.argv, p.sets, 2, &p.arguments, &err);
		assert_int_equal(rc, cases[i].rc);
		if (rc < 0) {
			assert_int_equal(err.code, ERR_USAGE);
			release(&p);
			continue;
		}
		assert_int_equal(p.first.all, cases[i].first.all);
		same(p.first.name, cases[i].first.name);
		same(p.first.color, cases[i].first.color);
		same(p.first.what, cases[i].first.what);
		assert_int_equal(p.first.top, cases[i].first.top);
		assert_int_equal(p.second.workers, cases[i].workers);
		for (size_t k = 0; k < 3; k++) {
			same(p.second.select.items[k], cases[i].selected[k]);
			same(k < p.arguments.n ? p.arguments.items[k] : NULL,
			     cases[i].arguments[k]);
		}
		release(&p);
	}
}

static void programs_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct parsed p;
		int found;

		print_message("%zu\n", i);
		prepare(&p, cases[i].words);
		found = options_find_program(p.argc, p.argv, p.sets, 2);
		assert_int_equal(found, cases[i].program < 0 ? p.argc : cases[i].program + 1);
		release(&p);
	}
}

static void lists_are_bounded(void **state)
{
	const char *words[OPTION_LIST_MAX + 2] = { 0 };

	(void)state;
	for (int n = OPTION_LIST_MAX; n <= OPTION_LIST_MAX + 1; n++) {
		struct parsed p;
		struct err err;

		for (int i = 0; i < n; i++)
			words[i] = "-sx";
		prepare(&p, words);
		assert_int_equal(options_parse(p.argc, p.argv, p.sets, 2, &p.arguments, &err),
				 n > OPTION_LIST_MAX ? -1 : 0);
		assert_int_equal(p.second.select.n, OPTION_LIST_MAX);
		release(&p);
	}
}

/* A wrong word gets the nearest right one. */
static void the_nearest_option_is_named(void **state)
{
	static const char *const words[] = { "--nmae=x", NULL };
	struct parsed p;
	struct err err = { 0 };

	(void)state;
	prepare(&p, words);
	assert_int_equal(options_parse(p.argc, p.argv, p.sets, 2, &p.arguments, &err), -1);
	assert_non_null(strstr(err.text, "--name"));
	release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_arguments),
		cmocka_unit_test(lines_come_to_this),
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(lists_are_bounded),
		cmocka_unit_test(the_nearest_option_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
