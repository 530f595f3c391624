/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of arguments.h share; private to them. */
#ifndef CYCLOPS_HOT_ARGUMENTS_INSIDE_H
#define CYCLOPS_HOT_ARGUMENTS_INSIDE_H

#include "base/arena.h"
#include "capture/format/registers.h"
#include "hot/arguments/arguments.h"
#include "session/analysis.h"
#include "variables/parameters.h"

/* An argument of a function. */
struct argument {
	const char *name; /* NULL: not known */
	const char *type; /* NULL: not known */
	enum parameter_kind kind;
	uint8_t size;	/* bytes of the register that count */
	uint8_t number; /* the kernel's, of the register */
};

/* A function that was seen with its arguments. */
struct argument_function {
	struct place entry;
	const char *name, *module; /* belong to the session */
	const char *file;	   /* NULL: not known */
	uint32_t line;
	uint32_t first, n; /* in `arguments` */
};

/* Where registers are arguments, and of what. */
struct argument_sites {
	const struct registers *registers;
	struct tuples places;	      /* (module, offset) … */
	VEC_OF(uint32_t) function_of; /* … and the function that is called or begins there */
	VEC_OF(struct argument_function) functions;
	VEC_OF(struct argument) arguments;
	uint64_t n_samples, n_with_registers; /* of the events looked at */
	int event;
};

/* Scans for places with registers, and finds out which of them are sites. */
void argument_sites_find(struct session *, const struct select *, const struct registers *,
			 int event, struct argument_sites *out);
void argument_sites_release(struct argument_sites *);

/* The arguments of a well-known function of C by its name in a symbol table; NULL: not one. */
const struct argument *arguments_known(const char *function, size_t *out_n);

__extension__ typedef unsigned __int128 argument_wide;

enum { ARGUMENT_BINS = 65 };

/* What is added up of an argument. Sums are exact, so that their order does not matter. */
struct argument_sums {
	uint64_t n;
	uint64_t least, most; /* of values as they order: argument_key() */
	uint64_t n_negative;
	__extension__ __int128 sum;
	/* Of squares, 192 bits. */
	argument_wide squares;
	uint64_t squares_high;
	uint64_t bins[ARGUMENT_BINS]; /* [0]: zeros; [n]: from 2^(n - 1) below 2^n */
};

/* The result: sums of all samples, and of each argument. */
struct argument_values {
	const struct session *session;
	const struct argument_sites *sites;
	struct argument_sums *sums; /* by number in sites->arguments */
	uint64_t *n_samples;	    /* by number in sites->functions */
	VEC_OF(uint32_t) site_of;   /* by place: number + 1; 0: not looked up */
};

/* Options: struct argument_sites. Result: struct argument_values. */
extern const struct analysis_class argument_values_class;

/* The value that the register holds: what lies above its size is not part of it. */
uint64_t argument_value(const struct argument *, uint64_t bits);

/* Values in their order as unsigned numbers, and back. */
uint64_t argument_key(const struct argument *, uint64_t value);
uint64_t argument_of_key(const struct argument *, uint64_t key);

/* Fills the tables of the functions that were seen most. */
int argument_tables_fill(const struct argument_values *, const struct argument_request *,
			 struct argument_tables *out, struct err *);

#endif
