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

/* The differences of `n` values behind the first one to the values before them, in 64 or 32 bits. */
static void subtract(const uint64_t *values, size_t n, bool is_narrow, int64_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int64_t)(values[i + 1] - values[i]);
	for (size_t i = 0; i < n && is_narrow; i++)
		out[i] = (int32_t)out[i];
}

static int64_t least_of(const int64_t *values, size_t n)
{
	int64_t least = values[0];

	for (size_t i = 1; i < n; i++)
		least = values[i] < least ? values[i] : least;
	return least;
}

/* `n` values behind the first one; 1 ≤ n ≤ BLOCK_VALUES. Miniblocks without values have no bytes. */
static void put_block(struct text *out, const uint64_t *values, size_t n, bool is_narrow)
{
	int64_t differences[BLOCK_VALUES];
	uint64_t packed[BLOCK_VALUES] = { 0 };
	uint64_t mask = is_narrow ? UINT32_MAX : UINT64_MAX;
	uint64_t all[N_MINIBLOCKS] = { 0 }; /* bits that are set in a value */
	int64_t least;

	subtract(values, n, is_narrow, differences);
	least = least_of(differences, n);
	zigzag_put(out, least);
	for (size_t i = 0; i < n; i++) {
		packed[i] = ((uint64_t)differences[i] - (uint64_t)least) & mask;
		all[i / MINIBLOCK_VALUES] |= packed[i];
	}
	for (size_t i = 0; i < N_MINIBLOCKS; i++)
		text_char(out, (char)bits_of(all[i]));
	for (size_t i = 0; i * MINIBLOCK_VALUES < n; i++)
		bits_pack(out, packed + i * MINIBLOCK_VALUES, MINIBLOCK_VALUES, bits_of(all[i]));
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
