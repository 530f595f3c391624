/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores: Arm Architecture Reference Manual, "Loads and Stores" of A64. */
#include "model/insn_fields.h"

static void set_memory(struct insn *in, enum insn_kind kind, unsigned op, bool is_vector)
{
	in->kind = (uint8_t)kind;
	in->op_class = SPE_OP_LDST;
	in->op = (uint8_t)(op | (kind == INSN_STORE ? OP_STORE : 0));
	in->class = kind == INSN_STORE ? CLASS_STORE : CLASS_LOAD;
	in->timing = kind == INSN_STORE ? TIMING_STORE
		     : is_vector	? TIMING_LOAD_VECTOR
					: TIMING_LOAD;
}

/* All sources so far are those of the address. */
static void end_address(struct insn *in)
{
	while (in->n_address < COUNT(in->sources) && in->sources[in->n_address] != REG_NONE)
		in->n_address++;
}

/* The register that a load writes and a store reads. */
static void set_data(struct insn *in, unsigned reg, bool is_vector)
{
	if (is_vector && in->kind == INSN_STORE)
		reads_vector(in, reg);
	else if (is_vector)
		writes_vector(in, reg);
	else if (in->kind == INSN_STORE)
		reads_general(in, reg);
	else
		writes_general(in, reg);
}

static void set_order(struct insn *in, bool acquires, bool releases)
{
	in->flags |=
		(acquires ? INSN_ACQUIRE | INSN_AFTER_RELEASE : 0) | (releases ? INSN_RELEASE : 0);
	if (acquires || releases)
		in->op |= OP_ORDERED;
}

static void set_atomic(struct insn *in, bool acquires, bool releases)
{
	set_memory(in, INSN_ATOMIC, OP_ATOMIC, false);
	set_order(in, acquires, releases);
}

/* Exclusive loads and stores, compare and swap, load-acquire and store-release. */
static void decode_exclusive(struct insn *in, uint32_t w)
{
	bool is_load = bit(w, 22), is_ordered = bit(w, 15);
	bool is_pair = !bit(w, 23) && bit(w, 21) && bit(w, 31);
	bool is_swap = bit(w, 21) && !is_pair;

	reads_general(in, rn(w));
	if (is_swap) {
		set_atomic(in, is_load, is_ordered);
		reads_general(in, rd(w));
		reads_general(in, rm(w));
		writes_general(in, rm(w));
		return;
	}
	set_memory(in, is_load ? INSN_LOAD : INSN_STORE, 0, false);
	end_address(in);
	set_data(in, rd(w), false);
	if (is_pair)
		set_data(in, ra(w), false);
	if (!bit(w, 23)) {
		in->op |= OP_EXCLUSIVE;
		in->flags |= INSN_EXCLUSIVE;
		if (!is_load)
			writes_general(in, rm(w)); /* the status */
	}
	set_order(in, is_load && is_ordered, !is_load && is_ordered);
}

static void decode_atomic(struct insn *in, uint32_t w)
{
	reads_general(in, rn(w));
	if (bit(w, 15) && bits(w, 14, 12) == 4) { /* LDAPR */
		set_memory(in, INSN_LOAD, 0, false);
		set_order(in, true, false);
		in->flags &= (uint16_t)~INSN_AFTER_RELEASE;
		writes_general(in, rd(w));
		return;
	}
	set_atomic(in, bit(w, 23) && rd(w) != 31, bit(w, 22));
	reads_general(in, rm(w));
	writes_general(in, rd(w));
}

static void decode_structures(struct insn *in, uint32_t w)
{
	/* LD4, LD1 of 4, LD3, LD1 of 3, of 1, LD2, LD1 of 2 */
	static const uint8_t n_registers[16] = { 4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2 };
	unsigned n = bit(w, 24) ? 1 + (bit(w, 13) << 1 | bit(w, 21)) : n_registers[bits(w, 15, 12)];
	bool is_plain = !bit(w, 24) && bit(w, 13); /* LD1 of whole registers */

	set_memory(in, bit(w, 22) ? INSN_LOAD : INSN_STORE, OP_VECTOR, true);
	reads_general(in, rn(w));
	if (bit(w, 23)) {
		reads_general(in, rm(w));
		in->early_result = rn(w) != 31 ? (uint8_t)rn(w) : REG_LOST;
	}
	end_address(in);
	for (unsigned i = 0; i < n; i++)
		set_data(in, (rd(w) + i) & 31, true);
	uses(in, UNIT_MEMORY, n);
	if (in->kind == INSN_STORE || !is_plain)
		also_uses(in, UNIT_VECTOR, n);
}

static void set_offset(struct insn *in, uint32_t w, int32_t offset)
{
	in->address = (struct insn_address){ .form = ADDRESS_OFFSET,
					     .base = (uint8_t)rn(w),
					     .offset = offset };
}

/* Sets the address of a pair; a post-indexed one is the base itself. */
static void set_pair_address(struct insn *in, uint32_t w)
{
	enum { POST_INDEX = 1 };
	unsigned scale = 2 + (bit(w, 26) ? bits(w, 31, 30) : bits(w, 31, 31));

	set_offset(in, w,
		   bits(w, 24, 23) == POST_INDEX ? 0 : signed_bits(w, 21, 15) * (1 << scale));
}

static void set_single_address(struct insn *in, uint32_t w)
{
	enum { POST_INDEX = 1 };
	unsigned scale = bits(w, 31, 30) + (bit(w, 26) && bit(w, 23) ? 4 : 0);

	if (bit(w, 24))
		set_offset(in, w, (int32_t)(bits(w, 21, 10) << scale));
	else if (!bit(w, 21))
		set_offset(in, w, bits(w, 11, 10) == POST_INDEX ? 0 : signed_bits(w, 20, 12));
	else if (bits(w, 11, 10) == 2)
		in->address = (struct insn_address){
			.form = ADDRESS_INDEX,
			.base = (uint8_t)rn(w),
			.index = (uint8_t)rm(w),
			.option = (uint8_t)bits(w, 15, 13),
			.shift = (uint8_t)(bit(w, 12) ? scale : 0),
		};
}

/* By the size of a register: W, SW, X; S, D, Q. */
static void set_pair_units(struct insn *in, unsigned opc, bool is_vector)
{
	enum { WORD = 0, SINGLE = 0, QUAD = 2 };
	bool is_store = in->kind == INSN_STORE;

	if (!is_vector) {
		uses(in, UNIT_MEMORY, opc == WORD ? 1 : 2);
		return;
	}
	uses(in, UNIT_MEMORY, is_store && opc == SINGLE ? 1 : is_store && opc == QUAD ? 4 : 2);
	if (is_store)
		also_uses(in, UNIT_VECTOR, opc == SINGLE ? 1 : 2);
	else
		also_uses(in, UNIT_INTEGER, 1);
}

static void decode_pair(struct insn *in, uint32_t w)
{
	bool is_vector = bit(w, 26);

	set_memory(in, bit(w, 22) ? INSN_LOAD : INSN_STORE, is_vector ? OP_VECTOR : 0, is_vector);
	reads_general(in, rn(w));
	end_address(in);
	set_data(in, rd(w), is_vector);
	set_data(in, ra(w), is_vector);
	set_pair_address(in, w);
	if (bit(w, 23) && rn(w) != 31)
		in->early_result = (uint8_t)rn(w);
	set_pair_units(in, bits(w, 31, 30), is_vector);
}

static void decode_single(struct insn *in, uint32_t w)
{
	bool is_vector = bit(w, 26);
	unsigned opc = bits(w, 23, 22);
	bool is_load = is_vector ? bit(w, 22) : opc != 0;
	bool has_register = !bit(w, 24) && bit(w, 21);
	bool writes_back = !bit(w, 24) && !bit(w, 21) && bit(w, 10);

	if (has_register && bits(w, 11, 10) == 0 && !is_vector) {
		decode_atomic(in, w);
		return;
	}
	set_memory(in, is_load ? INSN_LOAD : INSN_STORE, is_vector ? OP_VECTOR : 0, is_vector);
	reads_general(in, rn(w));
	if (has_register && bits(w, 11, 10) == 2)
		reads_general(in, rm(w));
	end_address(in);
	set_single_address(in, w);
	if (!is_vector && opc == 2 && bits(w, 31, 30) == 3)
		in->flags |= INSN_PREFETCH | INSN_UNSEEN;
	else
		set_data(in, rd(w), is_vector);
	if (writes_back && rn(w) != 31)
		in->early_result = (uint8_t)rn(w);
	if (is_vector && !is_load) { /* of 16 bytes: two operations */
		unsigned n = bit(w, 23) ? 2 : 1;

		uses(in, UNIT_MEMORY, n);
		also_uses(in, UNIT_VECTOR, n);
	} else if (is_vector && (bit(w, 24) || has_register)) {
		also_uses(in, UNIT_INTEGER, 1);
	}
}

static void decode_literal(struct insn *in, uint32_t w)
{
	bool is_vector = bit(w, 26);

	set_memory(in, INSN_LOAD, is_vector ? OP_VECTOR : 0, is_vector);
	if (!is_vector && bits(w, 31, 30) == 3)
		in->flags |= INSN_PREFETCH; /* PRFM (literal) */
	else
		set_data(in, rd(w), is_vector);
}

/* LDAPUR, STLUR. */
static void decode_unscaled_ordered(struct insn *in, uint32_t w)
{
	bool is_load = bits(w, 23, 22) != 0;

	set_memory(in, is_load ? INSN_LOAD : INSN_STORE, 0, false);
	set_order(in, is_load, !is_load);
	in->flags &= (uint16_t)~INSN_AFTER_RELEASE;
	reads_general(in, rn(w));
	end_address(in);
	set_data(in, rd(w), false);
}

void insn_decode_zero(struct insn *in, uint32_t w)
{
	set_memory(in, INSN_STORE, 0, false);
	reads_general(in, rd(w));
	end_address(in);
	in->flags |= INSN_UNSEEN;
	in->address = (struct insn_address){ .form = ADDRESS_OFFSET,
					     .base = (uint8_t)rd(w),
					     .mask = ZEROED_BYTES - 1 };
}

void insn_decode_memory(struct insn *in, uint32_t w)
{
	static const struct insn_form forms[] = {
		{ 0x3f000000, 0x08000000, decode_exclusive },
		{ 0xbe000000, 0x0c000000, decode_structures },
		{ 0x3f200c00, 0x19000000, decode_unscaled_ordered },
		{ 0x3b000000, 0x18000000, decode_literal },
		{ 0x3a000000, 0x28000000, decode_pair },
		{ 0x3a000000, 0x38000000, decode_single },
	};

	decode_first(forms, COUNT(forms), in, w);
}
