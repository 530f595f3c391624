/* SPDX-License-Identifier: Apache-2.0 */
/* Appends little-endian values to a buffer: the counterpart of base/cursor.h. */
#ifndef CYCLOPS_CAPTURE_WRITER_EMIT_H
#define CYCLOPS_CAPTURE_WRITER_EMIT_H

#include <stdint.h>
#include <string.h>

#include "base/text.h"

static inline void store_u16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *at, uint32_t value)
{
	store_u16(at, (uint16_t)value);
	store_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void store_u64(uint8_t *at, uint64_t value)
{
	store_u32(at, (uint32_t)value);
	store_u32(at + 4, (uint32_t)(value >> 32));
}

static inline void emit_bytes(struct text *out, const void *bytes, size_t size)
{
	if (size > 0)
		text_add(out, bytes, size);
}

static inline void emit_u16(struct text *out, uint16_t value)
{
	uint8_t bytes[2];

	store_u16(bytes, value);
	text_add(out, (const char *)bytes, sizeof(bytes));
}

static inline void emit_u32(struct text *out, uint32_t value)
{
	uint8_t bytes[4];

	store_u32(bytes, value);
	text_add(out, (const char *)bytes, sizeof(bytes));
}

static inline void emit_u64(struct text *out, uint64_t value)
{
	uint8_t bytes[8];

	store_u64(bytes, value);
	text_add(out, (const char *)bytes, sizeof(bytes));
}

static inline void emit_zeros(struct text *out, size_t n)
{
	if (n > 0)
		text_repeat(out, '\0', n);
}

/* Zeros up to the next multiple of `step` bytes. */
static inline void emit_padding(struct text *out, size_t step)
{
	emit_zeros(out, (step - out->n % step) % step);
}

/* The text with its NUL, padded to a multiple of `step` bytes. */
static inline void emit_padded_text(struct text *out, const char *text, size_t step)
{
	size_t size = strlen(text) + 1;

	emit_bytes(out, text, size);
	emit_zeros(out, (step - size % step) % step);
}

/* A string of a header feature: its length, rounded up to 64 as in perf, then its bytes. */
static inline void emit_string(struct text *out, const char *text)
{
	size_t size = strlen(text) + 1;

	emit_u32(out, (uint32_t)((size + 63) / 64 * 64));
	emit_padded_text(out, text, 64);
}

#endif
