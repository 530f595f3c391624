/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdebuginfod pulls in an HTTP client; it is opened when it is needed, so that cyclops
 * runs where it is not installed. A static program cannot open it, and asks debuginfod-find, the program of
 * the same package, which prints the path of its copy.
 */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CYCLOPS_STATIC

/* The part of the library's interface that is used; its types are opaque here. */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *id, int id_size, char **out_path);
typedef void end_function(void *client);

static const char *const find_names[] = {
	[DEBUGINFOD_EXECUTABLE] = "debuginfod_find_executable",
	[DEBUGINFOD_DEBUGINFO] = "debuginfod_find_debuginfo",
};

static char *fetch(begin_function *begin, find_function *find, end_function *end,
		   const struct build_id *id)
{
	void *client = begin();
	char *path = NULL;
	int fd;

	if (client == NULL)
		return NULL;
	fd = find(client, id->bytes, id->size, &path);
	if (fd >= 0)
		close(fd);
	end(client);
	return fd >= 0 ? path : NULL;
}

static char *ask(enum debuginfod_kind kind, const struct build_id *id)
{
	begin_function *begin;
	find_function *find;
	end_function *end;
	void *library;

	/* Never closed: the HTTP client's library does not bear it. */
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library == NULL)
		return NULL;
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&find = dlsym(library, find_names[kind]);
	*(void **)&end = dlsym(library, "debuginfod_end");
	if (begin == NULL || find == NULL || end == NULL)
		return NULL;
	return fetch(begin, find, end, id);
}

#else

extern char **environ;

static const char *const what[] = {
	[DEBUGINFOD_EXECUTABLE] = "executable",
	[DEBUGINFOD_DEBUGINFO] = "debuginfo",
};

/* The first line that can be read, to be freed; NULL if there is none. */
static char *read_line(int fd)
{
	FILE *stream = fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (stream == NULL) {
		close(fd);
		return NULL;
	}
	n = getline(&line, &size, stream);
	fclose(stream);
	if (n > 0 && line[n - 1] == '\n')
		line[--n] = '\0';
	if (n > 0)
		return line;
	free(line);
	return NULL;
}

/* Its standard output; -1: it cannot be run. What it says of servers that fail is not for our users. */
static int start(const char *const *words, pid_t *out_child)
{
	posix_spawn_file_actions_t actions;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	rc = posix_spawnp(out_child, words[0], &actions, NULL, (char *const *)(uintptr_t)words,
			  environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (rc == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

static char *ask(enum debuginfod_kind kind, const struct build_id *id)
{
	char digits[2 * sizeof(id->bytes) + 1] = "";
	const char *const words[] = { "debuginfod-find", what[kind], digits, NULL };
	int fd, status = -1;
	pid_t child;
	char *path;

	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	fd = start(words, &child);
	if (fd < 0)
		return NULL;
	path = read_line(fd);
	if (waitpid(child, &status, 0) == child && status == 0)
		return path;
	free(path);
	return NULL;
}

#endif

char *debuginfod_fetch(enum debuginfod_kind kind, const struct build_id *id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return id->size == 0 || urls == NULL || urls[0] == '\0' ? NULL : ask(kind, id);
}
