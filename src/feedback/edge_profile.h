/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions of the blocks, edges and calls of a module's functions: a flow through each function's graph
 * that agrees best with the evidence (flow.h). As many executions come into a block as leave it.
 *
 * A call ends no block: execution is taken to come back behind it. What a fall-through or a direct jump
 * took is derived where it was not recorded.
 */
#ifndef CYCLOPS_FEEDBACK_EDGE_PROFILE_H
#define CYCLOPS_FEEDBACK_EDGE_PROFILE_H

#include "base/spool.h"
#include "feedback/evidence.h"

struct binary;

enum feedback_edge_kind {
	FEEDBACK_NEXT,	/* runs into the block behind it */
	FEEDBACK_TAKEN, /* a branch or jump, in the function or out of it */
	FEEDBACK_CALL,	/* inside of a block */
	N_FEEDBACK_EDGES,
};

struct feedback_edge {
	enum feedback_edge_kind kind;
	uint64_t from;	 /* offset of the instruction: the branch, or the last of its block */
	struct place to; /* module 0: not known */
	double executions;
	double mispredicted; /* of these; NAN: not recorded */
};

struct feedback_block {
	uint64_t first, last; /* offsets of its first and last instruction */
	double executions;
};

/* Of a function: in memory, or in a temporary file. */
struct feedback_blocks {
	const struct feedback_block *items; /* by offset */
	size_t n;
};

struct feedback_edges {
	const struct feedback_edge *items; /* by source, kind, target */
	size_t n;
};

struct feedback_function {
	uint64_t from, to; /* offsets in the module */
	uint64_t address;  /* of the start, in the file */
	const char *name;  /* as in the symbol table */
	uint32_t number;   /* of a local symbol: among those of that name, from 1; else 0 */
	bool is_stub;	   /* of the procedure linkage table */
	bool is_fitted;	   /* false: the graph was too large; only what was recorded */
	double entries;	   /* from outside of the function, and by recursion */
	struct feedback_blocks blocks;
	struct feedback_edges edges;
};

struct edge_profile {
	struct flow_evidence *evidence; /* borrowed */
	struct module_id module;
	VEC_OF(struct feedback_function) functions; /* by offset */
	struct spool fitted;			    /* their blocks and edges */
	size_t n_without_code;
	uint64_t n_elsewhere; /* branches (or samples) of other modules */
	uint32_t *
		local_numbers; /* by function of the module's symbols: see feedback_function.number */
};

/*
 * Of a module, by its name for people or its path; NULL: the one with most branches. `out` is to be released also after
 * a failure.
 */
int edge_profile_read(struct edge_profile *out, struct flow_evidence *, const char *module,
		      struct err *);
void edge_profile_release(struct edge_profile *);

/* Blocks and edges that were looked at need no memory until they are looked at again. */
void edge_profile_let_go(const struct edge_profile *);

/* The function that begins at an offset of the module or holds it; NULL if it has no profile. */
const struct feedback_function *edge_profile_find(const struct edge_profile *, uint64_t offset);

/*
 * The function at a place of any module, by its symbol, whether or not it has a profile: name, number,
 * and start. False if it has none.
 */
bool edge_profile_symbol(const struct edge_profile *, struct place, struct feedback_function *out);

/* The files of the module. */
const struct binary *edge_profile_binary(const struct edge_profile *);

/* The address in the module's file. */
uint64_t edge_profile_address(const struct edge_profile *, uint64_t offset);

#endif
