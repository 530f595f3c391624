/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What instructions access, by their code and debug information: the struct behind a pointer, a
 * local variable, a thread-local variable. For data without a symbol (heap, stack).
 */
#ifndef CYCLOPS_VARIABLES_ACCESSED_H
#define CYCLOPS_VARIABLES_ACCESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "dwarf/types.h"
#include "symbol/symbols.h"

struct accessed {
	/*
	 * Thread-local: at thread_offset in the TLS block of the module. All below is not set then.
	 */
	bool is_thread;
	bool is_thread_element; /* in a TLS block, by an unknown index; is_thread is false */
	bool is_own_block;	/* certainly in the block of the instruction's module */
	uint64_t thread_offset;
	bool is_stack;		/* relative to the stack pointer, or a local variable */
	struct str_id function; /* that the instruction is in; 0: not known */
	struct str_id variable; /* in symbols_strings(): "p", "pool->conns"; 0: not known */
	bool is_pointed;	/* the access is to what it points to, not to itself */
	/*
	 * The name of the object: the variable, or the type of *p, or "*p" if that is a number; 0:
	 * unknown
	 */
	struct str_id object;
	struct type_id type; /* in symbols_types(), of what is accessed as a whole; 0: not known */
	uint64_t offset;     /* of the access in it */
};

/*
 * Looks at the instructions at `n` places; out[i] belongs to places[i], and is all zero if nothing
 * is known. Needs a disassembler, the module's file, and its DWARF. Not thread-safe; modules are
 * worked on in parallel by the pool. Results are the same for any pool.
 */
void symbols_accessed(struct symbols *, struct pool *, const struct place *places, size_t n,
		      struct accessed *out);

#endif
