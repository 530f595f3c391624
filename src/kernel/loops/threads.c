/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads that access the same lines. The caller's thread is measured, the other one works for it. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "kernel/loops/inside.h"

/* Whose turn it is; on a line of its own, as all that both threads write. */
enum turn { TURN_READER, TURN_PEER, TURN_END };

struct shared_lines {
	_Alignas(LINE_BYTES) _Atomic int turn;
	_Alignas(LINE_BYTES) _Atomic int is_ending;
	_Alignas(LINE_BYTES) char counters[PAGE_BYTES];
};

/* Waits until the turn changes, and gives up the CPU now and then: there may be only one. */
static int wait_while(struct shared_lines *s, int turn)
{
	enum { PATIENCE = 1 << 12 };
	int now;

	for (unsigned i = 1; (now = atomic_load_explicit(&s->turn, memory_order_acquire)) == turn;
	     i++)
		if (i % PATIENCE == 0)
			sched_yield();
	return now;
}

/* To the CPU that was asked for; else to any but that of the measured thread, if there are others. */
static void move_to_peer_cpu(const struct microbenchmark_run *r)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (r->peer_cpu == ANY_CPU ? cpu != r->first_cpu : cpu == r->peer_cpu)
			CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static int start_peer(struct microbenchmark_run *r, void *(*run)(void *), struct err *err)
{
	int error;

	r->first_cpu = sched_getcpu();
	error = pthread_create(&r->peer, NULL, run, r);
	r->has_peer = error == 0;
	return error == 0 ? 0
			  : err_set(err, ERR_IO, ERR_NOWHERE, "kernel %s: no second thread: %s",
				    r->what->name, strerror(error));
}

static void finish_peer(struct microbenchmark_run *r)
{
	struct shared_lines *s = r->shared;

	if (!r->has_peer)
		return;
	atomic_store(&s->is_ending, 1);
	atomic_store(&s->turn, TURN_END);
	pthread_join(r->peer, NULL);
	r->has_peer = false;
}

/* The peer walks the ring, and writes beside each pointer if the lines shall be modified. */
static void *walk_in_turn(void *argument)
{
	enum { WORD = 16 / sizeof(long) };
	struct microbenchmark_run *r = argument;
	struct shared_lines *s = r->shared;

	move_to_peer_cpu(r);
	while (wait_while(s, TURN_READER) == TURN_PEER) {
		void *volatile *at = r->memory;

		for (uint64_t i = 0; i < r->values[LINES]; i++) {
			if (r->values[MODIFIED] != 0)
				((volatile long *)at)[WORD] = (long)i;
			at = *at;
		}
		atomic_store_explicit(&s->turn, TURN_READER, memory_order_release);
	}
	return NULL;
}

static int prepare_snoop(struct microbenchmark_run *r, struct err *err)
{
	size_t bytes = (r->values[LINES] * LINE_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	if (run_take_memory(r, bytes + sizeof(struct shared_lines), false, err) < 0)
		return -1;
	make_pointer_ring(r->memory, r->values[LINES], LINE_BYTES, 0);
	r->shared = (char *)r->memory + bytes;
	return start_peer(r, walk_in_turn, err);
}

/* Each round the peer walks first, then the reader: its loads alone are of interest. */
static void run_snoop(struct microbenchmark_run *r)
{
	struct shared_lines *s = r->shared;

	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		unsigned long count;
		void *at = r->memory;

		n = left < r->values[LINES] ? left : r->values[LINES];
		count = (unsigned long)n;
		atomic_store_explicit(&s->turn, TURN_PEER, memory_order_release);
		wait_while(s, TURN_PEER);
		__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %[at], [%[at]]\n",
							    "mov (%[at]), %[at]\n",
							    "ldr %[at], [%[at]]\n") LOOP_END
				 : [at] "+r"(at), [n] "+r"(count)
				 :
				 : "cc", "memory");
	}
}

/* Adds to a word, n times. */
static void add_loop(unsigned long n, char *word)
{
	unsigned long t;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("ldr %[t], [%[w]]\n"
						    "add %[t], %[t], #1\n"
						    "str %[t], [%[w]]\n",
						    "mov (%[w]), %[t]\n"
						    "add $1, %[t]\n"
						    "mov %[t], (%[w])\n",
						    "ldr %[t], [%[w]]\n"
						    "add %[t], %[t], #1\n"
						    "str %[t], [%[w]]\n") LOOP_END
			 : [n] "+r"(n), [t] "=&r"(t)
			 : [w] "r"(word)
			 : "cc", "memory");
}

/* The peer adds to its word until the end. */
static void *add_beside(void *argument)
{
	enum { AT_ONCE = 100 };
	struct microbenchmark_run *r = argument;
	struct shared_lines *s = r->shared;

	move_to_peer_cpu(r);
	while (atomic_load_explicit(&s->is_ending, memory_order_relaxed) == 0)
		add_loop(AT_ONCE, s->counters + r->values[PADDING]);
	return NULL;
}

static int prepare_sharing(struct microbenchmark_run *r, struct err *err)
{
	if (run_take_memory(r, sizeof(struct shared_lines), false, err) < 0)
		return -1;
	r->shared = r->memory;
	return start_peer(r, add_beside, err);
}

static void run_sharing(struct microbenchmark_run *r)
{
	add_loop((unsigned long)r->values[ITERATIONS],
		 ((struct shared_lines *)r->shared)->counters);
}

const struct microbenchmark microbenchmark_snoop = {
	.name = "snoop",
	.iteration = "a load of a line that another thread has just written, or read",
	.proves = "lines that come from another core, modified or shared",
	.parameters = {
		ITERATIONS_RANGE(200000),
		LINES_RANGE(256),
		[MODIFIED] = { 1, 0, 1 },
	},
	.n_arrays = 1,
	.n_threads = 2,
	.architectures = ON_ALL,
	.prepare = prepare_snoop,
	.run = run_snoop,
	.round = round_of_lines,
	.finish = finish_peer,
};

const struct microbenchmark microbenchmark_sharing = {
	.name = "sharing",
	.iteration = "an addition to a word, while another thread adds to one near by",
	.proves = "false sharing: lines that two cores take from each other",
	.parameters = {
		ITERATIONS_RANGE(500000),
		[PADDING] = { 8, 8, PAGE_BYTES - 8, 8 },
	},
	.n_threads = 2,
	.architectures = ON_ALL,
	.prepare = prepare_sharing,
	.run = run_sharing,
	.finish = finish_peer,
};
