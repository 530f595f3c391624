/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded latency: a pointer chase on one CPU, while threads on others read memory at a rate that is varied by a delay
 * behind each line.
 */
#ifndef CYCLOPS_LATENCY_LOADED_H
#define CYCLOPS_LATENCY_LOADED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/vec.h"
#include "latency/ring.h"
#include "latency/timer.h"

struct loaded_request {
	const unsigned *cpus; /* a reading thread for each */
	size_t n_cpus;
	size_t bytes_each; /* that a thread reads again and again */
	uint64_t ring_bytes;
	enum ring_order order;
	unsigned ms_each; /* for each delay */
	struct progress *progress;
};

struct loaded_point {
	bool is_idle;	       /* nobody reads */
	uint64_t delay_cycles; /* behind each line that is read */
	double bytes_per_s;    /* of the reading threads and the chase */
	double ns, cycles;     /* of a load of the chase: median */
	double least_ns, most_ns;
	double running; /* part of the time in which the reading threads had their CPUs */
};

struct loaded {
	VEC_OF(struct loaded_point) points; /* from the shortest delay to idle */
	size_t n_threads;
};

/* `ring` has room for ring_bytes. Fails if a thread cannot be started, or there is too little memory. */
int loaded_run(const struct loaded_request *, const struct ring_memory *ring, const struct timer *,
	       struct loaded *out, struct err *);
void loaded_release(struct loaded *);

#endif
