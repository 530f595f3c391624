/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of modules: which one is at an address of a module's file, and its type. By DWARF, else
 * by the symbol table, which has no types. Also types by name.
 */
#ifndef CYCLOPS_VARIABLES_DATA_H
#define CYCLOPS_VARIABLES_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "dwarf/types.h"
#include "elf/elf_symbols.h"
#include "elf/load_bias.h"
#include "symbol/symbols.h"

/* A byte of a module's data. */
struct data_place {
	struct module_id module;
	uint64_t address; /* virtual, in the module's own file; or with ELF_THREAD_LOCAL */
};

/* The variable there. */
struct data_object {
	struct str_id name;   /* demangled; 0: nothing is known to be there */
	uint64_t start, size; /* its address in the file */
	struct type_id type;  /* 0 if not known */
	struct str_id file;   /* where it is declared; 0 if not known */
	uint32_t line;
};

/*
 * Looks up `n` places; out[i] belongs to places[i]. Not thread-safe; modules are worked on in
 * parallel by the pool. Results are the same for any pool.
 */
void symbols_data(struct symbols *, struct pool *, const struct data_place *places, size_t n,
		  struct data_object *out);

/*
 * The load bias of a module in a process with these mappings of it: address in memory - address in
 * the file (load_bias_find()). False if the file was not found, or if the mappings are ambiguous,
 * which is counted in symbols_diags().
 */
bool symbols_load_bias(struct symbols *, struct module_id, const struct data_mapping *, size_t n,
		       uint64_t *out_bias);

/*
 * The size of a module's TLS block; 0 if it has none, or if the byte at `offset` of a block cannot
 * be at this address (alignment).
 */
uint64_t symbols_thread_block(const struct symbols *, struct module_id, uint64_t address,
			      uint64_t offset);

/* Is there a byte of the module's memory at an address of its file? After symbols_load_bias(). */
bool symbols_is_loaded(const struct symbols *, struct module_id, uint64_t address);

/*
 * The address in the kernel's file of a data address of the running kernel, which is this module.
 * False if neither vmlinux nor kallsyms is there, or if nothing is loaded at the address.
 */
bool symbols_kernel_data_place(struct symbols *, struct module_id, uint64_t data,
			       uint64_t *out_address);

/*
 * Is anything known of a module that was loaded so far: code, functions, variables? If not, no place has a function, and no address a
 * variable.
 */
bool symbols_knows_any(const struct symbols *);

/* Was a module's file looked for, and is it not here? Looks for none. */
bool symbols_lacks_file(const struct symbols *, struct module_id);

/*
 * Calls `each` for every variable of the module's symbol table that has an address from
 * `first` to `last`, both included, by address.
 */
void symbols_each_object(struct symbols *, struct module_id, uint64_t first, uint64_t last,
			 void (*each)(void *context, uint64_t address), void *context);

/*
 * The type of this name ("buf", "struct buf", "ns::node<int>"), of the first module that has
 * one; 0 if none has. Modules are looked at in order of their ids.
 */
struct type_id symbols_find_type(struct symbols *, struct pool *, const char *name);

/* All types that were asked for so far; grows with each question. */
const struct types *symbols_types(const struct symbols *);

#endif
