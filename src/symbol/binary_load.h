/* SPDX-License-Identifier: Apache-2.0 */
/* What the loaders of binaries share; private to them. */
#ifndef CYCLOPS_SYMBOL_BINARY_LOAD_H
#define CYCLOPS_SYMBOL_BINARY_LOAD_H

#include "symbol/binary.h"

/* A module being loaded. */
struct loading {
	struct binary *binary;
	const struct module *module;
	const struct binary_sources *sources;
	struct wanted wanted;
};

/* Finds and reads the file of the module; false if it is not there. */
bool load_elf(struct loading *);

/*
 * Takes the functions that the recorder stored of this module, if no file is there (load_stored.c).
 * False: it stored none.
 */
bool load_stored(struct loading *);

/* Takes the functions of a JIT compiler's dump; false: it is no such file, or is not there. */
bool load_jit_dump(struct loading *);

void load_vdso(struct loading *);
void load_jit(struct loading *);
void load_kernel(struct loading *);
void load_kernel_module(struct loading *);
void load_guest_kernel(struct loading *);
void load_guest_module(struct loading *);

/* Reads the functions of the files that were opened. */
void load_functions(struct loading *);

/* Finds out which of the opened files has line information. */
void load_lines(struct loading *);

#endif
