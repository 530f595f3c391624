/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of commit_time.h share. */
#ifndef CYCLOPS_COMMIT_TIME_INSIDE_H
#define CYCLOPS_COMMIT_TIME_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "commit_time/commit_time.h"
#include "isa/flow.h"
#include "isa/registers.h"

/* What the records of a place add up to. */
struct record_sums {
	uint32_t n, n_loads, n_mispredicted;

	/* With a latency from issue to the end, without full counters; and its sum in cycles. */
	uint32_t n_hits, n_misses; /* without and with a refill of the L1D */
	uint32_t n_far;		   /* of the misses: the last-level cache's, too */
	uint64_t hit_cycles, miss_cycles;
};

/* Result of the first scan. */
struct commit_records {
	VEC_OF(struct record_sums) places; /* by number of the place */
	struct tuples targets;	    /* of branches: place, bytes from there to what came next … */
	VEC_OF(uint32_t) n_targets; /* … → records */
};

extern const struct analysis_class commit_records_class;

/* Functions whose time is told apart; the last one stands for all others. */
enum { MOST_FUNCTIONS = 256, OTHER_FUNCTIONS = MOST_FUNCTIONS - 1 };

/* Result of the second scan: pairs of records that follow each other, by their functions. */
struct commit_pairs {
	const struct commit_time *all;
	uint64_t (*ns)[MOST_FUNCTIONS];
	uint64_t (*n)[MOST_FUNCTIONS];
};

extern const struct analysis_class commit_pairs_class;

/* What is known of the CPU. */
struct commit_cpu {
	unsigned width;		/* instructions dispatched in a cycle */
	unsigned window;	/* instructions in the reorder buffer */
	unsigned refill_cycles; /* from a mispredicted branch's end to the next dispatch */
	unsigned l2_cycles;	/* of a line from the L2 … */
	unsigned memory_cycles; /* … and from DRAM */
	unsigned line_gap;	/* cycles between lines from outside of the core */
};

#define NO_NODE UINT32_MAX

/* An instruction of the program. */
struct node {
	struct place at;
	bool is_code; /* false: the code there is not known, nor anything below */
	bool is_store;
	bool has_looked; /* `next` and `target` are known */
	enum flow_kind kind;
	struct isa_registers registers;
	uint64_t goes_to;		   /* offset that a branch goes to; its own: not known */
	uint32_t next, target;		   /* nodes; NO_NODE: none, or not known */
	uint32_t first_branch, n_branches; /* of program.branches */
	const struct record_sums *sums;	   /* NULL: it has no records */
	double cycles;			   /* of the commit stage in the walk … */
	uint64_t n_executed;		   /* … for so many executions */
};

/* Where a sampled branch went. */
struct branch {
	uint32_t place;
	int64_t distance; /* bytes */
	uint32_t node;	  /* NO_NODE: not known, or not looked for yet */
	uint64_t n; /* records of the branch that went here, or to any before it in the list */
};

/* The program as far as the walk came, and what records say of it. */
struct program {
	struct session *session;
	const struct commit_records *records;
	struct commit_cpu cpu;
	struct tuples keys; /* module, offset: numbers of `nodes` */
	VEC_OF(struct node) nodes;
	VEC_OF(struct branch) branches; /* by place */
	uint32_t n_places;
	uint32_t *first_branch; /* by place; of n_places: how many there are */
	uint32_t *nodes_of;	/* by place; NO_NODE: without records, or without code */
	uint32_t *order;	/* all places by module and offset */
	uint32_t *starts;	/* nodes with records in that order … */
	uint64_t *up_to;	/* … and the records of all up to it */
	size_t n_starts;
	uint64_t n_records; /* of all nodes */
};

void program_init(struct program *, struct session *, const struct commit_records *,
		  const struct commit_cpu *);
void program_release(struct program *);

/* The node at a place; NO_NODE if there is no A64 code. */
uint32_t program_node(struct program *, struct place);

/* Walks through the program (commit_time.h), and adds up cycles and executions of nodes. */
void program_walk(struct program *);

struct commit_time {
	struct session *session;
	struct commit_cpu cpu;
	uint32_t n_places;
	uint16_t *function_of; /* by place: below MOST_FUNCTIONS */
	double *weights;       /* by place: records × cycles for each execution, by the walk */
	uint32_t *records;     /* by place */
	double *shares;	       /* by place: the result, 0 … 1 */
	/* By function: the longest time between two records in which it ran, in ns. */
	uint64_t longest_ns[MOST_FUNCTIONS];
	double function_weights[MOST_FUNCTIONS], function_records[MOST_FUNCTIONS];
	double known; /* part of the records whose code is there */
};

#endif
