/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deterministic scheduler of guest threads, of one process or several. One thread runs at a time:
 * the one with the lowest modelled clock, until it is a quantum ahead of the next. So threads
 * interact as they would on CPUs of their own, and each run of a program has the same order.
 *
 * A thread in a system call that may block does not count as running. Before another thread is
 * chosen, the scheduler settles: it waits until each thread in a call has returned or is asleep in
 * the kernel. So the modelled clocks also decide when a thread is woken.
 *
 *	READY ──chosen──► running ──end of quantum──► READY
 *	  ▲                 │ system call that may block
 *	  │ returned        ▼
 *	  └──────────────  IN_CALL ──asleep──► ASLEEP ──returned──► READY
 *
 * Threads that hand over for long without system calls take turns on one CPU of the host: to yield it,
 * or to wake each other there, costs less than to wait on two.
 *
 * EXITING: until the host's thread has ended. EXECUTING: until its process runs another program, or
 * the call has failed.
 */
#ifndef CYCLOPS_MODEL_SCHEDULER_H
#define CYCLOPS_MODEL_SCHEDULER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "model/host_cpu.h"

enum task_state { TASK_READY, TASK_IN_CALL, TASK_ASLEEP, TASK_EXITING, TASK_EXECUTING };

/* A thread for the scheduler. Clocks and times are cycles. */
struct task {
	const uint64_t *clock; /* of its CPU; borrowed */
	uint64_t wake_at;      /* it does not run before this cycle */
	uint64_t last_choice;  /* value of n_choices when it was chosen last */
	uint64_t limit;	       /* it runs until this cycle */
	enum task_state state;
	atomic_bool has_returned;  /* it has returned from its system call */
	atomic_bool is_late;	   /* it is READY, but the host's thread still sleeps */
	atomic_bool must_not_wait; /* it must not wait: its process stops its threads, or ends */
	bool ends_process;	   /* EXITING: with all threads of its process */
	uint32_t process;	   /* number of its process */
	pid_t kernel_id;	   /* thread id on the host; 0: not known yet */
	long n_switches;	/* IN_CALL: voluntary context switches when it entered the call */
	unsigned n_slept;	/* waits in a row in which it slept until it was chosen */
	unsigned n_doubts;	/* polls in a row that did not tell whether it waits */
	atomic_uint is_waiting; /* 1: it sleeps, or is about to, until it is woken: a futex */
	struct host_pin pin;	/* under the lock, but for is_set */
	unsigned n_late;	/* waits in a row in which yielding the CPU took long */
	unsigned n_sleeps;	/* waits in which it sleeps at once, as it did */
};

struct scheduler {
	pthread_mutex_t lock;
	_Atomic(struct task *) running; /* NULL: none, all are in calls */
	VEC_OF(struct task *) tasks;
	uint64_t quantum; /* cycles that a thread may be ahead; the running thread may change it */
	uint64_t n_choices;    /* times that a thread was chosen */
	atomic_ulong progress; /* grows while the running thread makes progress */
	atomic_uint *n_executed;
	atomic_bool is_over;
	atomic_uint
		n_waits; /* times that a thread waited for its turn since the last system call */
	atomic_uint n_pinned; /* tasks with a pin */
	int host_cpu;	      /* which all of them have */
	bool knows_waits;     /* the kernel tells of a thread that it waits */
	bool must_settle;     /* a thread entered a call since the scheduler settled */
};

/* `n_executed` counts processes that execute another program; borrowed. */
void scheduler_init(struct scheduler *, uint64_t quantum, atomic_uint *n_executed);
void scheduler_release(struct scheduler *);

/*
 * Adds a new thread, which is ready. Called by the running thread; the first thread of all runs at
 * once. `clock` must live as long as the result, which the scheduler owns.
 */
struct task *scheduler_add(struct scheduler *, const uint64_t *clock, uint32_t process);

/* Notes that the calling thread of the host is this one. scheduler_wait() does so, too. */
void scheduler_set_thread(struct scheduler *, struct task *);

/*
 * The running thread ends. It may still wake others until the host's thread has ended; then the
 * scheduler frees it.
 */
void scheduler_exit(struct scheduler *, struct task *);

/* Is this the running thread? It may run until its `limit`. */
static inline bool scheduler_is_running(const struct scheduler *t, const struct task *task)
{
	return atomic_load_explicit(&t->running, memory_order_acquire) == task;
}

/* The running thread makes progress. */
static inline void scheduler_note_progress(struct scheduler *t)
{
	unsigned long progress = atomic_load_explicit(&t->progress, memory_order_relaxed);

	atomic_store_explicit(&t->progress, progress + 1, memory_order_relaxed);
}

/*
 * Waits until the thread is the running one. False if that does not happen: scheduler_stop() was
 * called, or the running thread has slept for so long without progress that it probably waits for
 * this one. The emulator sometimes stops all its threads, which it cannot do while they wait here.
 */
bool scheduler_wait(struct scheduler *, struct task *);

/* The running thread has reached its limit. It may be chosen again; scheduler_wait() follows. */
void scheduler_end_quantum(struct scheduler *, const struct task *);

/* The same, but other threads that are ready run first. */
void scheduler_yield(struct scheduler *, struct task *);

/*
 * A thread is about to make a system call: all threads may use the host's CPUs again that they could
 * use at first.
 */
void scheduler_note_call(struct scheduler *);

/* The running thread enters a system call that may block. */
void scheduler_enter_call(struct scheduler *, struct task *);

/* The running thread executes another program. It is freed when that program runs. */
void scheduler_execute(struct scheduler *, struct task *);

/* The running thread sleeps until a cycle. It is READY with that clock, and may be late. */
void scheduler_sleep(struct scheduler *, struct task *, uint64_t until);

/* A thread has returned from a system call that may block. scheduler_wait() follows. */
void scheduler_return(struct scheduler *, struct task *);

/* The running thread has returned from a system call that does not block, but may wake others. */
void scheduler_settle(struct scheduler *, struct task *);

/*
 * The process of the running thread stops its other threads, and the emulator waits for them: until
 * scheduler_resume() they do not wait in scheduler_wait().
 */
void scheduler_interrupt(struct scheduler *, const struct task *);
void scheduler_resume(struct scheduler *, const struct task *);

/* The process of the running thread ends: scheduler_exit() for all its threads. */
void scheduler_exit_process(struct scheduler *, struct task *);

/* Removes a thread that scheduler_add() added and that never started. */
void scheduler_remove(struct scheduler *, struct task *);

/* Ends scheduling: no thread waits any more. */
void scheduler_stop(struct scheduler *);

#endif
