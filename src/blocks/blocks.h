/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic blocks of a function and the edges between them: its control flow graph, with what was
 * sampled and how often it ran.
 *
 * A block begins at the function's start, at targets of direct branches, behind branches, jumps,
 * returns and stops, and where a recorded branch went. A call ends no block: execution comes back
 * behind it.
 */
#ifndef CYCLOPS_BLOCKS_BLOCKS_H
#define CYCLOPS_BLOCKS_BLOCKS_H

#include "annotate/annotate.h"
#include "branch_stacks/executions.h"

struct block {
	size_t first, last;  /* instructions of the annotation, both included */
	double in, out;	     /* weight of edges into it, and out of it */
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
	bool is_back;	   /* closes a loop */
	uint64_t n;	   /* segments or branches that were recorded */
	double weight;	   /* of them */
	double executions; /* NAN: not known */
	uint64_t n_told, n_mispredicted;
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
	struct tuples outside_keys;	 /* module, address outside → number … */
	VEC_OF(const char *) outside;	 /* … → name of what edges go to */
	struct arena memory;
	size_t *block_of;	   /* by instruction */
	size_t *into_first, *into; /* by block: edges into it, into[into_first] and on */
	int event;		   /* main event: most samples in the function; -1: SPE records */
	uint64_t n_all;		   /* its samples in the function */
};

/* `splits_calls`: a call ends its block, too. `stacks` may be NULL. */
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

const char *edge_kind_name(enum edge_kind);

/*
 * Which blocks are drawn: all, or the hottest that have 95 % if there are very many. To be freed.
 */
bool *cfg_blocks_to_draw(const struct cfg *, size_t *out_n);

/* The graph in the language of Graphviz, and as text of at most `width` columns. */
void cfg_draw_dot(const struct cfg *, struct text *out);
void cfg_draw_text(const struct cfg *, unsigned width, bool has_unicode, struct text *out);

/*
 * The tables "blocks", "edges", "loops", "segments", "shadow" of the function; "positions" and
 * "instructions" of the stacks.
 */
struct blocks_tables {
	struct table blocks, edges, loops, segments, positions, instructions, shadow;
	struct tables shown;
};

void blocks_tables_make(const struct cfg *, size_t top, bool is_text, struct blocks_tables *out);
void blocks_tables_release(struct blocks_tables *);

#endif
