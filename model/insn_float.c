/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point and vectors: Arm Architecture Reference Manual, "Data Processing -- Scalar
 * Floating-Point and Advanced SIMD" of A64.
 */
#include "model/insn_fields.h"

static void set_float(struct insn *in, enum insn_timing timing)
{
	in->class = CLASS_FLOAT;
	in->timing = (uint8_t)timing;
}

/* Between integers and floating point. */
static void decode_conversion(struct insn *in, uint32_t w)
{
	unsigned opcode = bits(w, 18, 16);
	bool from_general = opcode == 2 || opcode == 3 || opcode == 7;

	if (from_general)
		set_float(in, opcode >= 6 ? TIMING_MOVE_TO_VECTOR : TIMING_CONVERT_TO_VECTOR);
	else
		set_float(in, opcode >= 6 ? TIMING_MOVE_TO_GENERAL : TIMING_CONVERT_TO_GENERAL);
	if (from_general) {
		reads_general(in, rn(w));
		writes_vector(in, rd(w));
	} else {
		reads_vector(in, rn(w));
		writes_general(in, rd(w));
	}
}

static void decode_float_two_sources(struct insn *in, uint32_t w)
{
	enum { MULTIPLY = 0, DIVIDE = 1, NEGATED_MULTIPLY = 8 };
	unsigned opcode = bits(w, 15, 12);

	set_float(in, opcode == DIVIDE					 ? TIMING_FLOAT_DIVIDE
		      : opcode == MULTIPLY || opcode == NEGATED_MULTIPLY ? TIMING_FLOAT_MULTIPLY
									 : TIMING_FLOAT_ADD);
	reads_vector(in, rn(w));
	reads_vector(in, rm(w));
	writes_vector(in, rd(w));
}

static void decode_float_one_source(struct insn *in, uint32_t w)
{
	enum { SQUARE_ROOT = 3, TO_SINGLE = 4, ROUND = 8 };
	unsigned opcode = bits(w, 20, 15);

	set_float(in, opcode == SQUARE_ROOT ? TIMING_FLOAT_ROOT
		      : opcode >= TO_SINGLE ? TIMING_CONVERT
					    : TIMING_FLOAT_ADD);
	if (opcode >= ROUND)
		uses(in, UNIT_VECTOR_FIRST, 1);
	reads_vector(in, rn(w));
	writes_vector(in, rd(w));
}

/* FCMP, FCCMP and FCSEL, which write or read the flags. */
static void decode_float_flags(struct insn *in, uint32_t w)
{
	bool is_select = bits(w, 11, 10) == 3, is_plain_compare = bits(w, 11, 10) == 0;

	set_float(in, TIMING_FLOAT_ADD);
	reads_vector(in, rn(w));
	reads_vector(in, rm(w));
	if (!is_plain_compare) {
		reads(in, REG_FLAGS);
		in->op = OP_CONDITION;
	}
	if (is_select) {
		writes_vector(in, rd(w));
	} else {
		uses(in, UNIT_VECTOR_FIRST, 1);
		writes(in, REG_FLAGS);
	}
}

static void decode_float_fused(struct insn *in, uint32_t w)
{
	set_float(in, TIMING_FLOAT_FUSED);
	reads_vector(in, rn(w));
	reads_vector(in, rm(w));
	reads_vector(in, ra(w));
	writes_vector(in, rd(w));
}

static void decode_float_constant(struct insn *in, uint32_t w)
{
	set_float(in, TIMING_VECTOR);
	writes_vector(in, rd(w));
}

static void decode_scalar_float(struct insn *in, uint32_t w)
{
	static const struct insn_form forms[] = {
		{ 0x01000000, 0x01000000, decode_float_fused },
		{ 0x00200000, 0x00000000, decode_conversion }, /* fixed point */
		{ 0x0000fc00, 0x00000000, decode_conversion },
		{ 0x00007c00, 0x00004000, decode_float_one_source },
		{ 0x00003c00, 0x00002000, decode_float_flags },
		{ 0x00001c00, 0x00001000, decode_float_constant },
		{ 0x00000c00, 0x00000800, decode_float_two_sources },
		{ 0x00000000, 0x00000000, decode_float_flags },
	};

	decode_first(forms, COUNT(forms), in, w);
}

/* Vector operations on three registers of floating-point numbers: by opcode and bits 23, 29. */
static enum insn_timing vector_float_timing(uint32_t w)
{
	switch (bits(w, 15, 11)) {
	case 25: /* FMLA, FMLS */
		return TIMING_FLOAT_FUSED;
	case 27: /* FMUL, FMULX */
		return TIMING_FLOAT_MULTIPLY;
	case 31: /* FDIV; the others with this opcode are estimates */
		return bit(w, 29) && !bit(w, 23) ? TIMING_FLOAT_DIVIDE : TIMING_FLOAT_FUSED;
	default:
		return TIMING_FLOAT_ADD;
	}
}

/* Moves between lanes and general registers; false if the word is none. */
static bool decode_lane_move(struct insn *in, uint32_t w)
{
	enum { DUP = 1, INS = 3, SMOV = 5, UMOV = 7 };
	unsigned op = bits(w, 14, 11);

	if ((w & 0x9fe08400) != 0x0e000400)
		return false;
	if (op == DUP || op == INS) {
		in->timing = TIMING_MOVE_TO_VECTOR;
		reads_general(in, rn(w));
		if (op == INS) {
			reads_vector(in, rd(w));
			also_uses(in, UNIT_VECTOR, 1);
		}
		writes_vector(in, rd(w));
	} else if (op == SMOV || op == UMOV) {
		in->timing = TIMING_MOVE_TO_GENERAL;
		reads_vector(in, rn(w));
		writes_general(in, rd(w));
	} else {
		in->timing = TIMING_VECTOR;
		reads_vector(in, rn(w));
		writes_vector(in, rd(w));
	}
	return true;
}

/* Is the third register field a register in this vector operation? */
static bool reads_third(uint32_t w)
{
	static const struct {
		uint32_t mask, match;
	} forms[] = {
		{ 0x8f200400, 0x0e200400 }, /* three of the same kind, vectors or scalars */
		{ 0x8f200c00, 0x0e200000 }, /* of different widths */
		{ 0xbf208400, 0x0e000000 }, /* TBL, ZIP and the like */
		{ 0xbf208400, 0x2e000000 }, /* EXT */
		{ 0x8f000400, 0x0f000000 }, /* by element */
	};

	for (size_t i = 0; i < COUNT(forms); i++)
		if ((w & forms[i].mask) == forms[i].match)
			return true;
	return false;
}

static enum insn_timing by_element_timing(uint32_t w)
{
	switch (bits(w, 15, 12)) {
	case 1: /* FMLA */
	case 5: /* FMLS */
		return TIMING_FLOAT_FUSED;
	case 9: /* FMUL */
		return TIMING_FLOAT_MULTIPLY;
	default:
		return TIMING_VECTOR_MULTIPLY;
	}
}

/* Conversions, roundings, estimates of reciprocals, square roots: two registers. */
static enum insn_timing two_registers_timing(uint32_t w)
{
	enum { FIRST_CONVERSION = 22, LAST_CONVERSION = 29, SQUARE_ROOT = 31 };
	unsigned opcode = bits(w, 16, 12);

	if (opcode == SQUARE_ROOT)
		return TIMING_FLOAT_ROOT;
	return opcode >= FIRST_CONVERSION && opcode <= LAST_CONVERSION ? TIMING_CONVERT
								       : TIMING_VECTOR;
}

static bool is_shift_by_constant(uint32_t w)
{
	return (w & 0x8f800400) == 0x0f000400;
}

static enum insn_timing vector_timing(uint32_t w)
{
	enum { FROM_FIXED_POINT = 28, TO_FIXED_POINT = 31 };
	unsigned opcode = bits(w, 15, 11);

	if ((w & 0x8f3e0c00) == 0x0e200800)
		return two_registers_timing(w);
	if (is_shift_by_constant(w) && (opcode == FROM_FIXED_POINT || opcode == TO_FIXED_POINT))
		return TIMING_CONVERT;
	if ((w & 0x8f000400) == 0x0f000000)
		return by_element_timing(w);
	if ((w & 0x8f200400) == 0x0e200400 && opcode >= 24)
		return vector_float_timing(w);
	if ((w & 0x8f200400) == 0x0e200400 && (opcode == 18 || opcode == 19))
		return TIMING_VECTOR_MULTIPLY;
	if ((w & 0x8f200c00) == 0x0e200000 && bits(w, 15, 12) >= 8)
		return TIMING_VECTOR_MULTIPLY; /* SMULL and the like */
	return TIMING_VECTOR;
}

/* Sets the units of vector operations that only one of the vector units executes. */
static void set_vector_units(struct insn *in, uint32_t w)
{
	bool is_shift =
		is_shift_by_constant(w) || ((w & 0x8f20e400) == 0x0e204400); /* by a register */
	bool is_sum_of_lanes = (w & 0x8f3e0c00) == 0x0e300800;
	bool is_by_element = (w & 0x8f000400) == 0x0f000000;
	/* A result of twice the width. */
	bool is_long = is_by_element ? bit(w, 13) : (w & 0x8f200c00) == 0x0e200000;
	bool is_whole = bit(w, 30) && !bit(w, 28); /* 16 bytes */

	if (in->timing == TIMING_VECTOR_MULTIPLY)
		uses(in, UNIT_VECTOR_FIRST, is_whole && !is_long ? 2 : 1);
	else if (in->timing == TIMING_CONVERT)
		uses(in, UNIT_VECTOR_FIRST, is_whole && !bit(w, 22) ? 2 : 1);
	else if (in->timing == TIMING_VECTOR && (is_shift || is_sum_of_lanes))
		uses(in, UNIT_VECTOR_LAST, 1);
}

/* AES and SHA. */
static bool is_crypto(uint32_t w)
{
	return (w & 0xff3e0c00) == 0x4e280800 || (w & 0xff3e0c00) == 0x5e280800 ||
	       (w & 0xff208c00) == 0x5e000000;
}

/* MOVI and the like: a constant. */
static bool decode_constant(struct insn *in, uint32_t w)
{
	if ((w & 0x9ff80400) != 0x0f000400)
		return false;
	in->timing = TIMING_VECTOR;
	writes_vector(in, rd(w));
	return true;
}

/* Does the operation read its result register, to add to it? */
static bool accumulates(uint32_t w)
{
	unsigned opcode = bits(w, 15, 11);

	if ((w & 0x8f000400) == 0x0f000000) /* by element */
		return !bit(w, 15);
	if ((w & 0x8f200c00) == 0x0e200000) /* of different widths */
		return opcode >> 1 == 5 || (bit(w, 15) && !bit(w, 14));
	if ((w & 0x8f200400) == 0x0e200400) /* FMLA; MLA; SABA */
		return opcode == 25 || opcode == 18 || opcode == 15;
	return false;
}

static void decode_vector(struct insn *in, uint32_t w)
{
	in->class = CLASS_VECTOR;
	if (decode_lane_move(in, w) || decode_constant(in, w))
		return;
	in->timing = (uint8_t)vector_timing(w);
	set_vector_units(in, w);
	if (is_crypto(w)) {
		in->class = CLASS_CRYPTO;
		in->timing = TIMING_CRYPTO;
	}
	reads_vector(in, rn(w));
	if (reads_third(w))
		reads_vector(in, rm(w));
	if (accumulates(w) || in->timing == TIMING_CRYPTO)
		reads_vector(in, rd(w));
	writes_vector(in, rd(w));
}

void insn_decode_float(struct insn *in, uint32_t w)
{
	if ((w & 0x5e000000) == 0x1e000000)
		decode_scalar_float(in, w);
	else
		decode_vector(in, w);
}
