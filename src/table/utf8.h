/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts from outside: names of symbols, files and processes may hold any bytes. What goes to
 * a terminal or into json must be valid UTF-8 without anything that drives the terminal.
 */
#ifndef CYCLOPS_TABLE_UTF8_H
#define CYCLOPS_TABLE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

/* Some printable text and the columns it takes on a terminal. Not NUL-terminated. */
struct span {
	const char *bytes;
	size_t size, width;
};

/*
 * Reads one character of NUL-terminated text and returns its size in bytes, or 0 at bytes
 * that are not UTF-8 (overlong forms, surrogates and codes past U+10FFFF included).
 */
size_t utf8_decode(const char *text, uint32_t *out_code);

/* Columns a character takes: 0 if it joins the one before, 2 for East Asian ones. */
unsigned utf8_width(uint32_t code);

/*
 * The text as it may be shown: control characters, marks that reorder text, and bytes that
 * are not UTF-8 become \xNN. Without `has_unicode` the result is ASCII: common signs are
 * spelled out (a micro sign is "u"), others escaped. Borrows `text` or copies to `memory`.
 */
struct span span_of(struct arena *memory, const char *text, bool has_unicode);

/* The longest part at the start, or at the end, of a span that fits `width` columns. */
struct span span_head(struct span, size_t width);
struct span span_tail(struct span, size_t width);

/* The bytes from `from` up to `to` of a span, both between characters. */
struct span span_part(struct span, size_t from, size_t to);

/* Does the character drive the terminal, or turn the order of text around? Codes below 2^16. */
bool utf8_is_unsafe(uint32_t code);

#endif
