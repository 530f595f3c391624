/* SPDX-License-Identifier: Apache-2.0 */
/* The index in the program is what the reader makes of the same index as a catalog file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "cpu/cpu.h"
#include "cpu/errata.h"
#include "cpu/internal.h"

static const char *json_path;

static void expect_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a != NULL)
		assert_string_equal(a, b);
}

static void expect_encoding(const struct encoding *a, const struct encoding *b)
{
	assert_string_equal(a->id, b->id);
	assert_int_equal(a->n_values, b->n_values);
	assert_int_equal(a->n_by_value, b->n_by_value);
	for (size_t i = 0; i < a->n_values; i++) {
		const struct cpu_source *x = &a->values[i], *y = &b->values[i];

		assert_int_equal(x->value, y->value);
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->level, y->level);
		assert_int_equal(x->is_modified, y->is_modified);
		assert_int_equal(x->spe_parser, y->spe_parser);
		expect_text(x->spe_parser_name, y->spe_parser_name);
	}
	for (size_t i = 0; i < a->n_by_value; i++) {
		const struct cpu_source *x = a->by_value[i], *y = b->by_value[i];

		assert_int_equal(x == NULL, y == NULL);
		if (x != NULL)
			assert_int_equal(x - a->values, y - b->values);
	}
}

static void expect_part(const struct named_part *a, const struct named_part *b)
{
	assert_int_equal(midr_part_word(a->key), midr_part_word(b->key));
	expect_text(a->name, b->name);
}

static void expect_lists(const struct cpu *a, const struct cpu *b)
{
	assert_int_equal(a->n_aliases, b->n_aliases);
	for (size_t i = 0; i < a->n_aliases; i++)
		assert_string_equal(a->aliases[i], b->aliases[i]);
	assert_int_equal(a->n_parts, b->n_parts);
	for (size_t i = 0; i < a->n_parts; i++)
		expect_part(&a->parts[i], &b->parts[i]);
	assert_int_equal(a->n_spe_events, b->n_spe_events);
	for (size_t i = 0; i < a->n_spe_events; i++) {
		assert_int_equal(a->spe_events[i].bit, b->spe_events[i].bit);
		assert_string_equal(a->spe_events[i].name, b->spe_events[i].name);
	}
	assert_int_equal(a->n_errata, b->n_errata);
	for (size_t i = 0; i < a->n_errata; i++) {
		assert_string_equal(a->errata[i].id, b->errata[i].id);
		assert_int_equal(a->errata[i].affects, b->errata[i].affects);
		assert_string_equal(a->errata[i].what, b->errata[i].what);
		expect_text(a->errata[i].fixed_in, b->errata[i].fixed_in);
	}
}

static void expect_cpu(const struct cpu *a, const struct cpu *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->encoding == NULL, b->encoding == NULL);
	if (a->encoding != NULL)
		assert_string_equal(a->encoding->id, b->encoding->id);
	assert_int_equal(a->cache_line, b->cache_line);
	assert_int_equal(a->own_cache_lines, b->own_cache_lines);
	assert_int_equal(a->load_to_use, b->load_to_use);
	assert_int_equal(a->spe_ernd, b->spe_ernd);
	assert_int_equal(a->lacks_spe, b->lacks_spe);
	expect_lists(a, b);
}

/* By their numbers: implementers, makers, thresholds. */
static void expect_others(const struct catalog_index *a, const struct catalog *b)
{
	assert_int_equal(a->n_implementers, b->implementers.n);
	for (size_t i = 0; i < a->n_implementers; i++) {
		const struct implementer *x = &a->implementers[i], *y = &b->implementers.items[i];

		assert_int_equal(x->code, y->code);
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->has_other_pmu, y->has_other_pmu);
	}
	assert_int_equal(a->n_makers, b->makers.n);
	for (size_t i = 0; i < a->n_makers; i++) {
		const struct cpu_maker *x = &a->makers[i], *y = &b->makers.items[i];

		assert_string_equal(x->arch, y->arch);
		assert_string_equal(x->cpuid, y->cpuid);
		assert_string_equal(x->weight, y->weight);
		assert_int_equal(x->n_latency_events, y->n_latency_events);
		for (size_t k = 0; k < x->n_latency_events; k++)
			assert_int_equal(x->latency_events[k], y->latency_events[k]);
	}
	assert_int_equal(a->n_thresholds, b->thresholds.n);
	for (size_t i = 0; i < a->n_thresholds; i++) {
		assert_string_equal(a->thresholds[i].name, b->thresholds.items[i].name);
		assert_true(a->thresholds[i].value == b->thresholds.items[i].value);
	}
}

static void test_same(void **state)
{
	const struct catalog_index *a = &catalog_index;
	struct catalog *b = mem_zalloc(1, sizeof(*b));
	struct mapped file = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(mapped_open(&file, json_path, &err), 0);
	assert_int_equal(catalog_read(b, (const char *)file.bytes, file.size, json_path, &err), 0);
	mapped_release(&file);
	assert_true(a->n_cpus > 60);
	assert_int_equal(a->n_cpus, b->cpus.n);
	for (size_t i = 0; i < a->n_cpus; i++)
		expect_cpu(&a->cpus[i], b->cpus.items[i]);
	assert_int_equal(a->n_encodings, b->encodings.n);
	for (size_t i = 0; i < a->n_encodings; i++)
		expect_encoding(&a->encodings[i], b->encodings.items[i]);
	assert_int_equal(a->n_names, b->names.n);
	for (size_t i = 0; i < a->n_names; i++)
		expect_part(&a->names[i], &b->names.items[i]);
	expect_others(a, b);
	catalog_free(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

	assert_int_equal(argc, 2);
	json_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
