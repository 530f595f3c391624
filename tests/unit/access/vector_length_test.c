/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of SVE vectors: which there are, and which is assumed where none was recorded. */
#include "access/vector_length.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "spe/packet.h"

static const struct {
	uint32_t bits;
	int rc;
} lengths[] = {
	{ 0, 0 }, /* not given */
	{ 64, -1 }, { 128, 0 },	 { 129, -1 },  { 192, -1 },
	{ 384, 0 }, { 2048, 0 }, { 2176, -1 }, { UINT32_MAX, -1 },
};

static void test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct err err = { .code = ERR_NONE };

		assert_int_equal(vector_length_check(lengths[i].bits, &err), lengths[i].rc);
		if (lengths[i].rc < 0)
			assert_int_equal(err.code, ERR_USAGE);
	}
}

/* What is given goes before what was recorded; nothing is shorter than the shortest. */
static void test_assumed(void **state)
{
	const struct vector_length none = { 0 }, some = { 3, 512 };

	(void)state;
	assert_int_equal(vector_length_bits(&none, 0), 128);
	assert_int_equal(vector_length_bits(&none, 256), 256);
	assert_int_equal(vector_length_bits(&some, 0), 512);
	assert_int_equal(vector_length_bits(&some, 256), 256);
}

/* Loads and stores of SVE say how much of a vector they accessed; others do not. */
static void test_recorded(void **state)
{
	static const struct {
		uint8_t op_class, op;
		uint32_t bits;
	} operations[] = {
		{ SPE_OP_LDST, 0x08, 32 }, { SPE_OP_LDST, 0x28, 128 }, { SPE_OP_LDST, 0x69, 2048 },
		{ SPE_OP_LDST, 0x20, 0 },  { SPE_OP_LDST, 0x2a, 0 },   { SPE_OP_OTHER, 0x28, 0 },
	};
	struct vector_length *longest = vector_length_class.new(NULL, NULL);
	struct vector_length *other = vector_length_class.new(NULL, NULL);
	struct batch *b = batch_new();

	(void)state;
	batch_reset(b, BATCH_SPE);
	for (size_t i = 0; i < COUNT(operations); i++) {
		b->has[i] = HAS_OP;
		b->op_class[i] = operations[i].op_class;
		b->op[i] = operations[i].op;
		assert_int_equal(vector_length_recorded(b, i), operations[i].bits);
	}
	b->n = 2;
	vector_length_class.consume(longest, b);
	b->n = COUNT(operations);
	vector_length_class.consume(other, b);
	assert_int_equal(longest->n, 2);
	assert_int_equal(longest->bits, 128);
	vector_length_class.merge(longest, other, NULL);
	assert_int_equal(longest->n, 5);
	assert_int_equal(longest->bits, 2048);
	batch_free(b);
	vector_length_class.free(longest);
	vector_length_class.free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_assumed),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
