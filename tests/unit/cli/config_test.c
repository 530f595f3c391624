/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file: what it may say, its errors, and whose word counts. */
#include "cli/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "cli/printer.h"

static const struct {
	const char *text;
	enum config_key key;
	const char *value; /* NULL: none of that key */
	const char *error; /* NULL: it is good */
} files[] = {
	{ "", CONFIG_CPU, NULL, NULL },
	{ "cpu=n1", CONFIG_CPU, "n1", NULL },
	{ "\n# cpu = n2\n \t cpu\t=  Neoverse N1  \r\n", CONFIG_CPU, "Neoverse N1", NULL },
	{ "pager = less -p '= x'\n", CONFIG_PAGER, "less -p '= x'", NULL },
	{ "symfs = /a b#c", CONFIG_SYMFS, "/a b#c", NULL },
	{ "debuginfod = no\nwidth = 40", CONFIG_WIDTH, "40", NULL },
	{ "width = 10000", CONFIG_WIDTH, "10000", NULL },
	{ "color = never", CONFIG_COLOR, "never", NULL },
	{ "\n\nwidth = 39", CONFIG_WIDTH, NULL,
	  "f:3: width: found '39', wanted a number of columns from 40 to 10000" },
	{ "width = 10001", CONFIG_WIDTH, NULL, "f:1: width: found '10001'" },
	{ "width = 99999999999999999999", CONFIG_WIDTH, NULL, "f:1: width: found '9999" },
	{ "width = 80x", CONFIG_WIDTH, NULL, "f:1: width: found '80x'" },
	{ "color = red", CONFIG_COLOR, NULL, "found 'red', wanted auto, always or never" },
	{ "debuginfod = true", CONFIG_DEBUGINFOD, NULL, "found 'true', wanted yes or no" },
	{ "cpu =", CONFIG_CPU, NULL, "f:1: cpu: found '', wanted the name of a CPU" },
	{ "cpu", CONFIG_CPU, NULL, "f:1: found 'cpu', wanted KEY = VALUE" },
	{ "= x", CONFIG_CPU, NULL, "f:1: found '= x', wanted KEY = VALUE" },
	{ "# a\nsymfz = x", CONFIG_SYMFS, NULL,
	  "f:2: there is no key 'symfz'; there are symfs, debuginfod, cpu, width, pager, color; "
	  "did you mean symfs?" },
	{ "cpu = a\ncpu = b", CONFIG_CPU, "a", "f:2: cpu is set a second time; it was 'a'" },
};

static void lines_say_this(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		struct user_config config = { 0 };
		struct err err = { 0 };
		int rc =
			user_config_parse(files[i].text, strlen(files[i].text), "f", &config, &err);

		print_message("%zu: %s\n", i, err.text);
		assert_int_equal(rc, files[i].error == NULL ? 0 : -1);
		if (files[i].error != NULL)
			assert_non_null(strstr(err.text, files[i].error));
		if (files[i].error != NULL)
			assert_int_equal(err.code, ERR_USAGE);
		if (files[i].value == NULL)
			assert_null(config.values[files[i].key]);
		else
			assert_string_equal(config.values[files[i].key], files[i].value);
		user_config_release(&config);
	}
}

/* Cut at each byte, in memory of just that size: it is read, or refused with the line. */
static void cut_files_are_read_or_refused(void **state)
{
	static const char whole[] = "# all\nsymfs = /srv\ndebuginfod = yes\ncpu = n1\nwidth = 100\n"
				    "pager = less\ncolor = never\n";

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *cut = mem_zalloc(n > 0 ? n : 1, 1);
		struct user_config config = { 0 };
		struct err err = { 0 };

		memcpy(cut, whole, n);
		if (user_config_parse(cut, n, "f", &config, &err) < 0)
			assert_int_equal(strncmp(err.text, "f:", 2), 0);
		user_config_release(&config);
		free(cut);
	}
}

static void nul_bytes_are_refused(void **state)
{
	static const char bytes[] = "cpu = a\0b\n";
	struct user_config config = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(user_config_parse(bytes, sizeof(bytes) - 1, "f", &config, &err), -1);
	assert_non_null(strstr(err.text, "f:1: found a NUL byte"));
	user_config_release(&config);
}

/* The command line goes before the file. */
static void given_options_stay(void **state)
{
	static const char text[] = "width = 77\ncolor = never\npager = more\ncpu = n1\n";
	struct output_options output = { .width = 99, .colour = "always" };
	struct option_set set = output_option_set(&output);
	struct arguments arguments = { 0 };
	struct user_config config = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(user_config_parse(text, strlen(text), "f", &config, &err), 0);
	assert_int_equal(options_set_defaults(&set, 1, &config, &arguments, &err), 0);
	user_config_release(&config); /* values stay in the arguments */
	assert_int_equal(output.width, 99);
	assert_string_equal(output.colour, "always");
	assert_string_equal(output.pager, "more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_this),
		cmocka_unit_test(cut_files_are_read_or_refused),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(given_options_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
