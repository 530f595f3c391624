/* SPDX-License-Identifier: Apache-2.0 */
/* Objects made whole of what code knows in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "objects_world.h"

enum { MAX_KNOWN = 4 };

static const struct {
	const char *name;
	struct known known[MAX_KNOWN]; /* ends with space 0 */
	struct {
		enum what what;
		uint64_t start, n_elements;
	} expected[MAX_KNOWN];
} cases[] = {
	{ "alone", { { 1, INNER, 0x1008, 0x1010, DATA_HEAP } }, { { INNER, 0x1008, 0 } } },
	{ "a member that other code knows the whole of",
	  { { 1, INNER, 0x1008, 0x1010, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { OUTER, 0x1000, 0 }, { OUTER, 0x1000, 0 } } },
	{ "where there is no such member",
	  { { 1, INNER, 0x1010, 0x1010, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { INNER, 0x1010, 0 }, { OUTER, 0x1000, 0 } } },
	{ "in another process",
	  { { 1, INNER, 0x1008, 0x1010, DATA_HEAP }, { 2, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { INNER, 0x1008, 0 }, { OUTER, 0x1000, 0 } } },
	{ "code that knows nothing",
	  { { 1, NOTHING, 0, 0x1018, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { OUTER, 0x1000, 0 }, { OUTER, 0x1000, 0 } } },
	{ "… behind the object",
	  { { 1, NOTHING, 0, 0x1020, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { NOTHING }, { OUTER, 0x1000, 0 } } },
	{ "… over its end",
	  { { 1, NOTHING, 0, 0x101c, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { NOTHING }, { OUTER, 0x1000, 0 } } },
	{ "… of a file's variable",
	  { { 1, NOTHING, 0, 0x1018, DATA_STATIC }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
	  { { NOTHING }, { OUTER, 0x1000, 0 } } },
	{ "two things at one place",
	  { { 1, NOTHING, 0, 0x1018, DATA_HEAP },
	    { 1, OUTER, 0x1000, 0x1000, DATA_HEAP },
	    { 1, OTHER, 0x1010, 0x1010, DATA_HEAP },
	    { 1, NOTHING, 0, 0x1028, DATA_HEAP } },
	  { { NOTHING }, { OUTER, 0x1000, 0 }, { OTHER, 0x1010, 0 }, { NOTHING } } },
	{ "side by side",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP }, { 1, OUTER, 0x1020, 0x1028, DATA_HEAP } },
	  { { OUTER, 0x1000, 2 }, { OUTER, 0x1000, 2 } } },
	{ "side by side, and one known by a member",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP },
	    { 1, OUTER, 0x1020, 0x1028, DATA_HEAP },
	    { 1, INNER, 0x1028, 0x1028, DATA_HEAP } },
	  { { OUTER, 0x1000, 2 }, { OUTER, 0x1000, 2 }, { OUTER, 0x1000, 2 } } },
	{ "a gap, and none beside",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP }, { 1, OUTER, 0x1040, 0x1048, DATA_HEAP } },
	  { { OUTER, 0x1000, 0 }, { OUTER, 0x1040, 0 } } },
	{ "a gap of seven",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP },
	    { 1, OUTER, 0x1020, 0x1020, DATA_HEAP },
	    { 1, OUTER, 0x1120, 0x1120, DATA_HEAP } },
	  { { OUTER, 0x1000, 10 }, { OUTER, 0x1000, 10 }, { OUTER, 0x1000, 10 } } },
	{ "a longer one",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP },
	    { 1, OUTER, 0x1020, 0x1020, DATA_HEAP },
	    { 1, OUTER, 0x1140, 0x1140, DATA_HEAP } },
	  { { OUTER, 0x1000, 2 }, { OUTER, 0x1000, 2 }, { OUTER, 0x1140, 0 } } },
	{ "no multiple of the size",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP }, { 1, OUTER, 0x1028, 0x1028, DATA_HEAP } },
	  { { OUTER, 0x1000, 0 }, { OUTER, 0x1028, 0 } } },
	{ "beside each other, but different",
	  { { 1, OUTER, 0x1000, 0x1000, DATA_HEAP }, { 1, OTHER, 0x1020, 0x1020, DATA_HEAP } },
	  { { OUTER, 0x1000, 0 }, { OTHER, 0x1020, 0 } } },
};

static void parts_become_wholes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;

		print_message("%s\n", cases[i].name);
		world_init(&w);
		for (uint32_t k = 0; k < MAX_KNOWN && cases[i].known[k].space != 0; k++) {
			*vec_add(&w.sharing.subjects) = (struct c2c_subject){
				.space = cases[i].known[k].space,
			};
			world_add_name(&w, &cases[i].known[k], k);
		}
		c2c_objects_join(&w.objects);
		for (size_t k = 0; k < w.objects.names.n; k++) {
			const struct data_name *name = data_names_get(&w.objects.names, k);
			enum what what = cases[i].expected[k].what;

			assert_int_equal(name->object.v != 0, what != NOTHING);
			assert_int_equal(name->type.v, w.types[what].v);
			assert_int_equal(name->object_size, world_sizes[what]);
			assert_int_equal(name->object_address, cases[i].expected[k].start);
			assert_int_equal(name->n_elements, cases[i].expected[k].n_elements);
			/* What is whole by itself is still named by its own code. */
			if (what == cases[i].known[k].what && name->n_elements == 0)
				assert_int_equal(name->is_by_code, what != NOTHING);
		}
		world_release(&w);
	}
}

/* What the object of the first access is, if only the first `n` are known. */
static enum what joined_first(const struct known *known, uint32_t n)
{
	enum what found = NOTHING;
	struct world w;

	world_init(&w);
	for (uint32_t k = 0; k < n; k++) {
		*vec_add(&w.sharing.subjects) = (struct c2c_subject){ .space = known[k].space };
		world_add_name(&w, &known[k], k);
	}
	c2c_objects_join(&w.objects);
	for (int what = INNER; what < N_WHATS; what++)
		if (world_name_at(&w, 0).type.v == w.types[what].v)
			found = (enum what)what;
	world_release(&w);
	return found;
}

/*
 * Why c2c finds objects anew once it knows what was done on the lines around: one access more gives
 * another its object, or takes it away. What was found before cannot be kept.
 */
static void one_access_more_changes_others(void **state)
{
	static const struct {
		struct known known[MAX_KNOWN];
		enum what before, after; /* without the last access, and with it */
		uint32_t n;
	} more[] = {
		{ { { 1, INNER, 0x1008, 0x1010, DATA_HEAP },
		    { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
		  INNER,
		  OUTER,
		  2 },
		{ { { 1, NOTHING, 0, 0x1018, DATA_HEAP }, { 1, OUTER, 0x1000, 0x1000, DATA_HEAP } },
		  NOTHING,
		  OUTER,
		  2 },
		{ { { 1, NOTHING, 0, 0x1018, DATA_HEAP },
		    { 1, OUTER, 0x1000, 0x1000, DATA_HEAP },
		    { 1, OTHER, 0x1010, 0x1010, DATA_HEAP } },
		  OUTER,
		  NOTHING,
		  3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++) {
		assert_int_equal(joined_first(more[i].known, more[i].n - 1), more[i].before);
		assert_int_equal(joined_first(more[i].known, more[i].n), more[i].after);
	}
}

/* Lines of an object that were not looked at; of what is not known those near by. */
static void objects_reach_over_lines(void **state)
{
	static const struct {
		struct known known;
		size_t n;
		uint64_t first;
		bool is_static; /* a variable, not known by its type */
	} list[] = {
		{ { 1, LARGE, 0x1000, 0x1000, DATA_STATIC }, 1, 0x1040, true },
		{ { 1, OUTER, 0x1000, 0x1000, DATA_STATIC }, 0, 0, true },
		{ { 1, OUTER, 0xff0, 0x1000, DATA_STATIC }, 1, 0xfc0, true },
		{ { 1, OUTER, 0x1000, 0x1000, DATA_HEAP }, 4, 0xf80, false },
		{ { 1, NOTHING, 0, 0x1000, DATA_HEAP }, 4, 0xf80, false },
		{ { 1, NOTHING, 0, 0x1000, DATA_STATIC }, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		const struct c2c_options options = { .line_bytes = LINE_BYTES };
		const bool wanted[] = { true }, unwanted[] = { false };
		struct data_name name;
		struct tuples lines;
		struct world w;

		print_message("%zu\n", i);
		world_init(&w);
		c2c_choice_init(&w.sharing.choice, &options, 1, 0, 0);
		c2c_choice_add(&w.sharing.choice, 1, 0x1000);
		*vec_add(&w.sharing.subjects) = (struct c2c_subject){
			.space = 1,
			.address = 0x1000,
		};
		world_add_name(&w, &list[i].known, 0);
		name = world_name_at(&w, 0);
		name.is_by_type &= !list[i].is_static;
		data_names_set(&w.objects.names, 0, &name);
		tuples_init(&lines, 2);
		c2c_objects_lines(&w.objects, unwanted, &lines);
		assert_int_equal(lines.n, 0);
		c2c_objects_lines(&w.objects, wanted, &lines);
		assert_int_equal(lines.n, list[i].n);
		if (lines.n > 0)
			assert_int_equal(tuples_get(&lines, 0)[1], list[i].first);
		tuples_release(&lines);
		c2c_choice_release(&w.sharing.choice);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_become_wholes),
		cmocka_unit_test(one_access_more_changes_others),
		cmocka_unit_test(objects_reach_over_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
