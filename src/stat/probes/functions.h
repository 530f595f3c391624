/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions to be probed: in the program, and in the shared libraries that it starts with. */
#ifndef CYCLOPS_STAT_PROBES_FUNCTIONS_H
#define CYCLOPS_STAT_PROBES_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "isa/access.h"

enum { PROBE_EXITS_MAX = 16 };

struct probe_function {
	const char *name; /* of its region: as asked for */
	const char *path; /* the file that holds it */
	uint64_t offset;  /* of its first instruction, in the file */
	/*
	 * The same of the instructions that return from it. None: it jumps elsewhere, so where it
	 * ends is not known, and the kernel has to replace its return address.
	 */
	uint64_t exits[PROBE_EXITS_MAX];
	size_t n_exits;
	bool loops_to_start; /* it jumps to its own first instruction */
};

/* Zeroed is empty. */
struct probe_functions {
	VEC_OF(struct probe_function) list;
	struct arena memory;
	bool may_throw; /* the program can have C++ exceptions */
};

/*
 * Finds the functions that are wanted (ended by NULL): "name", "module:name", "module:0xADDRESS" with an
 * address as the file has it. Names are as in the symbol table or readable, with or without
 * parameters. A module is a file's name, a part of it up to ".so", or a path: of a library that is
 * loaded later, too. The program's own functions come first. The libraries are those that the dynamic
 * loader lists for `program`, which is found in PATH. What is not there, or is there more than once, is
 * an error that says so.
 */
int probe_functions_find(struct probe_functions *, const char *const *wanted, const char *program,
			 struct err *);

void probe_functions_release(struct probe_functions *);

/* A part of a function: its code, the address that jumps name, and the offset in the file. */
struct code_part {
	const uint8_t *bytes;
	size_t size;
	uint64_t address, offset;
};

/* Fills `exits` of a function of these parts, the first of which begins it; leaves none if it cannot. */
void probe_function_find_exits(struct probe_function *, enum isa, const struct code_part *parts,
			       size_t n);

#endif
