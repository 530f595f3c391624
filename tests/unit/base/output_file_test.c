/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"

static char folder[] = "/tmp/cyclops-output-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void put_file(const char *path, const char *words)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(words, file);
	fclose(file);
}

/* NULL: there is no such file. */
static void assert_file(const char *path, const char *words)
{
	char read[64] = "";
	FILE *file = fopen(path, "re");

	if (words == NULL) {
		assert_null(file);
		return;
	}
	assert_non_null(file);
	read[fread(read, 1, sizeof(read) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(read, words);
}

static size_t n_files(void)
{
	DIR *open = opendir(".");
	size_t n = 0;

	assert_non_null(open);
	while (readdir(open) != NULL)
		n++;
	closedir(open);
	return n - 2;
}

static void a_file_is_there_as_a_whole_or_as_it_was(void **state)
{
	static const struct {
		const char *before;
		int rc;
		const char *after;
	} cases[] = {
		{ NULL, 0, "new" },
		{ NULL, -1, NULL },
		{ "what was there", 0, "new" },
		{ "what was there", -1, "what was there" },
	};
	struct output_file file;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].before != NULL)
			put_file("out", cases[i].before);
		assert_int_equal(output_file_open(&file, "out", &err), 0);
		fputs("new", file.stream);
		fflush(file.stream);
		assert_file("out", cases[i].before);
		assert_int_equal(output_file_close(&file, cases[i].rc, &err), cases[i].rc);
		assert_file("out", cases[i].after);
		assert_int_equal(n_files(), cases[i].after != NULL);
		unlink("out");
	}
}

static void links_and_rights_stay(void **state)
{
	struct output_file file;
	struct stat st;
	struct err err;

	(void)state;
	put_file("old", "old");
	assert_int_equal(chmod("old", 0640), 0);
	assert_int_equal(symlink("old", "link"), 0);
	assert_int_equal(output_file_open(&file, "link", &err), 0);
	fputs("new", file.stream);
	assert_int_equal(output_file_close(&file, 0, &err), 0);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("old", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_file("old", "new");
	unlink("link");
	unlink("old");
}

static void a_published_file_grows_in_its_place(void **state)
{
	struct output_file file;
	struct err err;

	(void)state;
	assert_int_equal(output_file_open(&file, "out", &err), 0);
	assert_int_equal(output_file_publish(&file, &err), 0);
	fputs("a", file.stream);
	fflush(file.stream);
	assert_file("out", "a");
	fputs("b", file.stream);
	assert_int_equal(output_file_close(&file, 0, &err), 0);
	assert_file("out", "ab");
	assert_int_equal(n_files(), 1);
	unlink("out");
}

static void what_is_no_file_is_written_in_place(void **state)
{
	struct output_file file;
	struct stat st;
	struct err err;

	(void)state;
	assert_int_equal(output_file_open(&file, "/dev/full", &err), 0);
	fputs("new", file.stream);
	assert_int_equal(output_file_close(&file, 0, &err), -1);
	assert_non_null(strstr(err.text, "/dev/full: cannot write: No space"));
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(symlink("nothing", "link"), 0);
	assert_int_equal(output_file_open(&file, "link", &err), 0);
	assert_int_equal(output_file_close(&file, 0, &err), 0);
	assert_file("nothing", "");
	unlink("link");
	unlink("nothing");
	assert_int_equal(output_file_open(&file, ".", &err), -1);
	assert_int_equal(output_file_open(&file, "none/out", &err), -1);
	assert_non_null(strstr(err.text, "none/out: cannot write: No such file"));
	assert_int_equal(n_files(), 0);
}

static void new_files_are_for_their_user_alone(void **state)
{
	struct output_file file;
	struct stat st;
	struct err err;

	(void)state;
	assert_int_equal(output_file_open(&file, "out", &err), 0);
	assert_int_equal(output_file_close(&file, 0, &err), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	unlink("out");
}

/* Only root can make files of others. */
static void files_and_links_of_others_are_left_alone(void **state)
{
	enum { OTHER = 12345 };
	struct output_file file;
	struct err err;

	(void)state;
	if (geteuid() != 0)
		skip();
	unsetenv("SUDO_UID");
	put_file("theirs", "theirs");
	assert_int_equal(chown("theirs", OTHER, OTHER), 0);
	assert_int_equal(output_file_open(&file, "theirs", &err), -1);
	assert_non_null(strstr(err.text, "theirs: cannot write: it is a file of user 12345"));
	assert_file("theirs", "theirs");
	setenv("SUDO_UID", "12345", 1);
	assert_int_equal(output_file_open(&file, "theirs", &err), 0);
	assert_int_equal(output_file_close(&file, 0, &err), 0);
	unsetenv("SUDO_UID");
	put_file("ours", "ours");
	assert_int_equal(symlink("ours", "link"), 0);
	assert_int_equal(lchown("link", OTHER, OTHER), 0);
	assert_int_equal(output_file_open(&file, "link", &err), -1);
	assert_non_null(
		strstr(err.text, "link: cannot write: link is a symbolic link of user 12345"));
	unlink("link");
	assert_int_equal(symlink("nothing", "link"), 0);
	assert_int_equal(lchown("link", OTHER, OTHER), 0);
	assert_int_equal(output_file_open(&file, "link", &err), -1);
	assert_file("nothing", NULL);
	unlink("link");
	assert_int_equal(symlink(".", "link"), 0);
	assert_int_equal(lchown("link", OTHER, OTHER), 0);
	assert_int_equal(output_file_open(&file, "link/out", &err), -1);
	assert_non_null(strstr(err.text, "link/out: cannot write: link is a symbolic link"));
	assert_file("ours", "ours");
	unlink("link");
	unlink("ours");
	unlink("theirs");
	assert_int_equal(n_files(), 0);
}

/* Makes and removes "out" until it is killed. */
static void come_and_go(void)
{
	for (;;) {
		close(open("made", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		rename("made", "out");
		unlink("out");
	}
}

static void a_file_that_comes_and_goes_is_replaced_too(void **state)
{
	enum { TRIES = 20000 };
	int n_in_place = 0, n_failed = 0;
	pid_t other = fork();

	(void)state;
	assert_int_not_equal(other, -1);
	if (other == 0)
		come_and_go();
	for (int i = 0; i < TRIES; i++) {
		struct output_file file;
		struct err err;

		if (output_file_open(&file, "out", &err) < 0) {
			n_failed++;
			continue;
		}
		n_in_place += file.target == NULL;
		n_failed += output_file_close(&file, 0, &err) < 0;
	}
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
	assert_int_equal(n_in_place, 0);
	assert_int_equal(n_failed, 0);
	unlink("made");
	unlink("out");
	assert_int_equal(n_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_there_as_a_whole_or_as_it_was),
		cmocka_unit_test(links_and_rights_stay),
		cmocka_unit_test(a_published_file_grows_in_its_place),
		cmocka_unit_test(what_is_no_file_is_written_in_place),
		cmocka_unit_test(new_files_are_for_their_user_alone),
		cmocka_unit_test(files_and_links_of_others_are_left_alone),
		cmocka_unit_test(a_file_that_comes_and_goes_is_replaced_too),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
