/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function at an address, and the functions inlined there, by DWARF. All addresses of a
 * compilation unit are looked up in one walk over its tree of entries, which skips subtrees without
 * any of them.
 */
#ifndef CYCLOPS_DWARF_SCOPES_H
#define CYCLOPS_DWARF_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/vec.h"
#include "dwarf/dwarf_file.h"

/* A concrete function, or one inlined into another. */
struct scope {
	Dwarf_Die die;
	uint32_t parent; /* index: what it was inlined into, or stands in; 0 if nothing */
	bool is_inlined;
};

/* Zeroed is empty. Index 0 is "none". */
struct scopes {
	VEC_OF(struct scope) list;
};

void scopes_release(struct scopes *);

/* The budget for `n` addresses in a sound unit; `tree` is what dwarf_unit_tree() gave. */
uint64_t scopes_budget(const struct dwarf_unit *, const Dwarf_Die *tree, size_t n);

/*
 * Finds the innermost scope of each of `n` ascending addresses in the unit, as an index.
 * Earlier contents of `scopes` are forgotten. Entries are visited at most `budget` times;
 * returns false if that was not enough (or the entries are damaged), with what was found.
 */
bool scopes_find(struct scopes *, Dwarf_Die *unit, const uint64_t *addresses, size_t n,
		 uint64_t budget, uint32_t *out);

/* The same where no scope is looked for. */
void scopes_find_none(struct scopes *, size_t n, uint32_t *out);

/* May a function be inlined in the unit? false: no entry of it can say so, by its abbreviations. */
bool scopes_may_be_inlined(Dwarf_Die *unit);

#endif
