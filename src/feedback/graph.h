/* SPDX-License-Identifier: Apache-2.0 */
/* The control flow graph of one function with the evidence on its edges; for edge_profile.c. */
#ifndef CYCLOPS_FEEDBACK_GRAPH_H
#define CYCLOPS_FEEDBACK_GRAPH_H

#include "feedback/evidence.h"
#include "feedback/flow/flow.h"

/* What an edge of the flow is. */
enum graph_edge_kind {
	GRAPH_INTO,   /* by a branch to the beginning of a block (with previous targets) */
	GRAPH_BLOCK,  /* through a block */
	GRAPH_NEXT,   /* to the block behind it */
	GRAPH_TAKEN,  /* to another block, or out of the function to `to` */
	GRAPH_RETURN, /* out of the function */
	GRAPH_ENTRY,  /* into the function */
};

struct graph_edge {
	enum graph_edge_kind kind;
	size_t block;	 /* that it leaves; of an entry: that it enters */
	struct place to; /* GRAPH_TAKEN; module 0: not known */
};

struct graph_block {
	size_t first, last; /* instructions of the function */
};

struct graph {
	const struct code_function *code; /* borrowed */
	VEC_OF(struct graph_block) blocks;
	VEC_OF(struct graph_edge) edges; /* beside those of `flow` */
	VEC_OF(struct flow_edge) flow;
	uint32_t n_nodes;
	bool is_fitted;
};

/* Makes the graph and fits the flow. The code must have instructions, and stay valid. */
void graph_init(struct graph *, const struct flow_evidence *, const struct code_function *);
void graph_release(struct graph *);

#endif
