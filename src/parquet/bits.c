/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/bits.h"

#include <assert.h>
#include <string.h>

#include "parquet/thrift.h"

enum {
	GROUP = 8, /* packed values come in groups of so many */
	MAX_GROUP_WIDTH = 16,
	GROUP_ROOM = GROUP * MAX_GROUP_WIDTH / 8,
	MIN_FLAG_GROUPS = 4, /* of a run of flags: shorter ones take less space packed */
};

/* Four values of at most 16 bits, side by side. */
#define QUAD(values, width)                                                                        \
	((uint64_t)(values)[0] | (uint64_t)(values)[1] << (width) |                                \
	 (uint64_t)(values)[2] << 2 * (width) | (uint64_t)(values)[3] << 3 * (width))

/*
 * A group of values of at most 16 bits takes as many bytes as they have bits; up to GROUP_ROOM are written. Four values
 * of an odd width end within a byte: its lower half is written again with the other four.
 */
#define PACK_GROUPS(at, values, n_groups, width)                                                   \
	for (size_t group = 0; group < (n_groups); group++) {                                      \
		unsigned whole_bytes = (width) / 2, half = (width)&1;                              \
		uint64_t low = QUAD((values) + group * GROUP, width);                              \
		uint64_t high = QUAD((values) + group * GROUP + 4, width) << 4 * half |            \
				(low >> (8 * whole_bytes & 63) & 0xf * half);                      \
                                                                                                   \
		memcpy((at) + group * (width), &low, sizeof(low));                                 \
		memcpy((at) + group * (width) + whole_bytes, &high, sizeof(high));                 \
	}

static void pack_wide(char *at, const uint64_t *values, size_t n, unsigned width)
{
	uint64_t word = 0;
	unsigned filled = 0; /* bits of the word, below 64 */

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
}

void bits_pack(struct text *out, const uint64_t *values, size_t n, unsigned width)
{
	size_t size = (n * width + 7) / 8;
	size_t n_groups = width <= MAX_GROUP_WIDTH ? n / GROUP : 0;
	char *at = text_room(out, size + GROUP_ROOM);

	assert(width <= 64);
	if (size == 0)
		return;
	PACK_GROUPS(at, values, n_groups, width)
	pack_wide(at + n_groups * width, values + n_groups * GROUP, n - n_groups * GROUP, width);
	out->n += size;
}

void bits_put_run(struct text *out, uint64_t value, size_t n, unsigned width)
{
	varint_put(out, (uint64_t)n << 1);
	text_add(out, (const char *)&value, (width + 7) / 8);
}

/* Values in whole groups; only the last group of all may be filled up. */
static void put_packed(struct text *out, const uint16_t *values, size_t n, unsigned width)
{
	size_t n_groups = (n + GROUP - 1) / GROUP, n_whole = n / GROUP;
	char *at;

	if (n == 0)
		return;
	varint_put(out, n_groups << 1 | 1);
	at = text_room(out, n_groups * width + GROUP_ROOM);
	PACK_GROUPS(at, values, n_whole, width)
	if (n_whole < n_groups) {
		uint16_t last[GROUP] = { 0 };

		memcpy(last, values + n_whole * GROUP, (n - n_whole * GROUP) * sizeof(*last));
		at += n_whole * width;
		PACK_GROUPS(at, last, 1, width)
	}
	out->n += n_groups * width;
}

/* How many values from the first on are equal, if those of a group are; else 0. */
static size_t run_length(const uint16_t *values, size_t n)
{
	uint64_t first, wanted;
	size_t i = 0;

	if (n < GROUP)
		return 0;
	memcpy(&first, values, sizeof(first));
	wanted = (first & UINT16_MAX) * 0x0001000100010001u;
	if (first != wanted)
		return 0;
	for (uint64_t four; n - i >= 4; i += 4) {
		memcpy(&four, &values[i], sizeof(four));
		if (four != wanted)
			break;
	}
	if (i < GROUP)
		return 0;
	while (i < n && values[i] == values[0])
		i++;
	return i;
}

void bits_put_runs(struct text *out, const uint16_t *values, size_t n, unsigned width)
{
	size_t first = 0; /* of the values to be packed */
	size_t i = 0;

	assert(width <= MAX_GROUP_WIDTH);
	while (i < n) {
		size_t run = run_length(values + i, n - i);

		if (run == 0) {
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

static uint64_t load_flags(const char *flags)
{
	uint64_t group;

	memcpy(&group, flags, sizeof(group));
	return group;
}

/* The lowest bit of each of eight bytes, side by side. */
static char pack_flags(uint64_t group)
{
	return (char)(group * 0x0102040810204080u >> 56);
}

void bits_pack_flags(struct text *out, const char *flags, size_t n)
{
	size_t n_groups = (n + GROUP - 1) / GROUP, n_whole = n / GROUP;
	char *at = text_room(out, n_groups);

	for (size_t i = 0; i < n_whole; i++)
		at[i] = pack_flags(load_flags(flags + i * GROUP));
	if (n_whole < n_groups) {
		char last[GROUP] = { 0 };

		memcpy(last, flags + n_whole * GROUP, n - n_whole * GROUP);
		at[n_whole] = pack_flags(load_flags(last));
	}
	out->n += n_groups;
}

static void put_packed_flags(struct text *out, const char *flags, size_t n)
{
	if (n == 0)
		return;
	varint_put(out, (n + GROUP - 1) / GROUP << 1 | 1);
	bits_pack_flags(out, flags, n);
}

/* How many groups from the first on have equal flags, all of them; 0: the first has different ones. */
static size_t equal_groups(const char *flags, size_t n_groups)
{
	uint64_t group = load_flags(flags);
	size_t n = 1;

	if (group != 0 && group != 0x0101010101010101u)
		return 0;
	while (n < n_groups && load_flags(flags + n * GROUP) == group)
		n++;
	return n;
}

void bits_put_flags(struct text *out, const char *flags, size_t n)
{
	size_t first = 0; /* of the flags to be packed */
	size_t i = 0;

	while (n - i >= GROUP) {
		size_t n_equal = equal_groups(flags + i, (n - i) / GROUP);
		size_t next = i + (n_equal > 0 ? n_equal : 1) * GROUP;

		if (n_equal >= MIN_FLAG_GROUPS) {
			while (next < n && flags[next] == flags[i])
				next++;
			put_packed_flags(out, flags + first, i - first);
			bits_put_run(out, (uint8_t)flags[i], next - i, 1);
			first = next;
		}
		i = next;
	}
	put_packed_flags(out, flags + first, n - first);
}

size_t count_flags(const char *flags, size_t n)
{
	size_t sum = 0, i = 0;

	for (uint64_t eight; n - i >= sizeof(eight); i += sizeof(eight)) {
		memcpy(&eight, flags + i, sizeof(eight));
		sum += eight * 0x0101010101010101u >> 56;
	}
	for (; i < n; i++)
		sum += (size_t)flags[i];
	return sum;
}
