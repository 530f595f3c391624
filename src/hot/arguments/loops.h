/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterations of counted loops, out of registers that were sampled in them: a register that holds the limit of a
 * loop tells how many iterations this run of it has. Samples of time see long runs more often, so a run of
 * n iterations counts 1 / n.
 */
#ifndef CYCLOPS_HOT_ARGUMENTS_LOOPS_H
#define CYCLOPS_HOT_ARGUMENTS_LOOPS_H

#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/registers.h"
#include "hot/arguments/inside.h"
#include "isa/follow.h"

struct counted_loop {
	struct place entry; /* of the function */
	uint64_t head,
		last; /* offsets in the module, of its first instruction and of the branch back */
	uint64_t start, step; /* of the counter where it is first compared, and from there on */
	bool includes_limit;  /* it goes on while the counter is at most the limit, not below it */
	uint32_t dwarf_register;
	struct argument limit;	/* the register, and how its bits are read */
	struct isa_value value; /* of that register in the loop */
	bool is_argument;	/* of the function: the register that held it at the entry … */
	uint32_t argument_register;
	const char *parameter; /* … its name; NULL: not known */
	const char *function, *module, *file;
	uint32_t line; /* of the head; 0: not known */
};

struct counted_loops {
	VEC_OF(struct counted_loop) list;
	struct tuples
		places; /* (module, offset) that were sampled with the limit in its register … */
	VEC_OF(uint32_t) loop_of; /* … → the loop */
};

/* Of functions that were sampled at these places, sorted by module and offset. Release it. */
void counted_loops_find(struct session *, const struct place *, const struct symbol *, size_t n,
			const struct registers *, struct counted_loops *out);
void counted_loops_release(struct counted_loops *);

/* Iterations of a run whose limit register holds these bits; at least 1. */
uint64_t counted_loop_trips(const struct counted_loop *, uint64_t bits);

/* What samples tell. Options: struct loop_request. Result: this. */
struct loop_request {
	const struct counted_loops *loops;
	int event; /* only its samples; -1: all */
};
struct loop_trips {
	const struct session *session;
	const struct loop_request *request;
	struct tuples keys;	  /* loop, iterations … */
	VEC_OF(uint64_t) n;	  /* … → samples */
	VEC_OF(uint32_t) loop_of; /* by place: number + 1 of the loop, NO_LOOP; 0: not looked up */
};

extern const struct analysis_class loop_trips_class;

/*
 * A row for each loop that was seen, the most samples first, `top` of them (0: all). Names of registers are by
 * their numbers in samples.
 */
void loop_trips_table(const struct loop_trips *, const char *const *register_names, size_t top,
		      struct table *out);

#endif
