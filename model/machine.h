/* SPDX-License-Identifier: Apache-2.0 */
/* The modelled machine: cores and memory, the threads that run on them, and the recorder. */
#ifndef CYCLOPS_MODEL_MACHINE_H
#define CYCLOPS_MODEL_MACHINE_H

#include "base/err.h"
#include "model/block.h"
#include "model/call.h"
#include "model/config.h"
#include "model/core.h"
#include "model/recorder.h"
#include "model/registers.h"
#include "model/replica.h"
#include "model/scheduler.h"
#include "model/stepper.h"

struct machine;

/* What a thread did while it could not be the running one. */
struct deferred {
	struct block *block;	 /* it entered this one, or NULL: */
	const struct insn *insn; /* this instruction … */
	uint64_t va;		 /* … accessed memory */
	unsigned size_bytes;
};

/* A process of the guest. */
struct process {
	uint32_t
		number; /* whose addresses: of those that live at the same time, each has its own */
	uint32_t pid;	/* in the capture */
	uint32_t n_threads;
	struct described described;
	struct blocks blocks; /* in memory that only this process has */
};

/* A thread of the guest. Each lives on one CPU; with more threads than CPUs they share. */
struct thread {
	struct machine *machine;
	struct process *process;
	struct core *core;
	struct task *task;
	struct thread_ids ids;
	struct registers registers; /* of the guest */
	struct stepper stepper;
	uint64_t last_time; /* told by thread_time() */
	bool is_in_call;    /* in a system call that may block */
	bool is_running;
	VEC_OF(struct deferred) deferred;
};

struct machine {
	const struct config *config; /* borrowed */
	struct memory memory;
	struct frames frames;
	struct core *cores; /* config->params.n_cpus of them, as of the next */
	struct journal *journal;
	struct counts *counts; /* in the journal */
	struct recorder recorder;
	struct truth *truth;	   /* NULL: not asked for */
	const struct ideal *ideal; /* borrowed, or constant */
	struct tuples block_pcs;   /* numbers of blocks, for … */
	struct replicas *replicas; /* of a program of one thread; NULL: none */
	bool is_parallel;	   /* it made a thread or a process */
	struct tally tally;	   /* … where the cycles go; empty unless config->gains asks */
	struct scheduler scheduler;
	struct register_trust trust;
	uint64_t shared_until; /* the cycle from which on the quantum is long again */
	uint64_t n_transfers;  /* memory.n_transfers when the thread was chosen */
	VEC_OF(struct thread *) threads;
	VEC_OF(struct process *) processes; /* by number; NULL: ended */
	uint32_t n_threads;		    /* so far */
};

/* Creates the capture too. */
int machine_init(struct machine *, const struct config *, struct err *);

/* No block of the process is entered again but those that threads are in: the others are freed. */
void machine_forget_blocks(struct machine *, struct process *);

/* The program is no longer one thread: what it does depends on how long it takes. */
void machine_drop_replicas(struct machine *);

/* No thread waits any more; those that run do so unseen. */
void machine_stop(struct machine *);

/* Finishes the capture. The process of the first thread is about to end. */
int machine_finish(struct machine *, struct err *);

/*
 * A new thread, made by `parent`, which is running; NULL for the first one. The machine
 * keeps it until machine_finish() or thread_exit().
 */
struct thread *machine_thread(struct machine *, struct thread *parent);

/*
 * The running thread makes a new process by fork: it is there, with one thread, when
 * this returns. Until machine_forked() the other threads of its own process do not wait. NULL: too
 * many processes live.
 */
struct thread *machine_fork(struct thread *parent);

/* In the child: the thread is the calling one. */
void machine_begin_child(struct thread *child);

/* In the parent. `child`, if the fork failed, or NULL. */
void machine_forked(struct thread *parent, struct thread *child);

/* The process of the running thread ends. */
void machine_exit(struct thread *);

/* The running thread ends. */
void thread_exit(struct thread *);

/*
 * The thread enters a block: the one before is completed. Waits until the thread is chosen to run.
 * `cpu_state`: of the emulator, NULL if it is not known.
 */
void thread_enter(struct thread *, struct block *, const void *cpu_state);

/* The thread's instruction, in its current block, accesses memory. */
void thread_access(struct thread *, const struct insn *, uint64_t va, unsigned size_bytes);

/* The thread enters the kernel, and comes back. */
void thread_call(struct thread *, const struct call *);
void thread_return(struct thread *, enum call_kind);

/*
 * The cycle at which the thread asks for the time: in a system call, or by an instruction of its
 * current block that reads the timer. Later than or the same as the last time it asked.
 */
uint64_t thread_time(struct thread *);

/* Where the thread is now. */
struct moment thread_moment(const struct thread *);

#endif
