/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time the emulator thinks it is. CNTVCT_EL0 and the guest's system calls for the time end in
 * calls of the C library, which the emulator, a dynamic program, makes through a table. Here they
 * are led to functions that tell modelled time.
 */
#ifndef CYCLOPS_MODEL_EMULATOR_TIME_H
#define CYCLOPS_MODEL_EMULATOR_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds since the program began; of the CPU, those that it was not idle. False: not known. */
struct modelled_time {
	uint64_t elapsed_ns, busy_ns;
};
typedef bool modelled_time_function(struct modelled_time *out);

/* From now on calls by the emulator get modelled times. False: its table was not found. */
bool emulator_time_install(modelled_time_function *);

/*
 * By how much that clock of this machine is ahead of the one the guest sees: what has to be added to
 * the guest's deadlines.
 */
int64_t emulator_time_ahead(clockid_t, const struct modelled_time *);

#endif
