/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/bits.h"

#include <assert.h>
#include <string.h>

#include "parquet/thrift.h"

enum {
	GROUP = 8, /* packed values come in groups of so many */
	MIN_RUN = 8,
};

void bits_pack(struct text *out, const uint64_t *values, size_t n, unsigned width)
{
	size_t size = (n * width + 7) / 8;
	char *at = text_room(out, size + sizeof(uint64_t));
	uint64_t word = 0;
	unsigned filled = 0; /* bits of the word, below 64 */

	if (width == 0)
		return;
	assert(width <= 64);
	for (size_t i = 0; i < n; i++) {
		word |= values[i] << filled;
		filled += width;
		if (filled < 64)
			continue;
		memcpy(at, &word, sizeof(word));
		at += sizeof(word);
		filled -= 64;
		word = filled > 0 ? values[i] >> (width - filled) : 0;
	}
	memcpy(at, &word, sizeof(word)); /* there is room for all of it */
	out->n += size;
}

void bits_put_run(struct text *out, uint64_t value, size_t n, unsigned width)
{
	varint_put(out, (uint64_t)n << 1);
	text_add(out, (const char *)&value, (width + 7) / 8);
}

/* Values in whole groups; only the last group of all may be filled up. */
static void put_packed(struct text *out, const uint64_t *values, size_t n, unsigned width)
{
	size_t n_groups = (n + GROUP - 1) / GROUP;
	size_t n_whole = n / GROUP * GROUP;

	if (n == 0)
		return;
	varint_put(out, n_groups << 1 | 1);
	bits_pack(out, values, n_whole, width);
	if (n_whole < n) {
		uint64_t last[GROUP] = { 0 };

		memcpy(last, values + n_whole, (n - n_whole) * sizeof(*last));
		bits_pack(out, last, GROUP, width);
	}
}

static size_t run_length(const uint64_t *values, size_t n)
{
	size_t i = 1;

	while (i < n && values[i] == values[0])
		i++;
	return i;
}

void bits_put_runs(struct text *out, const uint64_t *values, size_t n, unsigned width)
{
	size_t first = 0; /* of the values to be packed */
	size_t i = 0;

	while (i < n) {
		size_t run = run_length(values + i, n - i);

		if (run < MIN_RUN) {
			i += GROUP;
			continue;
		}
		put_packed(out, values + first, i - first, width);
		bits_put_run(out, values[i], run, width);
		i += run;
		first = i;
	}
	put_packed(out, values + first, n - first, width);
}
