/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes A64 words far enough for the model: kind, registers, cost, SPE operation.
 * Encodings: Arm Architecture Reference Manual, "A64 Instruction Set Encoding".
 */
#include "model/insn.h"

#include "model/insn_fields.h"

/* Data processing with an immediate. */

enum {
	GROUP_ADDRESS = 0,
	GROUP_ADD = 2,
	GROUP_LOGICAL = 4,
	GROUP_MOVE = 5,
	GROUP_BITFIELD = 6,
	GROUP_EXTRACT = 7
};

static void decode_immediate(struct insn *in, uint32_t w)
{
	unsigned group = bits(w, 25, 23);
	bool keeps_old = (group == GROUP_MOVE && bits(w, 30, 29) == 3) ||   /* MOVK */
			 (group == GROUP_BITFIELD && bits(w, 30, 29) == 1); /* BFM */
	bool sets_flags = (group == GROUP_ADD && bit(w, 29)) ||
			  (group == GROUP_LOGICAL && bits(w, 30, 29) == 3);

	writes_general(in, rd(w));
	if (keeps_old)
		reads_general(in, rd(w));
	if (group > 1 && group != GROUP_MOVE)
		reads_general(in, rn(w));
	if (group == GROUP_EXTRACT)
		reads_general(in, rm(w));
	if (group == GROUP_EXTRACT && rn(w) != rm(w)) /* else ROR */
		in->timing = TIMING_EXTRACT;
	if (group == GROUP_BITFIELD && keeps_old)
		in->timing = TIMING_ALU_SHIFTED;
	if (sets_flags)
		writes(in, REG_FLAGS);
}

/* Data processing with registers. */

static void decode_two_sources(struct insn *in, uint32_t w)
{
	unsigned opcode = bits(w, 15, 10);

	reads_general(in, rn(w));
	reads_general(in, rm(w));
	if (opcode == 2 || opcode == 3)
		in->timing = bit(w, 31) ? TIMING_DIVIDE_LONG : TIMING_DIVIDE;
	else if (opcode >= 16 && opcode < 24)
		in->timing = TIMING_CRC;
}

static void decode_three_sources(struct insn *in, uint32_t w)
{
	enum { SIGNED_HIGH = 2, UNSIGNED_HIGH = 6 };
	unsigned op = bits(w, 23, 21);

	reads_general(in, rn(w));
	reads_general(in, rm(w));
	reads_general(in, ra(w));
	writes_general(in, rd(w));
	if (op == SIGNED_HIGH || op == UNSIGNED_HIGH)
		in->timing = TIMING_MULTIPLY_HIGH;
	else
		in->timing = bit(w, 31) && op == 0 ? TIMING_MULTIPLY_LONG : TIMING_MULTIPLY;
}

/* Conditional compare, conditional select, add with carry: these read the flags. */
static void decode_flag_users(struct insn *in, uint32_t w)
{
	unsigned group = bits(w, 24, 21);

	reads(in, REG_FLAGS);
	reads_general(in, rn(w));
	if (group != 2 || !bit(w, 11)) /* CCMP may have an immediate there */
		reads_general(in, rm(w));
	if (group == 2 || bit(w, 29))
		writes(in, REG_FLAGS);
	if (group != 2)
		writes_general(in, rd(w));
	if (group != 0)
		in->op = OP_CONDITION;
}

/*
 * Has the shift of the second source no extra latency? ADD and SUB with LSL by at most 4; logical
 * operations that set no flags (Neoverse N1 Software Optimization Guide).
 */
static bool has_cheap_shift(uint32_t w)
{
	bool is_sum = bit(w, 24), is_extended = is_sum && bit(w, 21);
	bool is_short = bits(w, 23, 22) == 0 && bits(w, 15, 10) <= 4;

	if (is_extended)
		return false;
	return is_sum ? is_short : bits(w, 30, 29) != 3 || bits(w, 15, 10) == 0;
}

static void decode_registers(struct insn *in, uint32_t w)
{
	bool is_add = bit(w, 24);

	if (bit(w, 28) && bit(w, 24)) {
		decode_three_sources(in, w);
		return;
	}
	if (bit(w, 28) && bits(w, 24, 21) != 6) {
		decode_flag_users(in, w);
		return;
	}
	writes_general(in, rd(w));
	if (bit(w, 28)) {
		if (bit(w, 30))
			reads_general(in, rn(w));
		else
			decode_two_sources(in, w);
		return;
	}
	reads_general(in, rn(w));
	reads_general(in, rm(w));
	if (is_add ? bit(w, 29) : bits(w, 30, 29) == 3)
		writes(in, REG_FLAGS);
	if (!has_cheap_shift(w))
		in->timing = TIMING_ALU_SHIFTED;
}

/* Branches, exceptions, system instructions. */

static void set_branch(struct insn *in, enum insn_branch branch, unsigned op)
{
	in->kind = INSN_BRANCH;
	in->class = CLASS_BRANCH;
	in->timing = TIMING_BRANCH;
	in->branch = (uint8_t)branch;
	in->op_class = SPE_OP_BRANCH;
	in->op = (uint8_t)op;
}

static void set_call(struct insn *in)
{
	in->flags |= INSN_CALL;
	writes(in, 30);
}

static void decode_register_branch(struct insn *in, uint32_t w)
{
	unsigned opcode = bits(w, 24, 21);

	set_branch(in, opcode == 2 ? BRANCH_RETURN : BRANCH_INDIRECT, OP_BRANCH_INDIRECT);
	reads_general(in, rn(w));
	if (opcode == 1 || opcode == 9) /* BLR, BLRA */
		set_call(in);
}

static void decode_system(struct insn *in, uint32_t w)
{
	enum { DSB = 4, DMB = 5, ISB = 6 };
	unsigned op = bits(w, 7, 5);

	if ((w & 0xffffffe0) == 0xd50b7420) { /* DC ZVA */
		insn_decode_zero(in, w);
		return;
	}
	in->class = CLASS_SYSTEM;
	in->timing = TIMING_SYSTEM;
	if ((w & 0xfffff01f) == 0xd503201f) { /* hints: NOP and the like */
		in->timing = TIMING_ALU;
	} else if ((w & 0xfffff01f) == 0xd503301f && op >= DSB && op <= ISB) {
		in->class = op == DMB ? CLASS_DMB : op == DSB ? CLASS_DSB : CLASS_ISB;
		in->flags |= op == ISB ? INSN_FLUSH : INSN_BARRIER;
	} else if ((w & 0xfff00000) == 0xd5300000) { /* MRS */
		writes_general(in, rd(w));
		if ((w & 0xffffff60) == 0xd53be040) /* CNTVCT_EL0, CNTVCTSS_EL0 */
			in->flags |= INSN_READS_TIMER;
	} else if ((w & 0xfff00000) == 0xd5100000) { /* MSR */
		reads_general(in, rd(w));
	}
}

static void decode_branch(struct insn *in, uint32_t w)
{
	if ((w & 0x7c000000) == 0x14000000) { /* B, BL */
		set_branch(in, BRANCH_DIRECT, 0);
		if (bit(w, 31))
			set_call(in);
	} else if ((w & 0xfe000000) == 0x54000000) { /* B.cond */
		set_branch(in, BRANCH_CONDITIONAL, OP_BRANCH_CONDITIONAL);
		reads(in, REG_FLAGS);
	} else if ((w & 0x7c000000) == 0x34000000) { /* CBZ, CBNZ, TBZ, TBNZ */
		set_branch(in, BRANCH_CONDITIONAL, OP_BRANCH_CONDITIONAL);
		reads_general(in, rd(w));
	} else if ((w & 0xfe000000) == 0xd6000000) { /* BR, BLR, RET */
		decode_register_branch(in, w);
	} else if ((w & 0xff000000) == 0xd4000000) { /* SVC and the like */
		in->class = CLASS_SYSTEM;
		in->timing = TIMING_SYSTEM;
		in->flags |= INSN_FLUSH;
	} else if ((w & 0xff000000) == 0xd5000000) {
		decode_system(in, w);
	}
}

/* A signal may come at a branch: `next` is then its handler. Direct branches say where they go. */
uint64_t insn_target(const struct insn *in, uint64_t next)
{
	uint32_t w = in->word;
	bool is_test = (w & 0x7e000000) == 0x36000000; /* TBZ, TBNZ */

	if (in->branch == BRANCH_INDIRECT || in->branch == BRANCH_RETURN)
		return next;
	if (in->branch == BRANCH_DIRECT)
		return in->pc + (uint64_t)(int64_t)signed_bits(w, 25, 0) * 4;
	return in->pc + (uint64_t)(int64_t)signed_bits(w, is_test ? 18 : 23, 5) * 4;
}

uint64_t insn_address_of(const struct insn *in, const uint64_t registers[32])
{
	enum { UXTW = 2, SXTW = 6, ZERO = 31 };
	const struct insn_address *a = &in->address;
	uint64_t index = a->index == ZERO ? 0 : registers[a->index];

	if (a->form == ADDRESS_OFFSET)
		return (registers[a->base] + (uint64_t)(int64_t)a->offset) & ~(uint64_t)a->mask;
	if (a->option == UXTW)
		index = (uint32_t)index;
	else if (a->option == SXTW)
		index = (uint64_t)(int64_t)(int32_t)index;
	return registers[a->base] + (index << a->shift);
}

/* Sets the execution units, where the decoder has not done so, by the latency class. */
static void set_units(struct insn *in)
{
	static const struct {
		uint8_t unit, second;
	} units[N_TIMINGS] = {
		[TIMING_ALU] = { UNIT_INTEGER, 0 },
		[TIMING_ALU_SHIFTED] = { UNIT_MULTICYCLE, 0 },
		[TIMING_EXTRACT] = { UNIT_MULTICYCLE, UNIT_INTEGER },
		[TIMING_MULTIPLY] = { UNIT_MULTICYCLE, 0 },
		[TIMING_MULTIPLY_LONG] = { UNIT_MULTICYCLE, 0 },
		[TIMING_MULTIPLY_HIGH] = { UNIT_MULTICYCLE, 0 },
		[TIMING_DIVIDE] = { UNIT_MULTICYCLE, 0 },
		[TIMING_DIVIDE_LONG] = { UNIT_MULTICYCLE, 0 },
		[TIMING_CRC] = { UNIT_MULTICYCLE, 0 },
		[TIMING_FLOAT_ADD] = { UNIT_VECTOR, 0 },
		[TIMING_FLOAT_MULTIPLY] = { UNIT_VECTOR, 0 },
		[TIMING_FLOAT_FUSED] = { UNIT_VECTOR, 0 },
		[TIMING_FLOAT_DIVIDE] = { UNIT_VECTOR_FIRST, 0 },
		[TIMING_FLOAT_ROOT] = { UNIT_VECTOR_FIRST, 0 },
		[TIMING_CONVERT] = { UNIT_VECTOR, 0 },
		[TIMING_CONVERT_TO_VECTOR] = { UNIT_MULTICYCLE, UNIT_VECTOR_FIRST },
		[TIMING_CONVERT_TO_GENERAL] = { UNIT_VECTOR_FIRST, UNIT_VECTOR_LAST },
		[TIMING_MOVE_TO_VECTOR] = { UNIT_MULTICYCLE, 0 },
		[TIMING_MOVE_TO_GENERAL] = { UNIT_VECTOR_LAST, 0 },
		[TIMING_VECTOR] = { UNIT_VECTOR, 0 },
		[TIMING_VECTOR_MULTIPLY] = { UNIT_VECTOR_FIRST, 0 },
		[TIMING_CRYPTO] = { UNIT_VECTOR_FIRST, 0 },
		[TIMING_LOAD] = { UNIT_MEMORY, 0 },
		[TIMING_LOAD_VECTOR] = { UNIT_MEMORY, 0 },
		[TIMING_STORE] = { UNIT_MEMORY, 0 },
		[TIMING_BRANCH] = { UNIT_BRANCH, 0 },
	};
	bool has_none = in->class == CLASS_SYSTEM || in->class == CLASS_DMB ||
			in->class == CLASS_DSB || in->class == CLASS_ISB;

	if (has_none)
		return;
	if (in->unit == UNIT_NONE)
		in->unit = units[in->timing].unit;
	if (in->n_uses == 0)
		in->n_uses = 1;
	if (in->second_unit == UNIT_NONE)
		in->second_unit = units[in->timing].second;
	if (in->second_unit == UNIT_NONE && (in->early_result != REG_LOST || in->flags & INSN_CALL))
		in->second_unit = UNIT_INTEGER; /* computes the new base, or the return address */
	if (in->second_unit != UNIT_NONE && in->n_second_uses == 0)
		in->n_second_uses = 1;
}

struct insn insn_decode(uint64_t pc, uint32_t word)
{
	struct insn in = {
		.pc = pc,
		.word = word,
		.sources = { REG_NONE, REG_NONE, REG_NONE, REG_NONE },
		.results = { REG_LOST, REG_LOST, REG_LOST },
		.early_result = REG_LOST,
		.op_class = SPE_OP_OTHER,
	};
	unsigned group = bits(word, 28, 25);

	if ((group & 14) == 8)
		decode_immediate(&in, word);
	else if ((group & 14) == 10)
		decode_branch(&in, word);
	else if ((group & 5) == 4)
		insn_decode_memory(&in, word);
	else if ((group & 7) == 5)
		decode_registers(&in, word);
	else if ((group & 7) == 7)
		insn_decode_float(&in, word);
	set_units(&in);
	return in;
}
