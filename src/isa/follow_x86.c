/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What instructions of x86-64 leave in general registers, by their text in Intel's syntax. Those
 * that are not listed leave nothing known of any.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/follow_inside.h"
#include "isa/x86_registers.h"

enum {
	ALL_REGISTERS = (1 << 16) - 1,
	RAX = 1 << 0,
	RDX = 1 << 1,
	RCX = 1 << 2,
	CALL_LOSES = RAX | RDX | RCX | 1 << 4 | 1 << 5 | 0xf00,
	SYSCALL_LOSES = RAX | RCX | 1 << 11,
	MAX_OPERANDS = 4,
};

/* What comes of the operands. */
enum form {
	LOSES, /* the registers of the row, and the first operand if the row says so */
	MOVE,
	ADDRESS,
	ADD,
	SUBTRACT,
	ADD_ONE,
	SUBTRACT_ONE,
	SHIFT,
	MULTIPLY,
	CLEAR,	/* if both operands are the same */
	EXTEND, /* what has fewer bits */
};

/* By name; "*" at the end: however it goes on. First match wins. */
static const struct row {
	const char *name;
	enum form form;
	uint32_t lost;
	bool first; /* the first operand is written, if it is a register */
} rows[] = {
	{ "mov", MOVE, 0, true },
	{ "movabs", MOVE, 0, true },
	{ "lea", ADDRESS, 0, true },
	{ "add", ADD, 0, true },
	{ "sub", SUBTRACT, 0, true },
	{ "inc", ADD_ONE, 0, true },
	{ "dec", SUBTRACT_ONE, 0, true },
	{ "shl", SHIFT, 0, true },
	{ "imul", MULTIPLY, 0, true },
	{ "xor", CLEAR, 0, true },
	{ "pcmpistri", LOSES, RCX, false },
	{ "pcmpestri", LOSES, RCX, false },
	{ "vpcmpistri", LOSES, RCX, false },
	{ "vpcmpestri", LOSES, RCX, false },
	{ "cmpxchg16b", LOSES, RAX | RDX, false },
	{ "cmpxchg8b", LOSES, RAX | RDX, false },
	{ "cmpxchg", LOSES, RAX, true },
	{ "div", LOSES, RAX | RDX, false },
	{ "idiv", LOSES, RAX | RDX, false },
	{ "mul", LOSES, RAX | RDX, false },
	{ "cqo", LOSES, RDX, false },
	{ "cdq", LOSES, RDX, false },
	{ "cwd", LOSES, RDX, false },
	{ "cdqe", LOSES, RAX, false },
	{ "cwde", LOSES, RAX, false },
	{ "rdtsc", LOSES, RAX | RDX, false },
	{ "rdtscp", LOSES, RAX | RDX | RCX, false },
	{ "xgetbv", LOSES, RAX | RDX, false },
	{ "cpuid", LOSES, RAX | RDX | RCX | 1 << 3, false },
	{ "call", LOSES, CALL_LOSES, false },
	{ "syscall", LOSES, SYSCALL_LOSES, false },
	{ "cmp", LOSES, 0, false },
	{ "test", LOSES, 0, false },
	{ "bt", LOSES, 0, false },
	{ "push", LOSES, 0, false },
	{ "ret", LOSES, 0, false },
	{ "nop", LOSES, 0, false },
	{ "endbr64", LOSES, 0, false },
	{ "pause", LOSES, 0, false },
	{ "lock", LOSES, 0, false },
	{ "notrack", LOSES, 0, false },
	{ "bnd", LOSES, 0, false },
	{ "data16", LOSES, 0, false },
	{ "mfence", LOSES, 0, false },
	{ "lfence", LOSES, 0, false },
	{ "sfence", LOSES, 0, false },
	{ "prefetch*", LOSES, 0, false },
	{ "ud2", LOSES, 0, false },
	{ "int3", LOSES, 0, false },
	{ "hlt", LOSES, 0, false },
	{ "vzeroupper", LOSES, 0, false },
	{ "vzeroall", LOSES, 0, false },
	{ "emms", LOSES, 0, false },
	{ "xchg*", LOSES, ALL_REGISTERS, false },
	{ "xadd", LOSES, ALL_REGISTERS, false },
	{ "mulx", LOSES, ALL_REGISTERS, false },
	{ "maskmov*", LOSES, 0, false },
	{ "j*", LOSES, 0, false },
	{ "movzx", EXTEND, 0, true },
	{ "movsx", EXTEND, 0, true },
	{ "movsxd", EXTEND, 0, true },
	{ "mov*", LOSES, 0, true }, /* MOVAPS, MOVD … */
	{ "cmov*", LOSES, 0, true },
	{ "set*", LOSES, 0, true },
	{ "pop", LOSES, 0, true },
	{ "and", LOSES, 0, true },
	{ "andn", LOSES, 0, true },
	{ "or", LOSES, 0, true },
	{ "adc", LOSES, 0, true },
	{ "sbb", LOSES, 0, true },
	{ "neg", LOSES, 0, true },
	{ "not", LOSES, 0, true },
	{ "sal", LOSES, 0, true },
	{ "shr", LOSES, 0, true },
	{ "sar", LOSES, 0, true },
	{ "rol", LOSES, 0, true },
	{ "ror", LOSES, 0, true },
	{ "shld", LOSES, 0, true },
	{ "shrd", LOSES, 0, true },
	{ "shlx", LOSES, 0, true },
	{ "shrx", LOSES, 0, true },
	{ "sarx", LOSES, 0, true },
	{ "rorx", LOSES, 0, true },
	{ "bts", LOSES, 0, true },
	{ "btr", LOSES, 0, true },
	{ "btc", LOSES, 0, true },
	{ "bsf", LOSES, 0, true },
	{ "bsr", LOSES, 0, true },
	{ "bswap", LOSES, 0, true },
	{ "bextr", LOSES, 0, true },
	{ "bls*", LOSES, 0, true },
	{ "bzhi", LOSES, 0, true },
	{ "pdep", LOSES, 0, true },
	{ "pext", LOSES, 0, true },
	{ "popcnt", LOSES, 0, true },
	{ "lzcnt", LOSES, 0, true },
	{ "tzcnt", LOSES, 0, true },
	{ "crc32", LOSES, 0, true },
	{ "cvt*", LOSES, 0, true },
	{ "vcvt*", LOSES, 0, true },
	{ "pextr*", LOSES, 0, true },
	{ "vpextr*", LOSES, 0, true },
	{ "extract*", LOSES, 0, true },
	{ "vextract*", LOSES, 0, true },
	{ "pmovmskb", LOSES, 0, true },
	{ "vmov*", LOSES, 0, true },
	{ "vpmov*", LOSES, 0, true },
	{ "kmov*", LOSES, 0, true },
};

static bool is_called(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return strncmp(name, pattern, n - 1) == 0;
	return strcmp(name, pattern) == 0;
}

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (is_called(name, rows[i].name))
			return &rows[i];
	return NULL;
}

/* "xmm0", "ymm0", "zmm0 {k1}", "mm0", "k1", "st(0)" */
static bool is_vector(const char *operand)
{
	const char *m = operand + strspn(operand, "xyz");

	return strncmp(m, "mm", 2) == 0 ||
	       (operand[0] == 'k' && isdigit((unsigned char)operand[1])) ||
	       strcmp(operand, "st") == 0 || strncmp(operand, "st(", 3) == 0;
}

/* The operands, copied so that each ends with zero; empty ones behind. */
struct operands {
	char text[DISASM_TEXT];
	const char *list[MAX_OPERANDS];
	size_t n;
};

static void split(const char *text, struct operands *out)
{
	size_t n = strnlen(text, sizeof(out->text) - 1);
	char *at = out->text;

	memcpy(out->text, text, n);
	out->text[n] = '\0';
	for (size_t i = 0; i < MAX_OPERANDS; i++)
		out->list[i] = out->text + n;
	for (out->n = 0; *at != '\0' && out->n < MAX_OPERANDS;) {
		char *end = at + strcspn(at, ",");
		bool is_last = *end == '\0';

		out->list[out->n++] = at;
		*end = '\0';
		at = is_last ? end : end + 1 + strspn(end + 1, " ");
	}
}

static bool is_memory(const char *operand)
{
	return strchr(operand, '[') != NULL;
}

static bool read_number(const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 0);
	return end != text && *end == '\0';
}

/* [base + index * scale + displacement]; false if it is made otherwise. */
static bool read_memory(const struct instruction *i, struct isa_x86_step *out)
{
	struct isa_operand o;

	if (i->has_reference && strstr(i->operands, "[rip") != NULL) {
		out->is_absolute = true;
		out->displacement = i->reference;
		return true;
	}
	if (!isa_operand_parse(ISA_X86_64, i->operands, &o) || o.is_thread)
		return false;
	out->base = (uint8_t)o.base;
	out->index = o.has_index ? (uint8_t)o.index : X86_NO_REGISTER;
	out->scale = o.scale;
	out->displacement = (uint64_t)o.displacement;
	return true;
}

/* A register of 64 bits or a number as what is added. */
static bool read_addend(const char *text, struct isa_x86_step *out)
{
	struct x86_register r;

	if (x86_register_find(text, strlen(text), &r)) {
		out->index = r.number;
		out->scale = 1;
		return r.bits == 64;
	}
	return read_number(text, &out->displacement);
}

static bool read_move(const struct instruction *i, const struct operands *o,
		      struct isa_x86_step *out)
{
	if (!is_memory(o->list[1])) {
		out->effect = X86_EFFECT_SUM;
		return read_addend(o->list[1], out);
	}
	out->effect = X86_EFFECT_LOAD;
	if (!read_memory(i, out))
		out->base = X86_NO_REGISTER;
	return strncmp(o->list[1], "qword", 5) == 0;
}

static bool read_add(const struct instruction *i, const struct operands *o,
		     struct isa_x86_step *out)
{
	out->effect = X86_EFFECT_SUM;
	out->base = out->target;
	if (!is_memory(o->list[1]))
		return read_addend(o->list[1], out);
	out->effect = X86_EFFECT_ADD;
	if (!read_memory(i, out))
		out->base = X86_NO_REGISTER;
	return strncmp(o->list[1], "qword", 5) == 0;
}

/* target = register * factor */
static bool read_product(const char *of, const char *by, bool is_shift, struct isa_x86_step *out)
{
	struct x86_register r;
	uint64_t factor;

	out->effect = X86_EFFECT_SUM;
	if (!x86_register_find(of, strlen(of), &r) || !read_number(by, &factor) ||
	    (is_shift && factor > 63))
		return false;
	out->index = r.number;
	out->scale = is_shift ? UINT64_C(1) << factor : factor;
	return true;
}

/* What the target has then; false if that is not known. */
static bool read_effect(const struct instruction *i, enum form form, const struct operands *o,
			struct isa_x86_step *out)
{
	switch (form) {
	case MOVE:
		return read_move(i, o, out);
	case ADDRESS:
		out->effect = X86_EFFECT_SUM;
		return read_memory(i, out);
	case ADD:
		return read_add(i, o, out);
	case SUBTRACT:
		out->effect = X86_EFFECT_DIFFERENCE;
		out->base = out->target;
		return !is_memory(o->list[1]) && read_addend(o->list[1], out);
	case ADD_ONE:
	case SUBTRACT_ONE:
		out->effect = X86_EFFECT_SUM;
		out->base = out->target;
		out->displacement = form == ADD_ONE ? 1 : UINT64_MAX;
		return true;
	case SHIFT:
		return read_product(o->list[0], o->n > 1 ? o->list[1] : "1", true, out);
	case MULTIPLY:
		return o->n == 3 && read_product(o->list[1], o->list[2], false, out);
	case CLEAR:
		out->effect = X86_EFFECT_SUM;
		return strcmp(o->list[0], o->list[1]) == 0;
	case LOSES:
	case EXTEND:
		break;
	}
	return false;
}

static bool read_known(const struct instruction *i, struct isa_x86_step *out)
{
	const struct row *row = find_row(i->mnemonic);
	struct x86_register target;
	struct operands o;

	/* Strings move their registers on. */
	if (strstr(i->operands, "es:[") != NULL)
		return false;
	split(i->operands, &o);
	if (row == NULL) /* what only works on vectors */
		return o.n > 0 && is_vector(o.list[0]);
	out->lost = row->lost;
	if (row->form == MULTIPLY && o.n == 1) {
		out->lost = RAX | RDX;
		return true;
	}
	if (!row->first || is_vector(o.list[0]) || is_memory(o.list[0]))
		return true;
	if (!x86_register_find(o.list[0], strlen(o.list[0]), &target))
		return false;
	if (target.number == X86_STACK_POINTER) /* which is not followed */
		return true;
	out->lost |= 1u << target.number;
	out->target = target.number;
	out->is_narrow = target.bits == 32 || row->form == EXTEND;
	if (target.bits < 32 || !read_effect(i, row->form, &o, out))
		out->effect = X86_EFFECT_NONE;
	return true;
}

void isa_read_x86(const struct instruction *i, struct isa_x86_step *out)
{
	*out = (struct isa_x86_step){
		.size = (uint8_t)i->size,
		.is_nop = strcmp(i->mnemonic, "nop") == 0 || strcmp(i->mnemonic, "int3") == 0,
		.target = X86_NO_REGISTER,
		.base = X86_NO_REGISTER,
		.index = X86_NO_REGISTER,
		.flow = i->flow,
	};
	if (!i->is_known || !read_known(i, out)) {
		out->lost = ALL_REGISTERS;
		out->effect = X86_EFFECT_NONE;
	}
}

/* A register, or zero if there is none. */
static struct isa_value get_or_zero(const struct isa_state *s, uint8_t reg)
{
	return reg == X86_NO_REGISTER ? isa_constant(0) : isa_get(s, reg);
}

/* The stack pointer is not followed, and is not lost. */
static struct isa_value sum_of(const struct isa_state *s, const struct isa_x86_step *step)
{
	struct isa_value base = get_or_zero(s, step->base), index = get_or_zero(s, step->index);

	if (step->base == step->index && step->base != X86_NO_REGISTER)
		base = isa_value_times(base, step->scale + 1);
	else if (step->index != X86_NO_REGISTER)
		base = isa_value_sum(base, isa_value_times(index, step->scale));
	return isa_value_moved(base, step->displacement);
}

static struct isa_value difference_of(const struct isa_state *s, const struct isa_x86_step *step)
{
	struct isa_value index = get_or_zero(s, step->index);

	return isa_value_difference(get_or_zero(s, step->base),
				    isa_value_moved(index, step->displacement));
}

static struct isa_value fetched(const struct isa_state *s, const struct isa_x86_step *step,
				struct isa_here here)
{
	if (step->is_absolute)
		return isa_fetched(here, isa_constant(step->displacement), 0);
	return isa_fetched(
		here, step->base == X86_NO_REGISTER ? (struct isa_value){ 0 } : sum_of(s, step), 0);
}

void isa_step_x86(struct isa_state *s, const struct isa_x86_step *step, struct isa_here here)
{
	struct isa_value value = { 0 };

	if (step->effect == X86_EFFECT_SUM)
		value = step->is_absolute ? isa_constant(step->displacement) : sum_of(s, step);
	else if (step->effect == X86_EFFECT_DIFFERENCE)
		value = difference_of(s, step);
	else if (step->effect == X86_EFFECT_LOAD)
		value = fetched(s, step, here);
	else if (step->effect == X86_EFFECT_ADD)
		value = isa_value_sum(isa_get(s, step->target), fetched(s, step, here));
	for (uint32_t i = 0; i < ISA_N_REGISTERS; i++)
		if (step->lost >> i & 1)
			isa_forget(s, i);
	if (step->target == X86_NO_REGISTER)
		return;
	if (step->is_narrow && (value.root != ISA_CONSTANT || value.step != 0 ||
				value.offset != (uint32_t)value.offset))
		value = isa_number();
	isa_set(s, step->target, value);
}
