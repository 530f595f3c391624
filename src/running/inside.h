/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#ifndef CYCLOPS_RUNNING_INSIDE_H
#define CYCLOPS_RUNNING_INSIDE_H

#include "running/running.h"

/* Is it a thread of a program, and not of the kernel or of nobody? */
bool running_is_of_program(const struct session *, uint32_t tid, uint64_t time_ns);

/* Adds to the time in which so many threads ran. */
void running_add_time(struct running *, size_t n_running, uint64_t ns);

/* Is a sample of the event taken at each switch? */
bool running_is_switch_event(const struct session *, size_t event);

/* What wait_places_class finds. */
struct wait_place {
	uint64_t time_ns, position; /* of the sample */
	uint32_t place, frame;	    /* the session's; place 0: none was found */
	bool is_found;
	uint32_t user, program; /* then, and there is no frame: wait_place_find(); 0: none */
};

/* The first place of the call chain outside of the kernel, and the first that is no library's. */
void wait_place_find(const struct session *, const struct tuples *frames, struct wait_place *);

#endif
