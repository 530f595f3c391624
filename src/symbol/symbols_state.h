/* SPDX-License-Identifier: Apache-2.0 */
/* struct symbols, for those who read the files of modules themselves: variables/, unwind/. */
#ifndef CYCLOPS_SYMBOL_SYMBOLS_STATE_H
#define CYCLOPS_SYMBOL_SYMBOLS_STATE_H

#include "base/arena.h"
#include "base/radix.h"
#include "dwarf/types.h"
#include "elf/demangle.h"
#include "symbol/binary.h"
#include "symbol/symbols.h"

struct module_state {
	struct binary binary;
	struct str_id only_name; /* binary.only_name in symbols.strings; set when resolving */
	/* Places without a name or line; the most of one symbols_resolve(). */
	uint64_t n_without_function, n_without_line;
	/* Of symbols_function_at(): places without a name so far; names by number of the function, NULL: none yet. */
	uint64_t n_asked_without;
	struct str_id *names;
};

/* What was read of the kernel of a guest. */
struct guest_names {
	uint32_t pid;
	struct kernel_names names;
};

struct symbols {
	const struct modules *modules;
	struct symbols_options options;
	struct search search;
	char *cache;
	struct kernel_names kernel;
	bool has_kernel;		     /* kernel was read */
	VEC_OF(struct guest_names *) guests; /* those that were read */
	struct module_state *states;	     /* by module id */
	struct strings strings;
	struct types types;
	VEC_OF(struct symbol_frame) frames;
	VEC_OF(struct symbols_missing) missing;
	struct diags diags;
};

/*
 * Loads a module, unless it is loaded. Several threads may load different modules, if has_kernel.
 */
void symbols_load(struct symbols *, struct module_id);

/* Before symbols_load(): reads kallsyms (sets has_kernel) if the module needs it. */
void symbols_prepare(struct symbols *, struct module_id);

/* For radix_order() of places: by module and offset. */
struct radix_pair symbols_place_key(const void *places, size_t i);

/* The id, in symbols_strings(), of a string of another table. */
struct str_id symbols_add_string(struct symbols *, const struct strings *from, struct str_id);

static inline enum demangle_style symbols_style(const struct symbols *s)
{
	return s->options.with_parameters ? DEMANGLE_PARAMETERS : DEMANGLE_SHORT;
}

#endif
