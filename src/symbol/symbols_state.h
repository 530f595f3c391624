/* SPDX-License-Identifier: Apache-2.0 */
/* The state behind symbols.h; private to symbols.c and resolve.c. */
#ifndef CYCLOPS_SYMBOL_SYMBOLS_STATE_H
#define CYCLOPS_SYMBOL_SYMBOLS_STATE_H

#include "base/arena.h"
#include "dwarf/types.h"
#include "elf/demangle.h"
#include "symbol/binary.h"
#include "symbol/symbols.h"

struct module_state {
	struct binary binary;
	struct str_id only_name; /* its only_name, once places of it were resolved */
	uint64_t n_without_function, n_without_line; /* the most of one symbols_resolve() */
};

struct symbols {
	const struct modules *modules;
	struct symbols_options options;
	struct search search;
	char *cache;
	struct kernel_names kernel;
	bool has_kernel;	     /* kernel was read */
	struct module_state *states; /* by module id */
	struct strings strings;
	struct types types;
	VEC_OF(struct symbol_frame) frames;
	VEC_OF(struct symbols_missing) missing;
	struct diags diags;
};

/* Loads a module if it was not yet. For two modules at once only if has_kernel is set. */
void symbols_load(struct symbols *, struct module_id);

/* Reads the kernel's names if a module that needs them is going to be loaded. */
void symbols_prepare(struct symbols *, struct module_id);

/* Brings the list of missing things up to date. */
void symbols_update_missing(struct symbols *);

/* The id, in symbols_strings(), of a string of another table. */
struct str_id symbols_add_string(struct symbols *, const struct strings *from, struct str_id);

static inline enum demangle_style symbols_style(const struct symbols *s)
{
	return s->options.with_parameters ? DEMANGLE_PARAMETERS : DEMANGLE_SHORT;
}

#endif
