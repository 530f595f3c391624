/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replica.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"

static void replica_init(struct replica *r, const struct params *params, const struct ideal *ideal)
{
	r->ideal = ideal;
	memory_init(&r->memory, params, &r->counts);
	frames_init(&r->frames, params);
	memory_make_ideal(&r->memory, ideal);
	frames_make_ideal(&r->frames, ideal);
	core_init(&r->core, 0, &r->memory, &r->frames, &r->counts, &no_sampling, 0);
	r->core.ideal = ideal;
	r->core.tally = &r->tally;
}

/* Threads with all signals blocked: the emulator's signal handlers work in its own threads only. */
static struct pool *pool_without_signals(void)
{
	sigset_t all, old;
	struct pool *pool;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pool = pool_new(0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pool;
}

struct replicas *replicas_new(const struct config *config)
{
	struct replicas *r;

	if (config->ideals.n < 2)
		return NULL;
	r = mem_zalloc(1, sizeof(*r));
	r->params = config->params;
	r->params.n_cpus = 1;
	r->n = config->ideals.n - 1;
	r->list = mem_zalloc(r->n, sizeof(*r->list));
	for (size_t i = 0; i < r->n; i++)
		replica_init(&r->list[i], &r->params, &config->ideals.items[i + 1]);
	r->operations = mem_alloc(REPLICA_OPERATIONS, sizeof(*r->operations));
	r->pool = pool_without_signals();
	return r;
}

void replicas_free(struct replicas *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n; i++) {
		core_release(&r->list[i].core);
		memory_release(&r->list[i].memory);
		frames_release(&r->list[i].frames);
		vec_release(&r->list[i].tally.cycles);
	}
	pool_free(r->pool);
	free(r->list);
	free(r->operations);
	free(r);
}

static void catch_up(void *context, size_t job, unsigned worker)
{
	const struct replicas *all = context;
	struct replica *r = &all->list[job];

	(void)worker;
	for (size_t i = 0; i < all->n_operations; i++) {
		const struct operation *o = &all->operations[i];

		if (o->block != NULL) {
			stepper_complete(&r->stepper, &r->core, o->block->pc, NULL, NULL);
			stepper_enter(&r->stepper, &r->core, o->block);
		} else if (o->insn != NULL) {
			if (r->core.now.insn != o->insn)
				stepper_advance(&r->stepper, &r->core, o->insn->index, NULL, NULL);
			core_access(&r->core, o->va, o->size_bytes);
		} else if (r->stepper.block != NULL) {
			stepper_complete(&r->stepper, &r->core, block_end(r->stepper.block), NULL,
					 NULL);
		}
	}
	core_count_cycles(&r->core);
}

void replicas_catch_up(struct replicas *r)
{
	pool_run(r->pool, r->n, catch_up, r);
	r->n_operations = 0;
}

void replicas_forget_mapping(struct replicas *r, uint64_t start, uint64_t end)
{
	replicas_catch_up(r);
	for (size_t i = 0; i < r->n; i++)
		if (frames_unmap(&r->list[i].frames, 0, start, end) > 0)
			tlbs_invalidate(&r->list[i].core.tlbs, 0, start, end);
}
