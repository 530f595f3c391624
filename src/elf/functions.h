/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a file or kernel by address. Symbol tables have several names for one address,
 * names without a size, and names inside others: this chooses one function for each address.
 */
#ifndef CYCLOPS_ELF_FUNCTIONS_H
#define CYCLOPS_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "elf/demangle.h"
#include "elf/ranges.h"

/* In order of preference, worst first. */
enum function_binding {
	FUNCTION_WEAK,
	FUNCTION_LOCAL,
	FUNCTION_GLOBAL,
};

struct function {
	uint64_t start;
	uint64_t size;	  /* 0 when added: up to the next function, or to the limit */
	uint64_t limit;	  /* nothing of it lies there or beyond: the end of its section */
	const char *name; /* as in the symbol table; borrowed */
	enum function_binding binding;
	bool is_stub; /* of the procedure linkage table: what it calls is its name */
};

/* Another name for the address of a function. */
struct function_alias {
	uint64_t start;
	const char *name; /* as in the symbol table; borrowed */
};

/* Zeroed is empty. */
struct functions {
	VEC_OF(struct function) list; /* after functions_build(): by start, one for each start */
	struct ranges ranges;	      /* to indexes in `list` */
	VEC_OF(struct function_alias) aliases; /* names that did not win, by start and name */
	struct arena text;		       /* for names that nobody else holds */
};

void functions_release(struct functions *);

void functions_add(struct functions *, const struct function *);

/*
 * Call after functions_add() and before functions_find(); again if more were added.
 *
 * Of several names for one address the winner has, in this order: a size; a stronger binding
 * (global, local, weak); no version other than the default ('@' in it); fewer leading
 * underscores; more characters; the smaller text. This is what perf does, but for the rule
 * on versions: libc's free() is "free" here, "cfree@GLIBC_2.2.5" there.
 *
 * A name without a size ends where the next begins. Inside a function that has a size it
 * is a mere label, and dropped.
 */
void functions_build(struct functions *);

/* The function that holds the address, or NULL. */
const struct function *functions_find(const struct functions *, uint64_t address);

/* The other names for the address that a function starts at. */
const struct function_alias *functions_aliases(const struct functions *, uint64_t start,
					       size_t *out_n);

/* Appends an alias for people: demangled, without its version. */
void function_alias_name(const struct function_alias *, enum demangle_style, struct text *out);

/* Appends the name for people: demangled, that of a stub with "@plt" at its end. */
void function_name(const struct function *, enum demangle_style, struct text *out);

#endif
