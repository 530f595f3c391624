/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"

static char folder[] = "/tmp/cyclops-path-XXXXXX";

static int make_tree(void **state)
{
	static const char *const folders[] = { "root", "root/usr", "root/usr/bin", "root/tmp" };
	static const char *const links[][2] = {
		{ "usr/bin", "root/bin" },
		{ "/usr/bin", "root/absolute" },
		{ "/etc/passwd", "root/away" },
		{ "../../../../../etc/passwd", "root/usr/up" },
		{ "loop", "root/loop" },
		{ "/tmp/../../../outside", "root/tmp/out" },
		{ "../bin/./program", "root/tmp/program" },
	};
	FILE *file;

	(void)state;
	if (mkdtemp(folder) == NULL || chdir(folder) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(folders); i++)
		mkdir(folders[i], 0700);
	for (size_t i = 0; i < COUNT(links); i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return -1;
	file = fopen("root/usr/bin/program", "we");
	fclose(file);
	file = fopen("outside", "we");
	fclose(file);
	return 0;
}

static int remove_tree(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void no_path_leads_out_of_a_root(void **state)
{
	static const struct {
		const char *path, *wanted; /* below the root; NULL: nothing is there */
	} cases[] = {
		{ "/usr/bin/program", "/usr/bin/program" },
		{ "usr//bin/./program", "/usr/bin/program" },
		{ "/bin/program", "/usr/bin/program" },
		{ "/absolute/program", "/usr/bin/program" },
		{ "/tmp/program", "/usr/bin/program" },
		{ "/../../usr/bin/program", "/usr/bin/program" },
		{ "/usr/../usr/bin/../bin/program", "/usr/bin/program" },
		{ "/../outside", NULL },
		{ "/usr/../../outside", NULL },
		{ "/tmp/out", NULL },
		{ "/away", NULL },
		{ "/usr/up", NULL },
		{ "/loop", NULL },
		{ "/nothing", NULL },
		{ "", "" },
		{ "/..", "" },
	};
	static const char *const roots[] = { "root", "root/", "./root" };

	(void)state;
	for (size_t r = 0; r < COUNT(roots); r++)
		for (size_t i = 0; i < COUNT(cases); i++) {
			char *found = path_in_root(roots[r], cases[i].path);
			char wanted[128];

			snprintf(wanted, sizeof(wanted), "%s%s", r == 1 ? "root" : roots[r],
				 cases[i].wanted != NULL ? cases[i].wanted : "");
			if (cases[i].wanted == NULL)
				assert_null(found);
			else
				assert_string_equal(found, wanted);
			free(found);
		}
}

static void the_root_of_all_is_a_root(void **state)
{
	char *real = realpath("root/bin/program", NULL), path[256];
	char *found;

	(void)state;
	snprintf(path, sizeof(path), "%s/root/bin/program", folder);
	found = path_in_root("/", path);
	assert_string_equal(found, real);
	free(found);
	free(real);
}

static void plain_paths_have_no_dots(void **state)
{
	static const char *const cases[][2] = {
		{ "/usr/bin/program", "/usr/bin/program" },
		{ "//usr///bin/./", "/usr/bin" },
		{ "/usr/bin/../lib/.", "/usr/lib" },
		{ "/../../etc", "/etc" },
		{ "/usr/../..", "/" },
		{ "a/../../b/../../c", "../../c" },
		{ "../a/..", ".." },
		{ "./a/..", "" },
		{ "..a/.b/...", "..a/.b/..." },
		{ "", "" },
		{ "/", "/" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *plain = path_plain(cases[i][0]);

		assert_string_equal(plain, cases[i][1]);
		free(plain);
	}
}

static void folders_have_paths_below_them(void **state)
{
	static const struct {
		const char *path, *folder;
		bool is_below;
	} cases[] = {
		{ "/usr/lib/debug/a", "/usr/lib/debug", true },
		{ "/usr/lib/debug/a", "/usr/lib/debug/", true },
		{ "/usr/lib/debugging/a", "/usr/lib/debug", false },
		{ "/usr/lib/debug", "/usr/lib/debug", false },
		{ "/a", "/", true },
		{ "a", "/", false },
		{ "/a", "", false },
		{ "a", "", true },
		{ "../a", "", false },
		{ "..", "", false },
		{ "..a", "", true },
		{ "../a/b", "../a", true },
		{ "../../b", "../a", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (path_is_below(cases[i].path, cases[i].folder) != cases[i].is_below)
			fail_msg("%s below '%s'", cases[i].path, cases[i].folder);
}

static void folders_are_made_where_they_are_not(void **state)
{
	struct stat found;
	struct err err;

	(void)state;
	assert_int_equal(path_make_folders("new/a//b", 0700, &err), 0);
	assert_int_equal(path_make_folders("new/a/b/", 0700, &err), 0);
	assert_int_equal(stat("new/a/b", &found), 0);
	assert_int_equal(found.st_mode & 0777, 0700);
	assert_int_equal(path_make_folders("root/usr/bin/program/a/b", 0700, &err), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_string_equal(err.text,
			    "root/usr/bin/program/a: cannot make the folder: Not a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_path_leads_out_of_a_root),
		cmocka_unit_test(the_root_of_all_is_a_root),
		cmocka_unit_test(plain_paths_have_no_dots),
		cmocka_unit_test(folders_have_paths_below_them),
		cmocka_unit_test(folders_are_made_where_they_are_not),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
