/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of access by their packets, and how many bytes instructions access. */
#include "access/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "spe/packet.h"

static void packets_have_their_kind(void **state)
{
	static const struct {
		uint8_t op_class, op;
		enum memory_kind kind;
	} cases[] = {
		{ SPE_OP_LDST, 0x00, MEMORY_LOAD },   { SPE_OP_LDST, 0x01, MEMORY_STORE },
		{ SPE_OP_LDST, 0x02, MEMORY_LOAD }, /* extended: exclusive, acquire; not atomic */
		{ SPE_OP_LDST, 0x03, MEMORY_STORE },  { SPE_OP_LDST, 0x0a, MEMORY_LOAD },
		{ SPE_OP_LDST, 0x06, MEMORY_ATOMIC }, { SPE_OP_LDST, 0x07, MEMORY_ATOMIC },
		{ SPE_OP_LDST, 0x16, MEMORY_ATOMIC }, { SPE_OP_LDST, 0x1e, MEMORY_ATOMIC },
		{ SPE_OP_LDST, 0x04, MEMORY_LOAD }, /* of vector registers */
		{ SPE_OP_LDST, 0x05, MEMORY_STORE },  { SPE_OP_LDST, 0x10, MEMORY_LOAD },
		{ SPE_OP_BRANCH, 0x00, MEMORY_NONE }, { SPE_OP_BRANCH, 0x16, MEMORY_NONE },
		{ SPE_OP_OTHER, 0x01, MEMORY_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(memory_kind_of(cases[i].op_class, cases[i].op), cases[i].kind);
}

/* Of instructions that grow with the vectors the record knows most, then the user. */
static void vectors_stretch_sizes(void **state)
{
	enum { UNKNOWN, SCALAR, WHOLE, HALF, N_PLACES };
	uint32_t bytes[N_PLACES] = { 0, 8, 16, 8 };
	bool is_scalable[N_PLACES] = { false, false, true, true };
	static const struct {
		uint64_t place;
		uint32_t said_bits, given_bits, expected;
	} cases[] = {
		{ UNKNOWN, 0, 128, 0 }, { N_PLACES, 0, 128, 0 }, { UINT64_MAX, 256, 128, 0 },
		{ SCALAR, 0, 256, 8 },	{ SCALAR, 256, 256, 8 }, { WHOLE, 0, 128, 16 },
		{ WHOLE, 0, 512, 64 },	{ WHOLE, 256, 128, 32 }, { WHOLE, 2048, 128, 256 },
		{ WHOLE, 64, 256, 32 }, /* no vector is so short: it says something else */
		{ HALF, 0, 256, 16 },	{ HALF, 256, 128, 16 },	 { HALF, 64, 512, 8 },
		{ HALF, 32, 512, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct access_sizes sizes = {
			.bytes = bytes,
			.is_scalable = is_scalable,
			.n = N_PLACES,
			.vector_bits = cases[i].given_bits,
		};

		print_message("%zu\n", i);
		assert_int_equal(access_sizes_bytes(&sizes, cases[i].place, cases[i].said_bits),
				 cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_have_their_kind),
		cmocka_unit_test(vectors_stretch_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
