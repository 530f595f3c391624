/* SPDX-License-Identifier: Apache-2.0 */
#include "model/machine.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/mark_reader.h"
#include "model/observer.h"
#include "model/results.h"

static const struct ideal as_it_is = { .name = "now" };

/* Process and thread id of the first thread, the same in each run. Further threads count up. */
enum { FIRST_PID = 1000 };

/* Of a CPU; NULL if nobody asks what it does. */
static struct observer *new_observer(const struct machine *m, uint32_t cpu)
{
	const struct config *c = m->config;

	if (m->truth == NULL && c->samples.events.n == 0)
		return NULL;
	return observer_new(m->truth, &c->samples, &c->params, c->seed * MAX_CPUS + cpu);
}

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
	scheduler_init(&m->scheduler, config->params.quantum, &m->journal->n_executed);
	tuples_init(&m->block_pcs, 1);
	regions_init(&m->regions);
	if (config->truth != NULL)
		m->truth = truth_new();
	m->ideal = config->ideals.n > 0 ? &config->ideals.items[0] : &as_it_is;
	memory_make_ideal(&m->memory, m->ideal);
	frames_make_ideal(&m->frames, m->ideal);
	m->replicas = replicas_new(config);
	for (uint32_t i = 0; i < n; i++) {
		core_init(&m->cores[i], i, &m->memory, &m->frames, &m->counts[i],
			  config->without_spe ? &no_sampling : &config->sampling, config->seed);
		m->cores[i].truth = m->truth;
		m->cores[i].observer = new_observer(m, i);
		m->cores[i].ideal = m->ideal->bits != 0 ? m->ideal : NULL;
		m->cores[i].tally = config->gains != NULL ? &m->tally : NULL;
	}
	return 0;
}

static void keep_blocks(const struct thread *t)
{
	if (t->stepper.block != NULL)
		t->stepper.block->is_kept = true;
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

/* The guest unmapped addresses, or mapped them anew. */
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
	scheduler_stop(&m->scheduler);
}

/* Writes the cycles of this machine and its replicas. */
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

	for (uint32_t i = 0; i < c->params.n_cpus; i++) {
		core_count_cycles(&m->cores[i]);
		if (m->cores[i].observer != NULL)
			observer_end(m->cores[i].observer, &m->counts[i]);
	}
	if (c->counts != NULL && results_write_counts(c, m->counts, &m->regions, err) < 0)
		return -1;
	if (c->gains != NULL && write_gains(m, err) < 0)
		return -1;
	if (m->truth == NULL)
		return 0;
	truth_end(m->truth);
	return results_write_truth(c, m->truth, err);
}

/* Frees nothing: other processes may still use it, and this one ends. */
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

/* The calls of a kept record, which only samples have, for the truth. */
static void note_callers(const struct thread *t, const struct spe_record *r,
			 const struct moment *at)
{
	const struct recorder *recorder = &t->machine->recorder;
	const struct call_stack *calls = &t->core->observer->calls;
	uint64_t chain[CALL_CHAIN_MOST + 1];
	size_t n = call_stack_read(calls, calls->at, r->pc, chain);
	const struct truth_record record = {
		.pc = r->pc,
		.time_ns = recorder_ns(recorder, at->cycle),
		.events = r->events,
		.tid = at->thread.tid,
		.total = r->total,
	};

	truth_record(t->machine->truth, &record, chain + 2, n - 2);
}

static void keep_record(void *context, struct spe_record *record, uint64_t cycle)
{
	struct thread *t = context;
	struct moment at = thread_moment(t);

	at.cycle = cycle;
	if (t->machine->truth != NULL && t->machine->config->samples.has_chains)
		note_callers(t, record, &at);
	recorder_spe(&t->machine->recorder, &t->process->described, record, &at,
		     sampler_collided(&t->core->sampler));
}

static void keep_sample(void *context, const struct pmu_sample *sample)
{
	struct thread *t = context;
	struct moment at = thread_moment(t);

	recorder_sample(&t->machine->recorder, sample, &at);
}

/* Gives the process the first free number; NULL: TLB keys have room for no more processes. */
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
	if (t->core->observer != NULL)
		t->core->observer->on_sample = keep_sample;
	t->ids = (struct thread_ids){ .pid = p->pid, .tid = FIRST_PID + number };
	if (parent != NULL)
		core_wait_until(t->core, core_cycle(parent->core));
	p->n_threads++;
	*vec_add(&m->threads) = t;
	t->task = scheduler_add(&m->scheduler, &t->core->dispatch_cycle, p->number);
	return t;
}

/* Removes the process with its last thread. */
static void remove_thread(struct thread *t)
{
	struct machine *m = t->machine;
	size_t i = 0;

	while (m->threads.items[i] != t)
		i++;
	m->threads.items[i] = m->threads.items[--m->threads.n];
	if (--t->process->n_threads == 0)
		remove_process(m, t->process);
	for (size_t k = 0; k < t->deferred.n; k++)
		free(t->deferred.items[k].mark);
	vec_release(&t->deferred);
	region_stacks_release(&t->regions);
	if (m->turns[t->core->cpu].thread == t)
		m->turns[t->core->cpu].thread = NULL;
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
	scheduler_interrupt(&m->scheduler, parent->task);
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
	scheduler_set_thread(&child->machine->scheduler, child->task);
}

void machine_forked(struct thread *parent, struct thread *child)
{
	struct machine *m = parent->machine;

	scheduler_resume(&m->scheduler, parent->task);
	if (child == NULL)
		return;
	scheduler_remove(&m->scheduler, child->task);
	remove_thread(child);
}

/* Logs an operation of the thread for the replicas. */
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
 * An access that the emulator does not report. The registers are known as of instruction `index` of
 * the block: no instruction up to there may write those of the address. Else it was known at the access before.
 */
static void access_unseen(void *context, const struct insn *in, size_t index)
{
	struct thread *t = context;
	bool is_zeroing = in->kind == INSN_STORE, is_kept = in->kept_until > index;

	if (!registers_trusted(&t->machine->trust, &t->registers) ||
	    (!is_kept && t->unseen.insn != in))
		return;
	access_noted(t, in, is_kept ? insn_address_of(in, t->registers.values) : t->unseen.va,
		     is_zeroing ? ZEROED_BYTES : 1);
}

/* The address of what follows this access and is not reported. */
static void foresee(struct thread *t, const struct insn *in)
{
	const struct insn *next = &t->stepper.block->insns[in->unseen_behind];

	if (!registers_trusted(&t->machine->trust, &t->registers))
		return;
	t->unseen.insn = next;
	t->unseen.va = insn_address_of(next, t->registers.values);
}

/* Executes the instructions before number `index` of the block, and begins that one. */
static void advance(struct thread *t, size_t index)
{
	stepper_advance(&t->stepper, t->core, index, access_unseen, t);
}

static void complete(struct thread *t, uint64_t next_pc)
{
	stepper_complete(&t->stepper, t->core, next_pc, access_unseen, t);
}

static void enter(struct thread *t, struct block *block)
{
	complete(t, block->pc);
	t->unseen.insn = NULL;
	if (block->is_new) {
		struct moment at = thread_moment(t);

		block->is_new = false;
		block->number = tuples_add(&t->machine->block_pcs, &block->pc);
		recorder_use(&t->machine->recorder, &t->process->described, &at, block->pc, true);
	}
	if (t->machine->truth != NULL)
		truth_block(t->machine->truth, block->pc, block_end(block));
	note(t, &(struct operation){ .block = block });
	stepper_enter(&t->stepper, t->core, block);
}

static void access_memory(struct thread *t, const struct insn *in, uint64_t va, unsigned size_bytes)
{
	if (t->stepper.block == NULL)
		return;
	if (t->core->now.insn != in) {
		advance(t, in->index);
		registers_check(&t->machine->trust, &t->registers, in, va);
		if (in->unseen_behind > 0)
			foresee(t, in);
	}
	access_noted(t, in, va, size_bytes);
}

/* What the running thread has counted on its CPU, whose other threads have turns of their own. */
static void count_turn(const struct thread *t, struct region_counts *out)
{
	const struct turn *turn = &t->machine->turns[t->core->cpu];

	core_count_cycles(t->core);
	for (size_t i = 0; i < N_COUNTS; i++)
		out->counts.n[i] = t->counts.n[i] + t->core->counts->n[i] - turn->since.n[i];
	out->cycle = t->core->last_retire;
}

/* The thread is going to run on its CPU: what has been counted there is another one's. */
static void begin_turn(struct thread *t)
{
	struct turn *turn = &t->machine->turns[t->core->cpu];
	struct region_counts counted;

	if (turn->thread == t)
		return;
	if (turn->thread != NULL) {
		count_turn(turn->thread, &counted);
		turn->thread->counts = counted.counts;
	}
	core_count_cycles(t->core);
	turn->thread = t;
	turn->since = *t->core->counts;
}

/* The thread comes to an access that sets a mark. All that is before it has retired. */
static void take_mark(struct thread *t, const struct insn *in, const struct seen_mark *mark)
{
	struct region_counts now;

	if (t->stepper.block == NULL || in->index == 0)
		return;
	advance(t, in->index - 1u);
	if (t->core->now.insn != NULL)
		core_end(t->core, in->pc);
	count_turn(t, &now);
	regions_see(&t->machine->regions, &t->regions, t->ids.pid, t->ids.tid, mark, &now);
}

/* Executes what the thread did before it was chosen. */
static void replay(struct thread *t)
{
	for (size_t i = 0; i < t->deferred.n; i++) {
		const struct deferred *d = &t->deferred.items[i];

		if (d->mark != NULL)
			take_mark(t, d->insn, d->mark);
		if (d->block != NULL)
			enter(t, d->block);
		else
			access_memory(t, d->insn, d->va, d->size_bytes);
		free(d->mark);
	}
	t->deferred.n = 0;
}

/* The thread runs again; another one may have used its CPU. */
static void resume(struct thread *t)
{
	begin_turn(t);
	core_wait_until(t->core, t->task->wake_at);
	core_switch(t->core, t, t->ids.tid, t->process->number);
	t->machine->n_transfers = t->machine->memory.n_transfers;
	replay(t);
}

/* Waits until the thread is the running one. False: it goes on, and what it does is deferred. */
static bool wait_to_run(struct thread *t)
{
	if (t->is_running)
		return true;
	t->is_running = scheduler_wait(&t->machine->scheduler, t->task);
	if (t->is_running)
		resume(t);
	return t->is_running;
}

/*
 * Transfers of lines between CPUs shall be in the order of the clocks. So the quantum is short
 * after a transfer, until there was none for some long quanta.
 */
static void set_quantum(struct machine *m, const struct core *c)
{
	enum { LONG_QUANTA = 10 };
	const struct params *p = &m->config->params;

	if (m->memory.n_transfers != m->n_transfers)
		m->shared_until = core_cycle(c) + LONG_QUANTA * p->quantum;
	m->scheduler.quantum = core_cycle(c) < m->shared_until ? p->sharing_quantum : p->quantum;
}

void thread_enter(struct thread *t, struct block *block, const void *cpu_state)
{
	struct scheduler *scheduler = &t->machine->scheduler;

	registers_see(&t->registers, &t->machine->trust, cpu_state);
	if (t->is_in_call)
		thread_return(t, CALL_BLOCKS);
	if (!wait_to_run(t)) {
		*vec_add(&t->deferred) = (struct deferred){ .block = block };
		return;
	}
	scheduler_note_progress(scheduler);
	enter(t, block);
	if (core_cycle(t->core) < t->task->limit)
		return;
	set_quantum(t->machine, t->core);
	t->is_running = false;
	scheduler_end_quantum(scheduler, t->task);
	wait_to_run(t);
}

void thread_access(struct thread *t, const struct insn *in, uint64_t va, unsigned size_bytes)
{
	struct deferred access = { .insn = in, .va = va, .size_bytes = size_bytes };
	struct seen_mark mark;
	bool is_mark = (in->flags & INSN_MARK) != 0 &&
		       mark_read(va, t->process->described.guest_base, &mark);

	if (!t->is_running) {
		/* The guest may use its memory for something else before this is replayed. */
		if (is_mark) {
			access.mark = mem_zalloc(1, sizeof(*access.mark));
			*access.mark = mark;
		}
		*vec_add(&t->deferred) = access;
		return;
	}
	if (is_mark)
		take_mark(t, in, &mark);
	access_memory(t, in, va, size_bytes);
}

void thread_call(struct thread *t, const struct call *call)
{
	struct machine *m = t->machine;
	uint64_t sleep_cycles = call->sleep_ns / 1000 * m->config->params.core_mhz;
	bool is_chosen = wait_to_run(t);

	scheduler_note_call(&m->scheduler);
	if (!is_chosen)
		return;
	if (t->stepper.block != NULL) {
		complete(t, block_end(t->stepper.block));
		note(t, &(struct operation){ 0 });
	}
	if (call->unmapped_end > call->unmapped)
		forget_mapping(m, t->process, call->unmapped, call->unmapped_end);
	if (m->scheduler.tasks.n == 1 || call->kind == CALL_PLAIN || call->kind == CALL_WAKES)
		return;
	t->is_running = false;
	if (call->kind == CALL_BLOCKS) {
		t->is_in_call = true;
		scheduler_enter_call(&m->scheduler, t->task);
	} else if (call->kind == CALL_EXECUTES) {
		t->is_in_call = true;
		scheduler_execute(&m->scheduler, t->task);
	} else if (call->kind == CALL_SLEEPS) {
		scheduler_sleep(&m->scheduler, t->task, core_cycle(t->core) + sleep_cycles);
	} else if (call->kind == CALL_YIELDS) {
		scheduler_yield(&m->scheduler, t->task);
	}
}

void thread_return(struct thread *t, enum call_kind kind)
{
	if (t->is_in_call) {
		t->is_in_call = false;
		scheduler_return(&t->machine->scheduler, t->task);
	} else if (kind == CALL_WAKES && t->is_running) {
		scheduler_settle(&t->machine->scheduler, t->task);
	}
}

void thread_exit(struct thread *t)
{
	struct machine *m = t->machine;
	struct task *task = t->task;
	struct moment at;

	wait_to_run(t);
	at = thread_moment(t);
	recorder_exit(&m->recorder, &at);
	remove_thread(t);
	scheduler_exit(&m->scheduler, task);
}

void machine_exit(struct thread *t)
{
	struct machine *m = t->machine;
	struct process *p = t->process;
	struct task *task = t->task;

	wait_to_run(t);
	for (size_t i = m->threads.n; i-- > 0;) {
		struct thread *other = m->threads.items[i];
		struct moment at = thread_moment(other);

		if (other->process != p)
			continue;
		recorder_exit(&m->recorder, &at);
		remove_thread(other);
	}
	scheduler_exit_process(&m->scheduler, task);
}

uint64_t thread_time(struct thread *t)
{
	const struct core *c = t->core;
	uint64_t at = core_cycle(c) > c->last_retire ? core_cycle(c) : c->last_retire;

	for (size_t i = t->stepper.next;
	     t->is_running && t->stepper.block != NULL && i < t->stepper.block->n; i++) {
		if ((t->stepper.block->insns[i].flags & INSN_READS_TIMER) == 0)
			continue;
		advance(t, i);
		at = c->now.done;
		break;
	}
	if (at > t->last_time)
		t->last_time = at;
	return t->last_time;
}
