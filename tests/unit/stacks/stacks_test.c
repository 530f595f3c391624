/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted call stacks and trees of them, against captures with known sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "stacks/tree.h"

#define EV(bit) (1ull << SPE_EV_##bit)

/* main (0x400100) calls work (0x400200) calls leaf (0x400300); addresses of the return. */
static const uint64_t leaf_chain[] = { 0x400300, 0x400204, 0x400104 };
static const uint64_t work_chain[] = { 0x400200, 0x400104 };
static const uint64_t recursion[] = { 0x400300, 0x400304, 0x400304, 0x400104 };

static void append_chain(const struct stacks *s, const struct stack *stack, struct text *out)
{
	struct stack_walk walk;
	struct stack_frame f;

	for (stack_walk_init(&walk, s, stack); stack_walk_next(&walk, &f);) {
		text_char(out, f.is_leaf ? ' ' : '<');
		text_hex(out, session_place(s->session, f.place).offset);
	}
}

/* All stacks in words: "event process tid leaf<caller<caller records period cycles …". */
static char *stacks_in_words(struct session *s, bool by_thread, size_t memory_bytes)
{
	const struct stacks_wish wish = {
		.records = { .event = -1, .branches_of = -1 },
		.by_thread = by_thread,
		.depth = SYMBOLS_FUNCTIONS,
		.memory_bytes = memory_bytes,
	};
	struct text text = { 0 };
	struct stacks stacks;
	struct stack stack;
	struct err err;

	assert_int_equal(stacks_collect(&stacks, s, NULL, &wish, &err), 0);
	for (uint64_t at = 0; stacks_next(&stacks, &at, &stack);) {
		stacks_event_name(&stacks, stack.event, &text);
		text_char(&text, ' ');
		text_str(&text, stacks_process_name(&stacks, stack.process));
		if (stack.tid != DIM_ABSENT)
			text_format(&text, " %u", (unsigned)stack.tid);
		append_chain(&stacks, &stack, &text);
		for (int i = 0; i < N_STACK_VALUES; i++)
			if (stack.values[i] > 0)
				text_format(&text, " %s=%u", stack_value_name(i),
					    (unsigned)stack.values[i]);
		text_char(&text, '\n');
	}
	text_char(&text, '\0');
	stacks_release(&stacks);
	return text.bytes;
}

static void expect_stacks(const struct contents *contents, bool by_thread, const char *expected)
{
	for (unsigned n = 0; n < 6; n++) {
		size_t memory_bytes = n % 2 == 0 ? 0 : 1; /* 1: everything goes to files */
		struct session s;
		char *words;

		open_fixture(contents, n / 2 + 1, &s);
		words = stacks_in_words(&s, by_thread, memory_bytes);
		assert_string_equal(words, expected);
		free(words);
		close_fixture(&s);
	}
}

static const struct sample *chained_samples(size_t *out_n)
{
	static struct sample samples[5];

	samples[0] = sample_of(EVENT_CYCLES, 0x400300, BETA, 100, recursion, COUNT(recursion));
	samples[1] = sample_of(EVENT_CYCLES, 0x400300, ALPHA, 10, leaf_chain, COUNT(leaf_chain));
	samples[2] = sample_of(EVENT_CYCLES, 0x400200, ALPHA, 20, work_chain, COUNT(work_chain));
	samples[3] = sample_of(EVENT_CYCLES, 0x400300, ALPHA, 30, leaf_chain, COUNT(leaf_chain));
	samples[4] = sample_of(EVENT_CYCLES, 0x400300, ALPHA, 40, leaf_chain, COUNT(leaf_chain));
	samples[4].tid = ALPHA_THREAD;
	*out_n = COUNT(samples);
	return samples;
}

static void test_samples(void **state)
{
	struct contents contents = { 0 };

	(void)state;
	contents.samples = chained_samples(&contents.n_samples);
	expect_stacks(&contents, false,
		      "cycles alpha 0x200<0x103 samples=1 period=20\n"
		      "cycles alpha 0x300<0x203<0x103 samples=3 period=80\n"
		      "cycles beta 0x300<0x303<0x303<0x103 samples=1 period=100\n");
	expect_stacks(&contents, true,
		      "cycles alpha 100 0x200<0x103 samples=1 period=20\n"
		      "cycles alpha 100 0x300<0x203<0x103 samples=2 period=40\n"
		      "cycles alpha 101 0x300<0x203<0x103 samples=1 period=40\n"
		      "cycles beta 200 0x300<0x303<0x303<0x103 samples=1 period=100\n");
}

/* Records of one place that differ by their event bits are one stack, and its misses add up. */
static void test_spe(void **state)
{
	struct spe_record r[] = {
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(L1D_REFILL), 300, 1000),
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(L1D_REFILL) | EV(LLC_MISS),
		       100, 2000),
		spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(TLB_WALK), 4095, 3000),
		spe_of(0x400020, BETA, SPE_OP_BRANCH, EV(RETIRED) | EV(MISPREDICTED), 50, 4000),
	};

	(void)state;
	expect_stacks(&(struct contents){ .records = r, .n_records = COUNT(r) }, false,
		      "spe alpha 0x10 samples=3 cycles=4495 saturated=4095 operations=3075 "
		      "l1d-misses=2 llc-misses=1 walks=1\n"
		      "spe beta 0x20 samples=1 cycles=50 operations=1025 mispredicted=1\n");
}

static char *tree_in_words(struct session *s, bool is_inverted, uint64_t least, size_t memory_bytes)
{
	const struct stacks_wish wish = {
		.records = { .event = -1, .branches_of = -1 },
		.depth = SYMBOLS_FUNCTIONS,
		.memory_bytes = memory_bytes,
	};
	const struct stack_paths_wish paths_wish = {
		.event = EVENT_CYCLES,
		.value = STACK_PERIOD,
		.is_inverted = is_inverted,
		.by_process = true,
	};
	struct stack_paths paths;
	struct stack_tree tree;
	struct text text = { 0 };
	struct stacks stacks;
	struct err err;

	assert_int_equal(stacks_collect(&stacks, s, NULL, &wish, &err), 0);
	assert_int_equal(stack_paths_init(&paths, &stacks, &paths_wish, &err), 0);
	assert_int_equal(paths.total, 170);
	stack_tree_init(&tree, &paths, least);
	for (uint32_t node = 0; node != STACK_TREE_END; node = stack_tree_next(&tree, node)) {
		const struct stack_node *n = &tree.nodes.items[node];

		text_repeat(&text, ' ', n->depth);
		text_format(&text, "%s %u %u\n", stack_tree_label(&tree, node)->name,
			    (unsigned)n->self, (unsigned)n->total);
	}
	if (tree.n_lighter > 0)
		text_format(&text, "%u lighter\n", (unsigned)tree.n_lighter);
	text_char(&text, '\0');
	stack_tree_release(&tree);
	stack_paths_release(&paths);
	stacks_release(&stacks);
	return text.bytes;
}

static void expect_tree(bool is_inverted, uint64_t least, const char *expected)
{
	const uint64_t deep[] = { MEMCPY, SECOND + 4, FIRST + 4 };
	const uint64_t other_call[] = { MEMCPY + 8, SECOND + 12, FIRST + 4 };
	const uint64_t flat[] = { SECOND, FIRST + 4 };
	const struct sample samples[] = {
		sample_of(EVENT_CYCLES, MEMCPY, ALPHA, 10, deep, COUNT(deep)),
		sample_of(EVENT_CYCLES, SECOND, ALPHA, 20, flat, COUNT(flat)),
		sample_of(EVENT_CYCLES, MEMCPY + 8, ALPHA, 40, other_call, COUNT(other_call)),
		sample_of(EVENT_CYCLES, 0x400300, BETA, 100, recursion, COUNT(recursion)),
		sample_of(EVENT_MISSES, FIRST, ALPHA, 7, NULL, 0),
	};
	struct session s;
	char *words;

	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 2, &s);
	for (size_t memory_bytes = 0; memory_bytes < 2; memory_bytes++) {
		words = tree_in_words(&s, is_inverted, least, memory_bytes);
		assert_string_equal(words, expected);
		free(words);
	}
	close_fixture(&s);
}

/* Places of one function are one node; recursion is not folded. */
static void test_tree(void **state)
{
	(void)state;
	expect_tree(false, 0,
		    "all 0 170\n"
		    " alpha 0 70\n"
		    "  first 0 70\n"
		    "   second 20 70\n"
		    "    __memcpy_generic 50 50\n"
		    " beta 0 100\n"
		    "  [unknown] 0 100\n"
		    "   [unknown] 0 100\n"
		    "    [unknown] 0 100\n"
		    "     [unknown] 100 100\n");
	expect_tree(true, 0,
		    "all 0 170\n"
		    " [unknown] 0 100\n"
		    "  [unknown] 0 100\n"
		    "   [unknown] 0 100\n"
		    "    [unknown] 0 100\n"
		    "     beta 100 100\n"
		    " __memcpy_generic 0 50\n"
		    "  second 0 50\n"
		    "   first 0 50\n"
		    "    alpha 50 50\n"
		    " second 0 20\n"
		    "  first 0 20\n"
		    "   alpha 20 20\n");
}

/* What is light is left out with all below it, and counted once; it stays part of what is above it. */
static void test_light_nodes(void **state)
{
	(void)state;
	expect_tree(false, 70,
		    "all 0 170\n alpha 0 70\n  first 0 70\n   second 20 70\n"
		    " beta 0 100\n  [unknown] 0 100\n   [unknown] 0 100\n    [unknown] 0 100\n"
		    "     [unknown] 100 100\n1 lighter\n");
	expect_tree(false, 71,
		    "all 0 170\n beta 0 100\n  [unknown] 0 100\n   [unknown] 0 100\n"
		    "    [unknown] 0 100\n     [unknown] 100 100\n1 lighter\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_spe),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_light_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
