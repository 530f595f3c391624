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
#include "model/regions.h"
#include "model/registers.h"
#include "model/replica.h"
#include "model/scheduler.h"
#include "model/stepper.h"

struct machine;

/* What a thread did while it could not be the running one. */
struct deferred {
	struct block *block;	 /* the block that it entered; NULL: it accessed memory */
	const struct insn *insn; /* the instruction that accessed memory */
	uint64_t va;
	unsigned size_bytes;
	struct seen_mark *mark; /* that it set by this access; NULL: none */
};

/* A process of the guest. */
struct process {
	uint32_t number; /* unique among live processes, for frames and TLBs */
	uint32_t pid;	 /* in the capture */
	uint32_t n_threads;
	struct described described;
	struct blocks blocks; /* in private memory of the process */
};

/* A thread of the guest. It always runs on the same CPU, which it may share with others. */
struct thread {
	struct machine *machine;
	struct process *process;
	struct core *core;
	struct task *task;
	struct thread_ids ids;
	struct registers registers; /* of the guest */
	struct { /* an access that is not reported, and where it is going to be */
		const struct insn *insn; /* NULL: none */
		uint64_t va;
	} unseen;
	struct stepper stepper;
	uint64_t last_time; /* the last result of thread_time() */
	bool is_in_call;    /* in a system call that may block */
	bool is_running;
	VEC_OF(struct deferred) deferred;
	struct region_stacks regions; /* that are open */
	struct counts counts;	      /* of its turns on the CPU, without this one */
};

/* Whose turn it is on a CPU. */
struct turn {
	struct thread *thread; /* NULL: none, or it ended */
	struct counts since;   /* the CPU's counts at its begin */
};

struct machine {
	const struct config *config; /* borrowed */
	struct memory memory;
	struct frames frames;
	struct core *cores; /* config->params.n_cpus of them */
	struct journal *journal;
	struct counts *counts; /* in the journal */
	struct recorder recorder;
	struct truth *truth;	   /* NULL: not asked for */
	const struct ideal *ideal; /* borrowed, or constant */
	struct tuples block_pcs;   /* numbers of blocks, by their first address */
	struct replicas *replicas; /* of a program of one thread; NULL: none */
	bool is_parallel;	   /* the program made a thread or a process */
	struct tally tally;	   /* cycles by number of the block, for config->gains */
	struct regions regions;
	struct turn turns[MAX_CPUS];
	struct scheduler scheduler;
	struct register_trust trust;
	uint64_t shared_until; /* the cycle from which on the quantum is long again */
	uint64_t n_transfers;  /* memory.n_transfers when the thread was chosen */
	VEC_OF(struct thread *) threads;
	VEC_OF(struct process *) processes; /* by number; NULL: ended */
	uint32_t n_threads;		    /* that the program ever had */
};

/* Also creates the capture. */
int machine_init(struct machine *, const struct config *, struct err *);

/*
 * The emulator drops its translations: frees the process's blocks, except those that threads are
 * in.
 */
void machine_forget_blocks(struct machine *, struct process *);

/* The program is no longer one thread, so its order depends on time: replicas cannot time it. */
void machine_drop_replicas(struct machine *);

/* Ends modelling. Threads no longer wait for each other. */
void machine_stop(struct machine *);

/* Completes all files. The process of the first thread is about to end. */
int machine_finish(struct machine *, struct err *);

/*
 * Adds a thread, which the running thread `parent` made; NULL for the first one. The machine owns
 * it until machine_finish() or thread_exit().
 */
struct thread *machine_thread(struct machine *, struct thread *parent);

/*
 * The running thread forks. Returns the thread of the new process, or NULL if there are too many.
 * Until machine_forked() the other threads of the parent's process do not wait.
 */
struct thread *machine_fork(struct thread *parent);

/* In the child, called by its thread. */
void machine_begin_child(struct thread *child);

/* In the parent, after the fork. `child`: the thread to remove if the fork failed; else NULL. */
void machine_forked(struct thread *parent, struct thread *child);

/* The process of the running thread ends. */
void machine_exit(struct thread *);

/* The running thread ends. */
void thread_exit(struct thread *);

/*
 * The thread has executed its last block and enters this one. Waits until the thread is chosen to
 * run. `cpu_state`: of the emulator; NULL: not known.
 */
void thread_enter(struct thread *, struct block *, const void *cpu_state);

/* The thread's instruction, in its current block, accesses memory. */
void thread_access(struct thread *, const struct insn *, uint64_t va, unsigned size_bytes);

/* The thread enters a system call, and returns from it. */
void thread_call(struct thread *, const struct call *);
void thread_return(struct thread *, enum call_kind);

/*
 * The cycle at which the thread reads the time, in a system call or by an instruction of its
 * current block that reads the timer. Never less than the last result.
 */
uint64_t thread_time(struct thread *);

/* The thread with its CPU and cycle. */
struct moment thread_moment(const struct thread *);

#endif
