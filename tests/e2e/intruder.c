/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: when the program opens the file INTRUDER_AT, it does INTRUDER_DOES to INTRUDER_PATH, as code
 * would that a damaged capture brought to run, and says on standard error how that went.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int intrude(const char *what, const char *path)
{
	if (strcmp(what, "read") == 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (strcmp(what, "write") == 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC,
				    0600);
	if (strcmp(what, "connect") == 0)
		return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (strcmp(what, "exec") == 0)
		return execl("/bin/true", "true", NULL);
	if (strcmp(what, "misuse") == 0) { /* which a sanitizer reports */
		char *volatile text = strdup("freed");

		free(text);
		return (int)strlen(text);
	}
	return (int)syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

/* Not when the sandbox itself takes down which files it opens. */
static bool is_time(const char *path, int flags)
{
	const char *at = getenv("INTRUDER_AT");

	return at != NULL && (flags & O_PATH) == 0 && strcmp(at, path) == 0;
}

int open64(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...);
	va_list args;
	int mode;

	va_start(args, flags);
	mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, int) : 0;
	va_end(args);
	if (is_time(path, flags)) {
		errno = 0;
		dprintf(STDERR_FILENO, "intruder: %d\n",
			intrude(getenv("INTRUDER_DOES"), getenv("INTRUDER_PATH")) < 0 ? errno : 0);
	}
	*(void **)&next = dlsym(RTLD_NEXT, "open64");
	return next(path, flags, mode);
}
