/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs what probes saw of functions, their starts and returns, into calls, and adds up what each call
 * counted: by function, thread and function around it, as libcyclops does for regions.
 */
#ifndef CYCLOPS_STAT_PROBES_PAIRS_H
#define CYCLOPS_STAT_PROBES_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { CALL_DURATION = 0, CALL_EVENTS = 24 }; /* event 0: the elapsed time in ns */

/* A probe was hit. */
struct probe_hit {
	int32_t tid;
	uint32_t function; /* its index */
	bool is_return;
	bool has_exits; /* it is seen at the function's own returns: nothing returns from it twice */
	bool loops_to_start; /* the function jumps to its first instruction: that is no call */
	/* the stack pointer as it is at the function's first instruction; 0: not known */
	uint64_t stack;
	uint64_t enabled_ns, running_ns; /* of the events, until now */
	uint64_t values[CALL_EVENTS];
};

struct call_event {
	uint64_t sum, inside; /* inside: part of the sum that is of functions called from it */
	uint64_t min, max;
	uint64_t *histogram; /* HISTOGRAM_BUCKETS; owned */
};

/* A function in one thread, called from inside of another. */
struct call_path {
	int32_t tid;
	uint32_t function;
	uint32_t parent;   /* index of the function around it, from 1; 0: none */
	bool is_recursive; /* it was open already: the outermost call has its count, too */
	uint64_t calls;
	uint64_t whole_calls; /* whose events were counted all of the time */
	uint64_t enabled_ns, running_ns;
	uint64_t inside_enabled_ns, inside_running_ns;
	struct call_event events[CALL_EVENTS]; /* min, max, histogram: of whole calls */
};

/* A call that has not returned yet. */
struct open_call {
	size_t path; /* its index */
	struct probe_hit start;
	uint64_t inside_enabled_ns, inside_running_ns;
	uint64_t inside[CALL_EVENTS];
};

struct call_thread {
	int32_t tid;
	VEC_OF(struct open_call) stack;
};

/* Zeroed, but for n_events, is empty. */
struct call_counts {
	size_t n_events; /* with the duration */
	VEC_OF(struct call_path) paths;
	VEC_OF(struct call_thread) threads;
	uint64_t
		n_unreturned; /* calls left by longjmp, an exception, exec or the end of a thread */
	uint64_t n_unstarted; /* returns of calls that began before their thread was counted */
	uint64_t n_lost;      /* records that did not fit into the ring */
	uint64_t n_after_loss; /* calls that were open then, and returns afterwards: not counted */
};

void call_counts_add(struct call_counts *, const struct probe_hit *);

/* `n` records of the thread are missing: what is open now is dropped. */
void call_counts_lose(struct call_counts *, int32_t tid, uint64_t n);

/* The thread has ended, or has become another program: what is open never returns. */
void call_counts_end_thread(struct call_counts *, int32_t tid);

/* Is the thread's number another one from now on (exec by a thread that is not the first)? */
void call_counts_rename_thread(struct call_counts *, int32_t from, int32_t to);

/*
 * Adds up the paths of each function, whatever was around it: by thread, or of all threads (tid 0). Recursive
 * ones stay apart.
 */
void call_counts_sum(const struct call_counts *from, bool by_thread, struct call_counts *out);

void call_counts_release(struct call_counts *);

#endif
