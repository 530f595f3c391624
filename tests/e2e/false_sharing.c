/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads as in the SPE white paper, section 5.2: a writer takes a lock, counts beside it and
 * writes a word of a second line; a reader reads other words of both lines. Built with -DAPART,
 * what is read has lines of its own. Prints how many cycles of 2.8 GHz each round took.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 50000 };

struct record {
	long lock, second_lock, reserved;
#ifdef APART
	long padding[5];
#else
	long padding[1];
#endif
	long values[4];
} __attribute__((aligned(64)));

static struct record first, second;
static int n_kinds = 1; /* of readers */

struct job {
	const char *name;
	uint64_t ticks;
	int number;
};

static struct job jobs[] = { { "writer", 0, 0 }, { "reader", 0, 1 } };
static pthread_barrier_t start;

static uint64_t read_timer(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}

static void *run(void *argument)
{
	struct job *job = argument;
	uint64_t begin;

	pthread_barrier_wait(&start);
	begin = read_timer();
	for (int i = 0; i < ROUNDS; i++) {
		if (*job->name == 'w') {
			__sync_lock_test_and_set(&first.lock, 1);
			first.lock += 1;
			second.second_lock = 1;
		} else {
			volatile long value;

			switch (job->number % n_kinds) {
			case 0:
				value = *(volatile long *)&first.values[0];
				value = *(volatile long *)&second.values[0];
				break;
			case 1:
				value = *(volatile long *)&first.values[1];
				value = *(volatile long *)&second.values[1];
				break;
			}
			(void)value;
		}
	}
	job->ticks = read_timer() - begin;
	return NULL;
}

int main(void)
{
	enum { N = sizeof(jobs) / sizeof(jobs[0]) };
	const double cycles_per_ns = 2.8;
	pthread_t threads[N];
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	pthread_barrier_init(&start, NULL, N);
	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N; i++)
		printf("%s %.1f\n", jobs[i].name,
		       (double)jobs[i].ticks / (double)frequency * 1e9 * cycles_per_ns / ROUNDS);
	return 0;
}
