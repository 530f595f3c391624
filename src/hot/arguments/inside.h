/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of arguments.h. */
#ifndef CYCLOPS_HOT_ARGUMENTS_INSIDE_H
#define CYCLOPS_HOT_ARGUMENTS_INSIDE_H

#include "base/arena.h"
#include "base/uint128.h"
#include "capture/format/registers.h"
#include "hot/arguments/arguments.h"
#include "session/analysis.h"
#include "variables/parameters.h"

/* An argument of a function. */
struct argument {
	const char *name; /* NULL: not known */
	const char *type; /* NULL: not known */
	enum parameter_kind kind;
	uint8_t size;	/* of the value, in bytes: the low part of the register */
	uint8_t number; /* of the register, as perf_regs.h numbers them */
};

/* A function that was seen with its arguments. */
struct argument_function {
	struct place entry;
	const char *name, *module; /* belong to the session */
	const char *file;	   /* NULL: not known */
	uint32_t line;
	uint32_t first, n; /* in `arguments` */
};

struct counted_loops;

/* The places where registers hold arguments, and of which function; and counted loops around places. */
struct argument_sites {
	const struct registers *registers;
	struct tuples places;	      /* (module, offset) → number of the site … */
	VEC_OF(uint32_t) function_of; /* … → the function that is called or begins there */
	VEC_OF(struct argument_function) functions;
	VEC_OF(struct argument) arguments;
	struct counted_loops *loops;	      /* sampled with the limit in a register; owned */
	uint64_t n_samples, n_with_registers; /* of the events looked at */
	int event;
};

/* Scans for places with registers, and finds out which of them are sites. */
void argument_sites_find(struct session *, const struct select *, const struct registers *,
			 int event, struct argument_sites *out);
void argument_sites_release(struct argument_sites *);

/* The arguments of a well-known function of C by its name in a symbol table; NULL: not one. */
const struct argument *arguments_known(const char *function, size_t *out_n);

enum { ARGUMENT_BINS = 65 };

/* The sums of an argument's values: exact integers, so that the order of adding does not matter. */
struct argument_sums {
	uint64_t n;
	uint64_t least, most; /* as argument_key() */
	uint64_t n_negative;
	struct uint128 sum; /* signed */
	/* Sum of the squares, 192 bits: squares_high * 2^128 + squares. */
	struct uint128 squares;
	uint64_t squares_high;
	uint64_t bins[ARGUMENT_BINS]; /* [0]: zeros; [n]: values in [2^(n - 1), 2^n) */
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

/* The value in a register: cut to the argument's size, and sign-extended if it is signed. */
uint64_t argument_value(const struct argument *, uint64_t bits);

/* Maps values to unsigned numbers of the same order (flips the sign bit), and back. */
uint64_t argument_key(const struct argument *, uint64_t value);
uint64_t argument_of_key(const struct argument *, uint64_t key);

/* Fills the tables of the functions that were seen most. */
int argument_tables_fill(const struct argument_values *, const struct argument_request *,
			 struct argument_tables *out, struct err *);

#endif
