/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

/* Limits; no formula of the catalog has more than ten pending values. */
enum { DEPTH_MAX = 64, LENGTH_MAX = 1 << 14 };

enum step_kind {
	STEP_NAME,
	STEP_NUMBER,
	STEP_ADD,
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE,
	STEP_OPEN, /* used while parsing only */
};

struct formula_step {
	enum step_kind kind;
	union {
		size_t name;
		double number;
	};
};

static const struct operator
{
	char sign;
	int binds; /* precedence: the larger binds first */
}
operators[] = {
	[STEP_ADD] = { '+', 1 },    [STEP_SUBTRACT] = { '-', 1 }, [STEP_MULTIPLY] = { '*', 2 },
	[STEP_DIVIDE] = { '/', 2 }, [STEP_OPEN] = { '(', 0 },
};

struct parser {
	const char *text, *at;
	struct arena *memory;
	VEC_OF(struct formula_step) steps;
	VEC_OF(const char *) names;
	enum step_kind waiting[DEPTH_MAX]; /* operators and parentheses that are still open */
	size_t n_waiting;
	size_t depth; /* values on the evaluator's stack */
	struct err *err;
};

static int formula_error(const struct parser *p, const char *what)
{
	return err_set(p->err, ERR_FORMAT, (uint64_t)(p->at - p->text),
		       "formula '%.200s': %s at column %zu", p->text, what,
		       (size_t)(p->at - p->text) + 1);
}

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool continues_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int formula_add_value(struct parser *p, struct formula_step step)
{
	if (++p->depth > DEPTH_MAX)
		return formula_error(p, "too deeply nested");
	*vec_add(&p->steps) = step;
	return 0;
}

static size_t formula_find_name(struct parser *p, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < p->names.n; i++)
		if (strncmp(p->names.items[i], name, len) == 0 && p->names.items[i][len] == '\0')
			return i;
	*vec_add(&p->names) = arena_strndup(p->memory, name, len);
	return i;
}

static int formula_read_name(struct parser *p)
{
	const char *start = p->at;
	struct formula_step step = { .kind = STEP_NAME };

	while (continues_name(*p->at))
		p->at++;
	step.name = formula_find_name(p, start, (size_t)(p->at - start));
	return formula_add_value(p, step);
}

/* Reads digits with an optional fraction. Unlike strtod(), no locale and no exponent. */
static int formula_read_number(struct parser *p)
{
	struct formula_step step = { .kind = STEP_NUMBER };
	double place = 1;

	for (; isdigit((unsigned char)*p->at); p->at++)
		step.number = step.number * 10 + (*p->at - '0');
	if (*p->at == '.' && isdigit((unsigned char)p->at[1]))
		for (p->at++; isdigit((unsigned char)*p->at); p->at++) {
			place /= 10;
			step.number += place * (*p->at - '0');
		}
	return formula_add_value(p, step);
}

static int push_operator(struct parser *p, enum step_kind kind)
{
	if (p->n_waiting == DEPTH_MAX)
		return formula_error(p, "too deeply nested");
	p->waiting[p->n_waiting++] = kind;
	p->at++;
	return 0;
}

/* Moves pending operators of at least this precedence to the steps. */
static void formula_settle(struct parser *p, int binds)
{
	while (p->n_waiting > 0 && operators[p->waiting[p->n_waiting - 1]].binds >= binds) {
		*vec_add(&p->steps) = (struct formula_step){ .kind = p->waiting[--p->n_waiting] };
		p->depth--;
	}
}

/* Reads a value or an opening parenthesis. */
static int formula_read_value(struct parser *p, bool *wants_value)
{
	if (*p->at == '(')
		return push_operator(p, STEP_OPEN);
	*wants_value = false;
	if (begins_name(*p->at))
		return formula_read_name(p);
	if (isdigit((unsigned char)*p->at))
		return formula_read_number(p);
	return formula_error(p, *p->at == '\0' ? "it ends where a value should stand"
					       : "wanted a name, a number or '('");
}

/* Reads an operator or a closing parenthesis. */
static int read_operator(struct parser *p, bool *wants_value)
{
	for (enum step_kind kind = STEP_ADD; kind <= STEP_DIVIDE; kind++) {
		if (*p->at != operators[kind].sign)
			continue;
		formula_settle(p, operators[kind].binds);
		*wants_value = true;
		return push_operator(p, kind);
	}
	if (*p->at != ')')
		return formula_error(p, "wanted an operator or ')'");
	formula_settle(p, 1);
	if (p->n_waiting == 0)
		return formula_error(p, "a ')' too many");
	p->n_waiting--;
	p->at++;
	return 0;
}

static void formula_skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
		p->at++;
}

static int parse(struct parser *p)
{
	bool wants_value = true;

	for (formula_skip_blanks(p); *p->at != '\0' || wants_value; formula_skip_blanks(p)) {
		if ((wants_value ? formula_read_value : read_operator)(p, &wants_value) < 0)
			return -1;
	}
	formula_settle(p, 1);
	return p->n_waiting > 0 ? formula_error(p, "a '(' is not closed") : 0;
}

static void *formula_keep(struct arena *memory, const void *items, size_t n, size_t size)
{
	return n == 0 ? NULL : memcpy(arena_alloc(memory, n * size), items, n * size);
}

int formula_parse(const char *text, struct arena *memory, struct formula *out, struct err *err)
{
	struct parser p = { .text = text, .at = text, .memory = memory, .err = err };
	int rc = strlen(text) > LENGTH_MAX ? formula_error(&p, "too long") : parse(&p);

	if (rc == 0)
		*out = (struct formula){
			.text = arena_strndup(memory, text, strlen(text)),
			.names = formula_keep(memory, p.names.items, p.names.n,
					      sizeof(*p.names.items)),
			.steps = formula_keep(memory, p.steps.items, p.steps.n,
					      sizeof(*p.steps.items)),
			.n_names = p.names.n,
			.n_steps = p.steps.n,
		};
	vec_release(&p.names);
	vec_release(&p.steps);
	return rc;
}

static bool apply_operator(enum step_kind kind, double *left, double right)
{
	switch (kind) {
	case STEP_ADD:
		*left += right;
		return true;
	case STEP_SUBTRACT:
		*left -= right;
		return true;
	case STEP_MULTIPLY:
		*left *= right;
		return true;
	default:
		*left /= right;
		return right != 0;
	}
}

bool formula_evaluate(const struct formula *f, formula_value *value, void *context, double *out)
{
	double stack[DEPTH_MAX] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < f->n_steps; i++) {
		const struct formula_step *step = &f->steps[i];

		if (step->kind == STEP_NUMBER) {
			stack[n++] = step->number;
		} else if (step->kind == STEP_NAME) {
			if (!value(context, step->name, &stack[n++]))
				return false;
		} else if (!apply_operator(step->kind, &stack[n - 2], stack[n - 1])) {
			return false;
		} else {
			n--;
		}
	}
	if (n != 1 || !isfinite(stack[0]))
		return false;
	*out = stack[0];
	return true;
}
