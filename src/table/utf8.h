/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts from outside: names of symbols, files and processes may contain any bytes. Output to a
 * terminal or json must be valid UTF-8 without control characters.
 */
#ifndef CYCLOPS_TABLE_UTF8_H
#define CYCLOPS_TABLE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/utf8_decode.h"

/* Printable text and its width in columns. Not NUL-terminated. */
struct span {
	const char *bytes;
	size_t size, width;
};

/* Columns of a character: 0 for combining ones, 2 for East Asian wide ones. */
unsigned utf8_width(uint32_t code);

/*
 * The text as it may be shown. Control characters, bidirectional marks and invalid bytes become
 * \xNN. Without `has_unicode` the result is ASCII: common signs are spelled out (a micro sign is
 * "u"), others escaped. Borrows `text`, or copies to `memory`.
 */
struct span span_of(struct arena *memory, const char *text, bool has_unicode);

/* The longest start, or end, of a span that fits `width` columns. */
struct span span_head(struct span, size_t width);
struct span span_tail(struct span, size_t width);

/* The bytes [from, to) of a span, both at character boundaries. */
struct span span_part(struct span, size_t from, size_t to);

#endif
