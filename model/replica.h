/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replicas of the machine, each with something perfect. What a program of one thread computes does
 * not depend on how long it takes, so one run of it can be timed by several machines: the first one
 * notes what the thread does, and the replicas do the same later, on several CPUs of the host.
 *
 *	thread ─► machine ─► operations ─┬─► replica 1
 *				         ├─► replica 2
 *				         └─► …
 */
#ifndef CYCLOPS_MODEL_REPLICA_H
#define CYCLOPS_MODEL_REPLICA_H

#include "base/pool.h"
#include "base/vec.h"
#include "model/block.h"
#include "model/config.h"
#include "model/core.h"
#include "model/tally.h"
#include "model/stepper.h"

/* One thing that the thread does. */
struct operation {
	struct block *block;	 /* it enters this one, or NULL: */
	const struct insn *insn; /* this instruction … or NULL: it enters the kernel */
	uint64_t va;		 /* … accesses memory */
	uint32_t size_bytes;
};

/* A machine with one CPU. */
struct replica {
	const struct ideal *ideal; /* borrowed */
	struct memory memory;
	struct frames frames;
	struct core core;
	struct counts counts;
	struct tally tally;
	struct stepper stepper;
};

struct replicas {
	struct params params; /* of one CPU */
	struct replica *list;
	size_t n;
	struct pool *pool;
	struct operation *operations; /* that not all have done */
	size_t n_operations;
};

enum { REPLICA_OPERATIONS = 1 << 18 };

/* One for each idealisation but the first, which is the machine's own; NULL: none. */
struct replicas *replicas_new(const struct config *);
void replicas_free(struct replicas *);

/* They do all that they have not done yet. */
void replicas_catch_up(struct replicas *);

/* The guest gave up what was mapped there. */
void replicas_forget_mapping(struct replicas *, uint64_t start, uint64_t end);

static inline void replicas_note(struct replicas *r, const struct operation *operation)
{
	r->operations[r->n_operations++] = *operation;
	if (r->n_operations == REPLICA_OPERATIONS)
		replicas_catch_up(r);
}

#endif
