/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodings: Arm Architecture Reference Manual, "A64 instruction set encoding". A table says which operation an
 * instruction repeats, and in which of its operands the carried value may stand for it to be that.
 */
#include "bottleneck/carried.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "bottleneck/chain.h"
#include "isa/registers.h"

enum operation {
	OPERATION_NONE,
	OPERATION_ADD,
	OPERATION_MULTIPLY,
	OPERATION_AND,
	OPERATION_OR,
	OPERATION_XOR,
	OPERATION_SELECT, /* minimum, maximum, a comparison and a choice */
};

/* Operands, by the fields of the word that name them. */
enum { RD = 1, RN = 2, RM = 4, RA = 8 };

/* The first that fits counts. */
static const struct repeated {
	uint32_t mask, match;
	enum operation operation;
	uint8_t reads; /* operands */
	uint8_t sums;  /* … of which one may be the carried value */
	uint8_t factors; /* … in which the result is linear, too, if the others do not depend on it */
	bool is_vector;	 /* operands are vector registers */
	bool is_shifted; /* RM may be shifted, which makes it another operation of that */
} repeated[] = {
	{ 0x7f20001f, 0x6b00001f, OPERATION_SELECT, RN | RM, RN | RM, 0, false, true }, /* CMP */
	{ 0x7f80001f, 0x7100001f, OPERATION_SELECT, RN, RN, 0, false, false },
	{ 0x5f200000, 0x0b000000, OPERATION_ADD, RN | RM, RN | RM, 0, false, true }, /* ADD */
	{ 0x5f200000, 0x4b000000, OPERATION_ADD, RN | RM, RN, 0, false, true },	     /* SUB */
	{ 0x1fe00000, 0x0b200000, OPERATION_ADD, RN | RM, RN, 0, false, false },     /* extended */
	{ 0x1f800000, 0x11000000, OPERATION_ADD, RN, RN, 0, false, false },	     /* immediate */
	{ 0x7fe0fc00, 0x1b007c00, OPERATION_MULTIPLY, RN | RM, RN | RM, RN | RM, false, false },
	{ 0x7fe00000, 0x1b000000, OPERATION_ADD, RN | RM | RA, RA, RN | RM, false,
	  false },								      /* MADD */
	{ 0xff600000, 0x9b200000, OPERATION_ADD, RN | RM | RA, RA, 0, false, false }, /* SMADDL */
	{ 0x7f200000, 0x0a000000, OPERATION_AND, RN | RM, RN | RM, 0, false, true },
	{ 0x7f200000, 0x2a000000, OPERATION_OR, RN | RM, RN | RM, 0, false, true },
	{ 0x7f200000, 0x4a000000, OPERATION_XOR, RN | RM, RN | RM, 0, false, true },
	{ 0x7f800000, 0x12000000, OPERATION_AND, RN, RN, 0, false, false }, /* immediate */
	{ 0x7f800000, 0x32000000, OPERATION_OR, RN, RN, 0, false, false },
	{ 0x7f800000, 0x52000000, OPERATION_XOR, RN, RN, 0, false, false },
	{ 0x7fe00c00, 0x1a800000, OPERATION_SELECT, RN | RM, RN | RM, 0, false, false }, /* CSEL */
	/* Scalar floating point. */
	{ 0xff20fc00, 0x1e202800, OPERATION_ADD, RN | RM, RN | RM, 0, true, false }, /* FADD */
	{ 0xff20fc00, 0x1e203800, OPERATION_ADD, RN | RM, RN, 0, true, false },	     /* FSUB */
	{ 0xff20fc00, 0x1e200800, OPERATION_MULTIPLY, RN | RM, RN | RM, RN | RM, true, false },
	{ 0xff20cc00, 0x1e204800, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* FMAX */
	{ 0xff200c00, 0x1e200c00, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* FCSEL */
	{ 0xff20fc07, 0x1e202000, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* FCMP */
	{ 0xff200000, 0x1f000000, OPERATION_ADD, RN | RM | RA, RA, RN | RM, true,
	  false }, /* FMADD */
	/* Vectors. */
	{ 0xbf20fc00, 0x0e208400, OPERATION_ADD, RN | RM, RN | RM, 0, true, false }, /* ADD */
	{ 0xbf20fc00, 0x2e208400, OPERATION_ADD, RN | RM, RN, 0, true, false },	     /* SUB */
	{ 0x9f20fc00, 0x0e201000, OPERATION_ADD, RN | RM, RN, 0, true, false },	     /* SADDW */
	{ 0x9f3ffc00, 0x0e206800, OPERATION_ADD, RD | RN, RD, 0, true, false },	     /* SADALP */
	{ 0x9f20fc00, 0x0e209400, OPERATION_ADD, RD | RN | RM, RD, RN | RM, true, false }, /* MLA */
	{ 0x9f20fc00, 0x0e208000, OPERATION_ADD, RD | RN | RM, RD, 0, true, false }, /* SMLAL */
	{ 0x9fe0fc00, 0x0e809400, OPERATION_ADD, RD | RN | RM, RD, 0, true, false }, /* SDOT */
	{ 0xbfa0fc00, 0x0e20d400, OPERATION_ADD, RN | RM, RN | RM, 0, true, false }, /* FADD */
	{ 0xbfa0fc00, 0x0ea0d400, OPERATION_ADD, RN | RM, RN, 0, true, false },	     /* FSUB */
	{ 0xbf20fc00, 0x0e20cc00, OPERATION_ADD, RD | RN | RM, RD, RN | RM, true,
	  false }, /* FMLA */
	{ 0xbf80b400, 0x0f801000, OPERATION_ADD, RD | RN | RM, RD, RN | RM, true, false },
	{ 0xbfa0fc00, 0x2e20dc00, OPERATION_MULTIPLY, RN | RM, RN | RM, RN | RM, true, false },
	{ 0xbf20fc00, 0x0e209c00, OPERATION_MULTIPLY, RN | RM, RN | RM, RN | RM, true, false },
	{ 0x9f20f400, 0x0e206400, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* SMAX */
	{ 0xbf20fc00, 0x0e20f400, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* FMAX */
	{ 0xbf20fc00, 0x0e20c400, OPERATION_SELECT, RN | RM, RN | RM, 0, true, false }, /* FMAXNM */
	{ 0xbfe0fc00, 0x0e201c00, OPERATION_AND, RN | RM, RN | RM, 0, true, false },
	{ 0xbfe0fc00, 0x0ea01c00, OPERATION_OR, RN | RM, RN | RM, 0, true, false },
	{ 0xbfe0fc00, 0x2e201c00, OPERATION_XOR, RN | RM, RN | RM, 0, true, false },
};

static const struct repeated *find_repeated(uint32_t word)
{
	for (size_t i = 0; i < COUNT(repeated); i++)
		if ((word & repeated[i].mask) == repeated[i].match)
			return &repeated[i];
	return NULL;
}

/* The operands of a word that instructions of the chain write. */
static unsigned carried_operands(const struct repeated *op, uint32_t word, const bool *is_carried)
{
	const unsigned fields[] = { word & 31, word >> 5 & 31, word >> 16 & 31, word >> 10 & 31 };
	unsigned operands = 0;

	for (size_t i = 0; i < COUNT(fields); i++) {
		bool is_zero = !op->is_vector && fields[i] == ISA_REG_STACK;

		if ((op->reads >> i & 1) && !is_zero &&
		    is_carried[(op->is_vector ? ISA_REG_VECTOR : 0) + fields[i]])
			operands |= 1u << i;
	}
	return operands;
}

/* FMOV, and ORR of a vector with itself: the value goes on as it is. */
static bool is_vector_copy(uint32_t word)
{
	return (word & 0xff3ffc00) == 0x1e204000 ||
	       ((word & 0xbfe0fc00) == 0x0ea01c00 && (word >> 5 & 31) == (word >> 16 & 31));
}

static bool is_one(unsigned bits)
{
	return bits != 0 && (bits & (bits - 1)) == 0;
}

/* An instruction of the chain. */
struct carried_step {
	enum operation sum;	    /* that it repeats; OPERATION_NONE: it is no reduction */
	bool is_linear, has_factor; /* in what is carried; and multiplies it */
};

static struct carried_step judge_step(uint32_t word, const bool *is_carried)
{
	const struct repeated *op = find_repeated(word);
	struct carried_step out = { OPERATION_NONE, false, false };
	unsigned operands, factors;
	bool is_other;

	if (op == NULL)
		return out;
	operands = carried_operands(op, word, is_carried);
	factors = operands & op->factors;
	is_other = op->is_shifted && (operands & RM) && (word >> 10 & 63) != 0;
	if (!is_other && is_one(operands) && (operands & ~(unsigned)op->sums) == 0)
		out.sum = op->operation;
	out.has_factor = factors != 0;
	out.is_linear = !is_other && factors != (RN | RM) &&
			(op->operation == OPERATION_ADD || op->operation == OPERATION_MULTIPLY) &&
			(operands & ~(unsigned)(op->sums | op->factors)) == 0;
	return out;
}

/* The registers that the chain writes. False: it goes through memory, or has words that are not known. */
static bool find_carried(const uint32_t *words, const double *parts, size_t n, bool *out)
{
	for (size_t i = 0; i < n; i++) {
		struct isa_registers r;

		if (parts[i] <= 0)
			continue;
		if (!isa_registers_of(words[i], &r) || r.is_access)
			return false;
		for (unsigned k = 0; k < r.n_writes; k++)
			out[r.writes[k]] = true;
	}
	return true;
}

enum carried carried_by(const uint32_t *words, const double *parts, size_t n)
{
	bool is_carried[ISA_N_REGS] = { false }, is_any = false;
	bool is_reduction = true, is_linear = true, has_factor = false;
	enum operation operation = OPERATION_NONE;

	if (!find_carried(words, parts, n, is_carried))
		return CARRIED_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		struct carried_step step;

		if (parts[i] <= 0 || chain_is_copy(words[i]) || is_vector_copy(words[i]))
			continue;
		step = judge_step(words[i], is_carried);
		is_reduction &= step.sum != OPERATION_NONE && (!is_any || step.sum == operation);
		is_linear &= step.is_linear;
		has_factor |= step.has_factor;
		operation = step.sum;
		is_any = true;
	}
	if (!is_any)
		return CARRIED_UNKNOWN;
	if (is_reduction)
		return CARRIED_REDUCTION;
	return is_linear && has_factor ? CARRIED_LINEAR : CARRIED_RECURRENCE;
}
