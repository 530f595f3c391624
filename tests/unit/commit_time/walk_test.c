/* SPDX-License-Identifier: Apache-2.0 */
/* The walk through loops whose time is known: words as GNU as made them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "commit_time/inside.h"

enum { MOST = 5, RECORDS = 100 };

static const struct commit_cpu cpu = {
	.width = 4,
	.window = 128,
	.refill_cycles = 11,
	.l2_cycles = 11,
	.memory_cycles = 280,
	.line_gap = 10,
};

#define HITS(cycles)                                                                               \
	{                                                                                          \
		.n = RECORDS, .n_hits = RECORDS, .hit_cycles = RECORDS * (cycles)                  \
	}
#define MISSES(cycles)                                                                             \
	{                                                                                          \
		.n = RECORDS, .n_loads = RECORDS, .n_misses = RECORDS, .n_far = RECORDS,           \
		.miss_cycles = RECORDS * (cycles)                                                  \
	}

/* A loop: the last instruction is the branch back. */
static const struct {
	const char *what;
	struct {
		uint32_t word;
		struct record_sums sums;
		double cycles; /* for each execution */
	} code[MOST];
	size_t n;
} loops[] = {
	{ "ldr x0, [x0]; sub x1, x1, #1: what waits for nobody costs nothing",
	  { { 0xf9400000, HITS(100), 99.33 },
	    { 0xd1000421, HITS(1), 0.33 },
	    { 0xb5ffffc1, HITS(1), 0.33 } },
	  3 },
	{ "ldr x2, [x0]; add x0, x0, x2: a cycle for the sum and all that waited",
	  { { 0xf9400002, HITS(50), 50 },
	    { 0x8b020000, HITS(1), 0.33 },
	    { 0xd1000421, HITS(1), 0.33 },
	    { 0xb5ffffa1, HITS(1), 0.33 } },
	  4 },
	{ "four instructions in a cycle",
	  { { 0xd1000421, HITS(1), 0.25 },
	    { 0xd1000442, HITS(1), 0.25 },
	    { 0xd1000463, HITS(1), 0.25 },
	    { 0xb5ffffa1, HITS(1), 0.25 } },
	  4 },
	{ "a branch that is always mispredicted has the 11 cycles of refill",
	  { { 0xd1000421, HITS(1), 3 },
	    { 0xb5ffffe1,
	      { .n = RECORDS, .n_hits = RECORDS, .hit_cycles = RECORDS, .n_mispredicted = RECORDS },
	      12 } },
	  2 },
	{ "str x2, [x0], #64: lines come ten cycles apart, and the store buffer is full",
	  { { 0xf8040402, MISSES(1), 9.5 }, { 0xb5ffffe1, HITS(1), 0.5 } },
	  2 },
	{ "ldr x2, [x0], #64: and so do lines that are loaded",
	  { { 0xf8440402, MISSES(400), 9.5 }, { 0xb5ffffe1, HITS(1), 0.5 } },
	  2 },
};

static void init_loop(struct program *p, size_t number)
{
	size_t n = loops[number].n;

	*p = (struct program){ .cpu = cpu, .n_starts = n, .n_records = RECORDS * n };
	p->starts = mem_zalloc(n, sizeof(*p->starts));
	p->up_to = mem_zalloc(n, sizeof(*p->up_to));
	*vec_add(&p->branches) = (struct branch){ .node = 0, .n = RECORDS };
	for (size_t i = 0; i < n; i++) {
		struct node *node = vec_add(&p->nodes);

		p->starts[i] = (uint32_t)i;
		p->up_to[i] = RECORDS * (i + 1);
		node->is_code = node->has_looked = true;
		node->sums = &loops[number].code[i].sums;
		assert_true(isa_registers_of(loops[number].code[i].word, &node->registers));
		node->is_store = isa_registers_are_store(&node->registers);
		node->kind = i + 1 < n ? FLOW_NEXT : FLOW_BRANCH;
		node->next = i + 1 < n ? (uint32_t)i + 1 : NO_NODE;
		node->target = 0;
		node->n_branches = i + 1 == n;
	}
}

static void loops_take_their_time(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(loops); k++) {
		double all = 0, all_wanted = 0;
		struct program p;

		init_loop(&p, k);
		program_walk(&p);
		for (size_t i = 0; i < loops[k].n; i++) {
			const struct node *node = &p.nodes.items[i];
			double cycles = node->cycles / (double)node->n_executed;

			if (fabs(cycles - loops[k].code[i].cycles) > 0.2 + 0.02 * cycles)
				fail_msg("%s: %zu: %g", loops[k].what, i, cycles);
			all += cycles;
			all_wanted += loops[k].code[i].cycles;
		}
		if (fabs(all - all_wanted) > 0.1 + 0.02 * all)
			fail_msg("%s: %g cycles, wanted %g", loops[k].what, all, all_wanted);
		program_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_take_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
