/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replicas of the machine, each with another idealisation. A program of one thread executes the
 * same instructions however long they take, so several machines can time one run: the machine logs
 * the thread's operations, and the replicas execute them later, on several CPUs of the host.
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

/* An operation of the thread: it enters a block, accesses memory, or else enters a system call. */
struct operation {
	struct block *block;	 /* NULL: it enters no block */
	const struct insn *insn; /* the instruction that accesses memory; NULL: none */
	uint64_t va;
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
	struct operation *operations; /* logged, and not yet executed by the replicas */
	size_t n_operations;
};

enum { REPLICA_OPERATIONS = 1 << 18 };

/*
 * A replica for each idealisation but the first, which is the machine's own; NULL: there are none.
 */
struct replicas *replicas_new(const struct config *);
void replicas_free(struct replicas *);

/* Executes the logged operations. */
void replicas_catch_up(struct replicas *);

/* The guest unmapped addresses, or mapped them anew. */
void replicas_forget_mapping(struct replicas *, uint64_t start, uint64_t end);

static inline void replicas_note(struct replicas *r, const struct operation *operation)
{
	r->operations[r->n_operations++] = *operation;
	if (r->n_operations == REPLICA_OPERATIONS)
		replicas_catch_up(r);
}

#endif
