/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that papers printed, from the counts that they printed beside them
 * (tests/data/counts/published-cases.json): each is calculated by its formula and, where the CPU has the
 * metric, by the catalog's. Where a paper's number does not follow from its counts, it is named
 * here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/inside.h"

enum { N_CASES = 39, N_VALUES = 150, N_COMPUTABLE = 105 };

/* Numbers in the papers that the counts beside them contradict. */
static const char *const mismatches[] = {
	"n1-stride-t9 l1d_access_change",	    "spe-arrow-opt branch_mpki",
	"spe-arrow-opt branch_misprediction_ratio", "spe-arrow-opt branch_percentage_retired",
	"spe-arrow-t36 branch_mpki_reduction",	    "spe-arrow-l1d-event-count l1d_cache_mpki",
	"spe-lat-t44-P1 exec_latency_ns",	    "spe-lat-t44-P1 exec_plus_xlat_ns",
	"spe-lat-t44-P2 exec_latency_ns",	    "spe-lat-t44-P2 exec_plus_xlat_ns",
	"spe-lat-t44-t-P1 exec_latency_ns",	    "spe-lat-t44-t-P1 exec_plus_xlat_ns",
	"spe-lat-t44-t-P2 exec_latency_ns",	    "spe-lat-t44-t-P2 exec_plus_xlat_ns",
	"spe-lat-t44-t-P3 exec_latency_ns",	    "spe-lat-t44-t-P3 exec_plus_xlat_ns",
};

struct published {
	json_t *root;
	struct catalog *catalog;
};

static const char *path;

static int open_all(void **state)
{
	static struct published p;
	struct err err = { 0 };
	json_error_t error;

	p.root = json_load_file(path, 0, &error);
	if (p.root == NULL)
		fail_msg("%s: %s", path, error.text);
	if (catalog_open(NULL, &p.catalog, &err) < 0)
		fail_msg("%s", err.text);
	*state = &p;
	return 0;
}

static int close_all(void **state)
{
	struct published *p = *state;

	json_decref(p->root);
	catalog_free(p->catalog);
	return 0;
}

/* "+39.7%" as a number; where the paper has more than digits, those are left out. */
static double printed_number(const char *text)
{
	return strtod(text, NULL);
}

static int printed_decimals(const char *text)
{
	const char *point = strchr(text, '.');

	return point == NULL ? 0 : (int)strspn(point + 1, "0123456789");
}

/* Does the value become the printed text by rounding or by cutting off? */
static bool is_printed_as(double value, const char *text)
{
	double unit = pow(10, -printed_decimals(text));
	double printed = printed_number(text);

	return fabs(value - printed) <= unit / 2 * (1 + 1e-9) ||
	       fabs(trunc(value / unit) * unit - printed) < unit * 1e-6;
}

struct inputs {
	const struct formula *formula;
	const json_t *values, *others;
};

/* An input of the case, or the printed value of another metric of it. */
static bool input_of(void *context, size_t name, double *out)
{
	const struct inputs *in = context;
	const char *word = in->formula->names[name];
	const json_t *value = json_object_get(in->values, word);

	*out = json_number_value(value);
	for (size_t i = 0; value == NULL && i < json_array_size(in->others); i++) {
		const json_t *other = json_array_get(in->others, i);

		if (strcmp(json_string_value(json_object_get(other, "metric")), word) != 0)
			continue;
		*out = printed_number(json_string_value(json_object_get(other, "printed")));
		return true;
	}
	return value != NULL;
}

static double by_formula(const json_t *each, const json_t *expected)
{
	struct arena memory = { 0 };
	struct formula f;
	struct inputs in = {
		.formula = &f,
		.values = json_object_get(each, "inputs"),
		.others = json_object_get(each, "expected"),
	};
	struct err err;
	double value = NAN;

	if (formula_parse(json_string_value(json_object_get(expected, "expr")), &memory, &f, &err) <
	    0)
		fail_msg("%s", err.text);
	assert_true(formula_evaluate(&f, input_of, &in, &value));
	arena_release(&memory);
	return value;
}

/* The metric of that name by the catalog's formula; false if the CPU has none or counts lack. */
static bool by_catalog(const struct published *p, const json_t *each, const char *metric,
		       double *out)
{
	const char *id = json_string_value(json_object_get(each, "cpu"));
	const struct stat_options options = { 0 };
	struct counts counts = { 0 };
	struct cpu_pmu *pmu;
	struct stat s;
	struct err err;
	const char *name;
	json_t *value;
	bool is_known;

	if (id == NULL)
		return false;
	assert_int_equal(cpu_pmu_open(p->catalog, catalog_cpu_find(p->catalog, id), 0, &pmu, &err),
			 0);
	json_object_foreach(json_object_get(each, "inputs"), name, value) counts_add(&counts, name)
		->value = json_number_value(value);
	counts_name(&counts, pmu);
	stat_init(&s, pmu, &counts, &options);
	is_known = stat_value_named(&s, metric, out);
	stat_release(&s);
	counts_release(&counts);
	cpu_pmu_free(pmu);
	return is_known;
}

static bool is_known_mismatch(const char *id, const char *metric)
{
	char name[128];

	snprintf(name, sizeof(name), "%s %s", id, metric);
	for (size_t i = 0; i < COUNT(mismatches); i++)
		if (strcmp(mismatches[i], name) == 0)
			return true;
	return false;
}

struct tally {
	size_t n_values, n_computed, n_by_catalog, n_mismatches;
};

/* Formulas of the papers that the later published specification changed. */
static bool is_changed_since(const char *metric, const json_t *each)
{
	const json_t *inputs = json_object_get(each, "inputs");

	return strcmp(metric, "branch_percentage") == 0 &&
	       json_object_get(inputs, "BR_RETURN_SPEC") != NULL;
}

static void check_value(const struct published *p, const json_t *each, const json_t *expected,
			struct tally *tally)
{
	const char *id = json_string_value(json_object_get(each, "id"));
	const char *metric = json_string_value(json_object_get(expected, "metric"));
	const char *printed = json_string_value(json_object_get(expected, "printed"));
	const json_t *exact = json_object_get(expected, "exact");
	double value, from_catalog;

	tally->n_values++;
	if (exact == NULL)
		return;
	tally->n_computed++;
	value = by_formula(each, expected);
	if (fabs(value - json_number_value(exact)) > 1e-12 * fabs(value))
		fail_msg("%s %s: %.15g", id, metric, value);
	if (is_printed_as(value, printed) == is_known_mismatch(id, metric))
		fail_msg("%s %s: %.15g, printed %s", id, metric, value, printed);
	tally->n_mismatches += is_known_mismatch(id, metric);
	if (is_changed_since(metric, each) || !by_catalog(p, each, metric, &from_catalog))
		return;
	tally->n_by_catalog++;
	if (fabs(from_catalog - value) > 1e-12 * fabs(value))
		fail_msg("%s %s: the catalog's formula gives %.15g", id, metric, from_catalog);
}

static void follows_from_the_counts(void **state)
{
	const struct published *p = *state;
	const json_t *cases = json_object_get(p->root, "cases");
	struct tally tally = { 0 };

	assert_int_equal(json_array_size(cases), N_CASES);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *each = json_array_get(cases, i);
		const json_t *list = json_object_get(each, "expected");

		for (size_t j = 0; j < json_array_size(list); j++)
			check_value(p, each, json_array_get(list, j), &tally);
	}
	assert_int_equal(tally.n_values, N_VALUES);
	assert_int_equal(tally.n_computed, N_COMPUTABLE);
	assert_int_equal(tally.n_mismatches, COUNT(mismatches));
	print_message("%zu values, %zu computable, %zu of them by the catalog's formulas, %zu "
		      "printed otherwise\n",
		      tally.n_values, tally.n_computed, tally.n_by_catalog, tally.n_mismatches);
	assert_true(tally.n_by_catalog >= 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_from_the_counts),
	};

	if (argc != 2)
		return 2;
	path = argv[1];
	return cmocka_run_group_tests(tests, open_all, close_all);
}
