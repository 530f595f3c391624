/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files that read types from DWARF. */
#ifndef CYCLOPS_DWARF_TYPES_INSIDE_H
#define CYCLOPS_DWARF_TYPES_INSIDE_H

#include "dwarf/types_dwarf.h"

enum {
	TYPES_MAX_DEPTH = 64, /* types in types */
};

/* Counts an entry that is looked at; false if there have been too many. */
bool types_take_step(struct types_reader *);

/* Removes qualifiers, which do not change the layout, but for _Atomic. False if nothing is left. */
bool types_peel(struct types_reader *, Dwarf_Die *type);

/* Where a member or base class begins. Virtual bases are nowhere: false. */
bool types_member_location(Dwarf_Die *member, uint64_t *out);

/* Words that qualify a type, for its name; NULL if the tag is not of a qualifier. */
const char *types_qualifier(int tag);

#endif
