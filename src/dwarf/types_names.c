/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types in DWARF: with their namespaces in C++ and Rust, with their keyword in C. */
#include <dwarf.h>
#include <string.h>

#include "base/text.h"
#include "dwarf/types_inside.h"

/* In C, struct and enum names are a world of their own. */
static bool is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17, newer than some headers */
		return true;
	default:
		return false;
	}
}

void types_scope_add(struct text *t, const char *name)
{
	if (t->n > 0)
		text_str(t, "::");
	text_add(t, name, strnlen(name, DWARF_MAX_NAME));
}

/* Does an entry of this tag give its name to what stands in it? */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return true;
	default:
		return false;
	}
}

/* Notes for each entry below `parent` that stands in a named scope in which one. */
static void read_scopes(struct types_reader *r, Dwarf_Die *parent, struct str_id scope,
			unsigned depth)
{
	struct text text = { 0 };
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	if (depth > TYPES_MAX_DEPTH) {
		r->is_cut = true;
		return;
	}
	for (; more == 0 && types_take_step(r); more = dwarf_siblingof(&die, &die)) {
		const char *name;

		if (scope.v != 0 &&
		    tuples_add(&r->scoped, &(uint64_t){ (uintptr_t)die.addr }) == r->scopes.n)
			*vec_add(&r->scopes) = scope;
		if (!is_scope(dwarf_tag(&die)) || !dwarf_haschildren(&die))
			continue;
		name = dwarf_diename(&die);
		text_reset(&text);
		text_str(&text, strings_get(r->types->strings, scope));
		if (name != NULL)
			types_scope_add(&text, name);
		read_scopes(r, &die, strings_add(r->types->strings, text.bytes, text.n), depth + 1);
	}
	text_release(&text);
}

/* What stands around an entry: "ns::outer"; 0 if nothing does. */
static struct str_id scope_of(struct types_reader *r, Dwarf_Die *die)
{
	Dwarf_Attribute value;
	Dwarf_Die unit, declared;
	uint32_t number;

	/* A definition outside of its class or namespace names the declaration inside. */
	if (dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &value), &declared) != NULL)
		die = &declared;
	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
		return (struct str_id){ 0 };
	if (tuples_find(&r->units, &(uint64_t){ (uintptr_t)unit.addr }) == TUPLES_NONE) {
		tuples_add(&r->units, &(uint64_t){ (uintptr_t)unit.addr });
		if (!is_c(die))
			read_scopes(r, &unit, (struct str_id){ 0 }, 0);
	}
	number = tuples_find(&r->scoped, &(uint64_t){ (uintptr_t)die->addr });
	return number == TUPLES_NONE ? (struct str_id){ 0 } : r->scopes.items[number];
}

static const char *c_keyword(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

/* The name of the entry alone, in its scope; nothing if it has none. */
static void put_own_name(struct types_reader *r, Dwarf_Die *die, struct text *out)
{
	const char *name = dwarf_name_of(die);
	struct str_id scope;

	if (name == NULL)
		return;
	if (is_c(die)) {
		text_str(out, c_keyword(die));
	} else if ((scope = scope_of(r, die)).v != 0) {
		text_str(out, strings_get(r->types->strings, scope));
		text_str(out, "::");
	}
	text_add(out, name, strnlen(name, DWARF_MAX_NAME));
}

static void put_star(struct text *out, const char *star)
{
	if (out->n > 0 && out->bytes[out->n - 1] != '*')
		text_char(out, ' ');
	text_str(out, star);
}

/* Words that qualify what they stand before. */
const char *types_qualifier(int tag)
{
	switch (tag) {
	case DW_TAG_const_type:
		return "const ";
	case DW_TAG_volatile_type:
		return "volatile ";
	case DW_TAG_atomic_type:
		return "_Atomic ";
	case DW_TAG_restrict_type:
	case DW_TAG_packed_type:
	case DW_TAG_immutable_type:
	case DW_TAG_shared_type:
		return "";
	default:
		return NULL;
	}
}

static void put_type_name(struct types_reader *r, Dwarf_Die *die, struct text *out, unsigned depth);

static void put_inner_name(struct types_reader *r, Dwarf_Die *die, struct text *out, unsigned depth,
			   const char *without)
{
	Dwarf_Die inner;

	if (dwarf_type_of(die, &inner))
		put_type_name(r, &inner, out, depth + 1);
	else
		text_str(out, without);
}

static void put_type_name(struct types_reader *r, Dwarf_Die *die, struct text *out, unsigned depth)
{
	int tag = dwarf_tag(die);
	const char *qualifier = types_qualifier(tag);
	size_t n_before = out->n;

	if (depth > TYPES_MAX_DEPTH || !types_take_step(r)) {
		text_char(out, '?');
		return;
	}
	if (qualifier != NULL) {
		text_str(out, qualifier);
		put_inner_name(r, die, out, depth, "void");
		return;
	}
	switch (tag) {
	case DW_TAG_pointer_type:
		put_inner_name(r, die, out, depth, "void");
		put_star(out, "*");
		return;
	case DW_TAG_reference_type:
		put_inner_name(r, die, out, depth, "?");
		put_star(out, "&");
		return;
	case DW_TAG_rvalue_reference_type:
		put_inner_name(r, die, out, depth, "?");
		put_star(out, "&&");
		return;
	case DW_TAG_array_type:
		put_inner_name(r, die, out, depth, "?");
		text_str(out, "[]");
		return;
	case DW_TAG_subroutine_type:
		text_str(out, "function");
		return;
	default:
		put_own_name(r, die, out);
		if (out->n == n_before)
			text_str(out, "?");
	}
}

void types_reader_name(struct types_reader *r, Dwarf_Die *die, struct text *out)
{
	put_type_name(r, die, out, 0);
}
