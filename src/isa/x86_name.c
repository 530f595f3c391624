/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/x86_name.h"

#include <ctype.h>
#include <stdio.h>

#include "base/alloc.h"

#define NAME(m, name)                                                                              \
	{                                                                                          \
		ZYDIS_MNEMONIC_##m, name                                                           \
	}
#define NAMES_OF_CONDITION(zydis, objdump)                                                         \
	NAME(J##zydis, "j" objdump), NAME(SET##zydis, "set" objdump),                              \
		NAME(CMOV##zydis, "cmov" objdump)

struct name {
	ZydisMnemonic mnemonic;
	const char *name;
};

static const struct name names[] = {
	NAMES_OF_CONDITION(Z, "e"),   NAMES_OF_CONDITION(NZ, "ne"), NAMES_OF_CONDITION(NB, "ae"),
	NAMES_OF_CONDITION(NBE, "a"), NAMES_OF_CONDITION(NL, "ge"), NAMES_OF_CONDITION(NLE, "g"),
};

static const struct name att_names[] = {
	NAME(CBW, "cbtw"),    NAME(CWDE, "cwtl"),   NAME(CDQE, "cltq"),	  NAME(CWD, "cwtd"),
	NAME(CDQ, "cltd"),    NAME(CQO, "cqto"),    NAME(STOSD, "stosl"), NAME(LODSD, "lodsl"),
	NAME(SCASD, "scasl"), NAME(INSD, "insl"),   NAME(OUTSD, "outsl"), NAME(MOVZX, "movz"),
	NAME(MOVSX, "movs"),  NAME(MOVSXD, "movs"),
};

/* Historical error of AT&T syntax: these names are exchanged if the result is not in st. */
static const struct name swapped[] = {
	NAME(FSUB, "fsubr"),   NAME(FSUBR, "fsub"),   NAME(FDIV, "fdivr"),   NAME(FDIVR, "fdiv"),
	NAME(FSUBP, "fsubrp"), NAME(FSUBRP, "fsubp"), NAME(FDIVP, "fdivrp"), NAME(FDIVRP, "fdivp"),
};

/* Which size letters AT&T syntax appends to the name. */
enum letters {
	NO_LETTERS,
	INTEGER,   /* size of memory, if no register shows it */
	SOURCE,	   /* size of the source, if that is memory */
	ALWAYS,	   /* size of the source, also of a register */
	EXTENSION, /* size of the source, and of the result */
	FLOAT,	   /* x87 memory operand */
	FLOAT_INTEGER,
	VECTOR, /* memory longer than the result: only a result of 32 bytes shows its size */
	WIDTH,	/* operand size of instructions without operands */
};

#define LETTERS(m, kind) [ZYDIS_MNEMONIC_##m] = (kind)

static const uint8_t letters_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	LETTERS(ADC, INTEGER),
	LETTERS(ADD, INTEGER),
	LETTERS(AND, INTEGER),
	LETTERS(BT, INTEGER),
	LETTERS(BTC, INTEGER),
	LETTERS(BTR, INTEGER),
	LETTERS(BTS, INTEGER),
	LETTERS(CMP, INTEGER),
	LETTERS(DEC, INTEGER),
	LETTERS(DIV, INTEGER),
	LETTERS(IDIV, INTEGER),
	LETTERS(IMUL, INTEGER),
	LETTERS(INC, INTEGER),
	LETTERS(MOV, INTEGER),
	LETTERS(MUL, INTEGER),
	LETTERS(NEG, INTEGER),
	LETTERS(NOP, INTEGER),
	LETTERS(NOT, INTEGER),
	LETTERS(OR, INTEGER),
	LETTERS(PTWRITE, INTEGER),
	LETTERS(RCL, INTEGER),
	LETTERS(RCR, INTEGER),
	LETTERS(ROL, INTEGER),
	LETTERS(ROR, INTEGER),
	LETTERS(SAR, INTEGER),
	LETTERS(SBB, INTEGER),
	LETTERS(SHL, INTEGER),
	LETTERS(SHR, INTEGER),
	LETTERS(SUB, INTEGER),
	LETTERS(TEST, INTEGER),
	LETTERS(XOR, INTEGER),
	LETTERS(SYSEXIT, WIDTH),
	LETTERS(SYSRET, WIDTH),
	LETTERS(CRC32, ALWAYS),
	LETTERS(CVTSI2SD, SOURCE),
	LETTERS(CVTSI2SS, SOURCE),
	LETTERS(VCVTSI2SD, SOURCE),
	LETTERS(VCVTSI2SH, SOURCE),
	LETTERS(VCVTSI2SS, SOURCE),
	LETTERS(VCVTUSI2SD, SOURCE),
	LETTERS(VCVTUSI2SH, SOURCE),
	LETTERS(VCVTUSI2SS, SOURCE),
	LETTERS(MOVSX, EXTENSION),
	LETTERS(MOVSXD, EXTENSION),
	LETTERS(MOVZX, EXTENSION),
	LETTERS(FADD, FLOAT),
	LETTERS(FCOM, FLOAT),
	LETTERS(FCOMP, FLOAT),
	LETTERS(FDIV, FLOAT),
	LETTERS(FDIVR, FLOAT),
	LETTERS(FLD, FLOAT),
	LETTERS(FMUL, FLOAT),
	LETTERS(FST, FLOAT),
	LETTERS(FSTP, FLOAT),
	LETTERS(FSUB, FLOAT),
	LETTERS(FSUBR, FLOAT),
	LETTERS(FIADD, FLOAT_INTEGER),
	LETTERS(FICOM, FLOAT_INTEGER),
	LETTERS(FICOMP, FLOAT_INTEGER),
	LETTERS(FIDIV, FLOAT_INTEGER),
	LETTERS(FIDIVR, FLOAT_INTEGER),
	LETTERS(FILD, FLOAT_INTEGER),
	LETTERS(FIMUL, FLOAT_INTEGER),
	LETTERS(FIST, FLOAT_INTEGER),
	LETTERS(FISTP, FLOAT_INTEGER),
	LETTERS(FISTTP, FLOAT_INTEGER),
	LETTERS(FISUB, FLOAT_INTEGER),
	LETTERS(FISUBR, FLOAT_INTEGER),
	LETTERS(VCVTDQ2PH, VECTOR),
	LETTERS(VCVTUDQ2PH, VECTOR),
	LETTERS(VCVTPD2DQ, VECTOR),
	LETTERS(VCVTPD2PH, VECTOR),
	LETTERS(VCVTPD2PS, VECTOR),
	LETTERS(VCVTPS2PHX, VECTOR),
	LETTERS(VCVTPD2UDQ, VECTOR),
	LETTERS(VCVTTPD2DQ, VECTOR),
	LETTERS(VCVTTPD2UDQ, VECTOR),
	LETTERS(VCVTQQ2PS, VECTOR),
	LETTERS(VCVTQQ2PH, VECTOR),
	LETTERS(VCVTUQQ2PS, VECTOR),
	LETTERS(VCVTUQQ2PH, VECTOR),
	LETTERS(VCVTNEPS2BF16, VECTOR),
	LETTERS(VFPCLASSPD, VECTOR),
	LETTERS(VFPCLASSPH, VECTOR),
	LETTERS(VFPCLASSPS, VECTOR),
};

/* Vector comparisons. The last operand is the number of the condition. */
static const struct comparison {
	ZydisMnemonic mnemonic;
	const char *before, *behind; /* of the condition */
	uint32_t conditions;	     /* bit n: condition n has a name */
} comparisons[] = {
#define OF_FLOATS(format)                                                                          \
	{ ZYDIS_MNEMONIC_CMP##format, "cmp", #format, 0xff },                                      \
	{                                                                                          \
		ZYDIS_MNEMONIC_VCMP##format, "vcmp", #format, UINT32_MAX                           \
	}
#define OF_INTEGERS(format)                                                                        \
	{                                                                                          \
		ZYDIS_MNEMONIC_VPCMP##format, "vpcmp", #format, 0x77                               \
	}
	OF_FLOATS(PD),
	OF_FLOATS(PS),
	OF_FLOATS(SD),
	OF_FLOATS(SS),
	OF_INTEGERS(B),
	OF_INTEGERS(D),
	OF_INTEGERS(Q),
	OF_INTEGERS(W),
	OF_INTEGERS(UB),
	OF_INTEGERS(UD),
	OF_INTEGERS(UQ),
	OF_INTEGERS(UW),
	{ ZYDIS_MNEMONIC_VCMPPH, "vcmp", "PH", UINT32_MAX },
	{ ZYDIS_MNEMONIC_VCMPSH, "vcmp", "SH", UINT32_MAX },
};

/* Intel's manual, volume 2, "CMPPD". Integer comparisons have the first eight. */
static const char *const conditions[32] = {
	"eq",	 "lt",	   "le",     "unord",	 "neq",	   "nlt",    "nle",    "ord",
	"eq_uq", "nge",	   "ngt",    "false",	 "neq_oq", "ge",     "gt",     "true",
	"eq_os", "lt_oq",  "le_oq",  "unord_s",	 "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us",
};

static const char *x86_name_find(const struct name *list, size_t n, ZydisMnemonic mnemonic)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].mnemonic == mnemonic)
			return list[i].name;
	}
	return NULL;
}

/* Does the instruction contain a 64-bit address or constant? */
static bool is_movabs(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_MOV &&
	       (i->raw.imm[0].size == 64 || i->raw.disp.size == 64);
}

static const char *find_objdump_name(const ZydisDecodedInstruction *i)
{
	const char *name = x86_name_find(names, COUNT(names), i->mnemonic);

	if (name == NULL && is_movabs(i))
		name = "movabs";
	return name != NULL ? name : ZydisMnemonicGetString(i->mnemonic);
}

static const char *find_att_name(const ZydisDecodedInstruction *i)
{
	bool is_string = i->meta.category == ZYDIS_CATEGORY_STRINGOP;
	const char *name = NULL;

	if ((i->opcode == 0xdc || i->opcode == 0xde) && i->raw.modrm.mod == 3)
		name = x86_name_find(swapped, COUNT(swapped), i->mnemonic);
	if (name == NULL)
		name = x86_name_find(att_names, COUNT(att_names), i->mnemonic);
	if (name == NULL && is_string && i->mnemonic == ZYDIS_MNEMONIC_MOVSD)
		name = "movsl";
	if (name == NULL && is_string && i->mnemonic == ZYDIS_MNEMONIC_CMPSD)
		name = "cmpsl";
	return name != NULL ? name : find_objdump_name(i);
}

static const char *size_letter(enum letters kind, uint32_t bits)
{
	bool is_float = kind == FLOAT, is_integer = kind == FLOAT_INTEGER;

	switch (bits) {
	case 8:
		return "b";
	case 16:
		return is_integer ? "s" : "w";
	case 32:
		return is_float ? "s" : "l";
	case 64:
		return is_integer ? "ll" : is_float ? "l" : "q";
	case 80:
		return "t";
	case 128:
		return "x";
	case 256:
		return "y";
	case 512:
		return "z";
	default:
		return "";
	}
}

/* Is there no register that shows the size of the memory operand? The count of a shift does not. */
static bool has_no_size_register(const struct x86 *x)
{
	ZydisInstructionCategory category = x->instruction.meta.category;

	if (category == ZYDIS_CATEGORY_SHIFT || category == ZYDIS_CATEGORY_ROTATE)
		return true;
	for (size_t i = 0; i < x->instruction.operand_count_visible; i++) {
		if (x->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return false;
	}
	return true;
}

static void add_letters(const struct x86 *x, const char *name, char out[X86_NAME])
{
	const ZydisDecodedOperand *memory = x86_memory(x), *o = x->operands;
	enum letters kind = (enum letters)letters_of[x->instruction.mnemonic];
	const char *first = "", *second = "";

	switch (kind) {
	case INTEGER:
		if (memory != NULL && has_no_size_register(x))
			first = size_letter(kind, memory->size);
		break;
	case SOURCE:
	case FLOAT:
	case FLOAT_INTEGER:
		if (memory != NULL)
			first = size_letter(kind, memory->size);
		break;
	case VECTOR:
		if (memory != NULL && o[0].size != 256 &&
		    x->instruction.avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID)
			first = size_letter(kind, x->instruction.avx.vector_length);
		break;
	case ALWAYS:
		first = size_letter(kind, o[1].size);
		break;
	case EXTENSION:
		first = size_letter(kind, o[1].size);
		second = size_letter(kind, o[0].size);
		break;
	case WIDTH:
		first = size_letter(kind, x->instruction.operand_width == 64 ? 64 : 32);
		break;
	case NO_LETTERS:
		break;
	}
	snprintf(out, X86_NAME, "%s%s%s", name, first, second);
}

static void write_att_name(const struct x86 *x, char out[X86_NAME])
{
	const ZydisDecodedInstruction *i = &x->instruction;
	const char *name = find_att_name(i);
	bool is_return = i->mnemonic == ZYDIS_MNEMONIC_RET;

	if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR &&
	    (is_return || i->mnemonic == ZYDIS_MNEMONIC_JMP || i->mnemonic == ZYDIS_MNEMONIC_CALL))
		snprintf(out, X86_NAME, "l%s%s", name,
			 is_return && i->operand_width == 64 ? "q" : "");
	else
		add_letters(x, name, out);
}

static void to_lower(char *text)
{
	for (; *text != '\0'; text++)
		*text = (char)tolower((unsigned char)*text);
}

static bool write_comparison(const struct x86 *x, char out[X86_NAME])
{
	size_t n = x->instruction.operand_count_visible;
	const ZydisDecodedOperand *last = &x->operands[n > 0 ? n - 1 : 0];

	if (n == 0 || last->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || last->imm.value.u > 31)
		return false;
	for (size_t i = 0; i < COUNT(comparisons); i++) {
		const struct comparison *c = &comparisons[i];

		if (c->mnemonic != x->instruction.mnemonic ||
		    !(c->conditions >> last->imm.value.u & 1))
			continue;
		snprintf(out, X86_NAME, "%s%s%s", c->before, conditions[last->imm.value.u],
			 c->behind);
		to_lower(out);
		return true;
	}
	return false;
}

bool x86_name(const struct x86 *x, enum disasm_syntax syntax, char out[X86_NAME])
{
	if (write_comparison(x, out))
		return true;
	if (syntax == SYNTAX_ATT)
		write_att_name(x, out);
	else
		snprintf(out, X86_NAME, "%s", find_objdump_name(&x->instruction));
	return false;
}
