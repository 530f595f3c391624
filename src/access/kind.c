/* SPDX-License-Identifier: Apache-2.0 */
#include "access/kind.h"

#include "base/alloc.h"
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

const char *memory_counts_words(struct table *t, const struct memory_counts *c)
{
	const char *atomics = "";

	if (c->atomics > 0)
		atomics = table_format(t, ", %s",
				       table_human(t, cell_count(c->atomics),
						   c->atomics == 1 ? "atomic" : "atomics"));
	return table_format(
		t, "%s, %s%s",
		table_human(t, cell_count(c->loads), c->loads == 1 ? "load" : "loads"),
		table_human(t, cell_count(c->stores), c->stores == 1 ? "store" : "stores"),
		atomics);
}
