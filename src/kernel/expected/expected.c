/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/expected/expected.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/embedded.h"

extern const struct embedded_file expected_files[];

static const char *const kind_names[N_EXPECTED_KINDS] = {
	[EXPECTED_EXACT] = "exact",
	[EXPECTED_LINES] = "lines",
	[EXPECTED_NEVER] = "never",
	[EXPECTED_RANGE] = "range",
};

const char *expected_kind_name(enum expected_kind kind)
{
	return kind_names[kind];
}

void expected_open(struct expected *out)
{
	const struct embedded_file *file = &expected_files[0];
	struct err err;
	int rc = expected_read(file->bytes, file->size, out, &err);

	assert(rc == 0);
	(void)rc;
}

void expected_release(struct expected *e)
{
	arena_release(&e->memory);
	*e = (struct expected){ 0 };
}

const struct expected_case *expected_find(const struct expected *e, const char *name)
{
	for (size_t i = 0; i < e->n_cases; i++)
		if (strcmp(e->cases[i].name, name) == 0)
			return &e->cases[i];
	return NULL;
}

int expected_set_values(const struct expected_case *c, const struct cache_sizes *sizes,
			uint64_t values[N_PARAMETERS], struct err *err)
{
	microbenchmark_set_usual(c->kernel, values);
	if (c->level != NULL &&
	    microbenchmark_set_level(c->kernel, c->level, sizes, values, err) < 0)
		return -1;
	for (size_t i = 0; i < c->n_values; i++)
		values[c->values[i].parameter] = c->values[i].value;
	return 0;
}

bool expected_is_case(const struct expected_case *c, const struct cache_sizes *sizes,
		      const uint64_t values[N_PARAMETERS])
{
	uint64_t wanted[N_PARAMETERS];
	struct err unused;

	if (expected_set_values(c, sizes, wanted, &unused) < 0)
		return false;
	wanted[ITERATIONS] = values[ITERATIONS];
	return memcmp(wanted, values, sizeof(wanted)) == 0;
}

struct parameter_values {
	const struct formula *formula;
	const uint64_t *values;
};

/* The value of a name of the formula, which is that of a parameter: expected_read() has checked it. */
static bool parameter_value(void *context, size_t name, double *out)
{
	const struct parameter_values *of = context;

	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (strcmp(microbenchmark_parameters[p].name, of->formula->names[name]) == 0) {
			*out = (double)of->values[p];
			return true;
		}
	return false;
}

static bool evaluate(const struct formula *f, const uint64_t *values, double *out)
{
	struct parameter_values of = { f, values };

	return formula_evaluate(f, parameter_value, &of, out);
}

bool expected_count_of(const struct expected *e, const struct expectation *x,
		       const uint64_t values[N_PARAMETERS], struct expected_count *out)
{
	double tolerance = e->tolerances[x->kind], least = 0, most = 0;

	if (x->kind == EXPECTED_NEVER) {
		*out = (struct expected_count){
			0, 0, 0, tolerance * (double)values[ITERATIONS] + e->overhead
		};
		return true;
	}
	if (!evaluate(&x->least, values, &least) || !evaluate(&x->most, values, &most))
		return false;
	*out = (struct expected_count){ least, most, least * (1 - tolerance),
					most * (1 + tolerance) + e->overhead };
	return true;
}

enum expected_verdict expected_judge(const struct expected_count *c, double count)
{
	if (count > c->to)
		return EXPECTED_OVER;
	return count < c->from ? EXPECTED_UNDER : EXPECTED_OK;
}
