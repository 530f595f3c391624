/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding of copied stacks (perf record --call-graph dwarf): registers and a part of the stack
 * were recorded with each sample; .eh_frame or .debug_frame say how to get from a function to its
 * caller.
 */
#ifndef CYCLOPS_UNWIND_UNWIND_H
#define CYCLOPS_UNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "capture/format/registers.h"
#include "process/place_cache.h"
#include "symbol/symbols.h"

enum { UNWIND_MAX_FRAMES = 127 }; /* as many as the kernel records by default */

/* Where a chain ends. */
enum unwind_end {
	UNWIND_COMPLETE, /* the last function has no caller */
	UNWIND_CUT,	 /* the copy of the stack is too short */
	UNWIND_NO_FILE,	 /* the file of the code was not found */
	UNWIND_NO_RULES, /* the code has no call frame information, or is in no file */
	UNWIND_UNKNOWN,	 /* its rules need what was not recorded, or lead in circles */
	UNWIND_DEEP,	 /* UNWIND_MAX_FRAMES are all that is looked at */
	N_UNWIND_ENDS,
};

/* For messages: why a chain ends early, and what helps. */
const char *unwind_end_text(enum unwind_end);

struct unwinder;

/*
 * One for each worker: it opens files for itself. Borrows symbols, which it only reads, and the
 * registers of the capture's architecture (NULL: chains are empty).
 */
struct unwinder *unwinder_new(const struct symbols *, const struct registers *);
void unwinder_free(struct unwinder *);

/*
 * Unwinds a row with HAS_USER_STACK: the pc, then return addresses, innermost first, as the kernel
 * records chains. Returns how many there are, at most `max`. `process` and `time_ns` are for
 * place_cache_look_up().
 */
size_t unwinder_chain(struct unwinder *, struct place_cache *, const struct batch *, size_t row,
		      uint32_t process, uint64_t time_ns, uint64_t *out, size_t max);

/* How many chains ended in which way, and where in the capture the first of each is. */
struct unwind_totals {
	uint64_t n[N_UNWIND_ENDS];
	uint64_t first_position[N_UNWIND_ENDS];
};
const struct unwind_totals *unwinder_totals(const struct unwinder *);

#endif
