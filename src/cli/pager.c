/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The process that becomes the pager when there is something to read. One at most, as there is one standard output; it is
 * kept here because the sandbox, outside of which it was started, is of the whole process, too.
 */
static struct {
	pid_t pid;  /* 0: none waits */
	int go;	    /* a byte starts it; closed, it ends */
	int failed; /* it writes here if there is no such program */
	int output; /* what it will read */
} waiting;

static bool is_wanted(const char **command)
{
	if (*command == NULL)
		*command = getenv("PAGER");
	return *command == NULL || ((*command)[0] != '\0' && strcmp(*command, "cat") != 0);
}

/* The child: waits, then becomes the pager. */
static void become_pager(const char *command, int input, int go, int failed)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(EXIT_SUCCESS);
	setenv("LESS", "FRX", 0);
	dup2(input, STDIN_FILENO);
	if (command != NULL)
		execlp("sh", "sh", "-c", command, NULL);
	else
		execlp("less", "less", NULL);
	_exit(write(failed, "", 1) == 1 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

void pager_prepare(const char *command)
{
	int data[2], go[2], failed[2];
	pid_t pid;

	if (!is_wanted(&command) || pipe2(data, O_CLOEXEC) < 0)
		return;
	if (pipe2(go, O_CLOEXEC) < 0) {
		close_pipe(data);
		return;
	}
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close_pipe(data);
		close_pipe(go);
		return;
	}
	pid = fork();
	if (pid == 0) {
		close(data[1]);
		close(go[1]);
		close(failed[0]);
		become_pager(command, data[0], go[0], failed[1]);
	}
	close(data[0]);
	close(go[0]);
	close(failed[1]);
	waiting.pid = pid > 0 ? pid : 0;
	waiting.go = go[1];
	waiting.failed = failed[0];
	waiting.output = data[1];
}

pid_t pager_start(const char *command, FILE **stream)
{
	pid_t pid;
	char byte;
	bool has_begun;

	if (waiting.pid == 0)
		pager_prepare(command);
	pid = waiting.pid;
	if (pid == 0)
		return 0;
	waiting.pid = 0;
	has_begun = write(waiting.go, "", 1) == 1 && read(waiting.failed, &byte, 1) == 0;
	close(waiting.go);
	close(waiting.failed);
	if (!has_begun) {
		close(waiting.output);
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);
	*stream = fdopen(waiting.output, "w");
	return pid;
}

int pager_end(FILE *stream, pid_t pager, int rc)
{
	fclose(stream);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
