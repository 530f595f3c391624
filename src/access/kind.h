/* SPDX-License-Identifier: Apache-2.0 */
/* Load, store or atomic: by the SPE operation packet. */
#ifndef CYCLOPS_ACCESS_KIND_H
#define CYCLOPS_ACCESS_KIND_H

#include <stdint.h>

/* An atomic is neither a load nor a store. */
enum memory_kind {
	MEMORY_LOAD,
	MEMORY_STORE,
	MEMORY_ATOMIC,
	N_MEMORY_KINDS,
	MEMORY_NONE = N_MEMORY_KINDS
};

const char *memory_kind_name(enum memory_kind); /* "load" … */

/* The kind by class and payload of the operation packet; MEMORY_NONE if it accesses no memory. */
enum memory_kind memory_kind_of(uint8_t op_class, uint8_t op);

/* The kind by the payload of class SPE_OP_LDST (docs/reference/spe-packets.md, section 6.2). */
static inline enum memory_kind memory_kind_of_payload(uint8_t op)
{
	enum { STORE = 0x01, AT = 0x04, EXTENDED = 0x02, EXTENDED_MASK = 0xe2 };

	if ((op & EXTENDED_MASK) == EXTENDED && (op & AT))
		return MEMORY_ATOMIC;
	return op & STORE ? MEMORY_STORE : MEMORY_LOAD;
}

#endif
