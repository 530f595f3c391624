/* SPDX-License-Identifier: Apache-2.0 */
/* Reads types from DWARF (section 5 of the standard, versions 2 to 5). */
#ifndef CYCLOPS_DWARF_TYPES_DWARF_H
#define CYCLOPS_DWARF_TYPES_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "dwarf/types.h"

/* Reads types of one open file. Set up with types_reader_init(). */
struct types_reader {
	struct types *types; /* borrowed */
	uint64_t steps;	     /* entries that may still be looked at */
	bool is_cut;	     /* by the steps, the depth, or damage */

	struct tuples known;	    /* address of an entry → number … */
	VEC_OF(struct type_id) ids; /* … → its type */

	struct tuples units;  /* addresses of the units whose scopes were read */
	struct tuples scoped; /* address of an entry in a namespace or class → number … */
	VEC_OF(struct str_id) scopes; /* … → the name of that */
};

void types_reader_init(struct types_reader *, struct types *, uint64_t steps);
void types_reader_release(struct types_reader *);

/* The type that an entry is. Without a sound one in the file it is unknown. */
struct type_id types_read(struct types_reader *, Dwarf_Die *type);

/* The type of a variable, member, parameter: what its DW_AT_type says. */
struct type_id types_read_of(struct types_reader *, Dwarf_Die *die);

/* What the pointers of this type point to; false if it is no pointer, or one to nothing (void). */
bool types_target(struct types_reader *, Dwarf_Die *pointer, Dwarf_Die *out);

/*
 * The type that the pointer at an offset of `type` points to. Appends the path of the pointer:
 * "head", "rows[2].next"; nothing if `type` is the pointer itself. False if no pointer begins
 * there, or if it is in a union.
 */
bool types_pointer_at(struct types_reader *, Dwarf_Die *type, uint64_t offset, struct text *path,
		      Dwarf_Die *out_target);

/* Appends the name of a type, or of another entry, with namespaces and classes around it. */
void types_reader_name(struct types_reader *, Dwarf_Die *die, struct text *);

/* "name", or "outer::name" if there is something outside. */
void types_scope_add(struct text *, const char *name);

enum { DWARF_MAX_NAME = 1000 }; /* characters of a name; longer ones are cut */

/* The entry's name (DW_AT_name), or NULL. Borrowed from the file. */
const char *dwarf_name_of(Dwarf_Die *die);

/* The entry of a variable's, member's or parameter's type (DW_AT_type); false if it has none. */
bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *out);

/* A number of an entry, as an attribute of its own or of what it completes; false if absent. */
bool dwarf_number(Dwarf_Die *die, unsigned attribute, uint64_t *out);

#endif
