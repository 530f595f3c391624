/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf_builder.h"

#include <dwarf.h>

/* Abbreviation codes. */
enum { UNIT = 1, BASE, STRUCT, MEMBER, ARRAY, RANGE, VARIABLE };

/* clang-format off */
static const uint8_t abbreviations[] = {
	UNIT, DW_TAG_compile_unit, 1,
		DW_AT_name, DW_FORM_string,
		DW_AT_language, DW_FORM_data1,
		0, 0,
	BASE, DW_TAG_base_type, 0,
		DW_AT_name, DW_FORM_string,
		DW_AT_byte_size, DW_FORM_data1,
		DW_AT_encoding, DW_FORM_data1,
		0, 0,
	STRUCT, DW_TAG_structure_type, 1,
		DW_AT_name, DW_FORM_string,
		DW_AT_byte_size, DW_FORM_data1,
		0, 0,
	MEMBER, DW_TAG_member, 0,
		DW_AT_name, DW_FORM_string,
		DW_AT_type, DW_FORM_ref4,
		DW_AT_data_member_location, DW_FORM_data1,
		0, 0,
	ARRAY, DW_TAG_array_type, 1,
		DW_AT_type, DW_FORM_ref4,
		0, 0,
	RANGE, DW_TAG_subrange_type, 0,
		DW_AT_count, DW_FORM_data1,
		0, 0,
	VARIABLE, DW_TAG_variable, 0,
		DW_AT_name, DW_FORM_string,
		DW_AT_type, DW_FORM_ref4,
		DW_AT_external, DW_FORM_flag_present,
		DW_AT_location, DW_FORM_exprloc,
		0, 0,
	0,
};
/* clang-format on */

static void put(struct text *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_char(t, (char)(value >> 8 * i));
}

/* Begins an entry; returns where. */
static struct built_type put_entry(struct built_dwarf *d, uint8_t code)
{
	struct built_type out = { (uint32_t)d->info.n };

	put(&d->info, code, 1);
	return out;
}

static void put_name(struct built_dwarf *d, const char *name)
{
	text_add(&d->info, name, strlen(name) + 1);
}

void dwarf_begin_unit(struct built_dwarf *d)
{
	text_add(&d->abbrev, (const char *)abbreviations, sizeof(abbreviations));
	put(&d->info, 0, 4); /* length: see dwarf_end_unit() */
	put(&d->info, 4, 2);
	put(&d->info, 0, 4);
	put(&d->info, 8, 1);
	put_entry(d, UNIT);
	put_name(d, "main.c");
	put(&d->info, DW_LANG_C11, 1);
}

void dwarf_end_unit(struct built_dwarf *d)
{
	uint32_t size;

	put(&d->info, 0, 1);
	size = (uint32_t)d->info.n - 4;
	for (size_t i = 0; i < 4; i++)
		d->info.bytes[i] = (char)(size >> 8 * i);
}

void dwarf_release(struct built_dwarf *d)
{
	text_release(&d->info);
	text_release(&d->abbrev);
}

struct built_type dwarf_base(struct built_dwarf *d, const char *name, uint8_t size)
{
	struct built_type out = put_entry(d, BASE);

	put_name(d, name);
	put(&d->info, size, 1);
	put(&d->info, DW_ATE_signed, 1);
	return out;
}

struct built_type dwarf_struct(struct built_dwarf *d, const char *name, uint8_t size,
			       const struct built_member *members, size_t n)
{
	struct built_type out = put_entry(d, STRUCT);

	put_name(d, name);
	put(&d->info, size, 1);
	for (size_t i = 0; i < n; i++) {
		put_entry(d, MEMBER);
		put_name(d, members[i].name);
		put(&d->info, members[i].type.at, 4);
		put(&d->info, members[i].offset, 1);
	}
	put(&d->info, 0, 1);
	return out;
}

struct built_type dwarf_array(struct built_dwarf *d, struct built_type element, uint8_t n)
{
	struct built_type out = put_entry(d, ARRAY);

	put(&d->info, element.at, 4);
	put_entry(d, RANGE);
	put(&d->info, n, 1);
	put(&d->info, 0, 1);
	return out;
}

void dwarf_variable(struct built_dwarf *d, const char *name, struct built_type type,
		    uint64_t address)
{
	put_entry(d, VARIABLE);
	put_name(d, name);
	put(&d->info, type.at, 4);
	put(&d->info, 1 + sizeof(address), 1);
	put(&d->info, DW_OP_addr, 1);
	put(&d->info, address, sizeof(address));
}
