/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives the guest modelled time. The emulator implements CNTVCT_EL0 and the guest's system calls
 * for time by clock_gettime() and gettimeofday() of the C library, which it calls through its table
 * of relocations. These entries are redirected to functions that return modelled time.
 */
#ifndef CYCLOPS_MODEL_EMULATOR_TIME_H
#define CYCLOPS_MODEL_EMULATOR_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Times since the program started; busy_ns is that in which the calling thread's CPU was not idle.
 */
struct modelled_time {
	uint64_t elapsed_ns, busy_ns;
};

/* Returns false if the calling thread is not modelled. */
typedef bool modelled_time_function(struct modelled_time *out);

/* Redirects the emulator's calls. False: the entries of its table were not found. */
bool emulator_time_install(modelled_time_function *);

/*
 * How far the host's clock is ahead of the guest's, in ns: to be added to deadlines of the guest.
 */
int64_t emulator_time_ahead(clockid_t, const struct modelled_time *);

#endif
