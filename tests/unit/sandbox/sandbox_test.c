/* SPDX-License-Identifier: Apache-2.0 */
/* Each case runs in a child of its own, since nothing leaves a sandbox. Where the kernel lacks a part, it skips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/sandbox.h"
#include "sandbox/sanitized.h"

static char folder[] = "/tmp/cyclops-sandbox-XXXXXX";

/* How a case ended: its exit status, or minus the signal. */
static int end_of(int (*attempt)(void))
{
	struct sandbox_places places = { 0 };
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		char *home = realpath("home", NULL);

		setenv("HOME", home, 1);
		free(home);
		setenv("TMPDIR", "temporary", 1);
		*vec_add(&places.writes) = "made/output";
		*vec_add(&places.reads) = "home/.given";
		*vec_add(&places.folders) = "filled/later";
		sandbox_start(&places);
		sandbox_places_release(&places);
		_exit(attempt());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int call_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static int call_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0;
}
static int call_symlink(void)
{
	return symlink("a", "made/b");
}
static int call_unshare(void)
{
	return (int)syscall(SYS_unshare, 0);
}

static int call_exec(void)
{
	execl("/bin/true", "true", NULL);
	return 3;
}

static int call_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return 3;
}

static int call_trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}
static int signal_parent(void)
{
	return kill(getppid(), 0);
}

static void *in_thread(void *unused)
{
	call_socket();
	return unused;
}

static int call_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 4;
	pthread_join(thread, NULL);
	return 3;
}

static void forbidden_calls_kill(void **state)
{
	static const struct {
		int (*attempt)(void);
		bool sanitizers_call_it;
	} cases[] = {
		{ call_socket, false },	 { call_perf, false },	    { call_symlink, false },
		{ call_unshare, false }, { call_in_thread, false }, { call_exec, true },
		{ call_fork, true },	 { call_trace, true },	    { signal_parent, true },
	};

	(void)state;
	if (!sandbox_support().has_filter)
		skip();
	for (size_t i = 0; i < COUNT(cases); i++)
		if (!(cases[i].sanitizers_call_it && IS_SANITIZED))
			assert_int_equal(end_of(cases[i].attempt), -SIGSYS);
}

static int call_unknown(void)
{
	return syscall(SYS_personality, 0xffffffff) == -1 && errno == ENOSYS ? 0 : 1;
}

static int map_code(void)
{
	void *bytes = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return bytes == MAP_FAILED && errno == EPERM ? 0 : 1;
}

static void *nothing(void *unused)
{
	return unused;
}

static int work(void)
{
	pthread_t thread;
	char *bytes = malloc(1 << 20);
	bool has_memory = bytes != NULL;

	free(bytes);
	if (!has_memory || pthread_create(&thread, NULL, nothing, NULL) != 0)
		return 1;
	return pthread_join(thread, NULL) != 0 || isatty(0) < 0;
}

static void other_calls_fail_or_work(void **state)
{
	(void)state;
	if (!sandbox_support().has_filter)
		skip();
	assert_int_equal(end_of(work), 0);
	if (IS_SANITIZED) /* they have a symbolizer, with libraries */
		return;
	assert_int_equal(end_of(map_code), 0);
	assert_int_equal(end_of(call_unknown), 0);
}

/* 0: it was opened; else errno. */
static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : errno;
}

static int read_visible(void)
{
	return opens("home/sources/a.c", O_RDONLY);
}
static int read_hidden(void)
{
	return opens("home/.secret/key", O_RDONLY);
}
static int read_given(void)
{
	return opens("home/.given", O_RDONLY);
}
static int read_cache(void)
{
	return opens("home/.debug/elf", O_RDONLY);
}
static int read_passwords(void)
{
	return opens("/etc/passwd", O_RDONLY);
}
static int read_names(void)
{
	return opens("/proc/self/status", O_RDONLY);
}
static int read_parent(void)
{
	return opens("/proc/1/status", O_RDONLY);
}
static int write_beside(void)
{
	return opens("made/.cyclops-1", O_WRONLY | O_CREAT | O_EXCL);
}
static int write_elsewhere(void)
{
	return opens("other", O_WRONLY | O_CREAT | O_EXCL);
}
static int write_over(void)
{
	return opens("home/sources/a.c", O_WRONLY);
}
static int write_temporary(void)
{
	return opens("temporary", O_TMPFILE | O_RDWR);
}
static int make_in_filled(void)
{
	return mkdir("filled/later", 0700) == 0
		       ? opens("filled/later/x", O_WRONLY | O_CREAT | O_EXCL)
		       : errno;
}
static int make_elsewhere(void)
{
	return mkdir("home/sources/new", 0700) == 0 ? 0 : errno;
}
static int remove_elsewhere(void)
{
	return unlink("home/sources/a.c") == 0 ? 0 : errno;
}

static int write_over_temporary(void)
{
	return opens("temporary/old", O_WRONLY);
}
static int write_over_output(void)
{
	return opens("made/output", O_WRONLY | O_TRUNC);
}

static int replace_output(void)
{
	int rc = opens("made/.cyclops-2", O_WRONLY | O_CREAT | O_EXCL);

	return rc != 0 ? rc : rename("made/.cyclops-2", "made/output") == 0 ? 0 : errno;
}

static void files_are_open_where_they_have_to_be(void **state)
{
	static const struct {
		int (*attempt)(void);
		int wanted;
	} cases[] = {
		{ read_visible, 0 },
		{ read_hidden, EACCES },
		{ read_given, 0 },
		{ read_cache, 0 },
		{ read_passwords, EACCES },
		{ read_names, 0 },
		{ read_parent, EACCES },
		{ write_beside, 0 },
		{ write_elsewhere, EACCES },
		{ write_over, EACCES },
		{ write_temporary, 0 },
		{ replace_output, 0 },
		{ make_in_filled, 0 },
		{ write_over_temporary, EACCES },
		{ write_over_output, EACCES },
		{ make_elsewhere, EACCES },
		{ remove_elsewhere, EACCES },
	};

	(void)state;
	if (sandbox_support().landlock == 0 || !sandbox_support().has_filter)
		skip();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(end_of(cases[i].attempt), cases[i].wanted);
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int make_folder(void **state)
{
	static const char *const folders[] = { "home",	      "home/sources", "home/.secret",
					       "home/.debug", "temporary",    "made",
					       "filled" };

	(void)state;
	if (mkdtemp(folder) == NULL || chdir(folder) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(folders); i++)
		mkdir(folders[i], 0700);
	put("home/sources/a.c");
	put("home/.secret/key");
	put("home/.debug/elf");
	put("home/.given");
	put("temporary/old");
	put("made/output");
	return 0;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden_calls_kill),
		cmocka_unit_test(other_calls_fail_or_work),
		cmocka_unit_test(files_are_open_where_they_have_to_be),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
