/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to bytes of types made by hand, sound and hostile. */
#include "dwarf/types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

struct world {
	struct strings strings;
	struct types types;
};

static void open_world(struct world *w)
{
	strings_init(&w->strings);
	types_init(&w->types, &w->strings);
}

static void close_world(struct world *w)
{
	types_release(&w->types);
	strings_release(&w->strings);
}

static struct type_id base(struct world *w, const char *name, uint64_t size)
{
	struct type type = {
		.kind = TYPE_BASE,
		.name = strings_addz(&w->strings, name),
		.size = size,
	};

	return types_add(&w->types, &type, NULL, 0);
}

static struct type_id array(struct world *w, struct type_id element, uint64_t n)
{
	struct type type = {
		.kind = TYPE_ARRAY,
		.inner = element,
		.n_elements = n,
		.size = n * types_get(&w->types, element)->size,
	};

	return types_add(&w->types, &type, NULL, 0);
}

static struct type_member member(struct world *w, const char *name, struct type_id type,
				 uint64_t offset)
{
	return (struct type_member){
		.name = strings_addz(&w->strings, name),
		.type = type,
		.offset = offset,
		.size = types_get(&w->types, type)->size,
	};
}

static struct type_id compound(struct world *w, enum type_kind kind, const char *name,
			       uint64_t size, const struct type_member *members, size_t n)
{
	struct type type = {
		.kind = kind,
		.name = strings_addz(&w->strings, name),
		.size = size,
	};

	return types_add(&w->types, &type, members, n);
}

/* struct line { long lock; struct { int x, y; } at[2]; union { int i; float f; }; char tail[]; } */
static struct type_id make_line(struct world *w)
{
	struct type_id integer = base(w, "int", 4), wide = base(w, "long", 8);
	struct type_id small = base(w, "char", 1);
	struct type_id point = compound(
		w, TYPE_STRUCT, "struct point", 8,
		(struct type_member[]){ member(w, "x", integer, 0), member(w, "y", integer, 4) },
		2);
	struct type_id either = compound(
		w, TYPE_UNION, "", 4,
		(struct type_member[]){ member(w, "i", integer, 0), member(w, "f", integer, 0) },
		2);
	struct type_member members[] = {
		member(w, "lock", wide, 0),	member(w, "at", array(w, point, 2), 8),
		member(w, "", either, 24),	member(w, "low", integer, 32),
		member(w, "high", integer, 32), member(w, "tail", array(w, small, 0), 36),
	};

	members[3].size = members[4].size = 1;
	members[3].bit_size = 3;
	members[4].bit_offset = 3;
	members[4].bit_size = 5;
	return compound(w, TYPE_STRUCT, "struct line", 40, members, COUNT(members));
}

static const struct {
	uint64_t offset, size;
	const char *path; /* NULL: none */
	uint64_t leaf_offset, leaf_size;
} paths[] = {
	{ 0, 8, "lock", 0, 8 },
	{ 4, 1, "lock", 0, 8 },
	{ 4, 0, "lock", 0, 8 },
	{ 8, 4, "at[0].x", 8, 4 },
	{ 20, 4, "at[1].y", 20, 4 },
	{ 16, 8, "at[1].x..y", 16, 8 },
	{ 8, 16, "at[0..1]", 8, 16 },
	{ 4, 8, "lock..at[0].x", 0, 40 },
	{ 24, 4, "{i,f}", 24, 4 },
	{ 28, 4, "(padding)", 0, 40 },
	{ 32, 1, "{low,high}", 0, 40 },
	{ 33, 1, "(padding)", 0, 40 },
	{ 1000, 1, "tail[964]", 1000, 1 },
	{ UINT64_MAX, 2, NULL, 0, 0 },
};

static void a_path_leads_to_the_bytes(void **state)
{
	struct world w;
	struct type_id line;
	struct text path = { 0 };

	(void)state;
	open_world(&w);
	line = make_line(&w);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct type_leaf leaf = { 0 };
		bool is_found;

		text_reset(&path);
		is_found = types_path(&w.types, line, paths[i].offset, paths[i].size, &path, &leaf);
		text_char(&path, '\0');
		assert_int_equal(is_found, paths[i].path != NULL);
		if (!is_found)
			continue;
		assert_string_equal(path.bytes, paths[i].path);
		assert_int_equal(leaf.offset, paths[i].leaf_offset);
		assert_int_equal(leaf.size, paths[i].leaf_size);
	}
	text_release(&path);
	close_world(&w);
}

static void equal_types_are_one(void **state)
{
	struct world a, b;
	struct type_id one, *map;

	(void)state;
	open_world(&a);
	open_world(&b);
	base(&b, "other", 3);
	one = make_line(&a);
	assert_int_equal(make_line(&a).v, one.v);
	map = mem_zalloc(a.types.list.n, sizeof(*map));
	one = types_copy(&b.types, &a.types, one, map);
	assert_int_equal(make_line(&b).v, one.v);
	assert_int_equal(b.types.list.n, a.types.list.n + 1);
	free(map);
	close_world(&a);
	close_world(&b);
}

/* Each level holds the one below twice at the same place: 2^60 ways to a byte. */
static void overlapping_members_end(void **state)
{
	struct world w;
	struct type_id id;
	struct text path = { 0 };

	(void)state;
	open_world(&w);
	id = compound(&w, TYPE_STRUCT, "empty", 8, NULL, 0);
	for (int i = 0; i < 60; i++)
		id = compound(
			&w, TYPE_STRUCT, "", 8,
			(struct type_member[]){ member(&w, "a", id, 0), member(&w, "b", id, 0) },
			2);
	types_path(&w.types, id, 0, 8, &path, NULL);
	text_release(&path);
	close_world(&w);
}

static void names_of_arrays(void **state)
{
	struct world w;
	struct text name = { 0 };

	(void)state;
	open_world(&w);
	types_name(&w.types, array(&w, array(&w, base(&w, "int", 4), 3), 2), &name);
	text_char(&name, '\0');
	assert_string_equal(name.bytes, "int[2][3]");
	text_release(&name);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_leads_to_the_bytes),
		cmocka_unit_test(equal_types_are_one),
		cmocka_unit_test(overlapping_members_end),
		cmocka_unit_test(names_of_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
