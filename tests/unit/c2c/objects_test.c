/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects made whole of what code knows in parts; objects of one type that have one cause, as if
 * they were one object; what they are called, and how to change them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "c2c/fix/fold.h"
#include "c2c/fix/labels.h"
#include "c2c/verdict/cause.h"
#include "c2c/verdict/objects.h"
#include "c2c/verdict/verdict.h"

enum {
	MAX_KNOWN = 4,
	LINE_BYTES = 64,
	LONG = 8,
	MAX_LINES = 6,
	LARGE_MEMBERS = 16,
	MAX_PLACES = 4
};

/* struct outer { long head; struct inner { long a, b; } in; long tail; }; large: a line. */
enum what { NOTHING, INNER, OUTER, OTHER, LARGE, N_WHATS };

static const uint64_t sizes[N_WHATS] = { 0, 16, 32, 32, 2 * LINE_BYTES };

static const char *const type_names[N_WHATS] = { "", "struct inner", "struct outer", "struct other",
						 "struct large" };

struct world {
	struct session session;
	struct c2c sharing;
	struct c2c_lines lines;
	struct c2c_accesses seen;
	struct c2c_instruction instructions[MAX_PLACES];
	struct c2c_objects objects;
	struct type_id types[N_WHATS];
	struct str_id names[N_WHATS]; /* of the types */
};

static void add_struct(struct world *w, struct types *t, enum what what,
		       const struct type_member *members, size_t n)
{
	struct str_id name = strings_addz(t->strings, type_names[what]);

	w->names[what] = name;
	w->types[what] = types_add(
		t, &(struct type){ .kind = TYPE_STRUCT, .name = name, .size = sizes[what] },
		members, n);
}

/* The types of a session without debug information have room for ours. */
static void add_types(struct world *w)
{
	struct types *t = (struct types *)(uintptr_t)symbols_types(w->session.symbols);
	struct type_id number = types_add(t,
					  &(struct type){ .kind = TYPE_BASE,
							  .name = strings_addz(t->strings, "long"),
							  .size = LONG },
					  NULL, 0);
	const struct type_member inner[] = {
		{ strings_addz(t->strings, "a"), .type = number, .offset = 0, .size = LONG },
		{ strings_addz(t->strings, "b"), .type = number, .offset = LONG, .size = LONG },
	};
	struct type_member outer[] = {
		{ strings_addz(t->strings, "head"), .type = number, .offset = 0, .size = LONG },
		{ strings_addz(t->strings, "in"), .offset = LONG, .size = 2 * LONG },
		{ strings_addz(t->strings, "tail"), .type = number, .offset = 3 * LONG,
		  .size = LONG },
	};
	struct type_member large[LARGE_MEMBERS];

	for (size_t i = 0; i < LARGE_MEMBERS; i++) {
		const char name[] = { 'm', (char)('0' + i / 10), (char)('0' + i % 10), '\0' };

		large[i] = (struct type_member){ .name = strings_addz(t->strings, name),
						 .type = number,
						 .offset = LONG * i,
						 .size = LONG };
	}
	add_struct(w, t, INNER, inner, COUNT(inner));
	outer[1].type = w->types[INNER];
	add_struct(w, t, OUTER, outer, COUNT(outer));
	add_struct(w, t, OTHER, inner, COUNT(inner));
	add_struct(w, t, LARGE, large, COUNT(large));
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
	w->objects.lines = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.lines));
	w->objects.numbers = mem_zalloc(4 * MAX_LINES, sizeof(*w->objects.numbers));
	w->objects.names.session = &w->session;
	shared_names_init(&w->objects.names.names, 4 * MAX_LINES);
	strings_init(&w->objects.names.strings);
	tuples_init(&w->objects.keys, 3);
}

static void world_release(struct world *w)
{
	c2c_objects_release(&w->objects);
	tuples_release(&w->seen.keys);
	vec_release(&w->seen.kept);
	vec_release(&w->seen.many);
	vec_release(&w->sharing.subjects);
	vec_release(&w->sharing.accesses);
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
	struct c2c_subject *s = &w->sharing.subjects.items[line];
	struct data_name name = { .kind = k->kind };

	if (s->address == 0)
		s->address = k->address;
	w->objects.lines[number] = line;
	*vec_add(&w->sharing.accesses) = (struct c2c_access){
		.offset = (uint16_t)(k->address - s->address),
		.size = LONG,
	};
	data_names_set(&w->objects.names, number, &name);
	if (k->what == NOTHING)
		return;
	name = (struct data_name){
		.kind = k->kind,
		.object = w->names[k->what],
		.is_by_type = true,
		.is_by_code = true,
		.object_address = k->start,
		.object_size = sizes[k->what],
		.type = w->types[k->what],
	};
	data_names_set(&w->objects.names, number, &name);
}

static struct data_name name_at(const struct world *w, size_t number)
{
	return *data_names_get(&w->objects.names, number);
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
			const struct data_name *name = data_names_get(&w.objects.names, k);
			enum what what = cases[i].expected[k].what;

			assert_int_equal(name->object.v != 0, what != NOTHING);
			assert_int_equal(name->type.v, w.types[what].v);
			assert_int_equal(name->object_size, sizes[what]);
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
		add_name(&w, &known[k], k);
	}
	c2c_objects_join(&w.objects);
	for (int what = INNER; what < N_WHATS; what++)
		if (name_at(&w, 0).type.v == w.types[what].v)
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

/* A line of an object: one thread stores at its beginning, another loads at `offset`, and waits. */
struct contended_line {
	enum what what;
	uint64_t start;	    /* of the object */
	uint64_t in_object; /* where its line is */
	uint16_t offset;
	unsigned n_stores;
	int64_t excess;
	uint64_t n_elements; /* not 0: the object is an array */
	uint32_t first_tid;  /* its threads are the next two */
	uint32_t places[2];  /* of the store, and of the load */
	enum what beside; /* not NOTHING: the load is of the object behind the first, such a one */
	bool is_variable; /* with a name of its own */
};

static void add_touch(struct world *w, uint32_t line, uint16_t offset, uint64_t place_and_tid,
		      bool is_store, uint32_t n)
{
	const uint64_t key[C2C_TOUCH_WORDS] = {
		(uint64_t)line << 32 | (uint64_t)offset << 8 | (is_store ? C2C_KIND_STORE : 0u),
		place_and_tid,
	};
	struct c2c_subject *subject = &w->sharing.subjects.items[line];
	struct c2c_touch touch = { .first_ns = UINT64_MAX };

	touch.counts.n[C2C_RECORDS] = n;
	touch.counts.n[is_store ? C2C_STORES : C2C_LOADS] = n;
	touch.counts.n[C2C_LOCAL_PEER] = is_store ? 0 : n;
	assert_int_equal(tuples_add(&w->seen.keys, key), w->seen.kept.n);
	*vec_add(&w->seen.kept) =
		(struct c2c_kept_touch){ .many = (uint32_t)w->seen.many.n, .flags = C2C_KEPT_MANY };
	*vec_add(&w->seen.many) = touch;
	c2c_counts_add(&subject->counts, &touch.counts);
	subject->n_touches++;
}

static void add_contended_line(struct world *w, const struct contended_line *f)
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
		bool is_beside = i == 1 && f->beside != NOTHING;
		uint64_t start = f->start + (is_beside ? sizes[f->what] : 0);
		const struct known known = { 1, is_beside ? f->beside : f->what, start,
					     s->address + (i == 0 ? 0 : f->offset), DATA_HEAP };
		const uint64_t key[] = { 1, 1, start };
		size_t number = w->objects.names.n;

		struct data_name name;

		add_name(w, &known, line);
		name = name_at(w, number);
		name.n_elements = f->n_elements;
		name.is_by_type = !f->is_variable;
		data_names_set(&w->objects.names, number, &name);
		w->objects.numbers[number] =
			f->what == NOTHING ? TUPLES_NONE : tuples_add(&w->objects.keys, key);
		w->sharing.accesses.items[number].first_touch = w->seen.keys.n + (uint32_t)i;
		w->sharing.accesses.items[number].n_touches = 1;
	}
	add_touch(w, line, 0, (uint64_t)f->places[0] << 32 | (f->first_tid + 1), true, f->n_stores);
	add_touch(w, line, f->offset, (uint64_t)f->places[1] << 32 | (f->first_tid + 2), false, 5);
}

/* All of them, with their verdicts. */
static void add_contended_lines(struct world *w, const struct contended_line *contended)
{
	for (size_t i = 0; i < MAX_PLACES; i++)
		w->instructions[i] = (struct c2c_instruction){
			.bytes = LONG,
			.is_load = true,
			.is_store = true,
		};
	for (size_t i = 0; i < MAX_LINES && contended[i].excess > 0; i++)
		add_contended_line(w, &contended[i]);
	for (uint32_t i = 0; i < w->sharing.subjects.n; i++)
		w->sharing.subjects.items[i].judgement = c2c_judge(&w->sharing, &i, 1);
}

static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	struct {
		size_t n_lines, first;
		uint32_t n_objects;
		enum c2c_verdict verdict;
		enum c2c_class class;
		int64_t excess;
		uint32_t n_variables;
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
	{ "variables of one type that are used alike",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { LARGE, 0x2000, 0, 32, 9, 40, .is_variable = true } },
	  { { 2, 0, 0, C2C_FALSE, C2C_CONTENDED, 90, 2 } } },
	{ "variables of one type, one with true sharing",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { LARGE, 0x2000, 0, 0, 9, 40, .is_variable = true } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50, 1 },
	    { 1, 1, 0, C2C_TRUE, C2C_CONTENDED, 40, 1 } } },
	{ "variables of two types",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .is_variable = true },
	    { OUTER, 0x2000, 0, 16, 9, 40, .is_variable = true } },
	  { { 1, 0, 0, C2C_FALSE, C2C_CONTENDED, 50, 1 },
	    { 1, 1, 0, C2C_FALSE, C2C_CONTENDED, 40, 1 } } },
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
		add_contended_lines(&w, grouped[i].contended);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		for (; n < MAX_LINES && grouped[i].causes[n].n_lines > 0; n++) {
			const struct c2c_cause *c = &causes.list.items[n];

			assert_true(n < causes.list.n);
			assert_int_equal(c->lines.n, grouped[i].causes[n].n_lines);
			assert_int_equal(c->lines.items[0], grouped[i].causes[n].first);
			assert_int_equal(c->n_objects, grouped[i].causes[n].n_objects);
			assert_int_equal(c->n_variables, grouped[i].causes[n].n_variables);
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

/* Accesses to objects of a type are those of one object; threads are told apart by what they do. */
static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	struct layout_access accesses[5]; /* of the first cause; ends with loads and stores 0 */
	uint64_t address;
	uint32_t n_objects, n_alike;
	bool has_roles;
} folded[] = {
	{ "the same threads everywhere",
	  { { LARGE, 0x1000, 0, 32, 2, 50 },
	    { LARGE, 0x2000, 0, 32, 2, 40 },
	    { LARGE, 0x3000, 0, 32, 2, 30 } },
	  { { 0, LONG, 1, .counts.stores = 6 }, { 32, LONG, 2, .counts.loads = 15 } },
	  0x1000,
	  3,
	  3,
	  false },
	{ "each has threads of its own",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 40 },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 10 },
	    { LARGE, 0x3000, 0, 32, 2, 30, .first_tid = 20 } },
	  { { 0, LONG, 0, .counts.stores = 6 }, { 32, LONG, 1, .counts.loads = 15 } },
	  0x1000,
	  3,
	  3,
	  true },
	{ "a thread that does another thing elsewhere",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 1 },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 2 } },
	  { { 0, LONG, 0, .counts.stores = 4 }, { 32, LONG, 1, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "a thread that is elsewhere in other code",
	  { { LARGE, 0x1000, 0, 32, 2, 50, .first_tid = 1, .places = { 0, 1 } },
	    { LARGE, 0x2000, 0, 32, 2, 40, .first_tid = 2, .places = { 2, 3 } } },
	  { { 0, LONG, 0, .counts.stores = 2 },
	    { 32, LONG, 1, .counts.loads = 5 },
	    { 0, LONG, 2, .counts.stores = 2 },
	    { 32, LONG, 3, .counts.loads = 5 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "places where one thread was in one object belong together",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40, .places = { 0, 1 } },
	    { LARGE, 0x1000, 64, 32, 9, 10, .first_tid = 40, .places = { 2, 1 } },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10, .places = { 2, 1 } } },
	  { { 0, LONG, 0, .counts.stores = 18 },
	    { 32, LONG, 1, .counts.loads = 10 },
	    { 64, LONG, 0, .counts.stores = 9 },
	    { 96, LONG, 1, .counts.loads = 5 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "of several threads in one place, by what they write and read",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 0 },
	    { LARGE, 0x1000, 64, 32, 9, 10, .first_tid = 10 },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10 },
	    { LARGE, 0x2000, 64, 32, 9, 10, .first_tid = 0 } },
	  { { 0, LONG, 0, .counts.stores = 18 },
	    { 32, LONG, 1, .counts.loads = 10 },
	    { 64, LONG, 2, .counts.stores = 18 },
	    { 96, LONG, 3, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  true },
	{ "one that begins elsewhere in a line, and costs more",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x2010, 0x30, 32, 9, 50 } },
	  { { 0, LONG, 1, .counts.stores = 9 },
	    { 0x20, LONG, 2, .counts.loads = 5 },
	    { 0x30, LONG, 1, .counts.stores = 9 },
	    { 0x50, LONG, 2, .counts.loads = 5 } },
	  0x2010,
	  2,
	  1,
	  false },
	{ "another line of theirs, which has another cause",
	  { { LARGE, 0x1000, 0, 32, 9, 10 },
	    { LARGE, 0x1000, 64, 0, 9, 20 },
	    { LARGE, 0x2000, 0, 32, 9, 10 },
	    { LARGE, 0x2000, 64, 0, 9, 20 } },
	  { { 0, LONG, 1, .counts.stores = 18, .is_outside = true },
	    { 32, LONG, 2, .counts.loads = 10, .is_outside = true },
	    { 64, LONG, 1, .counts.stores = 18 },
	    { 64, LONG, 2, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  false },
	{ "what reaches over the end is cut off",
	  { { OUTER, 0x1000, 0, 28, 9, 50 }, { OUTER, 0x2000, 0, 28, 9, 40 } },
	  { { 0, LONG, 1, .counts.stores = 18 }, { 28, 4, 2, .counts.loads = 10 } },
	  0x1000,
	  2,
	  2,
	  false },
};

static void expect_accesses(const struct c2c_fold *fold, const struct layout_access *expected)
{
	size_t n = 0;

	for (; expected[n].counts.loads + expected[n].counts.stores > 0; n++) {
		const struct layout_access *a = &fold->accesses.items[n];

		assert_true(n < fold->accesses.n);
		assert_int_equal(a->offset, expected[n].offset);
		assert_int_equal(a->size, expected[n].size);
		assert_int_equal(a->thread, expected[n].thread);
		assert_int_equal(a->counts.loads, expected[n].counts.loads);
		assert_int_equal(a->counts.stores, expected[n].counts.stores);
		assert_int_equal(a->is_outside, expected[n].is_outside);
		assert_false(a->is_atomic);
	}
	assert_int_equal(fold->accesses.n, n);
}

static void objects_of_a_type_are_folded(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(folded); i++) {
		struct c2c_instances instances;
		struct c2c_causes causes;
		struct c2c_fold fold;
		struct world w;

		print_message("%s\n", folded[i].name);
		world_init(&w);
		add_contended_lines(&w, folded[i].contended);
		c2c_instances_init(&instances, &w.objects);
		c2c_causes_init(&causes, &w.objects, &instances);
		c2c_fold_init(&fold, &w.objects, &instances, &causes, 0);
		expect_accesses(&fold, folded[i].accesses);
		assert_int_equal(fold.address, folded[i].address);
		assert_int_equal(fold.n_objects, folded[i].n_objects);
		assert_int_equal(fold.n_alike, folded[i].n_alike);
		assert_int_equal(fold.has_roles, folded[i].has_roles);
		c2c_fold_release(&fold);
		c2c_causes_release(&causes);
		c2c_instances_release(&instances);
		world_release(&w);
	}
}

/* Accesses by object, as c2c_objects_init() puts them. */
static void order_accesses(struct c2c_objects *o)
{
	o->order = mem_alloc(o->names.n + 1, sizeof(*o->order));
	o->first = mem_zalloc((size_t)o->keys.n + 1, sizeof(*o->first));
	for (uint32_t object = 0, n = 0; object < o->keys.n; object++) {
		o->first[object] = n;
		for (uint32_t i = 0; i < o->names.n; i++)
			if (o->numbers[i] == object)
				o->order[n++] = i;
		o->first[object + 1] = n;
	}
}

static const struct {
	const char *name;
	struct contended_line contended[MAX_LINES]; /* ends with excess 0 */
	const char *label, *object, *fix, *drawing; /* of the first line; NULL: none */
	size_t n_layouts;			    /* rows of the table */
} labelled[] = {
	{ "objects of a type, with threads of their own",
	  { { LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40 },
	    { LARGE, 0x2000, 0, 32, 9, 40, .first_tid = 10 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "move `m04` to its own cache line: alignas(64). sizeof(struct large) grows from 128 to "
	  "192. Allocate each at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 1 of each --\n"
	  "     0     8  long m00           0      18  A w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04          10       0  B r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 2 of each --\n"
	  "    64    64  (8 members not used)\n"
	  "   each object has threads of its own: A, B … are their roles\n",
	  16 },
	{ "objects that begin elsewhere in their lines",
	  { { LARGE, 0x1000, 0, 32, 9, 40 }, { LARGE, 0x2010, 0x30, 32, 9, 50 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "group the members by thread: `m00`, `m06` (thread 1) | `m04`, `m10` (thread 2): "
	  "alignas(64) on the first of each group. sizeof(struct large) stays 128. Allocate each "
	  "at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 1 of each --\n"
	  "     0     8  long m00           0       9  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40     8  long m05\n"
	  "-- line 2 of each --\n"
	  "    48     8  long m06           0       9  1 w\n"
	  "    56    24  (3 members not used)\n"
	  "    80     8  long m10           5       0  2 r\n"
	  "    88    24  (3 members not used)\n"
	  "-- line 3 of each --\n"
	  "   112    16  (2 members not used)\n"
	  "   drawn as 1 of 2 objects, which begin 16 bytes into a line\n",
	  16 },
	{ "one object",
	  { { INNER, 0x1000, 0, 8, 9, 50 } },
	  "struct inner",
	  "struct inner (16 bytes, heap)",
	  "move `b` to its own cache line: alignas(64). sizeof(struct inner) grows from 16 to 128. "
	  "Allocate it at a multiple of 64 (malloc() does not)",
	  "offset  size  struct inner   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long a             0       9  1 w\n"
	  "     8     8  long b             5       0  2 r\n",
	  2 },
	{ "one object, on another line of which threads meet",
	  { { LARGE, 0x1000, 0, 32, 9, 50 }, { LARGE, 0x1000, 64, 0, 9, 40, .first_tid = 2 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  "put on different cache lines: `m00` (thread 1), `m04` (thread 2), `m08` (thread 3 "
	  "writes, thread 4 reads): alignas(64) on `m04`, `m08`. sizeof(struct large) grows from "
	  "128 to 192. Allocate it at a multiple of 64 (malloc() does not)",
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long m00           0       9  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 0x1040 --\n"
	  "    64     8  long m08           5       9  3 w, 4 r\n"
	  "    72    56  (7 members not used)\n",
	  34 },
	{ "two that share a line",
	  { { OUTER, 0x1000, 0, 32, 9, 50, .beside = INNER } },
	  "struct outer and struct inner",
	  "struct outer (32 bytes, heap) and struct inner (16 bytes, heap)",
	  "put on different cache lines: struct outer, struct inner: allocate each at a multiple "
	  "of 64",
	  "offset  size  struct outer   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long head          0       9  1 w\n"
	  "     8    24  (2 members not used)\n"
	  "offset  size  struct inner   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long a             5       0  2 r\n"
	  "     8     8  long b\n",
	  5 },
	{ "memory without an object",
	  { { NOTHING, 0x1000, 0, 32, 9, 50 } },
	  "[heap]",
	  "[heap]",
	  "put on different cache lines: +0x0 (thread 1), +0x20 (thread 2): begin each group at a "
	  "multiple of 64",
	  NULL,
	  0 },
	{ "too few samples to advise",
	  { { LARGE, 0x1000, 0, 32, 2, 50 } },
	  "struct large",
	  "struct large (128 bytes, heap)",
	  NULL,
	  "offset  size  struct large   loads  stores  threads\n"
	  "-- line 0x1000 --\n"
	  "     0     8  long m00           0       2  1 w\n"
	  "     8    24  (3 members not used)\n"
	  "    32     8  long m04           5       0  2 r\n"
	  "    40    24  (3 members not used)\n"
	  "-- line 0x1040 --\n"
	  "    64    64  (8 members not used)\n",
	  16 },
};

static void expect_text(const char *found, const char *expected)
{
	if (expected == NULL)
		assert_null(found);
	else
		assert_string_equal(found, expected);
}

static void lines_have_labels(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(labelled); i++) {
		struct c2c_instances instances;
		struct c2c_labels labels;
		struct world w;

		print_message("%s\n", labelled[i].name);
		world_init(&w);
		add_contended_lines(&w, labelled[i].contended);
		order_accesses(&w.objects);
		c2c_instances_init(&instances, &w.objects);
		w.sharing.objects = &w.objects;
		w.sharing.instances = &instances;
		c2c_labels_init(&labels, &w.sharing);
		expect_text(labels.names[0], labelled[i].label);
		expect_text(labels.objects[0], labelled[i].object);
		expect_text(labels.fixes[0], labelled[i].fix);
		expect_text(labels.drawings[0], labelled[i].drawing);
		assert_int_equal(table_n_rows(&labels.layouts), labelled[i].n_layouts);
		/* Lines of one cause have its words. */
		for (size_t k = 1; k < labels.causes.list.items[0].lines.n; k++) {
			expect_text(labels.fixes[k], labels.fixes[0]);
			expect_text(labels.drawings[k], labels.drawings[0]);
		}
		c2c_labels_release(&labels);
		c2c_instances_release(&instances);
		world_release(&w);
	}
}

/* Of two lines, each its own cause, the first is shown alone: what is said of it is the same, of the other there is nothing. */
static void lines_that_are_shown_have_labels(void **state)
{
	static const struct contended_line contended[MAX_LINES] = {
		{ LARGE, 0x1000, 0, 32, 9, 50, .first_tid = 40 },
		{ OUTER, 0x2000, 0, 8, 9, 40, .first_tid = 10 },
	};
	struct c2c_instances instances;
	struct c2c_labels all, shown;
	struct world w;

	(void)state;
	world_init(&w);
	add_contended_lines(&w, contended);
	order_accesses(&w.objects);
	c2c_instances_init(&instances, &w.objects);
	w.sharing.objects = &w.objects;
	w.sharing.instances = &instances;
	w.sharing.request.top = 1;
	c2c_labels_init(&all, &w.sharing);
	c2c_labels_init_shown(&shown, &w.sharing);
	assert_int_equal(shown.causes.list.n, 2);
	assert_non_null(all.names[1]);
	assert_string_equal(shown.names[0], all.names[0]);
	assert_string_equal(shown.objects[0], all.objects[0]);
	expect_text(shown.drawings[0], all.drawings[0]);
	expect_text(shown.fixes[0], all.fixes[0]);
	assert_null(shown.names[1]);
	assert_null(shown.drawings[1]);
	assert_int_equal(table_n_rows(&shown.layouts), 0);
	assert_true(table_n_rows(&all.layouts) > 0);
	c2c_labels_release(&all);
	c2c_labels_release(&shown);
	c2c_instances_release(&instances);
	world_release(&w);
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
		add_name(&w, &list[i].known, 0);
		name = name_at(&w, 0);
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
		cmocka_unit_test(objects_of_a_type_are_one_cause),
		cmocka_unit_test(objects_of_a_type_are_folded),
		cmocka_unit_test(lines_have_labels),
		cmocka_unit_test(lines_that_are_shown_have_labels),
		cmocka_unit_test(objects_reach_over_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
