/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic blocks of a function and the edges between them: its control flow graph, with what was
 * sampled and how often it ran.
 *
 * A block begins at the function's start, at targets of direct branches, behind branches, jumps,
 * returns and stops, and where a recorded branch went. A call ends no block: execution comes back
 * behind it.
 */
#ifndef CYCLOPS_ANNOTATE_BLOCKS_H
#define CYCLOPS_ANNOTATE_BLOCKS_H

#include "annotate/annotate.h"
#include "branch_stacks/executions.h"

struct block {
	size_t first, last;  /* instructions of the annotation, both included */
	uint64_t in, out;    /* weight of what was recorded of ways into it, and out of it */
	double edges_weight; /* of its edges */
	double executions;   /* mean of its instructions; NAN: not known */
	uint64_t n_segments; /* that cover its first instruction */
	uint64_t n_samples;  /* of the main event */
	double share;	     /* of the function's samples of the main event; NAN: it has none */
};

enum edge_kind {
	EDGE_TAKEN,    /* a direct branch or jump */
	EDGE_NEXT,     /* runs into the block behind it */
	EDGE_INDIRECT, /* of an indirect jump, as recorded */
	EDGE_UNKNOWN,  /* of an indirect jump without recorded targets */
	N_EDGE_KINDS,
};

struct block_edge {
	size_t from;
	size_t to;	/* a block; cfg.list.n: outside, at `outside` */
	size_t outside; /* in cfg.outside */
	enum edge_kind kind;
	bool is_back; /* closes a loop */
	struct taken_sum
		sum; /* of branches that were recorded; of EDGE_NEXT segments, n and weight alone */
	double executions; /* NAN: not known */
};

/* A loop: all back edges to one head. */
struct block_loop {
	size_t head, last;  /* blocks */
	uint64_t n_entries; /* recorded */
	double executions;  /* of the head */
	double entries;	    /* from outside; NAN: not known */
	double trips;	    /* executions of the head for each entry; only if n_entries > 0 */
};

struct cfg {
	const struct annotation *code;	    /* borrowed */
	const struct branch_stacks *stacks; /* borrowed; NULL: no executions */
	struct executions executions;
	VEC_OF(struct block) list;
	VEC_OF(struct block_edge) edges; /* by `from`, then by kind and `to` */
	VEC_OF(struct block_loop) loops; /* by head */
	uint64_t most_weight;		 /* of an edge */
	uint64_t n_left_out; /* ways of indirect jumps that were recorded, but have no edge */
	struct tuples outside_keys;   /* module, address outside → number … */
	VEC_OF(const char *) outside; /* … → name of what edges go to */
	struct arena memory;
	size_t *block_of;	   /* by instruction */
	size_t *into_first, *into; /* by block: edges into it, into[into_first] and on */
	int event;		   /* main event: most samples in the function; -1: SPE records */
	uint64_t n_all;		   /* its samples in the function */
};

/*
 * `splits_calls`: a call ends its block, too. `stacks` may be NULL. Of indirect jumps the 32768 commonest ways have
 * edges; others are left out, and counted.
 */
void cfg_init(struct cfg *, const struct annotation *, const struct branch_stacks *,
	      bool splits_calls);
void cfg_release(struct cfg *);

/*
 * How much of what goes into a block does not come out of it, or the reverse; NAN: nothing was recorded.
 * Calls that do not return, and exceptions, make a difference; so do biased stacks.
 */
double block_balance(const struct block *);

/* Samples of an event (SPE records: -1) in a block; with `period` what they stand for. */
uint64_t block_samples(const struct cfg *, const struct block *, int event);
uint64_t block_periods(const struct cfg *, const struct block *, size_t event);

/* The part of the executions of its block that take an edge; NAN: none was recorded. */
double block_edge_share(const struct cfg *, const struct block_edge *);

/* Offsets in the module where the blocks begin, and where the last ends. To be freed. */
uint64_t *cfg_block_starts(const struct cfg *);

const char *edge_kind_name(enum edge_kind);

/* "[3]  33 % of samples  executed 24.2 M  goes to 9 (100 %)". */
void block_heading(const struct cfg *, size_t block, struct text *out);

/* "9 (69 %), 8 (31 %) loop": where execution goes from a block. */
void block_successors(const struct cfg *, size_t block, struct text *out);

/* The first edge out of a block, or of one behind it, in `edges`. */
size_t cfg_first_edge(const struct cfg *, size_t block);

#endif
