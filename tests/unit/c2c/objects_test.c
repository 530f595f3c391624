/* SPDX-License-Identifier: Apache-2.0 */
/* Objects made whole of what code knows in parts; objects of one type that have one cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "c2c/verdict/cause.h"
#include "c2c/verdict/objects.h"
#include "c2c/verdict/verdict.h"

enum { MAX_KNOWN = 4, LINE_BYTES = 64, LONG = 8, MAX_LINES = 6 };

/* struct outer { long head; struct inner { long a, b; } in; long tail; }; large: a line. */
enum what { NOTHING, INNER, OUTER, OTHER, LARGE, N_WHATS };

static const uint64_t sizes[N_WHATS] = { 0, 16, 32, 32, 2 * LINE_BYTES };

struct world {
	struct session session;
	struct c2c sharing;
	struct c2c_lines lines;
	struct c2c_accesses seen;
	struct c2c_instruction instructions[1];
	struct c2c_objects objects;
	struct type_id types[N_WHATS];
};

static struct type_id add_struct(struct types *t, uint64_t size, const struct type_member *members,
				 size_t n)
{
	return types_add(t, &(struct type){ .kind = TYPE_STRUCT, .size = size }, members, n);
}

/* The types of a session without debug information have room for ours. */
static void add_types(struct world *w)
{
	struct types *t = (struct types *)(uintptr_t)symbols_types(w->session.symbols);
	struct type_id number =
		types_add(t, &(struct type){ .kind = TYPE_BASE, .size = LONG }, NULL, 0);
	const struct type_member inner[] = {
		{ .type = number, .offset = 0, .size = LONG },
		{ .type = number, .offset = LONG, .size = LONG },
	};
	struct type_member outer[] = {
		{ .type = number, .offset = 0, .size = LONG },
		{ .offset = LONG, .size = 2 * LONG },
		{ .type = number, .offset = 3 * LONG, .size = LONG },
	};

	outer[1].type = w->types[INNER] = add_struct(t, sizes[INNER], inner, COUNT(inner));
	w->types[OUTER] = add_struct(t, sizes[OUTER], outer, COUNT(outer));
	w->types[OTHER] = add_struct(t, sizes[OTHER], inner, COUNT(inner));
	w->types[LARGE] = add_struct(t, sizes[LARGE], inner, COUNT(inner));
}

static void world_init(struct world *w)
{
	*w = (struct world){ 0 };
	open_fixture(&(struct contents){ 0 }, 1, &w->session);
	add_types(w);
	tuples_init(&w->seen.keys, C2C_TOUCH_WORDS);
	w->sharing.session = &w->session;
	w->sharing.lines = &w->lines;
	w->sharing.accesses_seen = &w->seen;
	w->sharing.options.line_bytes = LINE_BYTES;
	w->sharing.options.mode = C2C_BY_PEER;
	w->sharing.instructions = w->instructions;
	w->sharing.total.n[C2C_STORES] = 1;
	w->lines.loads.cycles = 1000;
	w->objects.sharing = &w->sharing;
	w->objects.queries = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.queries));
	w->objects.lines = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.lines));
	w->objects.numbers = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.numbers));
	w->objects.names.session = &w->session;
	w->objects.names.list = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.names.list));
	strings_init(&w->objects.names.strings);
	tuples_init(&w->objects.keys, 3);
}

static void world_release(struct world *w)
{
	c2c_objects_release(&w->objects);
	tuples_release(&w->seen.keys);
	vec_release(&w->seen.touches);
	vec_release(&w->sharing.subjects);
	vec_release(&w->sharing.accesses);
	free(w->sharing.order);
	close_fixture(&w->session);
}

/* What code knows of an access, the object's start and the address accessed. */
struct known {
	uint32_t space;
	enum what what; /* NOTHING: no name */
	uint64_t start, address;
	enum data_kind kind;
};

static void add_name(struct world *w, const struct known *k, uint32_t line)
{
	size_t number = w->objects.names.n++;

	w->objects.lines[number] = line;
	w->objects.queries[number] = (struct data_query){ .address = k->address, .size = LONG };
	w->objects.names.list[number] = (struct data_name){ .kind = k->kind };
	if (k->what == NOTHING)
		return;
	w->objects.names.list[number] = (struct data_name){
		.kind = k->kind,
		.object = { 1 },
		.is_by_type = true,
		.is_by_code = true,
		.object_address = k->start,
		.object_size = sizes[k->what],
		.type = w->types[k->what],
	};
}

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
			add_name(&w, &cases[i].known[k], k);
		}
		c2c_objects_join(&w.objects);
		for (size_t k = 0; k < w.objects.names.n; k++) {
			const struct data_name *name = &w.objects.names.list[k];
			enum what what = cases[i].expected[k].what;

			assert_int_equal(name->object.v != 0, what != NOTHING);
			assert_int_equal(name->type.v, w.types[what].v);
			assert_int_equal(name->object_size, sizes[what]);
			assert_int_equal(name->object_address, cases[i].expected[k].start);
			assert_int_equal(name->n_elements, cases[i].expected[k].n_elements);
		}
		world_release(&w);
	}
}

/* A line of an object: one thread stores at its beginning, another loads at `offset`, and waits. */
struct fight {
	enum what what;
	uint64_t start;	    /* of the object */
	uint64_t in_object; /* where its line is */
	uint16_t offset;
	unsigned n_stores;
	int64_t excess;
	uint64_t n_elements; /* not 0: the object is an array */
};

static void add_touch(struct world *w, uint32_t line, uint16_t offset, uint32_t tid, bool is_store,
		      uint32_t n)
{
	const uint64_t key[C2C_TOUCH_WORDS] = {
		(uint64_t)line << 32 | (uint64_t)offset << 8 | (is_store ? C2C_KIND_STORE : 0u),
		tid,
	};
	struct c2c_subject *subject = &w->sharing.subjects.items[line];
	struct c2c_touch touch = { .first_ns = UINT64_MAX };

	touch.counts.n[C2C_RECORDS] = n;
	touch.counts.n[is_store ? C2C_STORES : C2C_LOADS] = n;
	touch.counts.n[C2C_LOCAL_PEER] = is_store ? 0 : n;
	assert_int_equal(tuples_add(&w->seen.keys, key), w->seen.touches.n);
	*vec_add(&w->seen.touches) = touch;
	c2c_counts_add(&subject->counts, &touch.counts);
	subject->n_touches++;
}

static void add_fight(struct world *w, const struct fight *f)
{
	uint32_t line = (uint32_t)w->sharing.subjects.n;
	struct c2c_subject *s = vec_add(&w->sharing.subjects);

	*s = (struct c2c_subject){
		.space = 1,
		.address = f->start + f->in_object,
		.line = line,
		.first_access = (uint32_t)w->objects.names.n,
		.n_accesses = 2,
		.first_touch = w->seen.keys.n,
		.excess_cycles = f->excess,
		.share = (double)f->excess / 1000,
		.error = 0.001,
	};
	for (int i = 0; i < 2; i++) {
		const struct known known = { 1, f->what, f->start,
					     s->address + (i == 0 ? 0 : f->offset), DATA_HEAP };
		const uint64_t key[] = { 1, 1, f->start };
		size_t number = w->objects.names.n;

		add_name(w, &known, line);
		w->objects.names.list[number].n_elements = f->n_elements;
		w->objects.numbers[number] =
			f->what == NOTHING ? TUPLES_NONE : tuples_add(&w->objects.keys, key);
		vec_add(&w->sharing.accesses);
	}
	add_touch(w, line, 0, 1, true, f->n_stores);
	add_touch(w, line, f->offset, 2, false, 5);
}

static const struct {
	const char *name;
	struct fight fights[MAX_LINES]; /* ends with excess 0 */
	struct {
		size_t n_lines, first;
		uint32_t n_objects;
		enum c2c_verdict verdict;
		enum c2c_class class;
		int64_t excess;
	} causes[MAX_LINES]; /* ends with n_lines 0 */
} grouped[] = {
	{ "three of a type, few samples of each",
	  { { LARGE, 0x1000, 0, 32, 2, 50 },
	    { LARGE, 0x2000, 0, 32, 2, 40 },
	    { LARGE, 0x3000, 0, 32, 2, 30 } },
	  { { 3, 0, 3, C2C_FALSE, C2C_CONTENDED, 120 } } },
	{ "one of it is nothing but itself",
	  { { LARGE, 0x1000, 0, 32, 2, 50 } },
	  { { 1, 0, 0, C2C_UNKNOWN, C2C_SUSPECTED, 50 } } },
	{ "small ones, each alone",
	  { { OUTER, 0x1000, 0, 16, 9, 50 }, { OUTER, 0x2000, 0, 16, 9, 40 } },
	  { { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "elements of arrays that share their lines",
	  { { OUTER, 0x1000, 0, 16, 9, 50, 4 }, { OUTER, 0x2000, 0, 16, 9, 40, 4 } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50 },
	    { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 40 } } },
	{ "elements of one array that have their own",
	  { { LARGE, 0x1000, 0, 32, 9, 50, 4 }, { LARGE, 0x1000, 128, 32, 9, 40, 4 } },
	  { { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "two lines of one object",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x1000, 64, 32, 9, 50 } },
	  { { 2, 0, 0, C2C_FALSE, C2C_CONTENDED, 90 } } },
	{ "two lines of two objects each",
	  { { LARGE, 0x1000, 0, 32, 9, 10 },
	    { LARGE, 0x1000, 64, 0, 9, 20 },
	    { LARGE, 0x2000, 0, 32, 9, 10 },
	    { LARGE, 0x2000, 64, 0, 9, 20 } },
	  { { 2, 1, 2, C2C_TRUE, C2C_CONTENDED, 40 }, { 2, 0, 2, C2C_FALSE, C2C_CONTENDED, 20 } } },
	{ "what has no name is alone",
	  { { NOTHING, 0x1000, 0, 32, 9, 40 }, { NOTHING, 0x2000, 0, 32, 9, 50 } },
	  { { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 50 },
	    { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 40 } } },
};

static void objects_of_a_type_are_one_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(grouped); i++) {
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct world w;
		size_t n = 0;

		print_message("%s\n", grouped[i].name);
		world_init(&w);
		w.instructions[0] = (struct c2c_instruction){
			.bytes = LONG,
			.is_load = true,
			.is_store = true,
		};
		for (size_t k = 0; k < MAX_LINES && grouped[i].fights[k].excess > 0; k++)
			add_fight(&w, &grouped[i].fights[k]);
		w.sharing.order = mem_alloc(w.seen.keys.n, sizeof(*w.sharing.order));
		for (uint32_t k = 0; k < w.seen.keys.n; k++)
			w.sharing.order[k] = k;
		for (uint32_t k = 0; k < w.sharing.subjects.n; k++)
			w.sharing.subjects.items[k].judgement = c2c_judge(&w.sharing, &k, 1);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		for (; n < MAX_LINES && grouped[i].causes[n].n_lines > 0; n++) {
			const struct c2c_cause *c = &causes.list.items[n];

			assert_true(n < causes.list.n);
			assert_int_equal(c->lines.n, grouped[i].causes[n].n_lines);
			assert_int_equal(c->lines.items[0], grouped[i].causes[n].first);
			assert_int_equal(c->n_objects, grouped[i].causes[n].n_objects);
			assert_int_equal(c->sum.judgement.verdict, grouped[i].causes[n].verdict);
			assert_int_equal(c->class, grouped[i].causes[n].class);
			assert_int_equal(c->sum.excess_cycles, grouped[i].causes[n].excess);
			assert_int_equal(c->finding, n + 1);
		}
		assert_int_equal(causes.list.n, n);
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		world_release(&w);
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
		vec_add(&w.sharing.accesses);
		add_name(&w, &list[i].known, 0);
		w.objects.names.list[0].is_by_type &= !list[i].is_static;
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
		cmocka_unit_test(objects_of_a_type_are_one_cause),
		cmocka_unit_test(objects_reach_over_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
