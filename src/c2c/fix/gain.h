/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What run time a fix would save. Latencies do not say: a core does other work while a load waits,
 * and several loads of a line wait for it together. But where the others pause or are done, the same
 * threads do the same without waiting, and how fast they are then is how fast they would be.
 */
#ifndef CYCLOPS_C2C_FIX_GAIN_H
#define CYCLOPS_C2C_FIX_GAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c2c/verdict/cause.h"

struct c2c_gain {
	bool is_known;	     /* there was time without contention, too */
	double share, error; /* of the run time of those threads; half of the 95 % interval */
	double of_all; /* the same of the run time of all threads; 0: these are all, or nearly so */
	uint32_t n_threads; /* that waited for the lines, often enough */

	/*
	 * They wait for other lines, too, and the share is what they would save without any wait: how it divides is
	 * not known, as threads that wait for one line less wait for another one instead.
	 */
	bool is_limit;
};

struct c2c_gain c2c_gain_of(const struct c2c *, const struct c2c_cause *);

/* A part of a thread's time. */
struct c2c_window {
	double time_ns; /* that it took, … */
	double n;	/* … for so many records, not 0 */
	bool is_quiet;	/* it did the same as else, and no load waited */
};

/*
 * The part of the time of all windows that would be saved at the pace of the quiet ones; false:
 * there are too few of these, or they differ too much.
 */
bool c2c_gain_of_windows(const struct c2c_window *, size_t n, double *out_share, double *out_error);

#endif
