/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the branch stacks of one event. Between two entries of a stack the CPU ran straight from
 * where the older one went to where the newer one branched: a segment. A stack of n entries has n
 * branches and n - 1 segments, position 0 being the newest.
 *
 * A sample stands for its period, times the factor of multiplexing. What all samples stand for is divided
 * among their branches, and among their segments: each has a weight in proportion to what its sample
 * stands for, however many the sample has. To divide each sample among its own would be right on
 * average, too, but the few segments of a short stack would weigh much, and add their chance.
 *
 * If the event counts cycles, samples stand for what ran in their periods at the speed of their
 * stacks. The speed is that of samples of one place and of one part of the capture together: each
 * segment stands for the sum of their periods / the sum of their cycles. Of each stack alone it would
 * be biased, because slow segments make their own stack slow; of all samples together it would be
 * that of slow code for fast code, too.
 *
 * Entries of wrong paths, and slots that were not filled, are no entries.
 */
#ifndef CYCLOPS_BRANCH_STACKS_COUNTS_H
#define CYCLOPS_BRANCH_STACKS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorter.h"
#include "base/spool.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/branches.h"
#include "session/analysis.h"

struct mux;
struct place_cache;
struct segment_faults;

enum {
	STACK_POSITIONS = 64,	  /* bits of a word; older ones are counted with the last */
	STACK_WEIGHT_ONE = 16384, /* weights are integers: sums do not depend on their order */
	STACK_CHUNK = 8,	  /* positions that are counted together in memory */
	STACK_CHUNKS = STACK_POSITIONS / STACK_CHUNK,
};

/* How a segment ended, and where it lies. */
enum segment_flag {
	SEGMENT_BY_EXCEPTION = 1 << 0, /* the branch at its end is an exception, or aborts */
	SEGMENT_CHANGES_MODE = 1 << 1, /* it begins in user code and ends in the kernel, or so */
};

/* A segment. Keys: places of its first and its last instruction, and flags. */
struct segment_sum {
	uint64_t n, weight;
	uint64_t n_timed, cycles;      /* those whose duration was recorded; their sum */
	uint32_t chunks[STACK_CHUNKS]; /* numbers of its chunk_sums, + 1; 0: never there */
};

/* A branch. Keys: places of source and target, and type. */
struct taken_sum {
	uint64_t n, weight;
	uint64_t n_told, n_mispredicted; /* those whose prediction was recorded */
	/*
	 * Sum over samples of the square of how often it is in one. Its root is the standard error of
	 * n: samples are independent, branches of one sample are not.
	 */
	uint64_t squares;
	uint64_t last_sample, n_in_last; /* of the worker, while it counts */
};

struct stack_options {
	size_t event;		/* whose stacks */
	int instructions_event; /* counts retired instructions; -1: none */
	bool has_segments;	/* false: not all branches were recorded, so none are made */
	bool by_cycles;		/* the event counts cycles */
	bool with_durations;	/* of segments, for segment_duration() */
	bool only_speeds;	/* nothing else is counted */
	const struct stack_counts *speeds; /* of a scan before; needed if by_cycles */
	const struct mux *mux;		   /* NULL: not multiplexed */
	uint64_t left_out;  /* by bit: positions, whose segments and branches at their ends */
	size_t limit_bytes; /* memory of a worker: stack_counts_sort(). 0: no limit */
};

/* Samples of code of one place, in one part of the capture, whose stacks have cycles. */
struct stack_speed {
	uint64_t weight, cycles;
};

/* How often a segment was at each of neighbouring positions. */
struct chunk_sum {
	uint64_t n[STACK_CHUNK];
};

/* Segments of a number that lasted so long. */
struct segment_cycles {
	uint64_t cycles, n;
};

/* As VEC_OF(struct segment_cycles). */
struct segment_times {
	struct segment_cycles *items;
	size_t n, cap;
};

/* Options: struct stack_options. Result: this. */
struct stack_counts {
	const struct session *session;
	const struct stack_options *options;
	struct place_cache *cache; /* the worker's */
	struct stack_scratch *scratch;

	struct tuples segments; /* start, end, flags … */
	VEC_OF(struct segment_sum) segment_sums;
	VEC_OF(struct chunk_sum) chunk_sums;
	struct tuples durations; /* number of the segment, cycles */
	VEC_OF(uint64_t) duration_sums;
	struct tuples taken; /* from, to, type … */
	VEC_OF(struct taken_sum) taken_sums;
	struct tuples speed_keys; /* place, part of the capture … */
	VEC_OF(struct stack_speed) speeds;

	/* With limit_bytes: what had no room, but for segments whose places show that they are none. */
	struct spool spool;
	struct segment_faults *faulty; /* these, not divided; NULL: none */

	uint64_t n_samples; /* with at least one entry */
	uint64_t n_empty;   /* without */
	uint64_t n_single;  /* with one: a branch, but no segment */
	uint64_t n_entries;
	uint64_t n_wrong_path, first_wrong_path; /* the position in the file of its sample */
	uint64_t deepest;			 /* entries of the deepest stack */
	uint64_t weight;			 /* of the samples with entries */
	uint64_t segments_weight, taken_weight; /* of their segments, and branches, until divided */
	uint64_t timed_weight;			/* of those with cycles */
	uint64_t n_instruction_samples, instructions_weight; /* of instructions_event */
};

extern const struct analysis_class stack_class;

/* Is a part of the segments and branches in files, so that stack_counts_sort() has to be asked for all? */
bool stack_counts_are_spilled(const struct stack_counts *);

/*
 * Adds all segments and branches to what sorts them. Keys: module and offset of both places, then flags or the type; a
 * segment or branch may come several times. Values: stack_segment_read(), stack_taken_read().
 */
void stack_counts_sort(const struct stack_counts *, struct sorter *segments, struct sorter *taken);

/* Adds what a value says to a segment, its positions and durations, or to a branch; sets its key. */
void stack_segment_read(const uint8_t *value, uint64_t key[], struct segment_sum *,
			uint64_t positions[STACK_POSITIONS], struct segment_times *);
void stack_taken_read(const uint8_t *value, uint64_t key[], struct taken_sum *);

/* Weights are periods of the file: sums stay at the largest number. */
static inline uint64_t stack_weights_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Adds what other samples counted of a branch. */
static inline void taken_sum_add(struct taken_sum *to, const struct taken_sum *from)
{
	to->n += from->n;
	to->weight = stack_weights_add(to->weight, from->weight);
	to->n_told += from->n_told;
	to->n_mispredicted += from->n_mispredicted;
	to->squares += from->squares;
}

/* What a weight is, if a unit of it stands for `each`; rounded. */
static inline uint64_t stack_divide_weight(uint64_t weight, double each)
{
	return each == 1 ? weight : (uint64_t)((double)weight * each + 0.5);
}

/* Forgets all segments and branches, those in files, too, or without these. */
void stack_counts_forget(struct stack_counts *);
void stack_counts_forget_sums(struct stack_counts *);

/* How often a segment was at a position of the stacks. */
uint64_t segment_n_at(const struct stack_counts *, uint32_t segment, size_t position);

/* Words of the keys. */
enum { SEGMENT_START, SEGMENT_END, SEGMENT_FLAGS, SEGMENT_WORDS };
enum { TAKEN_FROM, TAKEN_TO, TAKEN_TYPE, TAKEN_WORDS };
enum { DURATION_SEGMENT, DURATION_CYCLES, DURATION_WORDS };

#endif
