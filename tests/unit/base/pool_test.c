/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"

enum { MAX_JOBS = 3000, WINDOW = 5 };

static const unsigned worker_counts[] = { 1, 2, 3, 7 };
static const size_t job_counts[] = { 0, 1, 2, 5, 6, MAX_JOBS };

/* Slots are written by jobs without any lock: the pool alone keeps them apart. */
struct work {
	unsigned n_runs[MAX_JOBS];
	size_t per_worker[8];
	unsigned n_workers;
	size_t slots[WINDOW]; /* by job % WINDOW */
	size_t order[MAX_JOBS];
	size_t n_done;
	atomic_int n_inside_done;
	atomic_bool is_wrong;
};

static void note_run(struct work *w, size_t job, unsigned worker)
{
	if (worker >= w->n_workers) {
		atomic_store(&w->is_wrong, true);
		return;
	}
	w->n_runs[job]++;
	w->per_worker[worker]++;
}

static void run(void *context, size_t job, unsigned worker)
{
	note_run(context, job, worker);
}

static void run_into_slot(void *context, size_t job, unsigned worker)
{
	struct work *w = context;

	note_run(w, job, worker);
	w->slots[job % WINDOW] = job * job;
}

static void take_from_slot(void *context, size_t job, unsigned worker)
{
	struct work *w = context;

	if (atomic_fetch_add(&w->n_inside_done, 1) != 0 || worker >= w->n_workers ||
	    w->slots[job % WINDOW] != job * job)
		atomic_store(&w->is_wrong, true);
	w->slots[job % WINDOW] = 0;
	w->order[w->n_done++] = job;
	atomic_fetch_sub(&w->n_inside_done, 1);
}

static void check_runs(const struct work *w, size_t n_jobs)
{
	size_t total = 0;

	assert_false(w->is_wrong);
	for (size_t i = 0; i < n_jobs; i++)
		assert_int_equal(w->n_runs[i], 1);
	for (size_t i = 0; i < COUNT(w->per_worker); i++)
		total += w->per_worker[i];
	assert_int_equal(total, n_jobs);
}

static void each_job_runs_once(void **state)
{
	struct work *w = mem_alloc(1, sizeof(*w));

	(void)state;
	for (size_t i = 0; i < COUNT(worker_counts); i++) {
		struct pool *pool = pool_new(worker_counts[i]);

		assert_int_equal(pool_size(pool), worker_counts[i]);
		for (size_t k = 0; k < COUNT(job_counts); k++) {
			memset(w, 0, sizeof(*w));
			w->n_workers = worker_counts[i];
			pool_run(pool, job_counts[k], run, w);
			check_runs(w, job_counts[k]);
		}
		pool_free(pool);
	}
	free(w);
}

static void done_follows_the_order_of_jobs(void **state)
{
	struct work *w = mem_alloc(1, sizeof(*w));

	(void)state;
	for (size_t i = 0; i < COUNT(worker_counts); i++) {
		struct pool *pool = pool_new(worker_counts[i]);

		for (size_t k = 0; k < COUNT(job_counts); k++) {
			memset(w, 0, sizeof(*w));
			w->n_workers = worker_counts[i];
			pool_run_ordered(pool, job_counts[k], WINDOW, run_into_slot, take_from_slot,
					 w);
			check_runs(w, job_counts[k]);
			assert_int_equal(w->n_done, job_counts[k]);
			for (size_t job = 0; job < job_counts[k]; job++)
				assert_int_equal(w->order[job], job);
		}
		pool_free(pool);
	}
	free(w);
}

/* With a window of one, a job begins only when the one before is done. */
struct strict {
	size_t running; /* unguarded on purpose */
	bool is_wrong;
};

static void run_strict(void *context, size_t job, unsigned worker)
{
	struct strict *s = context;

	(void)worker;
	s->is_wrong |= s->running != job;
}

static void done_strict(void *context, size_t job, unsigned worker)
{
	struct strict *s = context;

	(void)worker;
	s->running = job + 1;
}

static void a_window_of_one_is_serial(void **state)
{
	struct pool *pool = pool_new(4);
	struct strict s = { 0 };

	(void)state;
	pool_run_ordered(pool, 500, 1, run_strict, done_strict, &s);
	assert_int_equal(s.running, 500);
	assert_false(s.is_wrong);
	pool_free(pool);
}

/* Jobs that need not be done. */
struct idle {
	atomic_uint n_runs[MAX_JOBS];
	atomic_size_t n_done;
	atomic_bool is_wrong;
};

static void run_idly(void *context, size_t job, unsigned worker)
{
	struct idle *idle = context;

	if (worker == 0)
		atomic_store(&idle->is_wrong, true);
	atomic_fetch_add(&idle->n_runs[job], 1);
	atomic_fetch_add(&idle->n_done, 1);
}

/* While nobody runs anything else they are all done, each once, and none by the caller. */
static void idle_workers_do_idle_jobs(void **state)
{
	struct idle *idle = mem_alloc(1, sizeof(*idle));

	(void)state;
	for (size_t i = 1; i < COUNT(worker_counts); i++) {
		struct pool *pool = pool_new(worker_counts[i]);

		memset(idle, 0, sizeof(*idle));
		pool_run_idle(pool, MAX_JOBS, run_idly, idle);
		while (atomic_load(&idle->n_done) < MAX_JOBS)
			sched_yield();
		pool_stop_idle(pool);
		for (size_t job = 0; job < MAX_JOBS; job++)
			assert_int_equal(idle->n_runs[job], 1);
		assert_false(idle->is_wrong);
		pool_free(pool);
	}
	free(idle);
}

/* Other jobs do not wait for them, and what is stopped does not go on; a pool of one thread does none. */
static void idle_jobs_stop(void **state)
{
	struct idle *idle = mem_alloc(1, sizeof(*idle));
	struct work *w = mem_alloc(1, sizeof(*w));

	(void)state;
	for (size_t i = 0; i < COUNT(worker_counts); i++) {
		struct pool *pool = pool_new(worker_counts[i]);
		size_t n_done;

		memset(idle, 0, sizeof(*idle));
		memset(w, 0, sizeof(*w));
		w->n_workers = worker_counts[i];
		pool_run_idle(pool, MAX_JOBS, run_idly, idle);
		pool_run(pool, MAX_JOBS, run, w);
		check_runs(w, MAX_JOBS);
		pool_stop_idle(pool);
		n_done = idle->n_done;
		if (worker_counts[i] == 1)
			assert_int_equal(n_done, 0);
		for (size_t job = 0; job < MAX_JOBS; job++)
			assert_int_equal(idle->n_runs[job], job < n_done);
		memset(w, 0, sizeof(*w));
		w->n_workers = worker_counts[i];
		pool_run(pool, MAX_JOBS, run, w);
		assert_int_equal(idle->n_done, n_done);
		pool_run_idle(pool, 0, run_idly, idle);
		pool_free(pool);
	}
	free(idle);
	free(w);
}

static void zero_workers_means_the_machine(void **state)
{
	struct pool *pool = pool_new(0);

	(void)state;
	assert_true(pool_size(pool) >= 1);
	pool_free(pool);
	pool_free(NULL);
}

/* Each job has one turn. Of 32 that are all there, two that follow each other are no neighbours. */
static void jobs_of_near_turns_are_apart(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n++) {
		bool had[200] = { false };

		for (size_t turn = 0; turn < n; turn++) {
			size_t job = pool_apart(turn, n);

			assert_in_range(job, 0, n - 1);
			assert_false(had[job]);
			had[job] = true;
			if (turn % 32 > 0 && turn < n / 32 * 32)
				assert_int_not_equal(job, pool_apart(turn - 1, n) + 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_near_turns_are_apart),
		cmocka_unit_test(each_job_runs_once),
		cmocka_unit_test(done_follows_the_order_of_jobs),
		cmocka_unit_test(a_window_of_one_is_serial),
		cmocka_unit_test(idle_workers_do_idle_jobs),
		cmocka_unit_test(idle_jobs_stop),
		cmocka_unit_test(zero_workers_means_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
