/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker pool for lists of independent jobs. The calling thread is worker 0. Jobs are taken in
 * order, each by one worker. A job writes only what belongs to it or to its worker. Results must
 * not depend on which worker ran a job.
 */
#ifndef CYCLOPS_BASE_POOL_H
#define CYCLOPS_BASE_POOL_H

#include <stddef.h>

struct pool;

/* One for each online CPU. */
unsigned pool_usual_size(void);

/* `n_workers` workers, the caller included; 0 means pool_usual_size(). */
struct pool *pool_new(unsigned n_workers);
void pool_free(struct pool *);

unsigned pool_size(const struct pool *);

typedef void pool_job(void *context, size_t job, unsigned worker);

/* Runs jobs 0 … n_jobs-1 and returns when all are done. Not reentrant. */
void pool_run(struct pool *, size_t n_jobs, pool_job *run, void *context);

/*
 * Jobs that need not be done: workers other than the caller's take them while they have nothing else to do, until all are done
 * or pool_stop_idle(), which waits for those that run. One list at a time.
 */
void pool_run_idle(struct pool *, size_t n_jobs, pool_job *run, void *context);
void pool_stop_idle(struct pool *);

/*
 * The job of a turn, where jobs read neighbouring pieces of a file of a mebibyte or so: those that run at a time are some
 * apart, as threads that map pages of the same 2 MiB wait for each other.
 */
static inline size_t pool_apart(size_t turn, size_t n_jobs)
{
	enum { WINDOW = 32, APART = 4, TURNS = WINDOW / APART };
	size_t at = turn % WINDOW, first = turn - at;

	return first + WINDOW <= n_jobs ? first + at % TURNS * APART + at / TURNS : turn;
}

/*
 * pool_run() that also calls `done` for job 0, 1, 2 … in this order, one at a time, each after its `run`,
 * on any worker. Job i starts only after job i - window is done, so there are at most `window`
 * results at a time: keep that of a job in slot job % window.
 */
void pool_run_ordered(struct pool *, size_t n_jobs, size_t window, pool_job *run, pool_job *done,
		      void *context);

#endif
