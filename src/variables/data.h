/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for data: which variable is at an address of a module's file, of which type, and
 * which types there are. By DWARF; without it by the symbol table, which knows no types.
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

/* What is there. */
struct data_object {
	struct str_id name;   /* demangled; 0: nothing is known to be there */
	uint64_t start, size; /* its address in the file */
	struct type_id type;  /* 0 if not known */
	struct str_id file;   /* where it is declared; 0 if not known */
	uint32_t line;
};

/*
 * Looks up `n` places; out[i] belongs to places[i]. Places of the same module are worked on
 * by one worker. Not to be called by two threads at once; the same for any pool.
 */
void symbols_data(struct symbols *, struct pool *, const struct data_place *places, size_t n,
		  struct data_object *out);

/*
 * What to add to an address of a module's file to have the one in a process that has it mapped
 * so: see load_bias_find(). False if the file was not found, or if the mappings do not tell, which
 * is counted in the diags.
 */
bool symbols_load_bias(struct symbols *, struct module_id, const struct data_mapping *, size_t n,
		       uint64_t *out_bias);

/*
 * How large the block of thread-local data is that each thread has of a module; 0 if there is none,
 * or if none can have the byte at `offset` of it at this address.
 */
uint64_t symbols_thread_block(const struct symbols *, struct module_id, uint64_t address,
			      uint64_t offset);

/* Is there a byte of the module's memory at an address of its file? After symbols_load_bias(). */
bool symbols_is_loaded(const struct symbols *, struct module_id, uint64_t address);

/*
 * Where in the file of the kernel, which is this module, a byte of its data is. False if neither its
 * vmlinux nor its kallsyms is there, or there is no loaded part of it.
 */
bool symbols_kernel_data_place(struct symbols *, struct module_id, uint64_t data,
			       uint64_t *out_address);

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
