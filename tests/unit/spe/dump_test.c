/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and columns of dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "hex.h"
#include "spe/packet.h"

static const struct {
	const char *hex;
	uint64_t address;
	const char *wanted;
} dumps[] = {
	{ "", 0, "" },
	{ "b0 d0 c2 a1 ed 66 ba ff c0 99 07 00", 0,
	  ".  00000000:  b0 d0 c2 a1 ed 66 ba ff c0                      PC 0xffba66eda1c2d0 el2 "
	  "ns=1\n"
	  ".  00000009:  99 07 00                                        LAT 7 ISSUE\n" },
	/* Padding shares lines of sixteen. */
	{ "00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", 0,
	  ".  00000000:  00                                              PAD\n"
	  ".  00000001:  01                                              END\n"
	  ".  00000002:  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 PAD\n"
	  ".  00000012:  00                                              PAD\n" },
	/* An alignment packet fills up and takes in padding; where it fills to, depends on the address. */
	{ "21 00 00 00 00 00 01", 0,
	  ".  00000000:  21 00 00 00 00 00                               PAD\n"
	  ".  00000006:  01                                              END\n" },
	{ "21 00 01 01", 3,
	  ".  00000000:  21 00                                           PAD\n"
	  ".  00000002:  01                                              END\n"
	  ".  00000003:  01                                              END\n" },
	{ "21 00 01 01", 1,
	  ".  00000000:  21 00 01                                        PAD\n"
	  ".  00000003:  01                                              END\n" },
	{ "23 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 00", 0,
	  ".  00000000:  23 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e PAD\n"
	  ".  00000010:  00                                              PAD\n" },
	/* Bytes that are no packet, and a packet without its end: byte by byte. */
	{ "02 ff 99 07", 0,
	  ".  00000000:  02                                              Bad packet!\n"
	  ".  00000001:  ff                                              Bad packet!\n"
	  ".  00000002:  99                                              Bad packet!\n"
	  ".  00000003:  07                                              Bad packet!\n" },
};

static void test_dump(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(dumps); i++) {
		uint8_t bytes[64];
		size_t n = hex_bytes(dumps[i].hex, bytes, sizeof(bytes));
		struct text text = { 0 };

		spe_dump(bytes, n, dumps[i].address, SPE_WORDING_FULL, NULL, &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, dumps[i].wanted);
		text_release(&text);
	}
}

/* The pieces of a dump are the dump, and each call gets on. */
static void test_pieces(void **state)
{
	uint8_t bytes[300];
	struct text whole = { 0 }, pieces = { 0 };
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + i / 7);
	spe_dump(bytes, sizeof(bytes), 0, SPE_WORDING_FULL, NULL, &whole);
	while (at < sizeof(bytes)) {
		size_t next = spe_dump_some(bytes, sizeof(bytes), 0, at, 1, SPE_WORDING_FULL, NULL,
					    &pieces);

		assert_true(next > at);
		at = next;
	}
	assert_int_equal(at, sizeof(bytes));
	assert_int_equal(whole.n, pieces.n);
	assert_memory_equal(whole.bytes, pieces.bytes, whole.n);
	text_release(&whole);
	text_release(&pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
