/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of functions, decoded once for all that ask where they begin and branch. */
#ifndef CYCLOPS_BRANCH_STACKS_CODE_H
#define CYCLOPS_BRANCH_STACKS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "isa/flow.h"
#include "session/session.h"

/* What instructions are counted by. The first that applies. */
enum code_class {
	CODE_BRANCH, /* conditional */
	CODE_JUMP,
	CODE_CALL,
	CODE_RETURN,
	CODE_SYSTEM,
	CODE_LOAD_STORE, /* reads and writes the same memory */
	CODE_LOAD,
	CODE_STORE,
	CODE_OTHER,
	N_CODE_CLASSES,
};

struct code_instruction {
	uint64_t offset;  /* in the module */
	uint32_t size;	  /* bytes */
	bool is_known;	  /* false: the bytes are no instruction */
	uint8_t class;	  /* enum code_class */
	struct flow flow; /* targets are offsets in the module, too */
};

/* A function [from, to) of a module. */
struct code_function {
	struct module_id module;
	uint64_t from, to; /* offsets */
	VEC_OF(struct code_instruction) list;
	/*
	 * By instruction: the first from it on that ends straight execution (jump, return, stop),
	 * and the first call; list.n: none.
	 */
	uint32_t *next_end, *next_call;
	/*
	 * By instruction: the number of its basic block. A block begins at the function's start, at
	 * targets of direct branches, jumps and calls, and behind branches, jumps, returns and stops.
	 */
	uint32_t *block_of;
};

struct code_functions {
	struct session *session;
	struct tuples keys; /* module, from … */
	VEC_OF(struct code_function) list;
	size_t n_instructions; /* of all of them */
};

/* Borrows the session. Zeroed is no cache. */
void code_functions_init(struct code_functions *, struct session *);
void code_functions_release(struct code_functions *);

/*
 * Forgets all functions if they have so many instructions that their memory matters. For those who ask for functions in
 * order, and do not come back.
 */
void code_functions_let_go(struct code_functions *);

/*
 * The function [from, to) of a module, cut at 4 MiB. Its list is empty if its code is not here, or
 * of an instruction set that is not decoded. Valid until the next call.
 */
const struct code_function *code_function_get(struct code_functions *, struct module_id,
					      uint64_t from, uint64_t to);

/* The number of the instruction that begins at an offset; list.n if none does. */
size_t code_instruction_at(const struct code_function *, uint64_t offset);

#endif
