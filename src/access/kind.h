/* SPDX-License-Identifier: Apache-2.0 */
/* Load, store or atomic: by the SPE operation packet. */
#ifndef CYCLOPS_ACCESS_KIND_H
#define CYCLOPS_ACCESS_KIND_H

#include <stdint.h>

#include "table/table.h"

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

/*
 * How many accesses there are of each kind: what screens and files call loads, stores and atomics.
 */
struct memory_counts {
	uint64_t loads, stores, atomics;
};

/* Adds `n` accesses of a kind; MEMORY_NONE is none. */
static inline void memory_counts_add(struct memory_counts *c, enum memory_kind kind, uint64_t n)
{
	c->loads += kind == MEMORY_LOAD ? n : 0;
	c->stores += kind == MEMORY_STORE ? n : 0;
	c->atomics += kind == MEMORY_ATOMIC ? n : 0;
}

static inline void memory_counts_merge(struct memory_counts *to, const struct memory_counts *from)
{
	to->loads += from->loads;
	to->stores += from->stores;
	to->atomics += from->atomics;
}

/* Accesses that read, and that write: an atomic does both. */
static inline uint64_t memory_reads(const struct memory_counts *c)
{
	return c->loads + c->atomics;
}

static inline uint64_t memory_writes(const struct memory_counts *c)
{
	return c->stores + c->atomics;
}

/*
 * "583 loads, 44 stores, 24 atomics"; atomics are named if there are any. Lives as long as the
 * table.
 */
const char *memory_counts_words(struct table *, const struct memory_counts *);

#endif
