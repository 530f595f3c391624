/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/types_dwarf.h"

#include <dwarf.h>
#include <string.h>

#include "base/text.h"
#include "dwarf/types_inside.h"

/* Stands for a type that is being read: one that contains itself has no size. */
static const struct type_id in_progress = { UINT32_MAX };
static const struct type_id unknown = { 0 };

void types_reader_init(struct types_reader *r, struct types *types, uint64_t steps)
{
	*r = (struct types_reader){ .types = types, .steps = steps };
	tuples_init(&r->known, 1);
	tuples_init(&r->units, 1);
	tuples_init(&r->scoped, 1);
}

void types_reader_release(struct types_reader *r)
{
	tuples_release(&r->known);
	tuples_release(&r->units);
	tuples_release(&r->scoped);
	vec_release(&r->ids);
	vec_release(&r->scopes);
	*r = (struct types_reader){ 0 };
}

bool types_take_step(struct types_reader *r)
{
	if (r->steps == 0) {
		r->is_cut = true;
		return false;
	}
	r->steps--;
	return true;
}

bool dwarf_number(Dwarf_Die *die, unsigned attribute, uint64_t *out)
{
	Dwarf_Attribute value;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &value), &number) != 0)
		return false;
	*out = number;
	return true;
}

static uint64_t dwarf_number_or_0(Dwarf_Die *die, unsigned attribute)
{
	uint64_t number;

	return dwarf_number(die, attribute, &number) ? number : 0;
}

static bool dwarf_has_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;
	bool flag = false;

	return dwarf_formflag(dwarf_attr(die, attribute, &value), &flag) == 0 && flag;
}

const char *dwarf_name_of(Dwarf_Die *die)
{
	Dwarf_Attribute value;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &value));
}

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute value;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &value), out) != NULL;
}

/* What is known of a type before it is added. */
struct draft {
	struct type type;
	VEC_OF(struct type_member) members;
};

static struct type_id read_type(struct types_reader *r, Dwarf_Die *die, unsigned depth);

static struct type_id read_inner(struct types_reader *r, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die inner;

	return dwarf_type_of(die, &inner) ? read_type(r, &inner, depth + 1) : unknown;
}

static uint64_t types_dwarf_size_of(const struct types_reader *r, struct type_id id)
{
	return types_get(r->types, id)->size;
}

/* In DWARF 2 it is an expression that adds a constant. */
bool types_member_location(Dwarf_Die *die, uint64_t *out)
{
	Dwarf_Attribute value;
	Dwarf_Op *ops;
	size_t n;

	*out = 0;
	if (!dwarf_hasattr(die, DW_AT_data_member_location) ||
	    dwarf_number(die, DW_AT_data_member_location, out))
		return true;
	if (dwarf_getlocation(dwarf_attr(die, DW_AT_data_member_location, &value), &ops, &n) != 0 ||
	    n != 1 || (ops[0].atom != DW_OP_plus_uconst && ops[0].atom != DW_OP_constu))
		return false;
	*out = ops[0].number;
	return true;
}

/*
 * The old way: DW_AT_bit_offset counts from the highest bit of a storage unit at the member's
 * location, and is negative where the bits reach beyond it, in packed structs. Low bits come
 * first in memory on all machines that are read here.
 */
static bool old_bit_offset(Dwarf_Die *die, uint64_t bit_size, const struct type_member *m,
			   uint64_t *out)
{
	uint64_t unit = dwarf_number_or_0(die, DW_AT_byte_size);
	Dwarf_Attribute value;
	Dwarf_Sword high;

	if (dwarf_formsdata(dwarf_attr(die, DW_AT_bit_offset, &value), &high) != 0)
		return false;
	unit = unit != 0 ? unit : m->size;
	if (unit > 64 || high < -64 || high > 512 ||
	    (uint64_t)(high + 64) + bit_size > 8 * unit + 64)
		return false;
	*out = 8 * m->offset + (8 * unit + 64 - bit_size - (uint64_t)(high + 64));
	return true;
}

/* Where a bit-field is; DW_AT_data_bit_offset counts from the start of the struct. */
static bool place_bits(Dwarf_Die *die, uint64_t bit_size, struct type_member *out)
{
	uint64_t at;

	if (bit_size > 64 || out->offset > UINT64_MAX / 16)
		return false;
	if (!dwarf_number(die, DW_AT_data_bit_offset, &at) &&
	    !old_bit_offset(die, bit_size, out, &at))
		at = 8 * out->offset;
	out->offset = at / 8;
	out->bit_offset = (uint8_t)(at % 8);
	out->bit_size = (uint8_t)bit_size;
	out->size = (out->bit_offset + bit_size + 7) / 8;
	return true;
}

/* Static members are declared only; they stand elsewhere. */
static bool is_static(Dwarf_Die *die)
{
	return dwarf_has_flag(die, DW_AT_declaration) || dwarf_has_flag(die, DW_AT_external);
}

static void read_member(struct types_reader *r, Dwarf_Die *die, struct draft *draft, unsigned depth)
{
	struct type_member m = { .is_base = dwarf_tag(die) == DW_TAG_inheritance };
	const char *name = dwarf_name_of(die);
	uint64_t bit_size;

	if (is_static(die) || !types_member_location(die, &m.offset))
		return;
	m.type = read_inner(r, die, depth);
	m.size = types_dwarf_size_of(r, m.type);
	if (name != NULL)
		m.name = strings_add(r->types->strings, name, strnlen(name, DWARF_MAX_NAME));
	if (dwarf_number(die, DW_AT_bit_size, &bit_size) && !place_bits(die, bit_size, &m))
		return;
	if (m.bit_size == 0 && dwarf_hasattr(die, DW_AT_bit_size))
		return; /* "int : 0" */
	*vec_add(&draft->members) = m;
}

static void types_read_children(struct types_reader *r, Dwarf_Die *parent, struct draft *draft,
				unsigned depth);

/* The alternatives of a Rust enum: a union of what each has, and of what tells them apart. */
static void types_read_variants(struct types_reader *r, Dwarf_Die *die, struct draft *outer,
				unsigned depth)
{
	struct draft draft = { .type = { .kind = TYPE_UNION, .size = outer->type.size } };
	struct type_member m = { .size = outer->type.size };

	types_read_children(r, die, &draft, depth + 1);
	for (size_t i = 0; i < draft.members.n; i++)
		if (draft.members.items[i].name.v == 0)
			draft.members.items[i].name =
				strings_addz(r->types->strings, "(discriminant)");
	m.type = types_add(r->types, &draft.type, draft.members.items, draft.members.n);
	*vec_add(&outer->members) = m;
	vec_release(&draft.members);
}

static void types_read_children(struct types_reader *r, Dwarf_Die *parent, struct draft *draft,
				unsigned depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	if (depth > TYPES_MAX_DEPTH)
		return;
	for (; more == 0 && types_take_step(r); more = dwarf_siblingof(&die, &die)) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_member:
		case DW_TAG_inheritance:
			read_member(r, &die, draft, depth);
			break;
		case DW_TAG_variant_part:
			types_read_variants(r, &die, draft, depth);
			break;
		case DW_TAG_variant:
			types_read_children(r, &die, draft, depth + 1);
			break;
		default:
			break;
		}
	}
	r->is_cut |= more < 0;
}

/* Of members whose type is only declared here, all up to the next member is taken. */
static void stretch_members(const struct types_reader *r, struct draft *draft)
{
	for (size_t i = 0; i < draft->members.n; i++) {
		struct type_member *m = &draft->members.items[i];
		uint64_t end = draft->type.size;

		if (m->size != 0 || m->is_base ||
		    types_get(r->types, types_plain(r->types, m->type))->kind != TYPE_UNKNOWN)
			continue;
		for (size_t k = 0; k < draft->members.n; k++) {
			uint64_t start = draft->members.items[k].offset;

			if (start > m->offset && start < end)
				end = start;
		}
		m->size = end > m->offset ? end - m->offset : 0;
	}
}

static void read_struct(struct types_reader *r, Dwarf_Die *die, struct draft *draft, unsigned depth)
{
	if (dwarf_has_flag(die, DW_AT_declaration)) {
		draft->type.kind = TYPE_UNKNOWN;
		draft->type.size = 0;
		return;
	}
	types_read_children(r, die, draft, depth);
	stretch_members(r, draft);
}

/* How many elements a dimension has; 0 if that is not a constant. */
static uint64_t dimension_of(Dwarf_Die *die)
{
	uint64_t count, low = dwarf_number_or_0(die, DW_AT_lower_bound);

	if (dwarf_number(die, DW_AT_count, &count))
		return count;
	if (!dwarf_number(die, DW_AT_upper_bound, &count) || count < low)
		return 0;
	return count - low + 1; /* UINT64_MAX, which is -1, makes 0 */
}

static struct type array_of(const struct types_reader *r, struct type_id element, uint64_t n)
{
	struct type array = { .kind = TYPE_ARRAY, .inner = element };
	uint64_t size = types_dwarf_size_of(r, element);

	if (size == 0 || n <= UINT64_MAX / size) {
		array.n_elements = n;
		array.size = n * size;
	}
	return array;
}

enum { MAX_DIMENSIONS = 8 };

/* An array of arrays for several dimensions; the last varies fastest. */
static struct type_id read_array(struct types_reader *r, Dwarf_Die *parent, unsigned depth)
{
	struct type_id id = read_inner(r, parent, depth);
	uint64_t dimensions[MAX_DIMENSIONS];
	size_t n = 0;
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	for (; more == 0 && types_take_step(r) && n < MAX_DIMENSIONS;
	     more = dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_subrange_type ||
		    dwarf_tag(&die) == DW_TAG_enumeration_type)
			dimensions[n++] = dimension_of(&die);
	if (n == 0)
		dimensions[n++] = 0;
	while (n-- > 0) {
		struct type array = array_of(r, id, dimensions[n]);

		id = types_add(r->types, &array, NULL, 0);
	}
	return id;
}

static enum type_kind types_dwarf_kind_of(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		return TYPE_STRUCT;
	case DW_TAG_union_type:
		return TYPE_UNION;
	case DW_TAG_enumeration_type:
		return TYPE_ENUM;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_ptr_to_member_type:
		return TYPE_POINTER;
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_atomic_type:
		return TYPE_ALIAS;
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_subrange_type:
	case DW_TAG_string_type:
	case DW_TAG_set_type:
		return TYPE_BASE;
	default:
		return TYPE_UNKNOWN;
	}
}

/* Pointers to functions of a class are two words (Itanium C++ ABI, 2.3). */
static uint64_t pointer_size(Dwarf_Die *die)
{
	uint8_t address_size = 0;
	Dwarf_Die unit, target;

	if (dwarf_diecu(die, &unit, &address_size, NULL) == NULL)
		return 0;
	if (dwarf_tag(die) == DW_TAG_ptr_to_member_type && dwarf_type_of(die, &target) &&
	    dwarf_tag(&target) == DW_TAG_subroutine_type)
		return 2u * address_size;
	return address_size;
}

/* Entries that only name another one: a type unit's, by its signature. */
static void follow_signature(Dwarf_Die *die)
{
	Dwarf_Attribute value;
	Dwarf_Die whole;

	if (dwarf_formref_die(dwarf_attr(die, DW_AT_signature, &value), &whole) != NULL)
		*die = whole;
}

static struct type_id add_draft(struct types_reader *r, Dwarf_Die *die, unsigned depth)
{
	struct draft draft = { .type = { .kind = types_dwarf_kind_of(dwarf_tag(die)) } };
	struct text name = { 0 };
	struct type_id id;

	draft.type.size = dwarf_number_or_0(die, DW_AT_byte_size);
	switch (draft.type.kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
		read_struct(r, die, &draft, depth);
		break;
	case TYPE_ALIAS:
		draft.type.inner = read_inner(r, die, depth);
		draft.type.size = types_dwarf_size_of(r, draft.type.inner);
		break;
	case TYPE_ENUM:
		if (draft.type.size == 0)
			draft.type.size = types_dwarf_size_of(r, read_inner(r, die, depth));
		break;
	case TYPE_POINTER:
		if (draft.type.size == 0)
			draft.type.size = pointer_size(die);
		break;
	default:
		if (dwarf_tag(die) == DW_TAG_unspecified_type && draft.type.size == 0)
			draft.type.size = pointer_size(die); /* nullptr_t */
		break;
	}
	if (dwarf_name_of(die) != NULL || draft.type.kind == TYPE_POINTER ||
	    dwarf_tag(die) == DW_TAG_atomic_type)
		types_reader_name(r, die, &name);
	draft.type.name = strings_add(r->types->strings, name.bytes, name.n);
	id = types_add(r->types, &draft.type, draft.members.items, draft.members.n);
	vec_release(&draft.members);
	text_release(&name);
	return id;
}

bool types_peel(struct types_reader *r, Dwarf_Die *die)
{
	const char *qualifier;

	for (unsigned i = 0; i < TYPES_MAX_DEPTH && types_take_step(r); i++) {
		qualifier = types_qualifier(dwarf_tag(die));
		if (qualifier == NULL || dwarf_tag(die) == DW_TAG_atomic_type)
			return true;
		if (!dwarf_type_of(die, die))
			return false;
	}
	r->is_cut = true;
	return false;
}

static struct type_id read_type(struct types_reader *r, Dwarf_Die *given, unsigned depth)
{
	Dwarf_Die die = *given;
	struct type_id id;
	uint32_t number;

	if (depth > TYPES_MAX_DEPTH) {
		r->is_cut = true;
		return unknown;
	}
	if (!types_peel(r, &die))
		return unknown;
	follow_signature(&die);
	number = tuples_add(&r->known, &(uint64_t){ (uintptr_t)die.addr });
	if (number < r->ids.n)
		return r->ids.items[number].v == in_progress.v ? unknown : r->ids.items[number];
	*vec_add(&r->ids) = in_progress;
	id = dwarf_tag(&die) == DW_TAG_array_type ? read_array(r, &die, depth)
						  : add_draft(r, &die, depth);
	r->ids.items[number] = id;
	return id;
}

struct type_id types_read(struct types_reader *r, Dwarf_Die *type)
{
	return read_type(r, type, 0);
}

struct type_id types_read_of(struct types_reader *r, Dwarf_Die *die)
{
	return read_inner(r, die, 0);
}

bool types_target(struct types_reader *r, Dwarf_Die *pointer, Dwarf_Die *out)
{
	Dwarf_Die die = *pointer;

	for (unsigned i = 0; i < TYPES_MAX_DEPTH && types_peel(r, &die); i++) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_typedef:
			if (!dwarf_type_of(&die, &die))
				return false;
			break;
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			return dwarf_type_of(&die, out);
		default:
			return false;
		}
	}
	return false;
}
