/* SPDX-License-Identifier: Apache-2.0 */
/* The samples with call chains of a capture, by thread and time. */
#ifndef CYCLOPS_CALLERS_STACKS_SEEN_H
#define CYCLOPS_CALLERS_STACKS_SEEN_H

#include "base/tuples.h"
#include "base/vec.h"
#include "session/session.h"

/* What a sample's event counts. */
enum stack_kind {
	STACK_OF_INSTRUCTIONS,
	STACK_OF_REFILLS, /* of the L1D */
	STACK_OF_TIME,	  /* cycles, or a clock */
	N_STACK_KINDS
};

#define STACK_WITHOUT_PID UINT32_MAX

struct stack_seen {
	uint64_t time_ns, position;
	uint64_t period;
	uint32_t tid, pid;
	uint32_t place;	   /* of the sample itself */
	uint32_t function; /* number in struct functions_seen */
	uint32_t caller;   /* its callers: a frame; 0: none */
	uint32_t
		chain; /* the same as functions: equal for all call sites and depths of recursion */
	uint8_t kind;
};

/* As VEC_OF(struct stack_seen). */
struct stack_list {
	struct stack_seen *items;
	size_t n, cap;
};

/* Functions of places: places of one function have one number; 0: of no place. */
struct functions_seen {
	uint32_t *of_place;
	uint32_t n_places;
	struct tuples numbers;
};

struct stacks_seen {
	struct stack_list list; /* by tid, time, position */
	struct tuples frames;	/* as attribution_frames() */
	struct functions_seen functions;
};

/*
 * Scans once, unless no event has call chains. False: no samples with chains. Keeps about as many as STACKS_MOST, chosen by their positions, and the
 * frames of these, so that memory does not grow with the capture.
 */
enum { STACKS_MOST = 1 << 17 };

bool stacks_seen_collect(struct stacks_seen *, struct session *);
void stacks_seen_release(struct stacks_seen *);

static inline uint32_t function_of_place(const struct functions_seen *f, uint32_t place)
{
	return place < f->n_places ? f->of_place[place] : 0;
}

/* The first of the thread's samples at or after a time. */
size_t stacks_seen_from(const struct stacks_seen *, uint32_t tid, uint64_t time_ns);

#endif
