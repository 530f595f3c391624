/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of the decoder (insn.c, insn_memory.c, insn_float.c): fields of a word, and
 * functions that add sources, results and units to an instruction.
 */
#ifndef CYCLOPS_MODEL_INSN_FIELDS_H
#define CYCLOPS_MODEL_INSN_FIELDS_H

#include <stddef.h>

#include "base/alloc.h"
#include "model/insn.h"
#include "spe/packet.h"

/* Bits of the SPE operation packet: docs/reference/spe-packets.md section 6. */
enum {
	OP_CONDITION = 1, /* other: conditional select or compare */
	OP_STORE = 1,
	OP_VECTOR = 4,
	OP_EXTENDED = 2,
	OP_ATOMIC = 4 | OP_EXTENDED,
	OP_EXCLUSIVE = 8 | OP_EXTENDED,
	OP_ORDERED = 16 | OP_EXTENDED,
	OP_BRANCH_CONDITIONAL = 1,
	OP_BRANCH_INDIRECT = 2,
};

static inline unsigned bits(uint32_t word, unsigned high, unsigned low)
{
	return word >> low & ((2u << (high - low)) - 1);
}

static inline bool bit(uint32_t word, unsigned n)
{
	return word >> n & 1;
}

/* The value of a signed field. */
static inline int32_t signed_bits(uint32_t w, unsigned high, unsigned low)
{
	return (int32_t)(w << (31 - high)) >> (31 - high + low);
}

/* The register fields, which have the same bits in nearly all instructions. */
static inline unsigned rd(uint32_t word)
{
	return bits(word, 4, 0);
}

static inline unsigned rn(uint32_t word)
{
	return bits(word, 9, 5);
}

static inline unsigned rm(uint32_t word)
{
	return bits(word, 20, 16);
}

static inline unsigned ra(uint32_t word)
{
	return bits(word, 14, 10);
}

static inline void reads(struct insn *in, unsigned reg)
{
	for (size_t i = 0; i < COUNT(in->sources); i++) {
		if (in->sources[i] == REG_NONE) {
			in->sources[i] = (uint8_t)reg;
			return;
		}
	}
}

static inline void writes(struct insn *in, unsigned reg)
{
	for (size_t i = 0; i < COUNT(in->results); i++) {
		if (in->results[i] == REG_LOST) {
			in->results[i] = (uint8_t)reg;
			return;
		}
	}
}

static inline void reads_general(struct insn *in, unsigned n)
{
	if (n != 31)
		reads(in, n);
}

static inline void writes_general(struct insn *in, unsigned n)
{
	if (n != 31)
		writes(in, n);
}

static inline void reads_vector(struct insn *in, unsigned n)
{
	reads(in, REG_VECTOR + n);
}

static inline void writes_vector(struct insn *in, unsigned n)
{
	writes(in, REG_VECTOR + n);
}

static inline void uses(struct insn *in, enum insn_unit unit, unsigned n)
{
	in->unit = (uint8_t)unit;
	in->n_uses = (uint8_t)n;
}

static inline void also_uses(struct insn *in, enum insn_unit unit, unsigned n)
{
	in->second_unit = (uint8_t)unit;
	in->n_second_uses = (uint8_t)n;
}

/* An encoding: word & mask == match. The first one of a table that matches decodes. */
struct insn_form {
	uint32_t mask, match;
	void (*decode)(struct insn *, uint32_t);
};

static inline bool decode_first(const struct insn_form *forms, size_t n, struct insn *in,
				uint32_t w)
{
	for (size_t i = 0; i < n; i++) {
		if ((w & forms[i].mask) == forms[i].match) {
			forms[i].decode(in, w);
			return true;
		}
	}
	return false;
}

/* Decode loads and stores; DC ZVA, which stores; floating point and vectors. */
void insn_decode_memory(struct insn *, uint32_t word);
void insn_decode_zero(struct insn *, uint32_t word);
void insn_decode_float(struct insn *, uint32_t word);

#endif
