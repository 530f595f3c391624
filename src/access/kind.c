/* SPDX-License-Identifier: Apache-2.0 */
#include "access/kind.h"

#include "spe/packet.h"

static const char *const kind_names[] = {
	[MEMORY_LOAD] = "load",
	[MEMORY_STORE] = "store",
	[MEMORY_ATOMIC] = "atomic",
};

const char *memory_kind_name(enum memory_kind kind)
{
	return kind_names[kind];
}

enum memory_kind memory_kind_of(uint8_t op_class, uint8_t op)
{
	return op_class == SPE_OP_LDST ? memory_kind_of_payload(op) : MEMORY_NONE;
}
