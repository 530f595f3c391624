/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code knows of an object what its pointers point to: of one object that may be a member here, a
 * base class there, and the whole elsewhere; and code without debug information knows nothing. All
 * of it is what the largest type says that was seen at its place, unless something contradicts.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "c2c/verdict/objects.h"

enum {
	PAGE_BYTES = 4096,

	/* Elements that nobody was seen to access, between two of an array. */
	MAX_GAP = 8,
};

/* What code knows to be somewhere. */
struct known {
	uint32_t space;
	uint64_t start, size;
	struct type_id type;
	uint32_t access; /* by which it is known */
	uint64_t reach;	 /* the last byte of this one and of all before it in its space */
	bool is_unsure;	 /* another one contradicts */
};

struct join {
	struct c2c_objects *objects;
	const struct types *types;
	VEC_OF(struct known) list; /* by space and start, larger ones first */
};

static uint32_t space_of(const struct c2c_objects *o, uint32_t access)
{
	return c2c_line_at(o->sharing, o->lines[access])->space;
}

static uint64_t last_of(const struct known *k)
{
	return k->start + k->size - 1;
}

static int compare_known(const void *left, const void *right)
{
	const struct known *a = left, *b = right;

	if (a->space != b->space)
		return (a->space > b->space) - (a->space < b->space);
	if (a->start != b->start)
		return (a->start > b->start) - (a->start < b->start);
	if (a->size != b->size)
		return (a->size < b->size) - (a->size > b->size);
	if (a->type.v != b->type.v)
		return (a->type.v > b->type.v) - (a->type.v < b->type.v);
	return (a->access > b->access) - (a->access < b->access);
}

static bool is_same(const struct known *a, const struct known *b)
{
	return a->space == b->space && a->start == b->start && a->type.v == b->type.v;
}

/* Next to a page in physical memory is anything. */
static bool is_in_memory(uint32_t space, const struct data_name *name)
{
	return space != C2C_PHYSICAL ||
	       name->object_address / PAGE_BYTES ==
		       (name->object_address + name->object_size - 1) / PAGE_BYTES;
}

static void list_known(struct join *j)
{
	const struct c2c_objects *o = j->objects;

	for (uint32_t i = 0; i < o->names.n; i++) {
		const struct data_name *name = data_names_get(&o->names, i);

		if (name->object.v == 0 || !name->is_by_type || name->object_size == 0 ||
		    name->object_address > UINT64_MAX - name->object_size ||
		    !is_in_memory(space_of(o, i), name))
			continue;
		*vec_add(&j->list) = (struct known){
			.space = space_of(o, i),
			.start = name->object_address,
			.size = name->object_size,
			.type = types_plain(j->types, name->type),
			.access = i,
		};
	}
}

/* Sorts them, once each. */
static void sort_known(struct join *j)
{
	size_t n = 0;

	if (j->list.n > 1)
		qsort(j->list.items, j->list.n, sizeof(*j->list.items), compare_known);
	for (size_t i = 0; i < j->list.n; i++) {
		struct known *k = &j->list.items[n];

		if (n > 0 && is_same(&j->list.items[n - 1], &j->list.items[i]))
			continue;
		*k = j->list.items[i];
		k->reach = last_of(k);
		if (n > 0 && k[-1].space == k->space && k[-1].reach > k->reach)
			k->reach = k[-1].reach;
		n++;
	}
	j->list.n = n;
}

/* Is there a part of this type at that offset of another type? */
static bool has_part(const struct types *t, struct type_id whole, uint64_t offset,
		     struct type_id part)
{
	const struct type *type;

	whole = types_plain(t, whole);
	type = types_get(t, whole);
	if (offset == 0 && whole.v == part.v)
		return true;
	if (type->kind == TYPE_ARRAY) {
		uint64_t size = types_get(t, type->inner)->size;

		return size > 0 && has_part(t, type->inner, offset % size, part);
	}
	if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
		return false;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *m = &t->members.items[type->first_member + i];

		if (offset >= m->offset && offset - m->offset < m->size &&
		    has_part(t, m->type, offset - m->offset, part))
			return true;
	}
	return false;
}

static bool holds(const struct join *j, const struct known *whole, const struct known *part)
{
	return whole->start <= part->start && last_of(part) <= last_of(whole) &&
	       has_part(j->types, whole->type, part->start - whole->start, part->type);
}

/* Memory that was two things, one after the other, is not to be taken for one of these. */
static void find_contradictions(struct join *j)
{
	for (size_t i = 0; i < j->list.n; i++) {
		struct known *a = &j->list.items[i];

		for (size_t k = i + 1; k < j->list.n; k++) {
			struct known *b = &j->list.items[k];

			if (b->space != a->space || b->start > last_of(a))
				break;
			if (!holds(j, a, b) && !holds(j, b, a))
				a->is_unsure = b->is_unsure = true;
		}
	}
}

/* The first that begins behind an address. */
static size_t first_behind(const struct join *j, uint32_t space, uint64_t address)
{
	return bisect(0, j->list.n, i,
		      j->list.items[i].space < space || (j->list.items[i].space == space &&
							 j->list.items[i].start <= address));
}

/* The largest object that these bytes are of; NULL if there is none, or several that differ. */
static const struct known *find_whole(const struct join *j, uint32_t space, uint64_t first,
				      uint64_t last)
{
	const struct known *found = NULL;

	for (size_t i = first_behind(j, space, first); i > 0; i--) {
		const struct known *k = &j->list.items[i - 1];

		if (k->space != space || k->reach < first)
			break;
		if (last_of(k) < first)
			continue;
		if (k->is_unsure)
			return NULL;
		if (last_of(k) >= last && (found == NULL || k->size > found->size))
			found = k;
	}
	return found;
}

/* May this be a part of something that other code knows? */
static bool may_be_part(const struct data_name *name)
{
	if (name->object.v != 0)
		return name->is_by_type && name->object_size > 0;
	return name->kind != DATA_STATIC && name->kind != DATA_THREAD;
}

static void join_access(struct join *j, uint32_t access)
{
	struct c2c_objects *o = j->objects;
	const struct data_name *name = data_names_get(&o->names, access);
	const struct data_query q = c2c_objects_query(o, access);
	bool is_known = name->object.v != 0;
	uint64_t first = is_known ? name->object_address : q.address;
	uint64_t size = is_known ? name->object_size : q.size;
	const struct known *whole;

	if (!may_be_part(name))
		return;
	whole = find_whole(j, space_of(o, access), first, first + (size > 0 ? size - 1 : 0));
	if (whole == NULL || (is_known && whole->size <= size))
		return;
	data_names_move_into(&o->names, access, &q, data_names_get(&o->names, whole->access));
}

/* Parts are no objects any more: what is left are whole ones. */
static void keep_wholes(struct join *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->list.n; i++) {
		const struct data_name *name =
			data_names_get(&j->objects->names, j->list.items[i].access);

		if (!j->list.items[i].is_unsure && name->object_address == j->list.items[i].start &&
		    name->object_size == j->list.items[i].size)
			j->list.items[n++] = j->list.items[i];
	}
	j->list.n = n;
}

/* Does the second stand where an array of the first has an element? */
static bool is_element(const struct known *a, const struct known *b)
{
	uint64_t distance = b->start - a->start;

	return a->space == b->space && a->type.v == b->type.v && distance % a->size == 0 &&
	       distance / a->size <= MAX_GAP;
}

/* The last of the objects that stand side by side from `i` on; `i` if it is alone. */
static size_t end_of_array(const struct join *j, size_t i)
{
	bool is_side_by_side = false;
	size_t end = i;

	while (end + 1 < j->list.n && is_element(&j->list.items[end], &j->list.items[end + 1])) {
		is_side_by_side |= j->list.items[end + 1].start - j->list.items[end].start ==
				   j->list.items[end].size;
		end++;
	}
	return is_side_by_side ? end : i;
}

/* Lists the arrays in `out`, each known by the access to its first element. */
static void find_arrays(const struct join *j, struct join *out)
{
	for (size_t i = 0; i < j->list.n; i++) {
		size_t end = end_of_array(j, i);
		struct known *array;

		if (end == i)
			continue;
		array = vec_add(&out->list);
		*array = j->list.items[i];
		array->size = j->list.items[end].start - array->start + array->size;
		array->reach = last_of(array);
		i = end;
	}
}

/* Makes an access to an element one to the array, with numbers from its first known element on. */
static void join_element(struct join *arrays, uint32_t access)
{
	struct c2c_objects *o = arrays->objects;
	const struct data_name *name = data_names_get(&o->names, access);
	const struct data_query q = c2c_objects_query(o, access);
	const struct known *k;
	struct data_name array;

	if (name->object.v == 0 || !name->is_by_type || name->object_size == 0)
		return;
	k = find_whole(arrays, space_of(o, access), name->object_address,
		       name->object_address + name->object_size - 1);
	if (k == NULL || types_plain(arrays->types, name->type).v != k->type.v)
		return;
	array = *name;
	array.object_address = k->start;
	array.n_elements = k->size / name->object_size;
	data_names_move_into(&o->names, access, &q, &array);
}

void c2c_objects_join(struct c2c_objects *o)
{
	struct join j = {
		.objects = o,
		.types = symbols_types(o->sharing->session->symbols),
	};
	struct join arrays = { .objects = o, .types = j.types };

	if (data_names_has_objects(&o->names))
		list_known(&j);
	sort_known(&j);
	find_contradictions(&j);
	for (uint32_t i = 0; i < o->names.n && j.list.n > 0; i++)
		join_access(&j, i);
	keep_wholes(&j);
	find_arrays(&j, &arrays);
	for (uint32_t i = 0; i < o->names.n && arrays.list.n > 0; i++)
		join_element(&arrays, i);
	vec_release(&arrays.list);
	vec_release(&j.list);
}
