/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/numbers.h"

#include <assert.h>
#include <string.h>

/* Widens values of 1, 2 or 4 bytes. */
#define WIDEN(type)                                                                                \
	do {                                                                                       \
		for (size_t i = 0; i < n; i++) {                                                   \
			type value;                                                                \
                                                                                                   \
			memcpy(&value, at + i * sizeof(value), sizeof(value));                     \
			out[i] = (uint64_t)value;                                                  \
		}                                                                                  \
	} while (0)

static void widen_signed(const char *at, unsigned width, size_t n, uint64_t *out)
{
	if (width == 1)
		WIDEN(int8_t);
	else if (width == 2)
		WIDEN(int16_t);
	else
		WIDEN(int32_t);
}

static void widen_unsigned(const char *at, unsigned width, size_t n, uint64_t *out)
{
	if (width == 1)
		WIDEN(uint8_t);
	else if (width == 2)
		WIDEN(uint16_t);
	else
		WIDEN(uint32_t);
}

const uint64_t *numbers_load(const struct numbers *v, size_t first, size_t n, uint64_t *room)
{
	const char *at = v->at + first * v->width;

	assert(first + n <= v->n);
	if (v->width == sizeof(*room))
		return (const uint64_t *)(const void *)at;
	if (v->is_signed)
		widen_signed(at, v->width, n, room);
	else
		widen_unsigned(at, v->width, n, room);
	return room;
}

/* Eight bytes at a time, of which the parts of a width are then put together. */
void numbers_survey(const struct numbers *v, uint64_t *out_any, uint64_t *out_all)
{
	size_t size = v->n * v->width, i = 0;
	uint64_t any = 0, all = UINT64_MAX, last = 0;

	assert(v->n > 0);
	for (uint64_t word; size - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, v->at + i, sizeof(word));
		any |= word;
		all &= word;
	}
	for (; i < size; i += v->width) {
		memcpy(&last, v->at + i, v->width);
		any |= last;
		all &= last | (v->width < sizeof(last) ? UINT64_MAX << 8 * v->width : 0);
	}
	for (unsigned width = sizeof(last) / 2; width >= v->width; width /= 2) {
		any |= any >> 8 * width;
		all &= all >> 8 * width;
	}
	last = v->width < sizeof(last) ? (UINT64_C(1) << 8 * v->width) - 1 : UINT64_MAX;
	*out_any = any & last;
	*out_all = all & last;
}
