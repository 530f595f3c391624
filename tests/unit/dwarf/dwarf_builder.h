/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF with known contents: types and variables of one unit, for files of elf_builder.h. */
#ifndef CYCLOPS_TESTS_DWARF_DWARF_BUILDER_H
#define CYCLOPS_TESTS_DWARF_DWARF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The bytes of .debug_info and .debug_abbrev. Zeroed is empty. */
struct built_dwarf {
	struct text info, abbrev;
};

/* A type by where it is in .debug_info. */
struct built_type {
	uint32_t at;
};

struct built_member {
	const char *name;
	struct built_type type;
	uint8_t offset;
};

/* Begins the unit; between this and dwarf_end_unit() come types and variables. */
void dwarf_begin_unit(struct built_dwarf *);
void dwarf_end_unit(struct built_dwarf *);
void dwarf_release(struct built_dwarf *);

/* A signed integer. */
struct built_type dwarf_base(struct built_dwarf *, const char *name, uint8_t size);

struct built_type dwarf_struct(struct built_dwarf *, const char *name, uint8_t size,
			       const struct built_member *, size_t n);
struct built_type dwarf_array(struct built_dwarf *, struct built_type, uint8_t n);

/* A global variable at an address of the file. */
void dwarf_variable(struct built_dwarf *, const char *name, struct built_type, uint64_t address);

#endif
