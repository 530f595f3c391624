/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses by registers, how long those stay as they are, and when they are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/block.h"
#include "model/registers.h"

enum { X1 = 0x10000, X2 = -5 };

static void addresses_are_computed(void **state)
{
	static const struct {
		const char *text;
		uint32_t word;
		bool is_known;
		uint64_t address;
	} cases[] = {
		{ "ldr x0, [x1, #8]", 0xf9400420, true, X1 + 8 },
		{ "ldr w0, [x1, #8]", 0xb9400820, true, X1 + 8 },
		{ "ldrb w0, [x1, #8]", 0x39402020, true, X1 + 8 },
		{ "ldr q0, [x1, #32]", 0x3dc00820, true, X1 + 32 },
		{ "ldr x0, [x1], #8", 0xf8408420, true, X1 },
		{ "ldr x0, [x1, #-8]!", 0xf85f8c20, true, X1 - 8 },
		{ "ldur x0, [x1, #-9]", 0xf85f7020, true, X1 - 9 },
		{ "ldp x0, x2, [x1, #-16]", 0xa97f0820, true, X1 - 16 },
		{ "ldp w0, w2, [x1, #8]", 0x29410820, true, X1 + 8 },
		{ "ldp q0, q2, [x1, #32]", 0xad410820, true, X1 + 32 },
		{ "ldp x0, x2, [x1], #16", 0xa8c10820, true, X1 },
		{ "ldp x0, x2, [x1, #16]!", 0xa9c10820, true, X1 + 16 },
		{ "ldr x0, [x1, x2]", 0xf8626820, true, X1 - 5 },
		{ "ldr x0, [x1, x2, lsl #3]", 0xf8627820, true, X1 - 40 },
		{ "ldr x0, [x1, w2, uxtw]", 0xf8624820, true, X1 + 0xfffffffbull },
		{ "ldr w0, [x1, w2, sxtw #2]", 0xb862d820, true, X1 - 20 },
		{ "ldr q0, [x1, x2, lsl #4]", 0x3ce27820, true, X1 - 80 },
		{ "prfm pldl1keep, [x1, #64]", 0xf9802020, true, X1 + 64 },
		{ "prfm pldl1keep, [x1, x2]", 0xf8a26820, true, X1 - 5 },
		{ "prfum pldl1keep, [x1, #-3]", 0xf89fd020, true, X1 - 3 },
		{ "dc zva, x3", 0xd50b7423, true, 0x20040 },
		{ "ldr x0, [sp, #16]", 0xf9400be0, true, 0x7000 + 16 },
		{ "ldr x0, .", 0x58000000, false, 0 },
		{ "ldxr x0, [x1]", 0xc85f7c20, false, 0 },
	};
	const uint64_t values[32] = { [1] = X1, [2] = (uint64_t)X2, [3] = 0x20063, [31] = 0x7000 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct insn in = insn_decode(0x1000, cases[i].word);

		if ((in.address.form != ADDRESS_UNKNOWN) != cases[i].is_known)
			fail_msg("%s: form %u", cases[i].text, in.address.form);
		if (cases[i].is_known && insn_address_of(&in, values) != cases[i].address)
			fail_msg("%s: 0x%llx", cases[i].text,
				 (unsigned long long)insn_address_of(&in, values));
	}
}

/* Up to which instruction of the block the prefetch at its start can still be told. */
static void registers_are_kept_for_a_while(void **state)
{
	static const struct {
		uint32_t words[4];
		size_t n, kept_until;
	} blocks[] = {
		{ { 0xf9802020, 0xd503201f, 0xd503201f }, 3, 3 },	      /* nop, nop */
		{ { 0xf9802020, 0xd503201f, 0x91000421 }, 3, 2 },	      /* add x1, x1, #1 */
		{ { 0xf9802020, 0xf8408420, 0xd503201f }, 3, 1 },	      /* ldr x0, [x1], #8 */
		{ { 0xf9802020, 0xf9400041, 0xd503201f }, 3, 1 },	      /* ldr x1, [x2] */
		{ { 0xf8a26820, 0xd503201f, 0x91000442, 0x91000421 }, 4, 2 }, /* x2 first */
		{ { 0xf98023e0, 0xd503201f }, 2, 0 },			      /* of the stack */
	};
	struct blocks all;

	(void)state;
	blocks_init(&all);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		const struct block *b = blocks_get(&all, 0x1000, blocks[i].words, blocks[i].n);

		assert_true(b->insns[0].flags & INSN_UNSEEN);
		if (b->insns[0].kept_until != blocks[i].kept_until)
			fail_msg("block %zu: %u", i, b->insns[0].kept_until);
	}
	blocks_release(&all);
}

/* At which access before the prefetch, the last of the block, its address is known already. */
static void addresses_are_known_before(void **state)
{
	enum { NONE = 9 };
	static const struct {
		uint32_t words[4];
		size_t n, known_at;
	} blocks[] = {
		{ { 0xf9400040, 0xf9802020 }, 2, 0 },			      /* ldr x0, [x2] */
		{ { 0x91000421, 0xf9400040, 0xd503201f, 0xf9802020 }, 4, 1 }, /* add x1 before it */
		{ { 0xf9400040, 0x91000421, 0xf9802020 }, 3, NONE }, /* … and behind it */
		{ { 0xf9400041, 0xf9802020 }, 2, NONE },	     /* ldr x1, [x2] */
		{ { 0xf8408420, 0xf9802020 }, 2, NONE },	     /* ldr x0, [x1], #8 */
		{ { 0xf9400041, 0xf9400040, 0xf9802020 }, 3, 1 },
		{ { 0xd503201f, 0xf9802020 }, 2, NONE },
		{ { 0xf9400040, 0xf98023e0 }, 2, NONE }, /* of the stack */
	};
	struct blocks all;

	(void)state;
	blocks_init(&all);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		const struct block *b = blocks_get(&all, 0x1000, blocks[i].words, blocks[i].n);

		for (size_t k = 0; k < b->n; k++)
			if (b->insns[k].unseen_behind !=
			    (k == blocks[i].known_at ? blocks[i].n - 1 : 0))
				fail_msg("block %zu, %zu: %u", i, k, b->insns[k].unseen_behind);
	}
	blocks_release(&all);
}

/* Blocks are kept once for each address and content. */
static void equal_blocks_are_one(void **state)
{
	const uint32_t words[] = { 0xd503201f, 0x91000421 }, others[] = { 0xd503201f, 0xd503201f };
	struct blocks all;
	struct block *first;

	(void)state;
	blocks_init(&all);
	first = blocks_get(&all, 0x1000, words, 2);
	assert_ptr_equal(blocks_get(&all, 0x1000, words, 2), first);
	assert_ptr_not_equal(blocks_get(&all, 0x1000, others, 2), first);
	assert_ptr_not_equal(blocks_get(&all, 0x1000, words, 1), first);
	assert_ptr_not_equal(blocks_get(&all, 0x1004, words, 2), first);
	assert_int_equal(block_end(first), 0x1008);
	blocks_release(&all);
}

/* What no thread is in goes; what is kept is found again, and goes the next time. */
static void blocks_are_swept(void **state)
{
	enum { N = 1000 };
	const uint32_t words[] = { 0xd503201f, 0x91000421 };
	struct blocks all;
	struct block *kept;

	(void)state;
	blocks_init(&all);
	for (uint64_t i = 0; i < N; i++)
		blocks_get(&all, 0x1000 + 4 * i, words, 2);
	assert_int_equal(all.n, N);
	assert_true(all.size_bytes >= N * 2 * sizeof(struct insn));
	kept = blocks_get(&all, 0x1000 + 4 * 77, words, 2);
	kept->is_kept = true;
	blocks_sweep(&all);
	assert_int_equal(all.n, 1);
	assert_true(all.size_bytes < sizeof(struct block) + 3 * sizeof(struct insn));
	assert_ptr_equal(blocks_get(&all, 0x1000 + 4 * 77, words, 2), kept);
	blocks_sweep(&all);
	assert_int_equal(all.n, 0);
	assert_int_equal(all.size_bytes, 0);
	blocks_release(&all);
}

/* What an emulator might have: some other state, then the registers. */
struct cpu_state {
	uint32_t other[16];
	uint64_t values[32];
};

static void registers_are_believed_late(void **state)
{
	struct cpu_state cpu = { .values = { [1] = X1 } };
	const struct insn in = insn_decode(0x1000, 0xf9400420); /* ldr x0, [x1, #8] */
	struct registers r = { 0 };
	struct register_trust trust = { 0 };

	(void)state;
	registers_see(&r, &trust, &cpu);
	for (int i = 0; i < 1000 && !registers_trusted(&trust, &r); i++) {
		assert_true(i < 200);
		registers_check(&trust, &r, &in, X1 + 8);
	}
	assert_true(registers_trusted(&trust, &r));
	assert_ptr_equal(r.values, cpu.values);
	registers_see(&r, &trust, &cpu);
	assert_true(registers_trusted(&trust, &r));
	registers_see(&r, &trust, &cpu.values[1]); /* a thread has one state only */
	assert_false(registers_trusted(&trust, &r));
}

static void wrong_registers_never(void **state)
{
	struct cpu_state cpu = { .values = { [1] = X1 } };
	const struct insn in = insn_decode(0x1000, 0xf9400420);
	const struct insn changes = insn_decode(0x1000, 0xf9400421); /* ldr x1, [x1, #8] */
	struct registers r = { 0 }, none = { 0 };
	struct register_trust trust = { 0 }, other = { 0 };

	(void)state;
	registers_see(&r, &trust, &cpu);
	registers_check(&trust, &r, &changes, 0x123); /* x1 is another one by now: tells nothing */
	for (int i = 0; i < 100; i++)
		registers_check(&trust, &r, &in, X1 + 8);
	registers_check(&trust, &r, &in, X1);
	for (int i = 0; i < 1000; i++)
		registers_check(&trust, &r, &in, X1 + 8);
	assert_false(registers_trusted(&trust, &r));

	registers_see(&none, &other, NULL);
	registers_see(&none, &other, (const void *)8);
	registers_check(&other, &none, &in, X1 + 8);
	assert_false(registers_trusted(&other, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_computed),
		cmocka_unit_test(registers_are_kept_for_a_while),
		cmocka_unit_test(addresses_are_known_before),
		cmocka_unit_test(equal_blocks_are_one),
		cmocka_unit_test(blocks_are_swept),
		cmocka_unit_test(registers_are_believed_late),
		cmocka_unit_test(wrong_registers_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
