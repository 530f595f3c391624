/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formulas of metrics: event names and numbers with + - * / and parentheses (catalog/schema.md).
 * Parsed once, then evaluated for any counts.
 */
#ifndef CYCLOPS_CPU_FORMULA_H
#define CYCLOPS_CPU_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct formula_step;

/* A parsed formula. All of it is memory of the arena. */
struct formula {
	const char *text;	    /* as written in the catalog */
	const char **names;	    /* distinct, in order of appearance */
	struct formula_step *steps; /* in reverse Polish notation */
	size_t n_names, n_steps;
};

/* Parses a formula. The position in an error is an offset in the text. */
int formula_parse(const char *text, struct arena *, struct formula *out, struct err *);

/* Gets the value of name number `name`; false if there is none. */
typedef bool formula_value(void *context, size_t name, double *out);

/*
 * Evaluates a formula. False, with *out untouched, if a value is missing, a divisor is zero or the
 * result is not finite.
 */
bool formula_evaluate(const struct formula *, formula_value *, void *context, double *out);

#endif
