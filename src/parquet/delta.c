/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/delta.h"

#include "parquet/bits.h"
#include "parquet/thrift.h"

enum {
	BLOCK_VALUES = 128,
	N_MINIBLOCKS = 4, /* of a block */
	MINIBLOCK_VALUES = BLOCK_VALUES / N_MINIBLOCKS,
	SAMPLE_BLOCKS = 32,
};

/*
 * `n` values behind the first one; 1 ≤ n ≤ BLOCK_VALUES. Miniblocks without values have no bytes; one with some is
 * filled up with zeros.
 */
static void put_block(struct text *out, const uint64_t *values, size_t n, bool is_narrow)
{
	unsigned spare = is_narrow ? 32 : 0; /* bits above those of a difference */
	uint64_t differences[BLOCK_VALUES];
	unsigned widths[N_MINIBLOCKS] = { 0 };
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t difference = (int64_t)((values[i + 1] - values[i]) << spare) >> spare;

		least = difference < least ? difference : least;
		differences[i] = (uint64_t)difference;
	}
	for (size_t first = 0, end; first < n; first = end) {
		uint64_t all = 0; /* bits that are set in a value */

		end = n - first < MINIBLOCK_VALUES ? n : first + MINIBLOCK_VALUES;
		for (size_t i = first; i < end; i++) {
			differences[i] = (differences[i] - (uint64_t)least) << spare >> spare;
			all |= differences[i];
		}
		widths[first / MINIBLOCK_VALUES] = bits_of(all);
		for (size_t i = end; i < first + MINIBLOCK_VALUES; i++)
			differences[i] = 0;
	}
	zigzag_put(out, least);
	for (size_t i = 0; i < N_MINIBLOCKS; i++)
		text_char(out, (char)widths[i]);
	for (size_t i = 0; i * MINIBLOCK_VALUES < n; i++)
		bits_pack(out, differences + i * MINIBLOCK_VALUES, MINIBLOCK_VALUES, widths[i]);
}

/* A block of the values behind the one with number `before`. */
static void load_and_put_block(struct text *out, const struct numbers *v, size_t before, size_t n,
			       bool is_narrow)
{
	uint64_t room[BLOCK_VALUES + 1];

	put_block(out, numbers_load(v, before, n + 1, room), n, is_narrow);
}

void delta_put(struct text *out, const struct numbers *v, size_t first, size_t n, bool is_narrow)
{
	uint64_t room, value = n > 0 ? *numbers_load(v, first, 1, &room) : 0;

	varint_put(out, BLOCK_VALUES);
	varint_put(out, N_MINIBLOCKS);
	varint_put(out, n);
	zigzag_put(out, is_narrow ? (int32_t)value : (int64_t)value);
	for (size_t i = 1; i < n; i += BLOCK_VALUES)
		load_and_put_block(out, v, first + i - 1,
				   n - i < BLOCK_VALUES ? n - i : BLOCK_VALUES, is_narrow);
}

size_t delta_estimate(const struct numbers *v, bool is_narrow, struct text *scratch)
{
	size_t n_blocks = (v->n + BLOCK_VALUES - 1) / BLOCK_VALUES, step = n_blocks / SAMPLE_BLOCKS;

	text_reset(scratch);
	if (step <= 1) {
		delta_put(scratch, v, 0, v->n, is_narrow);
		return scratch->n;
	}
	for (size_t i = 0; i < SAMPLE_BLOCKS; i++)
		load_and_put_block(scratch, v, i * step * BLOCK_VALUES, BLOCK_VALUES - 1,
				   is_narrow);
	return scratch->n * n_blocks / SAMPLE_BLOCKS;
}
