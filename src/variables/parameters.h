/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integer parameters of functions, by DWARF: names, types, and the registers that they come
 * in where the function begins.
 */
#ifndef CYCLOPS_VARIABLES_PARAMETERS_H
#define CYCLOPS_VARIABLES_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbols.h"

enum parameter_kind {
	PARAMETER_SIGNED,
	PARAMETER_UNSIGNED, /* booleans, too */
	PARAMETER_POINTER,  /* references, too */
};

/* A parameter that one general register holds. */
struct parameter {
	struct str_id name; /* 0: it has none */
	struct str_id type; /* "size_t", "struct buf *" */
	enum parameter_kind kind;
	uint8_t size;		/* bytes, 1 to 8; higher bytes of the register are undefined */
	uint8_t dwarf_register; /* by the numbers of the architecture's DWARF */
};

/* What is known of one function. */
struct signature {
	bool is_known; /* there is DWARF of it; it may have no such parameters */
	struct str_id file;
	uint32_t line; /* where it is declared; 0: not known */
	uint32_t first, n;
};

/* Zeroed is empty. */
struct signatures {
	struct signature *list; /* by function that was asked for */
	VEC_OF(struct parameter) parameters;
};

/*
 * Looks up the functions that begin at `n` places. The register of a parameter is the one that
 * DWARF gives for the first instruction, else that of the calling convention (System V for x86-64,
 * AAPCS64). Names and types are in symbols_strings(). Not thread-safe.
 */
void symbols_signatures(struct symbols *, const struct place *entries, size_t n,
			struct signatures *out);
void signatures_release(struct signatures *);

#endif
