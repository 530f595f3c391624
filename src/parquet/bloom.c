/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/bloom.h"

#include <string.h>

#include "parquet/thrift.h"

enum {
	WORDS = 8, /* of a block, each of 32 bits; a value sets one bit in each */
	BLOCK_BYTES = WORDS * 4,
	VALUES_A_BLOCK = 24, /* 10.7 bits for a value: about 1 in 100 finds what is not there */
	MAX_BLOCKS = 1 << 15,
};

/* The bit of a word is in the upper five bits of the hash times this. */
static const uint32_t salts[WORDS] = {
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
	0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

static void put_header(struct text *out, size_t size)
{
	struct thrift t = thrift_begin(out);

	thrift_int(&t, 1, (int32_t)size);
	for (int field = 2; field <= 4;
	     field++) { /* block, XXH64, uncompressed: each the first of its kind */
		thrift_struct(&t, field);
		thrift_struct(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
}

size_t bloom_begin(struct text *out, size_t n_distinct)
{
	size_t n_blocks = 1;
	size_t first;

	while (n_blocks * VALUES_A_BLOCK < n_distinct && n_blocks < MAX_BLOCKS)
		n_blocks *= 2;
	put_header(out, n_blocks * BLOCK_BYTES);
	first = out->n;
	text_repeat(out, 0, n_blocks * BLOCK_BYTES);
	return first;
}

void bloom_add(struct text *filter, size_t first, uint64_t hash)
{
	uint64_t n_blocks = (filter->n - first) / BLOCK_BYTES;
	char *block =
		filter->bytes + first + (hash >> 32) * n_blocks / (UINT64_C(1) << 32) * BLOCK_BYTES;

	for (size_t i = 0; i < WORDS; i++) {
		uint32_t word;

		memcpy(&word, block + 4 * i, sizeof(word));
		word |= 1u << ((uint32_t)hash * salts[i] >> 27);
		memcpy(block + 4 * i, &word, sizeof(word));
	}
}
