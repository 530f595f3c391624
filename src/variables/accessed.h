/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What instructions access, by what is known of the code: the struct behind the pointer that the
 * address was made of, the variable in the frame, or the one that each thread has a copy of. For
 * data that has no name of its own.
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
	/* Each thread has a copy of it: an offset in the block of the instruction's module. */
	bool is_thread;
	bool is_thread_element; /* … by an index that is not known; is_thread is false */
	bool is_own_block;	/* it is certain that it is in that, no other module's */
	uint64_t thread_offset; /* … and the rest is not known then */
	bool is_stack; /* the address was made of the stack pointer, or is one in the frame */
	struct str_id function; /* that the instruction is in; 0: not known */
	struct str_id variable; /* in symbols_strings(): "p", "pool->conns"; 0: not known */
	bool is_pointed;	/* it points to what is accessed; else it is that itself */
	/* What the object is called: the variable, the type, "*p" if that has no members; 0: as above */
	struct str_id object;
	struct type_id type; /* in symbols_types(), of what is accessed as a whole; 0: not known */
	uint64_t offset;     /* of the access in it */
};

/*
 * Looks at the instructions at `n` places; out[i] belongs to places[i], and is all zero if
 * nothing is known. It takes a disassembler, the module's file, and its DWARF. Places of the same
 * module are worked on by one worker. Not to be called by two threads at once; the same for
 * any pool.
 */
void symbols_accessed(struct symbols *, struct pool *, const struct place *places, size_t n,
		      struct accessed *out);

#endif
