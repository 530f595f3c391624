/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loads are timed with: the cycle counter of the PMU where user code may read it, else the time-stamp
 * counter (x86), the generic counter (Arm), or the system's clock. Only the first counts cycles of the core.
 */
#ifndef CYCLOPS_LATENCY_TIMER_H
#define CYCLOPS_LATENCY_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum timer_kind {
	TIMER_PMU,
	TIMER_TSC,
	TIMER_CNTVCT,
	TIMER_SYSTEM,
	N_TIMER_KINDS,
};

struct perf_event_mmap_page;

struct timer {
	enum timer_kind kind;
	uint64_t step;	    /* ticks: the smallest that two readings differ by, measured */
	double ns_per_tick; /* 0: it counts cycles, whose length changes */
	int fd;		    /* of the PMU's event; -1: none */
	const volatile struct perf_event_mmap_page *page;
};

/* "PMU cycles", "TSC" … */
const char *timer_name(enum timer_kind);

/* Opens the best one for the calling thread, which stays on its CPU, and measures its step. */
void timer_open(struct timer *);
void timer_close(struct timer *);

/* Ticks now, ordered behind all that was executed before. */
uint64_t timer_now(const struct timer *);

/* Nanoseconds of a clock that always ticks alike. */
uint64_t timer_ns_now(void);

/*
 * The smallest step of a clock, out of differences between readings at irregular distances: that of which all are
 * multiples, but for a tick of rounding in each. 0 of none.
 */
uint64_t timer_step_of(const uint64_t *differences, size_t n);

/* An interval in both units. */
struct elapsed {
	double ns;
	double cycles; /* 0: the timer does not count them */
};

struct timer_start {
	uint64_t ticks, ns;
};

struct timer_start timer_start(const struct timer *);
struct elapsed timer_stop(const struct timer *, const struct timer_start *);

/*
 * The frequency of the core in GHz: by the counter of cycles, or by a chain of additions each of which waits for the
 * one before, and takes a cycle.
 */
double timer_core_ghz(const struct timer *);

/* Executes a chain of additions of this length. Keeps a CPU busy without memory. */
void timer_spin(uint64_t n_cycles);

/*
 * One load of *place, which is a pointer: the ticks from before it to after it, with fences so that nothing else is
 * in between, and the pointer that it read. False if the counter was interrupted, and the ticks mean nothing.
 */
bool timer_time_load(const struct timer *, void **place, uint64_t *out_ticks, void **out_read);

#endif
