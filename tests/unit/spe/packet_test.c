/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, payloads and lengths of packets, whole and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "hex.h"
#include "spe/encode.h"
#include "spe/packet.h"

static const struct {
	const char *hex;
	struct spe_packet packet;
} packets[] = {
	{ "00", { SPE_PAD, .length = 1 } },
	{ "01", { SPE_END, .length = 1 } },
	{ "71 01 02 03 04 05 06 07 88",
	  { SPE_TIMESTAMP, .size = 8, .length = 9, .payload = 0x8807060504030201 } },
	{ "42 16", { SPE_EVENTS, .size = 1, .length = 2, .payload = 0x16 } },
	{ "52 16 80", { SPE_EVENTS, .size = 2, .length = 3, .payload = 0x8016 } },
	{ "62 16 00 00 80", { SPE_EVENTS, .size = 4, .length = 5, .payload = 0x80000016 } },
	{ "72 16 00 00 00 00 00 00 80",
	  { SPE_EVENTS, .size = 8, .length = 9, .payload = 0x8000000000000016 } },
	{ "43 0d", { SPE_SOURCE, .size = 1, .length = 2, .payload = 13 } },
	{ "53 0d 01", { SPE_SOURCE, .size = 2, .length = 3, .payload = 0x10d } },
	{ "63 0d 00 00 01", { SPE_SOURCE, .size = 4, .length = 5, .payload = 0x100000d } },
	{ "73 0d 00 00 00 00 00 00 01",
	  { SPE_SOURCE, .size = 8, .length = 9, .payload = 0x010000000000000d } },
	{ "64 d2 04 00 00", { SPE_CONTEXT, 0, .size = 4, .length = 5, .payload = 1234 } },
	{ "67 d2 04 00 80", { SPE_CONTEXT, 3, .size = 4, .length = 5, .payload = 0x800004d2 } },
	{ "48 01", { SPE_OP, SPE_OP_OTHER, .size = 1, .length = 2, .payload = 1 } },
	{ "4b ff", { SPE_OP, SPE_OP_RESERVED, .size = 1, .length = 2, .payload = 0xff } },
	{ "b0 01 00 00 00 00 00 00 c0",
	  { SPE_ADDRESS, SPE_ADDR_PC, .size = 8, .length = 9, .payload = 0xc000000000000001 } },
	{ "b7 01 00 00 00 00 00 00 00", { SPE_ADDRESS, 7, .size = 8, .length = 9, .payload = 1 } },
	{ "98 0c 01", { SPE_COUNTER, SPE_COUNT_TOTAL, .size = 2, .length = 3, .payload = 0x10c } },
	{ "9f ff ff", { SPE_COUNTER, 7, .size = 2, .length = 3, .payload = 0xffff } },
	/* Extended headers. */
	{ "20 b0 01 00 00 00 00 00 00 80",
	  { SPE_ADDRESS, 0, .size = 8, .length = 10, .payload = 0x8000000000000001 } },
	{ "23 b7 01 00 00 00 00 00 00 00",
	  { SPE_ADDRESS, 31, .size = 8, .length = 10, .payload = 1 } },
	{ "20 98 07 00", { SPE_COUNTER, 0, .size = 2, .length = 4, .payload = 7 } },
	{ "22 9a 07 00", { SPE_COUNTER, 18, .size = 2, .length = 4, .payload = 7 } },
};

static void check_same(const struct spe_packet *a, const struct spe_packet *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->is_cut, b->is_cut);
	assert_int_equal(a->payload, b->payload);
}

static void test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++) {
		uint8_t bytes[32];
		size_t n = hex_bytes(packets[i].hex, bytes, sizeof(bytes));
		struct spe_packet p = spe_packet_read(bytes, n, 0);

		assert_int_equal(packets[i].packet.length, n);
		check_same(&p, &packets[i].packet);
	}
}

/* With less than all its bytes a packet is cut; bytes behind it change nothing. */
static void test_read_at_each_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++) {
		uint8_t bytes[32];
		size_t n = hex_bytes(packets[i].hex, bytes, sizeof(bytes));
		struct spe_packet p;

		for (size_t left = 1; left < n; left++) {
			uint8_t *copy = mem_alloc(left, 1); /* its own, for address sanitizers */

			memcpy(copy, bytes, left);
			p = spe_packet_read(copy, left, 0);
			check_same(&p,
				   &(struct spe_packet){ SPE_BAD, .length = 1, .is_cut = true });
			free(copy);
		}
		memset(bytes + n, 0xb0, sizeof(bytes) - n);
		p = spe_packet_read(bytes, sizeof(bytes), 0);
		check_same(&p, &packets[i].packet);
	}
}

static void test_write_gives_the_bytes_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++) {
		uint8_t bytes[32], written[SPE_PACKET_MAX], short_form[SPE_PACKET_MAX];
		size_t n = hex_bytes(packets[i].hex, bytes, sizeof(bytes));
		bool is_needlessly_long = bytes[0] == 0x20;
		const uint8_t *wanted = bytes;

		if (is_needlessly_long) {
			memcpy(short_form, bytes + 1, --n);
			wanted = short_form;
		}
		assert_int_equal(spe_packet_write(&packets[i].packet, written), n);
		assert_memory_equal(written, wanted, n);
	}
}

/* Every first and second byte: what is no header is one bad byte, whatever follows. */
static void test_headers(void **state)
{
	static const char valid[] = "00 01 42 43 48 49 4a 4b 52 53 62 63 64 65 66 67 71 72 73 "
				    "98 99 9a 9b 9c 9d 9e 9f b0 b1 b2 b3 b4 b5 b6 b7";
	uint8_t headers[64];
	size_t n_headers = hex_bytes(valid, headers, sizeof(headers));
	bool is_header[256] = { false };

	(void)state;
	for (size_t i = 0; i < n_headers; i++)
		is_header[headers[i]] = true;
	for (unsigned first = 0; first < 256; first++) {
		for (unsigned second = 0; second < 256; second++) {
			uint8_t bytes[32] = { (uint8_t)first, (uint8_t)second };
			struct spe_packet p = spe_packet_read(bytes, sizeof(bytes), 0);
			bool is_extended = first >= 0x20 && first <= 0x23;
			bool extends = second == 0 || (second >= 0x98 && second <= 0x9f) ||
				       (second >= 0xb0 && second <= 0xb7);

			assert_int_equal(p.kind != SPE_BAD,
					 is_extended ? extends : is_header[first]);
			if (p.kind == SPE_BAD)
				check_same(&p, &(struct spe_packet){ SPE_BAD, .length = 1 });
		}
	}
}

static void test_alignment(void **state)
{
	static const struct {
		uint8_t header;
		uint64_t address;
		size_t left;
		uint8_t length; /* 0: cut */
	} cases[] = {
		{ 0x20, 0, 2, 2 },	 { 0x20, 1, 2, 1 },   { 0x20, 1, 1, 0 },
		{ 0x21, 0, 4, 4 },	 { 0x21, 5, 4, 3 },   { 0x21, 7, 4, 1 },
		{ 0x21, 7, 3, 0 },	 { 0x22, 8, 9, 8 },   { 0x22, 15, 8, 1 },
		{ 0x22, 15, 7, 0 },	 { 0x23, 0, 16, 16 }, { 0x23, 0, 15, 0 },
		{ 0x23, 0x1009, 32, 7 },
	};
	uint8_t bytes[32] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spe_packet p;

		bytes[0] = cases[i].header;
		p = spe_packet_read(bytes, cases[i].left, cases[i].address);
		assert_int_equal(p.is_cut, cases[i].length == 0);
		assert_int_equal(p.kind, p.is_cut ? SPE_BAD : SPE_ALIGNMENT);
		assert_int_equal(p.length, p.is_cut ? 1 : cases[i].length);
	}
}

/* At every first and second byte, with every number of bytes left, as the whole packet is read. */
static void test_length(void **state)
{
	(void)state;
	for (unsigned headers = 0; headers < 256 * 256; headers++) {
		uint8_t bytes[SPE_PACKET_MAX + 8] = { (uint8_t)headers, (uint8_t)(headers >> 8) };

		for (size_t left = 1; left <= sizeof(bytes); left++) {
			uint64_t address = headers % 16;
			struct spe_packet p = spe_packet_read(bytes, left, address);
			enum spe_kind kind;

			assert_int_equal(spe_packet_length(bytes, left, address, &kind), p.length);
			assert_int_equal(kind, p.kind);
		}
	}
}

static void test_write_alignment(void **state)
{
	uint8_t bytes[SPE_PACKET_MAX];
	struct spe_packet p = { .kind = SPE_ALIGNMENT, .index = 2 };

	(void)state;
	assert_int_equal(spe_packet_write(&p, bytes), 2);
	assert_int_equal(bytes[0], 0x22);
	assert_int_equal(bytes[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_at_each_length),
		cmocka_unit_test(test_write_gives_the_bytes_read),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_write_alignment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
