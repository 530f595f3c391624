/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formulas of metrics, as the catalog has them: names of events and numbers, joined by + - * /
 * and parentheses (catalog/schema.md). Parsed once, evaluated as often as there are counts.
 */
#ifndef CYCLOPS_CPU_FORMULA_H
#define CYCLOPS_CPU_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct formula_step;

/* Everything belongs to the arena it was parsed into. */
struct formula {
	const char *text;	    /* as it was written */
	const char **names;	    /* each once, in order of appearance */
	struct formula_step *steps; /* values before what joins them */
	size_t n_names, n_steps;
};

/* The position of an error is that in the text, from 0. */
int formula_parse(const char *text, struct arena *, struct formula *out, struct err *);

/* The value of name number `name`; false: there is none. */
typedef bool formula_value(void *context, size_t name, double *out);

/*
 * False if a value is missing, a divisor is zero or the result is not finite: there is no answer
 * then, and *out is not touched.
 */
bool formula_evaluate(const struct formula *, formula_value *, void *context, double *out);

#endif
