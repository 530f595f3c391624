/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/types.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
	KEY_WORDS = 6,
	LIST_WORDS = 6,
};

void types_init(struct types *t, struct strings *strings)
{
	*t = (struct types){ .strings = strings };
	tuples_init(&t->keys, KEY_WORDS);
	tuples_init(&t->lists, LIST_WORDS);
	vec_add(&t->list); /* unknown */
}

void types_release(struct types *t)
{
	vec_release(&t->list);
	vec_release(&t->members);
	tuples_release(&t->keys);
	tuples_release(&t->lists);
	*t = (struct types){ 0 };
}

/* Equal lists of members get equal numbers: each is the list before it and its last member. */
static uint32_t list_of(struct types *t, const struct type_member *members, size_t n)
{
	uint32_t list = TUPLES_NONE;

	for (size_t i = 0; i < n; i++) {
		const struct type_member *m = &members[i];
		const uint64_t words[LIST_WORDS] = {
			list,
			m->name.v,
			m->type.v,
			m->offset,
			m->size,
			(uint64_t)m->bit_offset << 16 | (uint64_t)m->bit_size << 8 | m->is_base,
		};

		list = tuples_add(&t->lists, words);
	}
	return list;
}

struct type_id types_add(struct types *t, const struct type *type,
			 const struct type_member *members, size_t n_members)
{
	const uint64_t key[KEY_WORDS] = {
		type->kind,    type->name.v,	 type->size,
		type->inner.v, type->n_elements, list_of(t, members, n_members),
	};
	uint32_t number = tuples_add(&t->keys, key);
	struct type *new;

	assert(type->inner.v < t->list.n);
	if (number + 1 < t->list.n)
		return (struct type_id){ number + 1 };
	new = vec_add(&t->list);
	*new = *type;
	new->first_member = (uint32_t)t->members.n;
	new->n_members = (uint32_t)n_members;
	for (size_t i = 0; i < n_members; i++) {
		assert(members[i].type.v < number + 1);
		*vec_add(&t->members) = members[i];
	}
	return (struct type_id){ number + 1 };
}

static struct str_id copy_string(struct types *t, const struct types *from, struct str_id id)
{
	return strings_addz(t->strings, strings_get(from->strings, id));
}

/* What a type contains has a lower number: all of it is copied, lowest first. */
static void copy_one(struct types *t, const struct types *from, uint32_t number,
		     struct type_id *map)
{
	struct type type = from->list.items[number];
	VEC_OF(struct type_member) members = { 0 };

	type.name = copy_string(t, from, type.name);
	type.inner = map[type.inner.v];
	for (uint32_t i = 0; i < type.n_members; i++) {
		struct type_member m = from->members.items[type.first_member + i];

		m.name = copy_string(t, from, m.name);
		m.type = map[m.type.v];
		*vec_add(&members) = m;
	}
	map[number] = types_add(t, &type, members.items, members.n);
	vec_release(&members);
}

/* Marks what the type contains, itself included; contained types have lower numbers. */
static void mark_contained(const struct types *from, uint32_t number, bool *marks)
{
	marks[number] = true;
	for (uint32_t n = number; n > 0; n--) {
		const struct type *type = &from->list.items[n];

		if (!marks[n])
			continue;
		marks[type->inner.v] = true;
		for (uint32_t i = 0; i < type->n_members; i++)
			marks[from->members.items[type->first_member + i].type.v] = true;
	}
}

struct type_id types_copy(struct types *t, const struct types *from, struct type_id id,
			  struct type_id *map)
{
	bool *marks;

	if (id.v == 0 || map[id.v].v != 0)
		return map[id.v];
	marks = mem_zalloc(id.v + 1, sizeof(*marks));
	mark_contained(from, id.v, marks);
	for (uint32_t n = 1; n <= id.v; n++)
		if (marks[n] && map[n].v == 0)
			copy_one(t, from, n, map);
	free(marks);
	return map[id.v];
}

struct type_id types_plain(const struct types *t, struct type_id id)
{
	while (types_get(t, id)->kind == TYPE_ALIAS)
		id = types_get(t, id)->inner;
	return id;
}

static const char *anonymous_name(enum type_kind kind)
{
	switch (kind) {
	case TYPE_STRUCT:
		return "struct {…}";
	case TYPE_UNION:
		return "union {…}";
	case TYPE_ENUM:
		return "enum {…}";
	default:
		return "?";
	}
}

void types_name(const struct types *t, struct type_id id, struct text *out)
{
	struct type_id element = id;

	while (types_get(t, element)->kind == TYPE_ARRAY)
		element = types_get(t, element)->inner;
	if (types_get(t, element)->name.v != 0)
		text_str(out, strings_get(t->strings, types_get(t, element)->name));
	else
		text_str(out, anonymous_name(types_get(t, element)->kind));
	for (; types_get(t, id)->kind == TYPE_ARRAY; id = types_get(t, id)->inner) {
		if (types_get(t, id)->n_elements == 0)
			text_str(out, "[]");
		else
			text_format(out, "[%" PRIu64 "]", types_get(t, id)->n_elements);
	}
}
