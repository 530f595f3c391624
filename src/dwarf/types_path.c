/* SPDX-License-Identifier: Apache-2.0 */
/* From an offset in a type to the member there: types_path(). */
#include <inttypes.h>

#include "dwarf/types.h"

enum {
	/* Types may overlap in so many ways that looking at all would take forever. */
	MAX_STEPS = 10000,
	MAX_LISTED = 4,
};

/* Bytes first … last of a type. */
struct part {
	uint64_t first, last;
};

struct finder {
	const struct types *types;
	struct text *out;
	size_t start; /* of the path in `out` */
	unsigned steps;
	struct type_leaf leaf;
};

static bool path_take_step(struct finder *f)
{
	if (f->steps == 0)
		return false;
	f->steps--;
	return true;
}

static bool is_open_array(const struct types *t, struct type_id id)
{
	const struct type *type = types_get(t, types_plain(t, id));

	return type->kind == TYPE_ARRAY && type->n_elements == 0;
}

/* The bytes of a member; an array without length at the end of a struct has all that follow. */
static bool types_path_extent_of(const struct types *t, const struct type *outer, uint32_t i,
				 struct part *out)
{
	const struct type_member *m = &t->members.items[outer->first_member + i];

	if (m->size == 0) {
		if (i + 1 != outer->n_members || !is_open_array(t, m->type))
			return false;
		*out = (struct part){ m->offset, UINT64_MAX };
		return true;
	}
	*out = (struct part){ m->offset, m->offset + (m->size - 1) };
	return out->last >= out->first;
}

/* The bytes of `part` that lie in `whole`, counted from its start; false if there are none. */
static bool types_path_clip(struct part part, struct part whole, struct part *out)
{
	if (part.last < whole.first || part.first > whole.last)
		return false;
	out->first = part.first > whole.first ? part.first - whole.first : 0;
	out->last = (part.last < whole.last ? part.last : whole.last) - whole.first;
	return true;
}

static bool is_used(struct finder *f, struct type_id id, struct part part);

static bool is_used_by_members(struct finder *f, const struct type *type, struct part part)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		struct part extent, inner;

		if (types_path_extent_of(f->types, type, i, &extent) &&
		    types_path_clip(part, extent, &inner) &&
		    is_used(f, f->types->members.items[type->first_member + i].type, inner))
			return true;
	}
	return false;
}

/* Holds any of the bytes something, or are all of them padding? */
static bool is_used(struct finder *f, struct type_id id, struct part part)
{
	const struct type *type = types_get(f->types, types_plain(f->types, id));
	uint64_t element;

	if (!path_take_step(f))
		return true;
	switch (type->kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
		return is_used_by_members(f, type, part);
	case TYPE_ARRAY:
		element = types_get(f->types, type->inner)->size;
		if (element == 0 || part.first / element != part.last / element)
			return true;
		return is_used(f, type->inner,
			       (struct part){ part.first % element, part.last % element });
	default:
		return true;
	}
}

/* The members with any of the bytes. */
struct found {
	uint32_t listed[MAX_LISTED];
	uint32_t n;
	uint32_t first, last;	  /* by where they begin and end */
	struct part first_extent; /* … and what they are of the struct */
	struct part last_extent;
	bool all_have_all; /* each has all of the bytes */
};

static struct found find_members(struct finder *f, const struct type *type, struct part part)
{
	struct found found = { .all_have_all = true };

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &f->types->members.items[type->first_member + i];
		struct part extent, inner;

		if (!types_path_extent_of(f->types, type, i, &extent) ||
		    !types_path_clip(part, extent, &inner) || !is_used(f, m->type, inner))
			continue;
		if (found.n == 0 || extent.first < found.first_extent.first) {
			found.first = i;
			found.first_extent = extent;
		}
		if (found.n == 0 || extent.last > found.last_extent.last) {
			found.last = i;
			found.last_extent = extent;
		}
		if (extent.first > part.first || extent.last < part.last)
			found.all_have_all = false;
		if (found.n < MAX_LISTED)
			found.listed[found.n] = i;
		found.n++;
	}
	return found;
}

static void put_dot(struct finder *f)
{
	if (f->out->n > f->start && f->out->bytes[f->out->n - 1] != '.')
		text_char(f->out, '.');
}

static void put_member_name(struct finder *f, const struct type_member *m)
{
	if (m->name.v != 0)
		text_str(f->out, strings_get(f->types->strings, m->name));
	else
		types_name(f->types, m->type, f->out);
}

static void put_list(struct finder *f, const struct type *type, const struct found *found)
{
	put_dot(f);
	text_char(f->out, '{');
	for (uint32_t i = 0; i < found->n && i < MAX_LISTED; i++) {
		if (i > 0)
			text_char(f->out, ',');
		put_member_name(f, &f->types->members.items[type->first_member + found->listed[i]]);
	}
	text_str(f->out, found->n > MAX_LISTED ? ",…}" : "}");
}

static void types_path_find(struct finder *f, struct type_id id, uint64_t base, struct part part);

static void find_in_member(struct finder *f, const struct type_member *m, uint64_t base,
			   struct part part)
{
	f->leaf = (struct type_leaf){
		.offset = base + m->offset,
		.size = m->size,
		.type = m->type,
		.bit_offset = m->bit_offset,
		.bit_size = m->bit_size,
	};
	if (m->name.v != 0 && !m->is_base) {
		put_dot(f);
		text_str(f->out, strings_get(f->types->strings, m->name));
	}
	types_path_find(f, m->type, base + m->offset, part);
}

/* "first..last": the bytes of several members in a row. */
static void find_in_row(struct finder *f, const struct type *type, const struct found *found,
			uint64_t base, struct part part)
{
	const struct type_member *members = f->types->members.items + type->first_member;
	struct type_leaf leaf = f->leaf;
	size_t start = f->start;
	struct part inner;

	if (types_path_clip(part, found->first_extent, &inner))
		find_in_member(f, &members[found->first], base, inner);
	text_str(f->out, "..");
	f->start = f->out->n;
	if (types_path_clip(part, found->last_extent, &inner))
		find_in_member(f, &members[found->last], base, inner);
	f->start = start;
	f->leaf = leaf;
}

static void find_in_struct(struct finder *f, const struct type *type, uint64_t base,
			   struct part part)
{
	struct found found = find_members(f, type, part);
	const struct type_member *members;
	struct part inner;

	if (found.n == 0) {
		put_dot(f);
		text_str(f->out, "(padding)");
		return;
	}
	members = &f->types->members.items[type->first_member];
	if (found.n == 1) {
		if (types_path_clip(part, found.first_extent, &inner))
			find_in_member(f, &members[found.first], base, inner);
	} else if (found.all_have_all || found.first == found.last) {
		put_list(f, type, &found);
	} else {
		find_in_row(f, type, &found, base, part);
	}
}

static void find_in_array(struct finder *f, const struct type *type, uint64_t base,
			  struct part part)
{
	uint64_t size = types_get(f->types, type->inner)->size;
	uint64_t first, last;

	if (size == 0)
		return;
	first = part.first / size;
	last = part.last / size;
	if (first != last) {
		text_format(f->out, "[%" PRIu64 "..%" PRIu64 "]", first, last);
		return;
	}
	text_format(f->out, "[%" PRIu64 "]", first);
	f->leaf = (struct type_leaf){
		.offset = base + first * size,
		.size = size,
		.type = type->inner,
	};
	types_path_find(f, type->inner, base + first * size,
			(struct part){ part.first % size, part.last % size });
}

static void types_path_find(struct finder *f, struct type_id id, uint64_t base, struct part part)
{
	const struct type *type = types_get(f->types, types_plain(f->types, id));

	if (!path_take_step(f))
		return;
	if (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION)
		find_in_struct(f, type, base, part);
	else if (type->kind == TYPE_ARRAY)
		find_in_array(f, type, base, part);
}

/* Do its bytes end somewhere behind those it has a size for? */
static bool is_open(const struct types *t, const struct type *type)
{
	struct part extent;

	if (type->kind == TYPE_ARRAY)
		return type->n_elements == 0;
	return type->kind == TYPE_STRUCT && type->n_members > 0 &&
	       types_path_extent_of(t, type, type->n_members - 1, &extent) &&
	       extent.last == UINT64_MAX;
}

bool types_path(const struct types *t, struct type_id id, uint64_t offset, uint64_t size,
		struct text *out, struct type_leaf *out_leaf)
{
	const struct type *type = types_get(t, types_plain(t, id));
	struct finder f = { .types = t, .out = out, .start = out->n, .steps = MAX_STEPS };
	struct part part = { offset, size > 1 ? offset + (size - 1) : offset };

	if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION && type->kind != TYPE_ARRAY)
		return false;
	if (part.last < offset || (part.last >= type->size && !is_open(t, type)))
		return false;
	f.leaf = (struct type_leaf){ .size = type->size, .type = id };
	types_path_find(&f, id, 0, part);
	if (out_leaf != NULL)
		*out_leaf = f.leaf;
	return out->n > f.start;
}
