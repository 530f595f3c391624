/* SPDX-License-Identifier: Apache-2.0 */
#include "model/machine.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/results.h"

static const struct ideal as_it_is = { .name = "now" };

/* Ids of the first process, the same in each run. Threads count on. */
enum { FIRST_PID = 1000 };

int machine_init(struct machine *m, const struct config *config, struct err *err)
{
	uint32_t n = config->params.n_cpus;

	*m = (struct machine){ .config = config };
	m->journal = journal_open(config->journal > 0 ? (int)config->journal : -1, err);
	if (m->journal == NULL || results_check(config, err) < 0 ||
	    recorder_open(&m->recorder, config, m->journal, err) < 0)
		return -1;
	m->cores = mem_zalloc(n, sizeof(*m->cores));
	m->counts = m->journal->counts;
	memory_init(&m->memory, &config->params, m->counts);
	frames_init(&m->frames, &config->params);
	turns_init(&m->turns, config->params.quantum, &m->journal->n_executed);
	tuples_init(&m->block_pcs, 1);
	if (config->truth != NULL)
		m->truth = truth_new();
	m->ideal = config->ideals.n > 0 ? &config->ideals.items[0] : &as_it_is;
	memory_make_ideal(&m->memory, m->ideal);
	frames_make_ideal(&m->frames, m->ideal);
	m->replicas = replicas_new(config);
	for (uint32_t i = 0; i < n; i++) {
		core_init(&m->cores[i], i, &m->memory, &m->frames, &m->counts[i], &config->sampling,
			  config->seed);
		m->cores[i].truth = m->truth;
		m->cores[i].ideal = m->ideal->bits != 0 ? m->ideal : NULL;
		m->cores[i].tally = config->gains != NULL ? &m->tally : NULL;
	}
	return 0;
}

static void keep_blocks(const struct thread *t)
{
	if (t->walk.block != NULL)
		t->walk.block->is_kept = true;
	for (size_t i = 0; i < t->deferred.n; i++)
		if (t->deferred.items[i].block != NULL)
			t->deferred.items[i].block->is_kept = true;
}

void machine_forget_blocks(struct machine *m, struct process *p)
{
	if (m->replicas != NULL)
		replicas_catch_up(m->replicas);
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.items[i]->process == p)
			keep_blocks(m->threads.items[i]);
	blocks_sweep(&p->blocks);
}

/* The guest gave up what was mapped there. */
static void forget_mapping(struct machine *m, struct process *p, uint64_t start, uint64_t end)
{
	described_remapped(&p->described, start, end);
	if (m->replicas != NULL)
		replicas_forget_mapping(m->replicas, start, end);
	if (frames_unmap(&m->frames, p->number, start, end) == 0)
		return;
	for (uint32_t i = 0; i < m->config->params.n_cpus; i++)
		if (m->counts[i].n[COUNT_INST_RETIRED] != 0)
			tlbs_invalidate(&m->cores[i].tlbs, p->number, start, end);
}

void machine_stop(struct machine *m)
{
	atomic_store(&m->journal->is_over, true);
	turns_end(&m->turns);
}

/* The program as this machine and its replicas have seen it. */
static int write_gains(const struct machine *m, struct err *err)
{
	const struct config *c = m->config;
	size_t n = m->replicas != NULL ? m->replicas->n : 0;
	struct timed_run *runs = mem_zalloc(n + 1, sizeof(*runs));
	int rc;

	runs[0] = (struct timed_run){
		.ideal = m->ideal,
		.tally = &m->tally,
		.cycles = results_last_cycle(c, m->counts),
	};
	for (uint32_t i = 0; i < c->params.n_cpus; i++)
		runs[0].cpu_cycles += m->counts[i].n[COUNT_CPU_CYCLES];
	for (size_t i = 0; i < n; i++) {
		const struct replica *r = &m->replicas->list[i];
		uint64_t cycles = r->counts.n[COUNT_CPU_CYCLES];

		runs[i + 1] = (struct timed_run){ r->ideal, &r->tally, cycles, cycles };
	}
	rc = results_write_gains(c, runs, n + 1, m->is_parallel, &m->block_pcs, err);
	free(runs);
	return rc;
}

static int write_results(struct machine *m, struct err *err)
{
	const struct config *c = m->config;

	for (uint32_t i = 0; i < c->params.n_cpus; i++)
		core_count_cycles(&m->cores[i]);
	if (c->counts != NULL && results_write_counts(c, m->counts, err) < 0)
		return -1;
	if (c->gains != NULL && write_gains(m, err) < 0)
		return -1;
	if (m->truth == NULL)
		return 0;
	truth_end(m->truth);
	return results_write_truth(c, m->truth, err);
}

/* Nothing is freed: other processes may still look at it, and this one ends. */
int machine_finish(struct machine *m, struct err *err)
{
	int rc;

	if (m->replicas != NULL)
		replicas_catch_up(m->replicas);
	for (size_t i = 0; i < m->threads.n; i++) {
		struct moment at = thread_moment(m->threads.items[i]);

		recorder_exit(&m->recorder, &at);
	}
	rc = recorder_close(&m->recorder, err);
	if (rc == 0)
		rc = write_results(m, err);
	atomic_store(&m->journal->is_finished, true);
	replicas_free(m->replicas);
	m->replicas = NULL;
	return rc;
}

struct moment thread_moment(const struct thread *t)
{
	return (struct moment){
		.thread = t->ids,
		.cpu = t->core->cpu,
		.cycle = core_cycle(t->core),
	};
}

static void keep_record(void *context, struct spe_record *record, uint64_t cycle)
{
	struct thread *t = context;
	struct moment at = thread_moment(t);

	at.cycle = cycle;
	recorder_spe(&t->machine->recorder, &t->process->described, record, &at,
		     sampler_collided(&t->core->sampler));
}

/* Its number is the first that is free; NULL if the tables of translations have no more. */
static struct process *add_process(struct machine *m)
{
	enum { MOST = 1 << 11 };
	struct process *p = mem_zalloc(1, sizeof(*p));
	uint32_t number = 0;

	while (number < m->processes.n && m->processes.items[number] != NULL)
		number++;
	if (number == MOST) {
		free(p);
		return NULL;
	}
	if (number == m->processes.n)
		vec_add(&m->processes);
	m->processes.items[number] = p;
	p->number = number;
	p->pid = FIRST_PID + m->n_threads;
	return p;
}

static void forget_translations(struct machine *m, const struct process *p)
{
	for (uint32_t i = 0; i < m->config->params.n_cpus; i++)
		if (m->counts[i].n[COUNT_INST_RETIRED] != 0)
			tlbs_invalidate_process(&m->cores[i].tlbs, p->number);
}

static void remove_process(struct machine *m, struct process *p)
{
	frames_exit(&m->frames, p->number);
	forget_translations(m, p);
	m->processes.items[p->number] = NULL;
	described_release(&p->described);
	free(p);
}

static struct thread *add_thread(struct machine *m, struct process *p, const struct thread *parent)
{
	struct thread *t = mem_zalloc(1, sizeof(*t));
	uint32_t number = m->n_threads++;

	t->machine = m;
	t->process = p;
	t->core = &m->cores[number % m->config->params.n_cpus];
	t->core->on_record = keep_record;
	t->ids = (struct thread_ids){ .pid = p->pid, .tid = FIRST_PID + number };
	if (parent != NULL)
		core_wait_until(t->core, core_cycle(parent->core));
	p->n_threads++;
	*vec_add(&m->threads) = t;
	t->seat = turns_join(&m->turns, &t->core->dispatch_cycle, p->number);
	return t;
}

/* The process goes with its last thread. */
static void remove_thread(struct thread *t)
{
	struct machine *m = t->machine;
	size_t i = 0;

	while (m->threads.items[i] != t)
		i++;
	m->threads.items[i] = m->threads.items[--m->threads.n];
	if (--t->process->n_threads == 0)
		remove_process(m, t->process);
	vec_release(&t->deferred);
	free(t);
}

void machine_drop_replicas(struct machine *m)
{
	m->is_parallel = true;
	replicas_free(m->replicas);
	m->replicas = NULL;
}

struct thread *machine_thread(struct machine *m, struct thread *parent)
{
	struct process *p = parent != NULL ? parent->process : add_process(m);
	struct thread *t = add_thread(m, p, parent);
	struct moment at = thread_moment(t);

	if (parent != NULL)
		machine_drop_replicas(m);
	if (parent == NULL) {
		blocks_init(&p->blocks);
		recorder_program(&m->recorder, &at);
	} else {
		recorder_fork(&m->recorder, parent->ids, &at);
	}
	return t;
}

struct thread *machine_fork(struct thread *parent)
{
	struct machine *m = parent->machine;
	struct process *p = add_process(m);
	struct spans shared = { 0 };
	struct thread *t;
	struct moment at;

	if (p == NULL)
		return NULL;
	machine_drop_replicas(m);
	turns_interrupt(&m->turns, parent->seat);
	p->blocks = parent->process->blocks;
	described_copy(&parent->process->described, &p->described);
	mappings_find_shared(p->described.guest_base, &shared);
	frames_fork(&m->frames, parent->process->number, p->number, &shared);
	spans_release(&shared);
	forget_translations(m, parent->process);
	t = add_thread(m, p, parent);
	t->registers = parent->registers;
	at = thread_moment(t);
	recorder_fork(&m->recorder, parent->ids, &at);
	return t;
}

void machine_begin_child(struct thread *child)
{
	turns_introduce(&child->machine->turns, child->seat);
}

void machine_forked(struct thread *parent, struct thread *child)
{
	struct machine *m = parent->machine;

	turns_resume(&m->turns, parent->seat);
	if (child == NULL)
		return;
	turns_leave(&m->turns, child->seat);
	remove_thread(child);
}

/* What the thread does, for the replicas. */
static void note(const struct thread *t, const struct operation *operation)
{
	if (t->machine->replicas != NULL)
		replicas_note(t->machine->replicas, operation);
}

static void access_noted(struct thread *t, const struct insn *in, uint64_t va, unsigned size_bytes)
{
	const struct operation access = { .insn = in, .va = va, .size_bytes = size_bytes };

	note(t, &access);
	core_access(t->core, va, size_bytes);
}

/*
 * An access that the emulator does not show. The registers are those behind the instruction
 * number `index`: none up to there may have changed those of the address.
 */
static void access_unseen(void *context, const struct insn *in, size_t index)
{
	struct thread *t = context;
	bool is_zeroing = in->kind == INSN_STORE;

	if (in->kept_until <= index || !registers_trusted(&t->machine->trust, &t->registers))
		return;
	access_noted(t, in, insn_address_of(in, t->registers.values),
		     is_zeroing ? ZEROED_BYTES : 1);
}

/* Executes what comes before the instruction `index` of the block, and begins that one. */
static void advance(struct thread *t, size_t index)
{
	walk_advance(&t->walk, t->core, index, access_unseen, t);
}

static void complete(struct thread *t, uint64_t next_pc)
{
	walk_complete(&t->walk, t->core, next_pc, access_unseen, t);
}

static void enter(struct thread *t, struct block *block)
{
	complete(t, block->pc);
	if (block->is_new) {
		struct moment at = thread_moment(t);

		block->is_new = false;
		block->number = tuples_add(&t->machine->block_pcs, &block->pc);
		recorder_use(&t->machine->recorder, &t->process->described, &at, block->pc, true);
	}
	if (t->machine->truth != NULL)
		truth_block(t->machine->truth, block->pc, block_end(block));
	note(t, &(struct operation){ .block = block });
	walk_enter(&t->walk, t->core, block);
}

static void access_memory(struct thread *t, const struct insn *in, uint64_t va, unsigned size_bytes)
{
	if (t->walk.block == NULL)
		return;
	if (t->core->now.insn != in) {
		advance(t, in->index);
		registers_check(&t->machine->trust, &t->registers, in, va);
	}
	access_noted(t, in, va, size_bytes);
}

/* Makes up for what happened before the thread got the turn. */
static void replay(struct thread *t)
{
	for (size_t i = 0; i < t->deferred.n; i++) {
		const struct deferred *d = &t->deferred.items[i];

		if (d->block != NULL)
			enter(t, d->block);
		else
			access_memory(t, d->insn, d->va, d->size_bytes);
	}
	t->deferred.n = 0;
}

/* The thread has the turn again; another one may have used its CPU. */
static void resume(struct thread *t)
{
	core_wait_until(t->core, t->seat->wake_at);
	core_switch(t->core, t, t->ids.tid, t->process->number);
	t->machine->n_transfers = t->machine->memory.n_transfers;
	replay(t);
}

/* Waits for the turn, if the thread does not have it. False: it has to go on without. */
static bool take_turn(struct thread *t)
{
	if (t->has_turn)
		return true;
	t->has_turn = turns_wait(&t->machine->turns, t->seat);
	if (t->has_turn)
		resume(t);
	return t->has_turn;
}

/*
 * Lines that go from CPU to CPU do so in the order of the clocks: turns are then short, and for as
 * long as it takes to see that no more do.
 */
static void set_quantum(struct machine *m, const struct core *c)
{
	enum { LONG_TURNS = 10 };
	const struct params *p = &m->config->params;

	if (m->memory.n_transfers != m->n_transfers)
		m->shared_until = core_cycle(c) + LONG_TURNS * p->quantum;
	m->turns.quantum = core_cycle(c) < m->shared_until ? p->sharing_quantum : p->quantum;
}

void thread_enter(struct thread *t, struct block *block, const void *cpu_state)
{
	struct turns *turns = &t->machine->turns;

	registers_see(&t->registers, &t->machine->trust, cpu_state);
	if (t->is_away)
		thread_return(t, CALL_BLOCKS);
	if (!take_turn(t)) {
		*vec_add(&t->deferred) = (struct deferred){ .block = block };
		return;
	}
	turns_beat(turns);
	enter(t, block);
	if (core_cycle(t->core) < t->seat->limit)
		return;
	set_quantum(t->machine, t->core);
	t->has_turn = false;
	turns_pass(turns, t->seat);
	take_turn(t);
}

void thread_access(struct thread *t, const struct insn *in, uint64_t va, unsigned size_bytes)
{
	if (t->has_turn)
		access_memory(t, in, va, size_bytes);
	else
		*vec_add(&t->deferred) =
			(struct deferred){ .insn = in, .va = va, .size_bytes = size_bytes };
}

void thread_call(struct thread *t, const struct call *call)
{
	struct machine *m = t->machine;
	uint64_t sleep_cycles = call->sleep_ns / 1000 * m->config->params.core_mhz;

	if (!take_turn(t))
		return;
	if (t->walk.block != NULL) {
		complete(t, block_end(t->walk.block));
		note(t, &(struct operation){ 0 });
	}
	if (call->unmapped_end > call->unmapped)
		forget_mapping(m, t->process, call->unmapped, call->unmapped_end);
	if (m->turns.seats.n == 1 || call->kind == CALL_PLAIN || call->kind == CALL_WAKES)
		return;
	t->has_turn = false;
	if (call->kind == CALL_BLOCKS) {
		t->is_away = true;
		turns_away(&m->turns, t->seat);
	} else if (call->kind == CALL_EXECUTES) {
		t->is_away = true;
		turns_execute(&m->turns, t->seat);
	} else if (call->kind == CALL_SLEEPS) {
		turns_sleep(&m->turns, t->seat, core_cycle(t->core) + sleep_cycles);
	} else if (call->kind == CALL_YIELDS) {
		turns_yield(&m->turns, t->seat);
	}
}

void thread_return(struct thread *t, enum call_kind kind)
{
	if (t->is_away) {
		t->is_away = false;
		turns_back(&t->machine->turns, t->seat);
	} else if (kind == CALL_WAKES && t->has_turn) {
		turns_settle(&t->machine->turns, t->seat);
	}
}

void thread_exit(struct thread *t)
{
	struct machine *m = t->machine;
	struct seat *seat = t->seat;
	struct moment at;

	take_turn(t);
	at = thread_moment(t);
	recorder_exit(&m->recorder, &at);
	remove_thread(t);
	turns_quit(&m->turns, seat);
}

void machine_exit(struct thread *t)
{
	struct machine *m = t->machine;
	struct process *p = t->process;
	struct seat *seat = t->seat;

	take_turn(t);
	for (size_t i = m->threads.n; i-- > 0;) {
		struct thread *other = m->threads.items[i];
		struct moment at = thread_moment(other);

		if (other->process != p)
			continue;
		recorder_exit(&m->recorder, &at);
		remove_thread(other);
	}
	turns_quit_process(&m->turns, seat);
}

uint64_t thread_time(struct thread *t)
{
	const struct core *c = t->core;
	uint64_t at = core_cycle(c) > c->last_retire ? core_cycle(c) : c->last_retire;

	for (size_t i = t->walk.next; t->has_turn && t->walk.block != NULL && i < t->walk.block->n;
	     i++) {
		if ((t->walk.block->insns[i].flags & INSN_READS_TIMER) == 0)
			continue;
		advance(t, i);
		at = c->now.done;
		break;
	}
	if (at > t->last_time)
		t->last_time = at;
	return t->last_time;
}
