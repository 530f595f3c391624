/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MAX_WORKERS = 1024 };

/* A list of jobs. The pool's mutex guards it; without `done`, where the order in which jobs end does not matter, next_run needs none. */
struct work {
	pool_job *run, *done;
	void *context;
	size_t n_jobs;
	size_t window;		/* with `done`: so many jobs may run ahead of it */
	atomic_size_t next_run; /* first job that no worker has taken */
	size_t next_done;
	bool *finished; /* by job % window: `run` has returned, `done` has not */
	bool draining;	/* a worker is calling `done` */
};

struct pool {
	unsigned n_workers;
	pthread_t *threads; /* n_workers - 1 */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct work *work;   /* NULL while idle */
	uint64_t generation; /* number of the list of jobs */
	unsigned n_busy;     /* threads in work_on() */
	struct work idle;    /* of pool_run_idle(); no jobs: nothing is left to do */
	unsigned n_idle;     /* threads that run one of them */
	bool stopping;
};

struct thread_start {
	struct pool *pool;
	unsigned worker;
};

/* Calls `done` for finished jobs in order. The mutex is held at the call and on return. */
static void pool_drain(struct pool *pool, struct work *work, unsigned worker)
{
	if (work->draining)
		return;
	work->draining = true;
	while (work->next_done < work->n_jobs && work->finished[work->next_done % work->window]) {
		size_t job = work->next_done;

		pthread_mutex_unlock(&pool->mutex);
		work->done(work->context, job, worker);
		pthread_mutex_lock(&pool->mutex);
		work->finished[job % work->window] = false;
		work->next_done = job + 1;
		pthread_cond_broadcast(&pool->changed);
	}
	work->draining = false;
}

/* Takes jobs until all are taken. They may be small and many, so the mutex is not held. */
static void work_in_any_order(struct work *work, unsigned worker)
{
	size_t job;

	while ((job = atomic_fetch_add(&work->next_run, 1)) < work->n_jobs)
		work->run(work->context, job, worker);
}

/* The same, with `done`. The mutex is held at the call and on return. */
static void work_in_order(struct pool *pool, struct work *work, unsigned worker)
{
	while (work->next_run < work->n_jobs) {
		size_t job = work->next_run;

		if (job - work->next_done >= work->window) {
			pthread_cond_wait(&pool->changed, &pool->mutex);
			continue;
		}
		work->next_run = job + 1;
		pthread_mutex_unlock(&pool->mutex);
		work->run(work->context, job, worker);
		pthread_mutex_lock(&pool->mutex);
		work->finished[job % work->window] = true;
		pool_drain(pool, work, worker);
	}
}

/* The mutex is held at the call and on return. */
static void work_on(struct pool *pool, struct work *work, unsigned worker)
{
	if (work->done != NULL) {
		work_in_order(pool, work, worker);
		return;
	}
	pthread_mutex_unlock(&pool->mutex);
	work_in_any_order(work, worker);
	pthread_mutex_lock(&pool->mutex);
}

/* Does one of the jobs that need not be done. The mutex is held at the call and on return. */
static void work_idly(struct pool *pool, unsigned worker)
{
	const struct work *idle = &pool->idle;
	pool_job *run = idle->run;
	void *context = idle->context;
	size_t job = pool->idle.next_run++;

	pool->n_idle++;
	pthread_mutex_unlock(&pool->mutex);
	run(context, job, worker);
	pthread_mutex_lock(&pool->mutex);
	pool->n_idle--;
	pthread_cond_broadcast(&pool->changed);
}

static void *thread_main(void *argument)
{
	struct thread_start start = *(struct thread_start *)argument;
	struct pool *pool = start.pool;
	uint64_t seen = 0;

	free(argument);
	pthread_mutex_lock(&pool->mutex);
	while (!pool->stopping) {
		if (pool->work == NULL || pool->generation == seen) {
			if (pool->idle.next_run < pool->idle.n_jobs)
				work_idly(pool, start.worker);
			else
				pthread_cond_wait(&pool->changed, &pool->mutex);
			continue;
		}
		seen = pool->generation;
		pool->n_busy++;
		work_on(pool, pool->work, start.worker);
		pool->n_busy--;
		pthread_cond_broadcast(&pool->changed);
	}
	pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

/* Starts as many threads as the system allows; with fewer it is only slower. */
static void start_threads(struct pool *pool)
{
	unsigned started = 1;

	for (; started < pool->n_workers; started++) {
		struct thread_start *start = mem_alloc(1, sizeof(*start));

		*start = (struct thread_start){ .pool = pool, .worker = started };
		if (pthread_create(&pool->threads[started - 1], NULL, thread_main, start) != 0) {
			free(start);
			break;
		}
	}
	pool->n_workers = started;
}

unsigned pool_usual_size(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned)online : 1;
}

struct pool *pool_new(unsigned n_workers)
{
	struct pool *pool = mem_zalloc(1, sizeof(*pool));

	if (n_workers == 0)
		n_workers = pool_usual_size();
	pool->n_workers = n_workers < MAX_WORKERS ? n_workers : MAX_WORKERS;
	pool->threads = mem_alloc(pool->n_workers, sizeof(*pool->threads));
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->changed, NULL);
	start_threads(pool);
	return pool;
}

void pool_free(struct pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->mutex);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->mutex);
	for (unsigned i = 0; i + 1 < pool->n_workers; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->mutex);
	free(pool->threads);
	free(pool);
}

unsigned pool_size(const struct pool *pool)
{
	return pool->n_workers;
}

static void run_work(struct pool *pool, struct work *work)
{
	if (work->n_jobs == 0)
		return;
	pthread_mutex_lock(&pool->mutex);
	assert(pool->work == NULL);
	pool->work = work;
	pool->generation++;
	pthread_cond_broadcast(&pool->changed);
	work_on(pool, work, 0);
	while (pool->n_busy > 0)
		pthread_cond_wait(&pool->changed, &pool->mutex);
	pool->work = NULL;
	pthread_mutex_unlock(&pool->mutex);
}

void pool_run(struct pool *pool, size_t n_jobs, pool_job *run, void *context)
{
	struct work work = {
		.run = run,
		.context = context,
		.n_jobs = n_jobs,
	};

	run_work(pool, &work);
}

void pool_run_idle(struct pool *pool, size_t n_jobs, pool_job *run, void *context)
{
	pthread_mutex_lock(&pool->mutex);
	assert(pool->n_idle == 0 && pool->idle.next_run >= pool->idle.n_jobs);
	pool->idle = (struct work){ .run = run, .context = context, .n_jobs = n_jobs };
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->mutex);
}

void pool_stop_idle(struct pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	pool->idle.n_jobs = 0;
	while (pool->n_idle > 0)
		pthread_cond_wait(&pool->changed, &pool->mutex);
	pthread_mutex_unlock(&pool->mutex);
}

void pool_run_ordered(struct pool *pool, size_t n_jobs, size_t window, pool_job *run,
		      pool_job *done, void *context)
{
	struct work work = {
		.run = run,
		.done = done,
		.context = context,
		.n_jobs = n_jobs,
		.window = window,
	};

	assert(window > 0);
	work.finished = mem_zalloc(window, sizeof(*work.finished));
	run_work(pool, &work);
	free(work.finished);
}
