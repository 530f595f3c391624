/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiplexing: more events than counters take turns, so each is counted for a part of the time. The
 * read values of samples and READ records tell which part.
 */
#ifndef CYCLOPS_ESTIMATE_MUX_H
#define CYCLOPS_ESTIMATE_MUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "session/session.h"

/* How much a follower of a group ({a,b}:S) counted up to a sample of the leader. */
struct follower_count {
	uint64_t position, time_ns; /* of the leader's sample */
	uint32_t cpu;		    /* UINT32_MAX: not recorded */
	uint32_t event;		    /* of the follower, by number in the capture */
	uint64_t count;		    /* since the leader's sample before */
};

struct mux;

/* Reads the whole capture once, if any of its events has read values. */
struct mux *mux_new(const struct session *);
void mux_free(struct mux *);

/*
 * Time enabled / time running of an event on a CPU (UINT32_MAX: not known) between its first and its last
 * read value; at least 1. 1 without read values.
 */
double mux_factor(const struct mux *, size_t event, uint32_t cpu);

/* Was any event counted for a part of the time only? */
bool mux_scales(const struct mux *);

/* Were there read values of the event? */
bool mux_is_known(const struct mux *, size_t event);

/*
 * In how many turns the event was counted, at the least: pauses that lie between its samples. 0: it was
 * always counted, or there are no read values.
 */
uint64_t mux_turns(const struct mux *, size_t event);

/* Does any factor differ between CPUs? */
bool mux_differs_by_cpu(const struct mux *);

/* In order of the file. */
size_t mux_n_followers(const struct mux *);
const struct follower_count *mux_follower(const struct mux *, size_t index);

/* Is it a follower: an event that never samples by itself, but that a group's leader reads? */
bool mux_is_follower(const struct mux *, size_t event);

#endif
