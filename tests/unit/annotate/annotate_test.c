/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows and loops of functions that are made up here, without a capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/view.h"
#include "base/alloc.h"

enum { START = 0x1000, SIZE = 4, NO_TARGET = -1, MOST = 24 };

/* An instruction, where it goes, and how many records it has. */
struct line {
	enum flow_kind kind;
	int target; /* number of an instruction, or NO_TARGET */
	uint64_t n;
};

struct made {
	struct annotate_region region;
	struct annotation a;
};

static void add_value(struct annotation *a, uint64_t value, uint64_t n)
{
	if (n > 0)
		*vec_add(&a->values) = (struct annotate_value){ value, n };
}

/* Records of 10 cycles each; those of a branch are all taken but the first. */
static void add_counts(struct annotation *a, struct annotated *out, const struct line *line)
{
	bool is_branch = line->kind == FLOW_BRANCH;

	for (int what = 0; what < N_COUNTS; what++) {
		out->first[what] = (uint32_t)a->values.n;
		if (what == COUNT_RECORDS)
			add_value(a, 0, line->n);
		if (what == COUNT_TOTAL)
			add_value(a, 10, line->n);
		if (what == COUNT_BRANCH && is_branch && line->n > 0) {
			add_value(a, 0, 1);
			add_value(a, 1, line->n - 1);
		}
	}
	out->first[N_COUNTS] = (uint32_t)a->values.n;
}

static void make(struct made *m, const struct line *lines, size_t n)
{
	*m = (struct made){ .region = { .from = START, .to = START + n * SIZE, .address = START } };
	m->a.region = &m->region;
	for (size_t i = 0; i < n; i++) {
		struct annotated *out = vec_add(&m->a.list);

		out->offset = out->text.address = START + i * SIZE;
		out->text.size = SIZE;
		out->text.flow.kind = lines[i].kind;
		out->text.flow.has_target = lines[i].target != NO_TARGET;
		out->text.flow.target = START + (uint64_t)(int64_t)lines[i].target * SIZE;
		add_counts(&m->a, out, &lines[i]);
	}
}

static void release(struct made *m)
{
	vec_release(&m->a.list);
	vec_release(&m->a.values);
}

#define NEXT                                                                                       \
	{                                                                                          \
		FLOW_NEXT, NO_TARGET, 0                                                            \
	}
#define BRANCH(target)                                                                             \
	{                                                                                          \
		FLOW_BRANCH, target, 0                                                             \
	}
#define JUMP(target)                                                                               \
	{                                                                                          \
		FLOW_JUMP, target, 0                                                               \
	}
#define RETURN                                                                                     \
	{                                                                                          \
		FLOW_RETURN, NO_TARGET, 0                                                          \
	}

/* Draws all instructions, or those of `rows`, and compares line by line. */
static void expect_arrows(const struct line *lines, size_t n, const size_t *rows, size_t n_rows,
			  bool has_unicode, const char *const *expected)
{
	struct arena memory = { 0 };
	struct made m;
	const char **drawn;

	make(&m, lines, n);
	drawn = annotate_arrows(&m.a, rows, n_rows, has_unicode, &memory);
	for (size_t i = 0; i < n_rows; i++)
		assert_string_equal(drawn[i], expected[i]);
	arena_release(&memory);
	release(&m);
}

static const size_t all_rows[MOST] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
				       12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };

static void arrows_nest_with_short_ones_inside(void **state)
{
	static const struct line lines[] = { NEXT, BRANCH(3), NEXT, NEXT, BRANCH(0), RETURN };
	static const char *const drawn[] = { "╭──►", "│╭──", "││  ", "│╰─►", "╰───", "    " };
	static const char *const ascii[] = { ".-->", "|.--", "||  ", "|'->", "'---", "    " };

	(void)state;
	expect_arrows(lines, COUNT(lines), all_rows, COUNT(lines), true, drawn);
	expect_arrows(lines, COUNT(lines), all_rows, COUNT(lines), false, ascii);
}

static void arrows_cross(void **state)
{
	static const struct line lines[] = { BRANCH(2), BRANCH(3), NEXT, NEXT };
	static const char *const drawn[] = { " ╭──", "╭┼──", "│╰─►", "╰──►" };

	(void)state;
	expect_arrows(lines, COUNT(lines), all_rows, COUNT(lines), true, drawn);
}

static void arrows_need_both_ends(void **state)
{
	static const struct line lines[] = { BRANCH(3), NEXT, BRANCH(2), NEXT, BRANCH(90) };
	static const size_t rows[] = { 0, SIZE_MAX, 1, 2, 4 };
	static const char *const drawn[] = { "   ", "   ", "   ", "╶─►", "   " };

	(void)state;
	expect_arrows(lines, COUNT(lines), rows, COUNT(rows), true, drawn);
}

static void no_branch_no_arrows(void **state)
{
	static const struct line lines[] = { NEXT, { FLOW_CALL, 0, 0 }, RETURN };
	static const char *const drawn[] = { "", "", "" };

	(void)state;
	expect_arrows(lines, COUNT(lines), all_rows, COUNT(lines), true, drawn);
}

/* More arrows than lanes: the longest are left out, and all lines stay as wide. */
static void lanes_run_out(void **state)
{
	struct line lines[20];
	struct arena memory = { 0 };
	struct made m;
	const char **drawn;
	size_t n_heads = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		lines[i] = (struct line){ i < 10 ? FLOW_BRANCH : FLOW_NEXT,
					  i < 10 ? 19 - i : NO_TARGET, 0 };
	make(&m, lines, COUNT(lines));
	drawn = annotate_arrows(&m.a, all_rows, COUNT(lines), false, &memory);
	for (size_t i = 0; i < COUNT(lines); i++) {
		assert_int_equal(strlen(drawn[i]), strlen(drawn[0]));
		n_heads += strchr(drawn[i], '>') != NULL;
	}
	assert_int_equal(n_heads, 5);
	assert_int_equal(strlen(drawn[0]), 7);
	arena_release(&memory);
	release(&m);
}

static void loops_are_summed_up(void **state)
{
	static const struct line lines[] = {
		{ FLOW_NEXT, NO_TARGET, 5 },   { FLOW_NEXT, NO_TARGET, 10 }, /* 1: outer head */
		{ FLOW_NEXT, NO_TARGET, 20 },				     /* 2: inner head */
		{ FLOW_BRANCH, 2, 21 },	       { FLOW_BRANCH, 1, 11 },
		{ FLOW_RETURN, NO_TARGET, 1 },
	};
	struct annotated_loop *loops;
	struct made m;
	size_t n;

	(void)state;
	make(&m, lines, COUNT(lines));
	loops = annotation_loops(&m.a, &n);
	assert_int_equal(n, 2);
	assert_int_equal(loops[0].head, 1);
	assert_int_equal(loops[0].branch, 4);
	assert_int_equal(loops[0].n_records, 62);
	assert_int_equal(loops[0].cycles, 620);
	assert_int_equal(loops[0].n_taken, 10);
	assert_int_equal(loops[0].n_not_taken, 1);
	assert_int_equal(loops[1].head, 2);
	assert_int_equal(loops[1].n_records, 41);
	free(loops);
	release(&m);
}

static void what_is_no_loop(void **state)
{
	/* Code behind the end goes back to where it came from; a loop without records. */
	static const struct line cold[] = {
		{ FLOW_BRANCH, 3, 9 },	       { FLOW_NEXT, NO_TARGET, 9 },
		{ FLOW_RETURN, NO_TARGET, 9 }, { FLOW_NEXT, NO_TARGET, 1 },
		{ FLOW_JUMP, 1, 1 },
	};
	static const struct line silent[] = { NEXT, BRANCH(0), RETURN };
	struct made m;
	size_t n;

	(void)state;
	make(&m, cold, COUNT(cold));
	free(annotation_loops(&m.a, &n));
	assert_int_equal(n, 0);
	release(&m);
	make(&m, silent, COUNT(silent));
	free(annotation_loops(&m.a, &n));
	assert_int_equal(n, 0);
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrows_nest_with_short_ones_inside),
		cmocka_unit_test(arrows_cross),
		cmocka_unit_test(arrows_need_both_ends),
		cmocka_unit_test(no_branch_no_arrows),
		cmocka_unit_test(lanes_run_out),
		cmocka_unit_test(loops_are_summed_up),
		cmocka_unit_test(what_is_no_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
