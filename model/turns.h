/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest threads, of one process or several, run one at a time, in an order that the modelled clocks decide: the thread
 * whose clock is behind has the turn, until it is a quantum ahead of the next. So threads meet
 * as they would on CPUs of their own, and each run goes the same way.
 *
 * A thread in a system call that may block is away. Before anybody goes on, all that are away
 * must be asleep in the kernel or back again; whoever is woken is so at a moment that the
 * clocks decide, too.
 *
 *	READY ──chosen──► holder ──quantum over──► READY
 *	  ▲                 │ blocking call
 *	  │ back            ▼
 *	  └──────────────  AWAY ──asleep──► ASLEEP ──back──► READY
 *
 * LEAVING: until its thread is gone. EXECUTING: until its process is another program, or is back.
 */
#ifndef CYCLOPS_MODEL_TURNS_H
#define CYCLOPS_MODEL_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

enum seat_state { SEAT_READY, SEAT_AWAY, SEAT_ASLEEP, SEAT_LEAVING, SEAT_EXECUTING };

/* A thread's place among those that take turns. */
struct seat {
	const uint64_t *clock; /* of the CPU it runs on; borrowed */
	uint64_t wake_at;      /* it does not run before: it was asleep */
	uint64_t last_turn;    /* number of its last turn */
	uint64_t limit;	       /* its turn ends at this cycle */
	enum seat_state state;
	atomic_bool is_back;  /* it has returned from the kernel */
	atomic_bool is_late;  /* ready by its clock, but really still asleep */
	atomic_bool is_waved; /* its process stops all its threads, or ends: it must not wait */
	bool ends_process;    /* SEAT_LEAVING: all its threads do */
	uint32_t process;     /* threads of one process have the same number */
	pid_t kernel_id;      /* of its thread; 0: it has not waited yet */
	long n_switches;      /* SEAT_AWAY: times it had waited in the kernel when it left */
	pthread_cond_t its_turn;
};

struct turns {
	pthread_mutex_t lock;
	_Atomic(struct seat *) holder; /* NULL: all are away */
	VEC_OF(struct seat *) seats;
	uint64_t quantum; /* how far ahead of the next a thread may run; the holder may change it */
	uint64_t n_turns;
	atomic_ulong beats; /* counts on while the holder gets somewhere */
	atomic_uint *n_executed;
	atomic_bool is_over;
	bool must_settle; /* somebody went away since it was last seen to */
};

/* `n_executed` counts processes that became another program. */
void turns_init(struct turns *, uint64_t quantum, atomic_uint *n_executed);
void turns_release(struct turns *);

/*
 * A seat for a new thread, which is ready at once. Called by the holder, or for the first
 * thread, which becomes the holder. `clock` must live as long as the seat.
 */
struct seat *turns_join(struct turns *, const uint64_t *clock, uint32_t process);

/* The calling thread is the one of the seat. turns_wait() finds that out, too. */
void turns_introduce(struct turns *, struct seat *);

/*
 * The holder leaves for good. What it does until its kernel thread is gone may still wake
 * others; then the seat is freed.
 */
void turns_quit(struct turns *, struct seat *);

/* Does the thread have the turn? It may keep it until seat->limit. */
static inline bool turns_hold(struct turns *t, const struct seat *seat)
{
	return atomic_load_explicit(&t->holder, memory_order_acquire) == seat;
}

/* The holder got somewhere. */
static inline void turns_beat(struct turns *t)
{
	unsigned long beats = atomic_load_explicit(&t->beats, memory_order_relaxed);

	atomic_store_explicit(&t->beats, beats + 1, memory_order_relaxed);
}

/*
 * Waits for the turn. False if it does not come: the game is over, or for so long nobody got
 * anywhere that the holder must be waiting for this thread itself (the emulator sometimes stops
 * all threads, and cannot while they wait here). A holder that is not asleep is only slow.
 */
bool turns_wait(struct turns *, struct seat *);

/* The holder has come to the end of its turn; it may get another one. Then turns_wait(). */
void turns_pass(struct turns *, const struct seat *);

/* The same, but all others that are ready go first. */
void turns_yield(struct turns *, struct seat *);

/* The holder enters a system call that may block. */
void turns_away(struct turns *, struct seat *);

/* The holder executes another program: its seat is free when that runs. */
void turns_execute(struct turns *, struct seat *);

/* The holder sleeps until a cycle; it counts as ready, but will be late. */
void turns_sleep(struct turns *, struct seat *, uint64_t until);

/* A thread that was away is back. It does not have the turn yet. */
void turns_back(struct turns *, struct seat *);

/* The holder was in a system call that did not block, but may have woken others. */
void turns_settle(struct turns *, struct seat *);

/*
 * The holder's process stops its other threads: until turns_resume() they do not wait for their
 * turn, as the emulator waits for them.
 */
void turns_interrupt(struct turns *, const struct seat *);
void turns_resume(struct turns *, const struct seat *);

/* The holder's process ends, and with it all its threads: as turns_quit() of each. */
void turns_quit_process(struct turns *, struct seat *);

/* Takes back turns_join(): the thread never began. */
void turns_leave(struct turns *, struct seat *);

/* Nobody waits any more. */
void turns_end(struct turns *);

#endif
