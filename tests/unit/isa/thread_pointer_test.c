/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-local addresses in A64 code. */
#include "isa/thread_pointer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"

enum { MOST = 12, WORD = 4 };

#define START UINT64_C(0x400000)

#define MRS(d) (0xd53bd040u | (d))				  /* mrs xd, tpidr_el0 */
#define ADD(d, n, by) (0x91000000u | (by) << 10 | (n) << 5 | (d)) /* add xd, xn, #by */
#define ADD_HIGH(d, n, by) (ADD(d, n, by) | 1u << 22)		  /* …, lsl #12 */
#define ADD_X(d, n, m) (0x8b000000u | (m) << 16 | (n) << 5 | (d))
#define ADRP(d, pages) (0x90000000u | ((pages)&3u) << 29 | ((pages) >> 2) << 5 | (d))
#define LDR(t, n, slots)                                                                           \
	(0xf9400000u | (slots) << 10 | (n) << 5 | (t))		  /* ldr xt, [xn, #8 * slots] */
#define LDR_X(t, n, m) (0xf8606800u | (m) << 16 | (n) << 5 | (t)) /* ldr xt, [xn, xm] */
#define STR_AFTER(t, n) (0xf8008400u | (n) << 5 | (t))		  /* str xt, [xn], #8 */
#define BLR(n) (0xd63f0000u | (n) << 5)
#define BR(n) (0xd61f0000u | (n) << 5)
#define BL 0x94000004u
#define CBZ(t, words) (0xb4000000u | (words) << 5 | (t))
#define B(words) (0x14000000u | (words))
#define RET 0xd65f03c0u
#define NOP 0xd503201fu
#define MOV(d, m) (0xaa0003e0u | (m) << 16 | (d))

static const struct {
	const char *what;
	uint32_t code[MOST]; /* the last one accesses; ends with 0 */
	struct isa_operand operand;
	bool is_known;
	struct isa_thread_address address;
} cases[] = {
	{ "local exec",
	  { MRS(0), ADD_HIGH(0, 0, 1), ADD(0, 0, 0x30), LDR(1, 0, 1) },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  true,
	  { .offset = 0x1038 } },
	{ "… by constants",
	  { 0xd2a00020 /* movz x0, #1, lsl #16 */, 0xf2800200 /* movk x0, #16 */, MRS(1),
	    LDR_X(2, 1, 0) },
	  { .base = 1, .scale = 1, .has_index = true, .index = 0 },
	  true,
	  { .offset = 0x10010 } },
	{ "initial exec",
	  { ADRP(1, 16u), LDR(1, 1, 6), MRS(0), ADD_X(0, 0, 1), LDR(2, 0, 0) },
	  { .base = 0, .scale = 1 },
	  true,
	  { .has_slot = true, .slot = START + 0x10030 } },
	{ "initial exec with an index",
	  { ADRP(1, 16u), LDR(1, 1, 6), MRS(0), LDR_X(2, 0, 1) },
	  { .base = 0, .scale = 1, .has_index = true, .index = 1 },
	  true,
	  { .has_slot = true, .slot = START + 0x10030 } },
	{ "descriptor",
	  { ADRP(0, 16u), LDR(1, 0, 6), ADD(0, 0, 0x30), BLR(1), MRS(1), ADD_X(0, 1, 0),
	    LDR(2, 0, 1) },
	  { .base = 0, .scale = 1, .displacement = 8 },
	  true,
	  { .offset = 8, .has_slot = true, .is_descriptor = true, .slot = START + 0x10030 } },
	{ "… of another slot than the function",
	  { ADRP(0, 16u), LDR(1, 0, 6), ADD(0, 0, 0x38), BLR(1), MRS(1), ADD_X(0, 1, 0),
	    LDR(2, 0, 1) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "an unknown index",
	  { MRS(0), LDR_X(2, 0, 1) },
	  { .base = 0, .scale = 1, .has_index = true, .index = 1 },
	  true,
	  { .has_index = true } },
	{ "kept in a call",
	  { MRS(20), BL, LDR(1, 20, 0) },
	  { .base = 20, .scale = 1 },
	  true,
	  { 0 } },
	{ "lost in a call", { MRS(2), BL, LDR(1, 2, 0) }, { .base = 2, .scale = 1 }, false, { 0 } },
	{ "two paths that agree",
	  { MRS(0), CBZ(1, 3u), ADD(2, 0, 0x10), B(2u), ADD(2, 0, 0x10), LDR(1, 2, 0) },
	  { .base = 2, .scale = 1 },
	  true,
	  { .offset = 0x10 } },
	{ "two paths that do not",
	  { MRS(0), CBZ(1, 3u), ADD(2, 0, 0x10), B(2u), ADD(2, 0, 0x20), LDR(1, 2, 0) },
	  { .base = 2, .scale = 1 },
	  false,
	  { 0 } },
	{ "a loop that moves it",
	  { MRS(0), ADD(0, 0, 0x10), CBZ(1, (1u << 19) - 1), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "a loop that keeps it",
	  { MRS(0), ADD(2, 0, 0x10), CBZ(1, (1u << 19) - 1), LDR(1, 2, 0) },
	  { .base = 2, .scale = 1 },
	  true,
	  { .offset = 0x10 } },
	{ "an address that moved on",
	  { MRS(0), STR_AFTER(1, 0), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  true,
	  { .offset = 8 } },
	{ "moved",
	  { MRS(0), MOV(19, 0), LDR(0, 0, 0), LDR(1, 19, 0) },
	  { .base = 19, .scale = 1 },
	  true,
	  { 0 } },
	{ "overwritten by a load",
	  { MRS(0), LDR(0, 1, 0), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "by a jump that a register says",
	  { MRS(0), CBZ(1, 2u), BR(3), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "by a branch out of the function",
	  { MRS(0), CBZ(1, 0x1000u), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "by a jump to where it may come back from",
	  { MRS(0), CBZ(1, 2u), B(0x1000u), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  false,
	  { 0 } },
	{ "by a jump to another function",
	  { MRS(0), CBZ(1, 2u), B(0x2000u), LDR(1, 0, 0) },
	  { .base = 0, .scale = 1 },
	  true,
	  { 0 } },
	{ "not reached", { MRS(0), RET, LDR(1, 0, 0) }, { .base = 0, .scale = 1 }, false, { 0 } },
	{ "the stack",
	  { MRS(0), LDR(1, 31, 0) },
	  { .base = 31, .is_stack = true, .scale = 1 },
	  false,
	  { 0 } },
	{ "without it", { NOP, LDR(1, 0, 0) }, { .base = 0, .scale = 1 }, false, { 0 } },
};

static bool may_return(void *context, uint64_t target)
{
	(void)context;
	return target < START + 0x2000 * WORD;
}

static size_t length_of(const uint32_t *code)
{
	size_t n = 0;

	while (n < MOST && code[n] != 0)
		n++;
	return n;
}

static void addresses_are_followed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n = length_of(cases[i].code);
		struct isa_function function = { .isa = ISA_A64,
						 .code = (const uint8_t *)cases[i].code,
						 .size = n * WORD,
						 .address = START,
						 .may_return = may_return };
		struct isa_followed *followed = isa_follow(&function);
		struct isa_thread_address found = { 0 };
		bool is_known =
			followed != NULL && isa_thread_address(followed, START + (n - 1) * WORD,
							       &cases[i].operand, &found);

		isa_followed_free(followed);

		print_message("%s\n", cases[i].what);
		assert_int_equal(is_known, cases[i].is_known);
		if (!is_known)
			continue;
		assert_int_equal(found.offset, cases[i].address.offset);
		assert_int_equal(found.has_index, cases[i].address.has_index);
		assert_int_equal(found.has_slot, cases[i].address.has_slot);
		assert_int_equal(found.is_descriptor, cases[i].address.is_descriptor);
		assert_int_equal(found.slot, cases[i].address.slot);
	}
}

/* Random words, truncated anywhere: no read past the end. */
static void any_words_are_followed(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t *code = mem_alloc(MOST, WORD);
		size_t size = (size_t)round % (MOST * WORD + 1);
		struct isa_operand operand = { .base = (uint32_t)round % 32, .scale = 1 };
		struct isa_function function = { .isa = ISA_A64,
						 .code = (const uint8_t *)code,
						 .size = size,
						 .address = START,
						 .may_return = may_return };
		struct isa_thread_address found;
		struct isa_followed *followed;

		for (size_t i = 0; i < MOST; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			code[i] = i == 0 ? MRS(operand.base & 15) : (uint32_t)(seed >> 32);
		}
		followed = isa_follow(&function);
		for (uint64_t at = 0; at <= MOST && followed != NULL; at++)
			(void)isa_thread_address(followed, START + at * WORD, &operand, &found);
		isa_followed_free(followed);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_followed),
		cmocka_unit_test(any_words_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
