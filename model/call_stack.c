/* SPDX-License-Identifier: Apache-2.0 */
#include "model/call_stack.h"

/* Of recursion, each depth is one call in the tree; calls beyond that many are left out of chains. */
enum { CALLS_MOST = 1 << 20, INSN_BYTES = 4 };

/* PERF_CONTEXT_USER: what follows was executed by the program. */
static const uint64_t context_user = (uint64_t)-512;

void call_stack_init(struct call_stack *s)
{
	*s = (struct call_stack){ 0 };
	tuples_init(&s->calls, 2);
}

void call_stack_release(struct call_stack *s)
{
	tuples_release(&s->calls);
	vec_release(&s->others);
}

void call_stack_switch(struct call_stack *s, const void *thread)
{
	size_t i = 0;

	if (thread == s->thread)
		return;
	while (i < s->others.n && s->others.items[i].thread != s->thread)
		i++;
	if (i == s->others.n)
		vec_add(&s->others)->thread = s->thread;
	s->others.items[i].at = s->at;
	s->thread = thread;
	s->at = 0;
	for (i = 0; i < s->others.n; i++)
		if (s->others.items[i].thread == thread)
			s->at = s->others.items[i].at;
}

static void begin_call(struct call_stack *s, uint64_t return_pc)
{
	const uint64_t call[2] = { s->at, return_pc };
	uint32_t number = tuples_find(&s->calls, call);

	if (number == TUPLES_NONE && s->calls.n == CALLS_MOST)
		return;
	s->at = 1 + (number != TUPLES_NONE ? number : tuples_add(&s->calls, call));
}

/*
 * A return to a call that is not the innermost one ends those inside of it as well (longjmp). One to
 * none of them ends nothing: a signal's handler, or a call that was left out.
 */
static void end_call(struct call_stack *s, uint64_t return_pc)
{
	for (uint32_t at = s->at; at != 0;) {
		const uint64_t *call = tuples_get(&s->calls, at - 1);

		at = (uint32_t)call[0];
		if (call[1] == return_pc) {
			s->at = at;
			return;
		}
	}
}

void call_stack_see(struct call_stack *s, const struct insn *in, uint64_t next_pc)
{
	if (in->flags & INSN_CALL)
		begin_call(s, in->pc + INSN_BYTES);
	else if (in->branch == BRANCH_RETURN)
		end_call(s, next_pc);
}

size_t call_stack_read(const struct call_stack *s, uint32_t at, uint64_t pc,
		       uint64_t out[CALL_CHAIN_MOST + 1])
{
	size_t n = 0;

	out[n++] = context_user;
	out[n++] = pc;
	while (at != 0 && n <= CALL_CHAIN_MOST) {
		const uint64_t *call = tuples_get(&s->calls, at - 1);

		out[n++] = call[1];
		at = (uint32_t)call[0];
	}
	return n;
}
