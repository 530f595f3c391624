/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that measures itself is unloaded: neither a thread that ends later nor the end of the program
 * may call code that is gone. Argument: the shared library.
 */
#include "cyclops/measure.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cyclops *handle;
static int (*thread_open)(struct cyclops *);
static pthread_barrier_t opened, unloaded;

static void *end_after_unloading(void *argument)
{
	thread_open(handle);
	pthread_barrier_wait(&opened);
	pthread_barrier_wait(&unloaded);
	return argument;
}

/* The function of that name. */
static void find(void *library, const char *name, void *out)
{
	void *at = dlsym(library, name);

	if (at == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	memcpy(out, &at, sizeof(at));
}

static void load_and_unload(const char *path, const char *out, int is_closed)
{
	struct cyclops_options o = { .sz = sizeof(o), .events = "page-faults", .out = out };
	int (*open_handle)(struct cyclops **, const struct cyclops_options *);
	int (*close_handle)(struct cyclops *);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	pthread_t thread;

	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	find(library, "cyclops_open", &open_handle);
	find(library, "cyclops_close", &close_handle);
	find(library, "cyclops_thread_open", &thread_open);
	open_handle(&handle, &o);
	pthread_barrier_init(&opened, NULL, 2);
	pthread_barrier_init(&unloaded, NULL, 2);
	pthread_create(&thread, NULL, end_after_unloading, NULL);
	pthread_barrier_wait(&opened);
	if (is_closed)
		close_handle(handle);
	dlclose(library);
	pthread_barrier_wait(&unloaded);
	pthread_join(thread, NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	char out[] = "/tmp/measure-test-XXXXXX";
	int fd = mkstemp(out), failed = argc != 2 || fd < 0;

	for (int is_closed = 0; is_closed < 2 && !failed; is_closed++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			load_and_unload(argv[1], out, is_closed);
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			fprintf(stderr, "handle %s: status %#x\n",
				is_closed ? "closed" : "left open", status);
			failed = 1;
		} else if (lseek(fd, 0, SEEK_END) == 0 || ftruncate(fd, 0) != 0) {
			fprintf(stderr, "handle %s: no output\n",
				is_closed ? "closed" : "left open");
			failed = 1;
		}
	}
	close(fd);
	unlink(out);
	return failed;
}
