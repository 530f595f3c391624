/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs to be recorded, which say what CPU time they took themselves: that of the recorder is the rest.
 *
 *	record-work OUT busy MS		two threads, so many milliseconds of CPU time each, 20 calls deep
 *	record-work OUT alive N		N threads at a time, which work a little in turn, a few at once
 *	record-work OUT short N		N threads, one after the other
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { DEPTH = 20, AT_ONCE = 8, STACK_BYTES = 64 << 10, ALIVE_US = 100, SHORT_US = 20 };

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Volatile, so that no call is a jump or one of many. */
static volatile unsigned sink;

__attribute__((noinline)) static void deep(unsigned depth)
{
	if (depth > 0)
		deep(depth - 1);
	else
		for (unsigned i = 0; i < 10000; i++)
			sink = sink * 3 + i;
	sink = depth;
}

static void work(double ms)
{
	double end = cpu_ms() + ms;

	while (cpu_ms() < end)
		deep(DEPTH);
}

static void *run_busy(void *ms)
{
	work(*(const double *)ms);
	return NULL;
}

static sem_t turns;
static pthread_barrier_t all_are_here;

static void *run_alive(void *unused)
{
	pthread_barrier_wait(&all_are_here);
	sem_wait(&turns);
	work(1e-3 * ALIVE_US);
	sem_post(&turns);
	return unused;
}

static void *run_short(void *unused)
{
	work(1e-3 * SHORT_US);
	return unused;
}

static void run_threads(size_t n, void *(*function)(void *), void *argument, int one_by_one)
{
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (size_t i = 0; i < n; i++) {
		if (threads == NULL ||
		    pthread_create(&threads[i], &attr, function, argument) != 0) {
			fprintf(stderr, "record-work: no thread: %s\n", strerror(errno));
			exit(1);
		}
		if (one_by_one)
			pthread_join(threads[i], NULL);
	}
	for (size_t i = 0; i < n && !one_by_one; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
	double amount = argc == 4 ? strtod(argv[3], NULL) : 0;
	size_t n = (size_t)amount;
	struct rusage usage;
	FILE *out;

	if (amount < 1)
		return 2;
	if (strcmp(argv[2], "busy") == 0) {
		run_threads(2, run_busy, &amount, 0);
	} else if (strcmp(argv[2], "alive") == 0) {
		sem_init(&turns, 0, AT_ONCE);
		pthread_barrier_init(&all_are_here, NULL, (unsigned)n);
		run_threads(n, run_alive, NULL, 0);
	} else {
		run_threads(n, run_short, NULL, 1);
	}
	out = fopen(argv[1], "w");
	getrusage(RUSAGE_SELF, &usage);
	if (out == NULL)
		return 1;
	fprintf(out, "%.6f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime));
	return fclose(out) != 0;
}
