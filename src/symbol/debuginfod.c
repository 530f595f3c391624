/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdebuginfod pulls in an HTTP client; it is opened when it is needed, so that cyclops
 * runs where it is not installed.
 */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

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

char *debuginfod_fetch(enum debuginfod_kind kind, const struct build_id *id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	begin_function *begin;
	find_function *find;
	end_function *end;
	void *library;

	if (id->size == 0 || urls == NULL || urls[0] == '\0')
		return NULL;
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
