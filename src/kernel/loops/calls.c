/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that call one another, several stacks of them, in order or at random places. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/pointer_ring.h"
#include "kernel/loops/emit.h"
#include "kernel/loops/inside.h"

/* The function at one depth calls the one below; the last returns at once. */
static void emit_stack(uint8_t *places, const uint64_t *order, size_t depth, size_t spacing)
{
	for (size_t i = 0; i < depth; i++) {
		struct emitter e = { places + order[i] * spacing, MICROBENCHMARK_ARCHITECTURE };

		if (i + 1 == depth) {
			emit_return(&e);
			continue;
		}
		emit_enter(&e);
		emit_call(&e, places + order[i + 1] * spacing);
		emit_leave(&e);
	}
}

static int prepare_calls(struct microbenchmark_run *r, struct err *err)
{
	enum { CALL_BYTES = 8 };
	size_t n_stacks = r->values[TARGETS], depth = r->values[DEPTH];
	size_t spacing = r->values[SPACING], n = n_stacks * depth;
	struct emitter e = { .architecture = MICROBENCHMARK_ARCHITECTURE };
	uint8_t *start, *places;
	uint64_t *order;

	if (run_take_code(r, n * spacing + n_stacks * CALL_BYTES + PAGE_BYTES, err) < 0)
		return -1;
	places = r->memory;
	r->position = places + n * spacing;
	e.at = r->position;
	emit_enter(&e);
	start = e.at;
	if (r->values[RANDOM] != 0) {
		order = random_order(n, 0, 0);
	} else {
		order = mem_alloc(n, sizeof(*order));
		for (size_t i = 0; i < n; i++)
			order[i] = i;
	}
	for (size_t i = 0; i < n_stacks; i++) {
		emit_stack(places, order + i * depth, depth, spacing);
		emit_call(&e, places + order[i * depth] * spacing);
	}
	free(order);
	emit_loop_end(&e, start);
	emit_leave(&e);
	emit_done(r->memory, r->memory_bytes);
	return 0;
}

static void run_calls(struct microbenchmark_run *r)
{
	((emitted_function *)(uintptr_t)r->position)(r->values[ITERATIONS], NULL);
}

const struct microbenchmark microbenchmark_calls = {
	.name = "calls",
	.iteration = "all stacks of calls, each of functions that call one another, and the returns",
	.proves = "calls and returns, depth of the return stack, call counts of branch stacks",
	.parameters = {
		ITERATIONS_RANGE(20000),
		[TARGETS] = { 1, 1, 1 << 14 },
		[DEPTH] = { 21, 1, 1000 },
		[SPACING] = { 64, 16, 1 << 12, 8 },
		[RANDOM] = { 0, 0, 1 },
	},
	.architectures = ON_ALL,
	.prepare = prepare_calls,
	.run = run_calls,
};
