/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weighted call stacks: what records of an event come to by process, thread and stack, over one scan. All
 * profile formats of `export` and all flame graphs are made of them. They are the sums of `hot`
 * (hot/sums/sums.h), so that what a function has here is what it has there. Memory is bounded: it grows with the
 * places there are, but neither with records nor with stacks.
 *
 *	if (stacks_collect(&stacks, session, select, &wish, &err) < 0)
 *		return -1;
 *	for (uint64_t at = 0; stacks_next(&stacks, &at, &stack);)
 *		for (stack_walk_init(&walk, &stacks, &stack); stack_walk_next(&walk, &frame);)
 *			…			(innermost first, inlined functions before what they are inlined into)
 *	stacks_release(&stacks);
 *
 * stacks/paths.h makes paths of functions of them, stacks/tree.h a tree: a flame graph.
 */
#ifndef CYCLOPS_STACKS_STACKS_H
#define CYCLOPS_STACKS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorter.h"
#include "base/text.h"
#include "estimate/mux.h"
#include "hot/sums/sums.h"
#include "scan/select.h"
#include "session/names.h"
#include "session/session.h"
#include "stacks/sums.h"

/* What stacks can be weighed by. What a kind of record does not have is 0. */
enum stack_value {
	STACK_RECORDS, /* samples, SPE records, or branch entries */
	STACK_PERIOD,  /* samples: events that they represent; nanoseconds of a clock */
	STACK_SCALED, /* the same, scaled for multiplexing: an estimate. 0 if nothing was multiplexed */
	STACK_CYCLES, /* SPE: sum of total latencies */
	STACK_SATURATED, /* SPE: the part of these cycles by saturated counters; STACK_CYCLES is a lower bound */
	STACK_OPERATIONS, /* SPE: operations that the records represent: an estimate. 0: interval not known */
	STACK_L1D_MISSES,   /* SPE: records with a refill of the L1 data cache */
	STACK_LLC_MISSES,   /* SPE: records with a miss of the last level cache */
	STACK_WALKS,	    /* SPE: records with a page table walk */
	STACK_MISPREDICTED, /* SPE: records of mispredicted branches */
	N_STACK_VALUES,
};

struct stacks_wish {
	struct hot_options
		records; /* which records count: hot_event_options(). `dimensions` is not used */
	bool by_thread;	 /* … and process; else by process only */
	bool by_source;	 /* by data source, too */
	bool by_slice;	 /* by slice of time, too: of session->slices */
	enum symbols_depth depth; /* SYMBOLS_LINES: frames have source lines */
	size_t memory_bytes;	  /* 0: STACKS_MEMORY_BYTES; less is for tests */
};

/*
 * For sums while the capture is read, and as much for stacks while they are sorted and for what a format sorts. What
 * does not fit goes to temporary files.
 */
enum { STACKS_MEMORY_BYTES = 8 << 20 };

/* Opaque but for the first part. Stays where it is. */
struct stacks {
	struct session *session;
	struct names names;
	uint64_t totals_end;		    /* events (DIM_EVENT) are below this */
	uint64_t (*totals)[N_STACK_VALUES]; /* by event: of all stacks */

	size_t memory_bytes;

	struct stack_sums_options options;
	struct mux *mux;
	struct hot *hot;      /* without sums: of which kind events are */
	uint64_t *sources;    /* words of DIM_SOURCE, by rank */
	struct sorter sorted; /* groups of records, by stack */
};

/* A stack with its sums. */
struct stack {
	uint64_t event;	  /* as in DIM_EVENT: hot_is_spe(), hot_is_branches() */
	uint32_t process; /* timeline_process(); 0: not known */
	uint64_t tid;	  /* DIM_ABSENT: not known, or not asked for */
	uint64_t slice;	  /* of time; DIM_ABSENT: no time, or not asked for */
	uint64_t source;  /* as in DIM_SOURCE: key_source(); DIM_ABSENT: none, or not asked for */
	uint32_t place;	  /* of the record itself */
	const uint8_t *callers; /* stack_caller() reads it; as long as the stacks */
	uint32_t n_callers;
	uint64_t values[N_STACK_VALUES];
};

/* Are both of one event and one thread? */
static inline bool stack_is_of_thread(const struct stack *a, const struct stack *b)
{
	return a->event == b->event && a->process == b->process && a->tid == b->tid;
}

/*
 * Scans once. -1 and an error if a temporary file cannot be written; then there is nothing to release. Another scan
 * forgets the places: use and release the stacks before.
 */
int stacks_collect(struct stacks *out, struct session *, const struct select *,
		   const struct stacks_wish *, struct err *);
void stacks_release(struct stacks *);

/*
 * The next stack from *at on, which begins with 0; false behind the last. In order of event, process,
 * thread, slice, callers from the outermost on, place, source: the same for any number of workers.
 */
bool stacks_next(const struct stacks *, uint64_t *at, struct stack *out);

/* The place of caller `i`, counted from the outermost on. */
uint32_t stack_caller(const struct stacks *, const uint8_t *callers, uint32_t i);

/* What `hot` weighs records of the event by; STACK_RECORDS if they have none of that. */
enum stack_value stacks_weight(const struct stacks *, uint64_t event);

/* Is the value an estimate, a lower bound, by the machine model? Whoever shows it says so. */
bool stack_value_is_estimate(enum stack_value);
bool stacks_are_lower_bound(const struct stacks *, uint64_t event, enum stack_value);
bool stacks_are_modelled(const struct stacks *);

/* The value's name as users give it: "samples", "period", "cycles" …; finds it, or returns N_STACK_VALUES. */
const char *stack_value_name(enum stack_value);
enum stack_value stack_value_find(const char *name);

/* One sentence for each, in words; and its unit: "samples", "cycles", "nanoseconds" …. */
const char *stack_value_meaning(enum stack_value);
const char *stacks_unit(const struct stacks *, uint64_t event, enum stack_value);

/* What formats of others have units for. */
enum stack_quantity { STACK_TIME, STACK_CYCLE_COUNT, STACK_COUNT };
enum stack_quantity stacks_quantity(const struct stacks *, uint64_t event, enum stack_value);

/* The event's name: of the capture, "spe", or "branches of cycles". Appended. */
void stacks_event_name(const struct stacks *, uint64_t event, struct text *);

/* A function on a stack. */
struct stack_frame {
	const char *function;	   /* "[unknown]" if it has no name */
	struct str_id function_id; /* in symbols_strings(); 0: no name */
	struct module_id module;
	uint32_t place;	  /* of its instruction: that of the record, or its call */
	uint32_t level;	  /* of the inline chain of that place; 0: innermost */
	const char *file; /* source file; NULL: not known, or not asked for */
	uint32_t line;	  /* 0: not known */
	bool is_inlined;  /* into the next frame, at the same place */
	bool is_kernel;
	bool is_leaf; /* the record's own place, not a caller */
};

/* Goes from the innermost function of a stack to the outermost one. */
struct stack_walk {
	const struct stacks *stacks;
	const uint8_t *callers;
	uint32_t place, level, n_callers;
	bool is_leaf;
};

void stack_walk_init(struct stack_walk *, const struct stacks *, const struct stack *);
bool stack_walk_next(struct stack_walk *, struct stack_frame *out);

/* The functions of one place: `n` levels, of which the last is not inlined. */
uint32_t stacks_n_levels(const struct stacks *, uint32_t place);
void stacks_frame(const struct stacks *, uint32_t place, uint32_t level, struct stack_frame *out);

/* "name" of a process, and of a thread; "[unknown]" if it has none. */
const char *stacks_process_name(const struct stacks *, uint32_t process);
const char *stacks_thread_name(const struct stacks *, uint64_t tid);

#endif
