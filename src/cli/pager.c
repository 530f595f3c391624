/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

extern char **environ;

/* Runs it with `input` as its standard input. 0: it cannot be run. */
static pid_t spawn(const char *command, int input)
{
	char *by_shell[] = { (char[]){ "sh" }, (char[]){ "-c" }, NULL, NULL };
	char *by_default[] = { (char[]){ "less" }, NULL };
	char *const *argv = command != NULL ? by_shell : by_default;
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;
	int failed;

	if (command != NULL)
		by_shell[2] = mem_strndup(command, strlen(command));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(by_shell[2]);
	return failed == 0 ? pid : 0;
}

pid_t pager_start(const char *command, FILE **stream)
{
	int ends[2];
	pid_t pid;

	if (command == NULL)
		command = getenv("PAGER");
	if (command != NULL && (command[0] == '\0' || strcmp(command, "cat") == 0))
		return 0;
	setenv("LESS", "FRX", 0);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	pid = spawn(command, ends[0]);
	close(ends[0]);
	if (pid == 0) {
		close(ends[1]);
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);
	*stream = fdopen(ends[1], "w");
	return pid;
}

int pager_end(FILE *stream, pid_t pager, int rc)
{
	fclose(stream);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
