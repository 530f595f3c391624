/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings: Arm ARM (A64, A32); Intel SDM volume 2. */
#include "kernel/loops/emit.h"

#include <string.h>

#include "base/alloc.h"

/* Registers of AArch64 and Arm: n and data are in x0 and x1, r0 and r1. Of x86: rdi and rsi. */

static void put(struct emitter *e, const void *bytes, size_t n)
{
	memcpy(e->at, bytes, n);
	e->at += n;
}

static void put_word(struct emitter *e, uint32_t word)
{
	put(e, &word, sizeof(word));
}

/* One instruction of x86, without the distance that follows. */
#define PUT_BYTES(e, ...)                                                                          \
	put((e), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static bool is_on(const struct emitter *e, unsigned architecture)
{
	return e->architecture == architecture;
}

/* x86: the distance from the end of the instruction, whose last part it is. */
static void put_distance(struct emitter *e, const uint8_t *target)
{
	int32_t distance = (int32_t)(target - (e->at + sizeof(distance)));

	put(e, &distance, sizeof(distance));
}

/* AArch64: a field of so many bits, in instructions from this one. */
static uint32_t field_a64(const struct emitter *e, const uint8_t *target, unsigned bits)
{
	return (uint32_t)((target - e->at) / 4) & ((1u << bits) - 1);
}

/* Arm: the field of branches, in instructions from the second one behind. */
static uint32_t field_a32(const struct emitter *e, const uint8_t *target)
{
	return (uint32_t)((target - e->at - 8) / 4) & 0xffffff;
}

void emit_enter(struct emitter *e)
{
	if (is_on(e, ON_AARCH64))
		put_word(e, 0xa9bf7bfd); /* stp x29, x30, [sp, #-16]! */
	else if (is_on(e, ON_ARM))
		put_word(e, 0xe92d4010); /* push {r4, lr} */
}

void emit_leave(struct emitter *e)
{
	if (is_on(e, ON_ARM)) {
		put_word(e, 0xe8bd8010); /* pop {r4, pc} */
		return;
	}
	if (is_on(e, ON_AARCH64))
		put_word(e, 0xa8c17bfd); /* ldp x29, x30, [sp], #16 */
	emit_return(e);
}

void emit_return(struct emitter *e)
{
	if (is_on(e, ON_X86_64))
		PUT_BYTES(e, 0xc3); /* ret */
	else
		put_word(e, is_on(e, ON_ARM) ? 0xe12fff1e /* bx lr */ : 0xd65f03c0 /* ret */);
}

void emit_jump(struct emitter *e, const uint8_t *target)
{
	if (is_on(e, ON_X86_64)) {
		PUT_BYTES(e, 0xe9); /* jmp */
		put_distance(e, target);
	} else if (is_on(e, ON_ARM)) {
		put_word(e, 0xea000000 | field_a32(e, target)); /* b */
	} else {
		put_word(e, 0x14000000 | field_a64(e, target, 26)); /* b */
	}
}

void emit_call(struct emitter *e, const uint8_t *target)
{
	if (is_on(e, ON_X86_64)) {
		PUT_BYTES(e, 0xe8); /* call */
		put_distance(e, target);
	} else if (is_on(e, ON_ARM)) {
		put_word(e, 0xeb000000 | field_a32(e, target)); /* bl */
	} else {
		put_word(e, 0x94000000 | field_a64(e, target, 26)); /* bl */
	}
}

void emit_call_next(struct emitter *e)
{
	if (is_on(e, ON_X86_64)) {
		PUT_BYTES(e, 0xff, 0x16);	      /* call *(%rsi) */
		PUT_BYTES(e, 0x48, 0x83, 0xc6, 0x08); /* add $8, %rsi */
	} else if (is_on(e, ON_ARM)) {
		put_word(e, 0xe4912004); /* ldr r2, [r1], #4 */
		put_word(e, 0xe12fff32); /* blx r2 */
	} else {
		put_word(e, 0xf8408422); /* ldr x2, [x1], #8 */
		put_word(e, 0xd63f0040); /* blr x2 */
	}
}

void emit_compare(struct emitter *e)
{
	if (is_on(e, ON_X86_64))
		PUT_BYTES(e, 0x39, 0xff); /* cmp %edi, %edi */
	else
		put_word(e, is_on(e, ON_ARM) ? 0xe1500000 /* cmp r0, r0 */
					     : 0xeb1f03ff /* cmp xzr, xzr */);
}

void emit_branch(struct emitter *e, const uint8_t *target, bool is_taken)
{
	if (is_on(e, ON_X86_64)) {
		PUT_BYTES(e, 0x0f, is_taken ? 0x84 : 0x85); /* je, jne */
		put_distance(e, target);
	} else if (is_on(e, ON_ARM)) {
		put_word(e, (is_taken ? 0x0a000000u : 0x1a000000u) |
				    field_a32(e, target)); /* beq, bne */
	} else {
		put_word(e,
			 0x54000000 | field_a64(e, target, 19) << 5 | !is_taken); /* b.eq, b.ne */
	}
}

void emit_line_of_moves(struct emitter *e)
{
	enum { PER_LINE = 16, FIRST_A64 = 2, N_A64 = 14 };
	static const uint32_t a32[] = { 2, 3, 12 };
	/* rax, rcx, rdx, r8, r9, r10 */
	static const uint8_t x86[][2] = { { 0x48, 0xb8 }, { 0x48, 0xb9 }, { 0x48, 0xba },
					  { 0x49, 0xb8 }, { 0x49, 0xb9 }, { 0x49, 0xba } };
	static const uint8_t constant[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	if (is_on(e, ON_X86_64)) {
		for (size_t i = 0; i < COUNT(x86); i++) {
			put(e, x86[i], sizeof(x86[i]));
			put(e, constant, sizeof(constant));
		}
		PUT_BYTES(e, 0x0f, 0x1f, 0x40, 0x00); /* nop of four bytes */
		return;
	}
	for (uint32_t i = 0; i < PER_LINE; i++)
		put_word(e, is_on(e, ON_ARM)
				    ? 0xe3000000 | a32[i % COUNT(a32)] << 12 | i      /* movw */
				    : 0xd2800000 | i << 5 | (FIRST_A64 + i % N_A64)); /* mov */
}

void emit_loop_end(struct emitter *e, const uint8_t *start)
{
	if (is_on(e, ON_X86_64)) {
		PUT_BYTES(e, 0x48, 0xff, 0xcf); /* dec %rdi */
		PUT_BYTES(e, 0x74, 0x05);	/* je over the jump */
	} else {
		put_word(e, is_on(e, ON_ARM) ? 0xe2500001 /* subs r0, r0, #1 */
					     : 0xf1000400 /* subs x0, x0, #1 */);
		emit_branch(e, e->at + 8, true);
	}
	emit_jump(e, start);
}

void emit_done(void *memory, size_t size)
{
	__builtin___clear_cache(memory, (char *)memory + size);
}
