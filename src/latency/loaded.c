/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/loaded.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "latency/levels.h"
#include "latency/sweep.h"

enum {
	STRETCH_LOADS = 2048,
	MOST_STRETCHES = 4096,
	LEAST_STRETCHES = 5,
	SETTLE_MS = 5,
	LINES_AT_ONCE = 64, /* between looks at the delay */
};

static const uint64_t delays[] = { 0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096 };

/* What all threads look at; `delay` changes while they run. */
struct load_control {
	_Atomic uint64_t delay;
	_Atomic bool is_idle, is_over;
};

struct load_thread {
	_Alignas(128) _Atomic uint64_t n_lines; /* read so far */
	struct load_control *control;
	struct ring_memory memory;
	unsigned cpu;
	pthread_t thread;
	bool is_running;
};

/* Reads a word of each line, from the start to the end again and again. */
static void *read_memory(void *argument)
{
	struct load_thread *t = argument;
	const size_t line = t->memory.line, n = t->memory.size / line;
	size_t at = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(t->cpu, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus); /* checked to be allowed */
	while (!atomic_load_explicit(&t->control->is_over, memory_order_relaxed)) {
		uint64_t delay = atomic_load_explicit(&t->control->delay, memory_order_relaxed);

		if (atomic_load_explicit(&t->control->is_idle, memory_order_relaxed)) {
			sched_yield();
			continue;
		}
		for (int i = 0; i < LINES_AT_ONCE; i++) {
			(void)*(const volatile uint64_t *)(const void *)(t->memory.start +
									 at * line);
			at = at + 1 == n ? 0 : at + 1;
			timer_spin(delay);
		}
		atomic_fetch_add_explicit(&t->n_lines, LINES_AT_ONCE, memory_order_relaxed);
	}
	return NULL;
}

static uint64_t lines_read(struct load_thread *threads, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += atomic_load_explicit(&threads[i].n_lines, memory_order_relaxed);
	return sum;
}

static uint64_t cpu_time_ns(struct load_thread *threads, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct timespec used;
		clockid_t id;

		if (pthread_getcpuclockid(threads[i].thread, &id) == 0 &&
		    clock_gettime(id, &used) == 0)
			sum += (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	}
	return sum;
}

static void wait_ms(unsigned ms)
{
	uint64_t end = timer_ns_now() + ms * (uint64_t)1000000;

	while (timer_ns_now() < end)
		;
}

/* Chases for a while and fills the latency and the bandwidth of the point. */
static void measure_loaded_point(const struct loaded_request *r, struct load_thread *threads,
				 const struct timer *t, void ***ring, size_t line,
				 struct loaded_point *out)
{
	double *ns = mem_alloc(MOST_STRETCHES, sizeof(*ns)),
	       *cycles = mem_alloc(MOST_STRETCHES, sizeof(*cycles));
	double ghz = timer_core_ghz(t), length_ns;
	uint64_t start_ns, lines, cpu_ns;
	size_t n = 0;

	wait_ms(SETTLE_MS);
	lines = lines_read(threads, r->n_cpus);
	cpu_ns = cpu_time_ns(threads, r->n_cpus);
	start_ns = timer_ns_now();
	do {
		struct timer_start start = timer_start(t);
		struct elapsed e;

		*ring = ring_follow(*ring, STRETCH_LOADS);
		e = timer_stop(t, &start);
		ns[n] = e.ns / STRETCH_LOADS;
		cycles[n] = (e.cycles > 0 ? e.cycles : e.ns * ghz) / STRETCH_LOADS;
		n++;
	} while (n < MOST_STRETCHES &&
		 (n < LEAST_STRETCHES ||
		  timer_ns_now() - start_ns < r->ms_each * (uint64_t)1000000));
	length_ns = (double)(timer_ns_now() - start_ns);
	out->running = (double)(cpu_time_ns(threads, r->n_cpus) - cpu_ns) /
		       ((double)r->n_cpus * length_ns);
	lines = lines_read(threads, r->n_cpus) - lines + n * STRETCH_LOADS;
	out->bytes_per_s = (double)(lines * line) / length_ns * 1e9;
	out->ns = median_of(ns, n);
	out->cycles = median_of(cycles, n);
	out->least_ns = ns[0];
	out->most_ns = ns[n - 1];
	free(ns);
	free(cycles);
}

static int start_threads(const struct loaded_request *r, struct load_control *control,
			 struct load_thread *threads, struct err *err)
{
	for (size_t i = 0; i < r->n_cpus; i++) {
		struct load_thread *t = &threads[i];

		t->control = control;
		t->cpu = r->cpus[i];
		if (ring_memory_init(&t->memory, r->bytes_each, false, "--loaded", err) < 0)
			return -1;
		if (pthread_create(&t->thread, NULL, read_memory, t) != 0)
			return err_set(err, ERR_LIMIT, ERR_NOWHERE,
				       "--loaded: thread %zu cannot be started: %m", i + 1);
		t->is_running = true;
	}
	return 0;
}

int loaded_run(const struct loaded_request *r, const struct ring_memory *memory,
	       const struct timer *t, struct loaded *out, struct err *err)
{
	struct load_thread *threads =
		aligned_alloc(_Alignof(struct load_thread), r->n_cpus * sizeof(*threads));
	struct load_control control = { 0 };
	void **ring;
	int rc;

	if (threads == NULL)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "--loaded: no memory for %zu threads",
			       r->n_cpus);
	memset(threads, 0, r->n_cpus * sizeof(*threads));
	*out = (struct loaded){ .n_threads = r->n_cpus };
	atomic_store(&control.is_idle, true);
	ring = ring_link(memory, r->ring_bytes, r->order, 1);
	ring = ring_follow(ring, r->ring_bytes / memory->line);
	rc = start_threads(r, &control, threads, err);
	if (rc == 0) {
		progress_begin(r->progress, "loading memory", COUNT(delays) + 1);
		for (size_t i = 0; i <= COUNT(delays); i++) {
			struct loaded_point *point = vec_add(&out->points);

			point->is_idle = i == COUNT(delays);
			point->delay_cycles = point->is_idle ? 0 : delays[i];
			atomic_store(&control.delay, point->delay_cycles);
			atomic_store(&control.is_idle, point->is_idle);
			measure_loaded_point(r, threads, t, &ring, memory->line, point);
			progress_add(r->progress, 1);
		}
		progress_end(r->progress);
	}
	atomic_store(&control.is_over, true);
	for (size_t i = 0; i < r->n_cpus; i++) {
		if (threads[i].is_running)
			pthread_join(threads[i].thread, NULL);
		ring_memory_release(&threads[i].memory);
	}
	free(threads);
	return rc;
}

void loaded_release(struct loaded *l)
{
	vec_release(&l->points);
}
