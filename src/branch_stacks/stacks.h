/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The branch stacks of an event of a capture: segments that are executions, and how far they can be
 * trusted.
 *
 * A position of the stack whose segments are often impossible, and at others are not, was recorded
 * wrongly: it is left out whole. The commonest branches must have the same share at each position;
 * if not, what triggers the sample comes from where the program is slow, and the window of branches
 * before it is biased: then counts are no counts of executions.
 */
#ifndef CYCLOPS_BRANCH_STACKS_STACKS_H
#define CYCLOPS_BRANCH_STACKS_STACKS_H

#include "branch_stacks/segments.h"
#include "branch_stacks/trigger.h"
#include "estimate/mux.h"
#include "scan/select.h"
#include "table/table.h"

/* Segments at one position. */
struct stack_position {
	uint64_t n, by_fault[N_SEGMENT_FAULTS];
};

/* The test of the window. */
struct stack_bias {
	bool is_tested, is_biased;
	double statistic; /* chi squared for one window: entries of one stack depend on each other */
	double worst_ratio; /* of a common branch: largest share of a position to the smallest */
	struct place worst; /* that branch */
};

/* Segments of a number that lasted so many cycles. */
struct stack_timed {
	uint32_t segment;
	uint64_t cycles, n;
};

struct branch_stacks {
	struct session *session;
	enum stack_filter filter;
	enum stack_trigger trigger;
	bool is_speculative;	      /* the trigger counts branches of wrong paths, too */
	struct stack_options options; /* of the last scan */
	struct stack_counts *counts;
	struct mux *mux;
	struct code_functions functions;
	struct segments segments;

	/* set by the caller: counts of biased stacks are not known, only shares */
	bool hides_biased;

	size_t n_positions;
	struct stack_position positions[STACK_POSITIONS]; /* before any is left out */
	size_t n_left_out;
	struct stack_bias bias;

	uint64_t weight, good_weight;	     /* of all segments; of good ones */
	uint64_t n_segments, n_good;	     /* that were counted at the last scan */
	uint64_t by_fault[N_SEGMENT_FAULTS]; /* of them */

	VEC_OF(struct stack_timed) timed; /* by segment, then by cycles */

	/* If there was no room: branches, for branch_stacks_next_taken(). */
	struct sorter *taken;
	double taken_each; /* what a unit of their weight stands for */
	int rc;		   /* -1: a temporary file cannot be written; `err` says why */
	struct err err;
};

/* A branch that was taken. */
struct taken_branch {
	struct place from, to;
	uint32_t from_number, to_number; /* of these places */
	enum branch_type type;
	struct taken_sum sum;
};

/* The next branch from *at on, which begins with 0, by places if branch_stacks_are_sorted(); false behind the last. */
bool branch_stacks_next_taken(const struct branch_stacks *, uint64_t *at, struct taken_branch *out);
bool branch_stacks_are_sorted(const struct branch_stacks *);

/*
 * The best event with stacks: first those with this filter, of these one that counts what it records,
 * else one that counts cycles. -1: there are no stacks.
 */
int branch_stacks_choose(const struct session *, enum stack_filter);

/*
 * Scans the stacks of the event (-1: branch_stacks_choose() of FILTER_ANY). ERR_NO_DATA says what was
 * not recorded, and how to. Without `with_durations` segment_duration() knows none. `out` is to be
 * released also after a failure.
 *
 * Memory is bounded: branches are known to branch_stacks_next_taken() only, and good segments to
 * segments_next_good(), if there is no room for them.
 */
int branch_stacks_read(struct branch_stacks *out, struct session *, const struct select *,
		       int event, bool with_durations, struct err *);

/* The same with another limit, of a worker. 0: none. */
int branch_stacks_read_within(struct branch_stacks *out, struct session *, const struct select *,
			      int event, bool with_durations, size_t limit_bytes, struct err *);

/*
 * branch_stacks_read() in steps, for a caller who scans the capture anyway: branch_stacks_start(), a scan with
 * the analysis, and branch_stacks_finish() with its result, which fails if a temporary file cannot be
 * written. Scans in between must keep its places.
 */
int branch_stacks_start(struct branch_stacks *out, struct session *, int event, bool with_durations,
			struct err *);
struct analysis branch_stacks_first_scan(const struct branch_stacks *);
int branch_stacks_finish(struct branch_stacks *, const struct select *, void *result, struct err *);

/* Fails if not all branches were recorded: then segments, and executions of instructions, are not known. */
int branch_stacks_need_all(const struct branch_stacks *, struct err *);
void branch_stacks_release(struct branch_stacks *);

/* The number of an event by its name, or -1 and an error that lists those with branch stacks. */
int branch_stacks_event(const struct session *, const char *name, struct err *);

/* Executions that segments or branches of this weight stand for; NAN: cannot be said. */
double branch_stacks_executions(const struct branch_stacks *, double weight);

/* A number of executions as a cell, with how far it can be trusted; absent if it is not known. */
struct cell branch_stacks_cell(const struct branch_stacks *, double executions, uint64_t n);

/* The same as words: "24.2 M~". Nothing if it is not known. */
void branch_stacks_words(const struct branch_stacks *, double executions, uint64_t n,
			 struct text *out);

/* The legend of the sign of branch_stacks_words(), as a line; nothing if it has none. */
void branch_stacks_legend(const struct branch_stacks *, struct text *out);

/* The part of a position's segments that the code cannot have run. */
double stack_position_impossible(const struct stack_position *);

/* The table "positions", of all segments before any position was left out. */
void branch_stacks_positions(const struct branch_stacks *, struct table *out);

/* Notes on what was left out and why, for the table that shows executions. */
void branch_stacks_note(const struct branch_stacks *, struct table *);

#endif
