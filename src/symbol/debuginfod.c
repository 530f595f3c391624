/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdebuginfod pulls in an HTTP client; it is opened when it is needed, so that cyclops
 * runs where it is not installed. A static program cannot open it, and asks debuginfod-find, the program of
 * the same package, which prints the path of its copy.
 */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

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

/* A question to the process that asks servers. */
struct request {
	enum debuginfod_kind kind;
	struct build_id id;
};

/*
 * That process, which is none of the sandbox. Kept here as the sandbox is of the whole process, too. Workers ask in turn.
 */
static struct {
	pthread_mutex_t turn;
	bool is_there;
	int requests, answers;
} outside = { .turn = PTHREAD_MUTEX_INITIALIZER };

static bool read_all(int fd, void *out, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (char *)out + at, n - at);

		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t done = write(fd, (const char *)bytes + at, n - at);

		if (done <= 0)
			return false;
		at += (size_t)done;
	}
	return true;
}

/* The other process: answers are a length and so many bytes of a path. */
static void serve(int requests, int answers)
{
	struct request r;
	bool is_open = true;

	while (is_open && read_all(requests, &r, sizeof(r)) && r.id.size <= sizeof(r.id.bytes) &&
	       (r.kind == DEBUGINFOD_EXECUTABLE || r.kind == DEBUGINFOD_DEBUGINFO)) {
		char *path = ask(r.kind, &r.id);
		uint32_t n = path != NULL ? (uint32_t)strlen(path) : 0;

		is_open = write_all(answers, &n, sizeof(n)) && write_all(answers, path, n);
		free(path);
	}
	_exit(EXIT_SUCCESS);
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls != NULL && urls[0] != '\0';
}

void debuginfod_prepare(void)
{
	int requests[2], answers[2];
	pid_t pid;

	if (!has_servers() || pipe2(requests, O_CLOEXEC) < 0)
		return;
	if (pipe2(answers, O_CLOEXEC) < 0) {
		close(requests[0]);
		close(requests[1]);
		return;
	}
	pid = fork();
	if (pid == 0) {
		close(requests[1]);
		close(answers[0]);
		serve(requests[0], answers[1]);
	}
	close(requests[0]);
	close(answers[1]);
	outside.is_there = pid > 0;
	outside.requests = requests[1];
	outside.answers = answers[0];
}

static char *ask_outside(enum debuginfod_kind kind, const struct build_id *id)
{
	const struct request r = { .kind = kind, .id = *id };
	char *path = NULL;
	uint32_t n = 0;

	pthread_mutex_lock(&outside.turn);
	if (write_all(outside.requests, &r, sizeof(r)) &&
	    read_all(outside.answers, &n, sizeof(n)) && n > 0 && n < PATH_MAX) {
		path = mem_zalloc(n + 1, 1);
		if (!read_all(outside.answers, path, n))
			path[0] = '\0';
	}
	pthread_mutex_unlock(&outside.turn);
	return path;
}

char *debuginfod_fetch(enum debuginfod_kind kind, const struct build_id *id)
{
	if (id->size == 0 || !has_servers())
		return NULL;
	return outside.is_there ? ask_outside(kind, id) : ask(kind, id);
}
