/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and returns as they are executed, and the call chains that samples get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/call_stack.h"

enum { CALL = 0x94000000, CALL_REGISTER = 0xd63f0000, RETURN = 0xd65f03c0, JUMP = 0xd61f0000 };

static const uint64_t context_user = (uint64_t)-512;

static void see(struct call_stack *s, uint64_t pc, uint32_t word, uint64_t next)
{
	const struct insn in = insn_decode(pc, word);

	call_stack_see(s, &in, next);
}

/* The chain at 0x9000; `wanted` ends with 0. */
static void expect_chain(const struct call_stack *s, uint32_t at, const uint64_t *wanted)
{
	uint64_t out[CALL_CHAIN_MOST + 1];
	size_t n = call_stack_read(s, at, 0x9000, out), k = 0;

	assert_int_equal(out[0], context_user);
	assert_int_equal(out[1], 0x9000);
	for (; wanted[k] != 0; k++)
		assert_int_equal(out[k + 2], wanted[k]);
	assert_int_equal(n, k + 2);
}

#define EXPECT(s, ...) expect_chain(&(s), (s).at, (const uint64_t[]){ __VA_ARGS__ })

static void calls_and_returns_are_followed(void **state)
{
	struct call_stack s;
	uint32_t inside;

	(void)state;
	call_stack_init(&s);
	EXPECT(s, 0);
	see(&s, 0x1000, CALL, 0x2000);
	see(&s, 0x2008, CALL_REGISTER, 0x3000);
	EXPECT(s, 0x200c, 0x1004, 0);
	inside = s.at;
	see(&s, 0x3010, JUMP, 0x4000); /* a tail call */
	EXPECT(s, 0x200c, 0x1004, 0);
	see(&s, 0x4010, RETURN, 0x200c);
	EXPECT(s, 0x1004, 0);
	see(&s, 0x2010, RETURN, 0x7000); /* of a signal's handler: to none of the calls */
	EXPECT(s, 0x1004, 0);
	see(&s, 0x2010, RETURN, 0x1004);
	EXPECT(s, 0);
	see(&s, 0x1010, RETURN, 0x8000);
	EXPECT(s, 0);
	expect_chain(&s, inside, (const uint64_t[]){ 0x200c, 0x1004, 0 }); /* as it was then */
	see(&s, 0x1000, CALL, 0x2000);
	see(&s, 0x2008, CALL, 0x3000);
	assert_int_equal(s.at, inside);	 /* equal calls are one in the tree */
	see(&s, 0x3010, RETURN, 0x1004); /* to the outer one: both have ended */
	EXPECT(s, 0);
	call_stack_release(&s);
}

static void threads_have_calls_of_their_own(void **state)
{
	const int first = 0, second = 0;
	struct call_stack s;

	(void)state;
	call_stack_init(&s);
	call_stack_switch(&s, &first);
	see(&s, 0x1000, CALL, 0x2000);
	call_stack_switch(&s, &second);
	EXPECT(s, 0);
	see(&s, 0x5000, CALL, 0x6000);
	call_stack_switch(&s, &first);
	EXPECT(s, 0x1004, 0);
	call_stack_switch(&s, &second);
	EXPECT(s, 0x5004, 0);
	see(&s, 0x6000, RETURN, 0x5004);
	EXPECT(s, 0);
	call_stack_release(&s);
}

/* Deep recursion: a chain has the innermost calls. */
static void chains_end(void **state)
{
	uint64_t out[CALL_CHAIN_MOST + 1];
	struct call_stack s;

	(void)state;
	call_stack_init(&s);
	for (uint64_t i = 0; i < 1000; i++)
		see(&s, 0x1000 + 16 * i, CALL, 0x1000 + 16 * (i + 1));
	assert_int_equal(call_stack_read(&s, s.at, 0x9000, out), CALL_CHAIN_MOST + 1);
	assert_int_equal(out[2], 0x1004 + 16 * 999);
	for (uint64_t i = 1000; i > 0; i--)
		see(&s, 0x1000 + 16 * i, RETURN, 0x1004 + 16 * (i - 1));
	EXPECT(s, 0);
	call_stack_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_returns_are_followed),
		cmocka_unit_test(threads_have_calls_of_their_own),
		cmocka_unit_test(chains_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
