/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up records keep what their options promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "spe/generate.h"
#include "spe/names.h"

enum { N_RECORDS = 20000 };

static bool is_in(struct spe_region region, uint64_t address)
{
	return address - region.start < region.size;
}

static void check_record(const struct spe_record *r, const struct spe_generate_options *o)
{
	bool is_kernel = r->pc_level > 0;
	struct spe_op op = spe_op_of(r->op_class, r->op);

	assert_true(r->has & HAS_PC && r->has & HAS_OP && r->has & HAS_EVENTS);
	assert_true(is_in(is_kernel ? o->kernel_text : o->user_text, r->pc));
	assert_int_equal(r->pc % 4, 0);
	assert_int_equal(r->pc_level, is_kernel ? o->kernel_level : 0);
	assert_int_equal((r->has & HAS_CONTEXT) != 0, o->with_context);
	if (o->with_context)
		assert_in_range(r->context, o->first_context, o->first_context + o->n_contexts - 1);
	assert_int_equal((r->has & HAS_TICKS) != 0, o->with_ticks);
	assert_int_equal((r->has & HAS_VA) != 0, op.is_load || op.is_store);
	assert_int_equal((r->has & HAS_PA) != 0, (r->has & HAS_VA) != 0 && o->with_pa);
	assert_int_equal((r->has & HAS_TARGET) != 0, op.is_branch);
	assert_int_equal((r->has & HAS_SOURCE) != 0, op.is_load);
	assert_true(r->total <= o->saturation && r->issue <= r->total);
}

static void test_options(void **state)
{
	struct spe_generate_options options[3] = { spe_generate_defaults, spe_generate_defaults,
						   spe_generate_defaults };

	(void)state;
	options[1].with_context = options[1].with_pa = options[1].with_ticks = false;
	options[1].kernel_level = 1;
	options[2].with_newer_ops = options[2].with_prev_target = options[2].with_tags = true;
	options[2].saturation = 65535;
	for (size_t i = 0; i < 3; i++) {
		struct spe_generator g;
		uint64_t ticks = 0;
		unsigned n_saturated = 0, n_kernel = 0;

		spe_generator_init(&g, &options[i]);
		for (unsigned k = 0; k < N_RECORDS; k++) {
			struct spe_record r;

			spe_generator_next(&g, &r);
			check_record(&r, &options[i]);
			assert_true(r.ticks >= ticks);
			ticks = r.ticks;
			n_saturated += r.total == options[i].saturation;
			n_kernel += r.pc_level > 0;
		}
		assert_in_range(n_saturated, 1, N_RECORDS / 100);
		assert_in_range(n_kernel, N_RECORDS / 10, N_RECORDS / 5);
	}
}

static void test_same_seed_same_records(void **state)
{
	struct spe_generate_options options = spe_generate_defaults;
	struct spe_generator a, b, c;
	unsigned n_different = 0;

	(void)state;
	spe_generator_init(&a, &options);
	spe_generator_init(&b, &options);
	options.seed++;
	spe_generator_init(&c, &options);
	for (unsigned i = 0; i < 1000; i++) {
		struct spe_record ra, rb, rc;
		uint8_t bytes[3][SPE_RECORD_MAX];

		spe_generator_next(&a, &ra);
		spe_generator_next(&b, &rb);
		spe_generator_next(&c, &rc);
		assert_int_equal(spe_encode(&ra, &spe_layout_n1, bytes[0]), 64);
		assert_int_equal(spe_encode(&rb, &spe_layout_n1, bytes[1]), 64);
		assert_int_equal(spe_encode(&rc, &spe_layout_n1, bytes[2]), 64);
		assert_memory_equal(bytes[0], bytes[1], 64);
		n_different += memcmp(bytes[0], bytes[2], 64) != 0;
	}
	assert_in_range(n_different, 990, 1000);
}

/* The generator is the same on every machine: these are the published numbers of splitmix64. */
static void test_random(void **state)
{
	struct spe_random r = { 1234567 };

	(void)state;
	assert_int_equal(spe_random_next(&r), 6457827717110365317u);
	assert_int_equal(spe_random_next(&r), 3203168211198807973u);
	assert_int_equal(spe_random_next(&r), 9817491932198370423u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_same_seed_same_records),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
