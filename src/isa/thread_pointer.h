/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that a function of A64 makes of the thread pointer: those of thread-local data, which
 * has no address that is known when linking.
 */
#ifndef CYCLOPS_ISA_THREAD_POINTER_H
#define CYCLOPS_ISA_THREAD_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/follow.h"
#include "isa/operand.h"

/* Where an access is: the thread pointer + offset, + what a slot of the GOT stands for. */
struct isa_thread_address {
	uint64_t offset;
	bool has_index; /* … + something that is not known, as of an element of an array */
	bool has_slot;
	bool is_descriptor; /* the slot is a TLS descriptor; else it holds the distance itself */
	uint64_t slot;	    /* its address in the file */
};

/*
 * What the instruction at `at` accesses, whose operand this is, if that is made of the thread
 * pointer however the function gets there. False if it is not, or not certain.
 */
bool isa_thread_address(const struct isa_followed *, uint64_t at, const struct isa_operand *,
			struct isa_thread_address *out);

#endif
