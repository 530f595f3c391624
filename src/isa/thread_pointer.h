/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of thread-local data: the thread pointer plus an offset, which in A64 code several
 * instructions may compute.
 */
#ifndef CYCLOPS_ISA_THREAD_POINTER_H
#define CYCLOPS_ISA_THREAD_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/follow.h"
#include "isa/operand.h"

/* An address: thread pointer + offset + what a GOT slot stands for. */
struct isa_thread_address {
	uint64_t offset;
	bool has_index; /* … + an unknown index, as of an array's element */
	bool has_slot;
	bool is_descriptor; /* the slot is a TLS descriptor; else it contains the offset */
	uint64_t slot;	    /* address of the slot in the file */
};

/*
 * The thread-local address that the instruction at `at` accesses with this operand. False if it is
 * none, or not certain on all paths.
 */
bool isa_thread_address(const struct isa_followed *, uint64_t at, const struct isa_operand *,
			struct isa_thread_address *out);

#endif
