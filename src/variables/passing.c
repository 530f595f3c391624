/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/passing.h"

#include <dwarf.h>
#include <stddef.h>

#include "base/alloc.h"
#include "dwarf/types_dwarf.h"

enum {
	MAX_DEPTH = 32,
	MAX_STEPS = 4096, /* members and types looked at */
	WORD = 8,
	LARGEST = 2 * WORD, /* larger structs are not passed in registers */
	X86_LONG_DOUBLE = 16,
};

/* What an eightbyte of a value holds. */
enum word_class {
	CLASS_NONE,
	CLASS_FLOAT,
	CLASS_INTEGER,
};

struct walk {
	enum word_class words[LARGEST / WORD];
	unsigned steps;
	bool is_memory; /* it cannot be passed in registers */
};

static const uint8_t x86_registers[] = { 5, 4, 1, 2, 8, 9 }; /* di, si, dx, cx, r8, r9 */

int passing_register(enum isa isa, unsigned n)
{
	if (isa == ISA_A64)
		return n < 8 ? (int)n : -1;
	return isa == ISA_X86_64 && n < COUNT(x86_registers) ? x86_registers[n] : -1;
}

bool passing_is_general(enum isa isa, uint64_t n)
{
	return isa == ISA_A64 ? n <= 30 : isa == ISA_X86_64 && n <= 15;
}

/* Strips typedefs and qualifiers; replaces a reference to a type unit by the unit's entry. */
static bool peel(Dwarf_Die *type, Dwarf_Die *out)
{
	Dwarf_Attribute value;
	Dwarf_Die whole;

	if (dwarf_peel_type(type, out) != 0)
		return false;
	if (dwarf_formref_die(dwarf_attr(out, DW_AT_signature, &value), &whole) != NULL)
		*out = whole;
	return true;
}

static uint64_t passing_size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_float(uint64_t encoding)
{
	return encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	       encoding == DW_ATE_imaginary_float || encoding == DW_ATE_decimal_float;
}

static bool is_signed(uint64_t encoding)
{
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static void add_class(struct walk *w, uint64_t offset, uint64_t size, enum word_class class)
{
	for (uint64_t at = offset; at < offset + size && at < LARGEST; at++)
		if (w->words[at / WORD] < class)
			w->words[at / WORD] = class;
}

static void classify(struct walk *w, Dwarf_Die *type, uint64_t offset, unsigned depth);

static void classify_members(struct walk *w, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	Dwarf_Die die, inner;
	int more = dwarf_child(type, &die);

	for (; more == 0 && w->steps < MAX_STEPS; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		uint64_t at = 0;

		w->steps++;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !dwarf_type_of(&die, &inner) || dwarf_hasattr(&die, DW_AT_external))
			continue;
		(void)dwarf_number(&die, DW_AT_data_member_location, &at);
		classify(w, &inner, offset + at, depth + 1);
	}
}

/* Arrays in a struct of at most 16 bytes: each element has the class of the first. */
static void classify_array(struct walk *w, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	struct walk one = { .steps = w->steps };
	Dwarf_Die element;

	if (!dwarf_type_of(type, &element))
		return;
	classify(&one, &element, 0, depth + 1);
	w->steps = one.steps;
	add_class(w, offset, passing_size_of(type),
		  one.words[0] == CLASS_FLOAT && one.words[1] != CLASS_INTEGER ? CLASS_FLOAT
									       : CLASS_INTEGER);
}

/* Notes the classes of the words that a value at `offset` of the whole lies in. */
static void classify(struct walk *w, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
	uint64_t encoding = 0;
	Dwarf_Die plain;

	if (depth > MAX_DEPTH || !peel(type, &plain) || offset >= LARGEST)
		return;
	switch (dwarf_tag(&plain)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		classify_members(w, &plain, offset, depth);
		return;
	case DW_TAG_array_type:
		classify_array(w, &plain, offset, depth);
		return;
	case DW_TAG_base_type:
		(void)dwarf_number(&plain, DW_AT_encoding, &encoding);
		w->is_memory |= is_float(encoding) && passing_size_of(&plain) >= X86_LONG_DOUBLE;
		add_class(w, offset, passing_size_of(&plain),
			  is_float(encoding) ? CLASS_FLOAT : CLASS_INTEGER);
		return;
	default:
		add_class(w, offset, passing_size_of(&plain) > 0 ? passing_size_of(&plain) : WORD,
			  CLASS_INTEGER);
		return;
	}
}

/* C++: a class with a constructor of its own for copies is passed by its address. */
static bool is_by_reference(Dwarf_Die *type)
{
	uint64_t convention = 0;

	return dwarf_number(type, DW_AT_calling_convention, &convention) &&
	       convention == DW_CC_pass_by_reference;
}

static struct passing pass_struct(enum isa isa, Dwarf_Die *type)
{
	struct passing p = { .kind = PASSED_OTHERWISE };
	struct walk w = { .steps = 0 };
	uint64_t size = passing_size_of(type);
	unsigned n_integers = 0;

	if (is_by_reference(type)) {
		p.n_registers = 1;
		return p;
	}
	classify(&w, type, 0, 0);
	for (size_t i = 0; i < COUNT(w.words); i++)
		n_integers += w.words[i] == CLASS_INTEGER;
	if (isa == ISA_A64 && n_integers > 0)
		p.n_registers = size > LARGEST ? 1 : (uint8_t)((size + WORD - 1) / WORD);
	else if (isa == ISA_X86_64 && size <= LARGEST && !w.is_memory)
		p.n_registers = (uint8_t)n_integers;
	return p;
}

static struct passing pass_number(enum passing_kind kind, uint64_t size)
{
	struct passing p = { .kind = kind, .size = (uint8_t)size, .n_registers = 1 };

	if (size == 0 || size > LARGEST)
		return (struct passing){ .kind = PASSED_OTHERWISE };
	if (size <= WORD)
		return p;
	return (struct passing){ .kind = PASSED_OTHERWISE, .n_registers = 2, .is_aligned = true };
}

static struct passing pass_base(Dwarf_Die *type)
{
	uint64_t encoding = 0;

	(void)dwarf_number(type, DW_AT_encoding, &encoding);
	if (is_float(encoding))
		return (struct passing){ .kind = PASSED_OTHERWISE };
	return pass_number(is_signed(encoding) ? PASSED_SIGNED : PASSED_UNSIGNED,
			   passing_size_of(type));
}

static struct passing pass_enum(Dwarf_Die *type)
{
	uint64_t size = passing_size_of(type), encoding = 0;
	Dwarf_Die inner, plain;

	if (dwarf_type_of(type, &inner) && peel(&inner, &plain)) {
		(void)dwarf_number(&plain, DW_AT_encoding, &encoding);
		size = size != 0 ? size : passing_size_of(&plain);
	}
	return pass_number(is_signed(encoding) ? PASSED_SIGNED : PASSED_UNSIGNED, size);
}

struct passing passing_of(enum isa isa, Dwarf_Die *type)
{
	struct passing p;
	Dwarf_Die plain;

	if (type == NULL || !peel(type, &plain))
		return (struct passing){ .kind = PASSED_OTHERWISE };
	switch (dwarf_tag(&plain)) {
	case DW_TAG_base_type:
		p = pass_base(&plain);
		break;
	case DW_TAG_enumeration_type:
		p = pass_enum(&plain);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		p = pass_number(PASSED_POINTER, WORD);
		break;
	default:
		p = pass_struct(isa, &plain);
		break;
	}
	p.is_aligned &= isa == ISA_A64;
	return p;
}

bool passing_has_hidden_result(enum isa isa, Dwarf_Die *type)
{
	Dwarf_Die plain;
	int tag;

	if (isa != ISA_X86_64 || type == NULL || !peel(type, &plain))
		return false;
	tag = dwarf_tag(&plain);
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type)
		return false;
	return is_by_reference(&plain) || passing_size_of(&plain) > LARGEST;
}
