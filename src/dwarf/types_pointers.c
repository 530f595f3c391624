/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an offset in a type to the pointer there. Types know of pointers only what they are called.
 */
#include <dwarf.h>
#include <inttypes.h>

#include "dwarf/types_inside.h"

/* A place in a type on the way to the pointer. */
struct way {
	struct types_reader *reader;
	struct text *path;
	size_t start; /* of the path */
	Dwarf_Die type;
	uint64_t offset;
};

static uint64_t types_pointers_size_of(struct types_reader *r, Dwarf_Die *type)
{
	return types_get(r->types, types_plain(r->types, types_read(r, type)))->size;
}

static void pointers_put_name(struct way *w, const char *name)
{
	if (w->path->n > w->start)
		text_char(w->path, '.');
	text_str(w->path, name);
}

/* The only member of a struct that has the offset. */
static bool pointers_enter_member(struct way *w)
{
	Dwarf_Die die, found, type;
	uint64_t at = 0, found_at = 0;
	unsigned n = 0;
	int more = dwarf_child(&w->type, &die);

	for (; more == 0 && types_take_step(w->reader); more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !types_member_location(&die, &at) || at > w->offset ||
		    !dwarf_type_of(&die, &type) ||
		    w->offset - at >= types_pointers_size_of(w->reader, &type))
			continue;
		found = die;
		found_at = at;
		n++;
	}
	if (more < 0 || n != 1 || !dwarf_type_of(&found, &w->type))
		return false;
	w->offset -= found_at;
	if (dwarf_tag(&found) == DW_TAG_member && dwarf_name_of(&found) != NULL)
		pointers_put_name(w, dwarf_name_of(&found));
	return true;
}

/* Of an array of arrays, DWARF has one entry, with several ranges. */
static bool has_one_dimension(Dwarf_Die *array)
{
	Dwarf_Die range;

	return dwarf_child(array, &range) == 0 && dwarf_siblingof(&range, &range) != 0;
}

static bool pointers_enter_element(struct way *w)
{
	Dwarf_Die element;
	uint64_t size;

	if (!dwarf_type_of(&w->type, &element) ||
	    (size = types_pointers_size_of(w->reader, &element)) == 0)
		return false;
	if (w->offset >= types_pointers_size_of(w->reader, &w->type) &&
	    types_pointers_size_of(w->reader, &w->type) > 0)
		return false;
	if (has_one_dimension(&w->type))
		text_format(w->path, "[%" PRIu64 "]", w->offset / size);
	else
		text_str(w->path, "[]");
	w->offset %= size;
	w->type = element;
	return true;
}

static bool pointers_enter(struct way *w)
{
	switch (dwarf_tag(&w->type)) {
	case DW_TAG_typedef:
	case DW_TAG_atomic_type:
		return dwarf_type_of(&w->type, &w->type);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return pointers_enter_member(w);
	case DW_TAG_array_type:
		return pointers_enter_element(w);
	default:
		return false;
	}
}

bool types_pointer_at(struct types_reader *r, Dwarf_Die *type, uint64_t offset, struct text *path,
		      Dwarf_Die *out_target)
{
	struct way w = { r, path, path->n, *type, offset };

	for (unsigned i = 0; i < TYPES_MAX_DEPTH && types_peel(r, &w.type); i++) {
		if (w.offset == 0 && types_target(r, &w.type, out_target))
			return true;
		if (!pointers_enter(&w))
			return false;
	}
	return false;
}
