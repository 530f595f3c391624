/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629; widths from Unicode's combining and East Asian Width properties. */
#include "table/utf8.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "table/format.h"
#include "table/shown_text.h"

struct range {
	uint32_t first, last;
};

/*
 * Characters of width 0, ascending: combining marks of scripts that are likely in names and paths,
 * joiners, variation selectors.
 */
static const struct range zero_width[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 },	  { 0x0591, 0x05bd }, { 0x05bf, 0x05bf },
	{ 0x05c1, 0x05c2 }, { 0x05c4, 0x05c5 },	  { 0x0610, 0x061a }, { 0x064b, 0x065f },
	{ 0x0670, 0x0670 }, { 0x06d6, 0x06dc },	  { 0x06df, 0x06e4 }, { 0x0900, 0x0902 },
	{ 0x093c, 0x093c }, { 0x0941, 0x0948 },	  { 0x094d, 0x094d }, { 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e },	  { 0x1160, 0x11ff }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200d },	  { 0x2060, 0x2064 }, { 0x20d0, 0x20f0 },
	{ 0x302a, 0x302d }, { 0x3099, 0x309a },	  { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
};

/* Characters of width 2, ascending: East Asian wide and full-width characters, pictographs. */
static const struct range two_wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },	  { 0x23e9, 0x23ec },
	{ 0x25fd, 0x25fe },   { 0x2614, 0x2615 },   { 0x2648, 0x2653 },	  { 0x26a1, 0x26a1 },
	{ 0x2705, 0x2705 },   { 0x2728, 0x2728 },   { 0x274c, 0x274c },	  { 0x2e80, 0x303e },
	{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0xa4cf },	  { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },	  { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

/* ASCII replacements for terminals without UTF-8. */
static const struct substitute {
	uint32_t code;
	const char *ascii;
} substitutes[] = {
	{ 0x00a0, " " },  { 0x00b1, "+-" }, { 0x00b5, "u" },   { 0x00b7, "." },	 { 0x00d7, "x" },
	{ 0x03bc, "u" },  { 0x2013, "-" },  { 0x2014, "-" },   { 0x2018, "'" },	 { 0x2019, "'" },
	{ 0x201c, "\"" }, { 0x201d, "\"" }, { 0x2026, "..." }, { 0x202f, " " },	 { 0x2190, "<-" },
	{ 0x2192, "->" }, { 0x2212, "-" },  { 0x2248, "~" },   { 0x2264, "<=" }, { 0x2265, ">=" },
	{ 0x2500, "-" },
};

static bool utf8_is_in(const struct range *ranges, size_t n, uint32_t code)
{
	size_t at = bisect(0, n, i, ranges[i].last < code);

	return at < n && ranges[at].first <= code;
}

unsigned utf8_width(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (utf8_is_in(zero_width, COUNT(zero_width), code))
		return 0;
	return utf8_is_in(two_wide, COUNT(two_wide), code) ? 2 : 1;
}

static const char *find_substitute(uint32_t code)
{
	for (size_t i = 0; i < COUNT(substitutes); i++)
		if (substitutes[i].code == code)
			return substitutes[i].ascii;
	return NULL;
}

/* Appends a character as it is shown and returns its width. */
static size_t add_shown(struct text *out, const char *at, size_t size, uint32_t code,
			bool has_unicode)
{
	bool is_plain = size > 0 && !utf8_is_unsafe(code);
	const char *ascii = is_plain && !has_unicode ? find_substitute(code) : NULL;

	if (is_plain && (has_unicode || code < 0x80)) {
		text_add(out, at, size);
		return utf8_width(code);
	}
	if (ascii != NULL) {
		text_str(out, ascii);
		return strlen(ascii);
	}
	size = size > 0 ? size : 1;
	for (size_t i = 0; i < size; i++) {
		text_str(out, "\\x");
		text_hex_padded(out, (uint8_t)at[i], 2);
	}
	return 4 * size;
}

/* The length of the leading printable ASCII, which is mostly all of a text. */
static size_t plain_prefix(const char *text)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f)
		n++;
	return n;
}

struct span span_of(struct arena *memory, const char *text, bool has_unicode)
{
	size_t n = plain_prefix(text);
	struct span span = { .bytes = text, .size = n, .width = n };
	struct text shown = { 0 };

	if (text[n] == '\0')
		return span;
	text_add(&shown, text, n);
	for (const char *at = text + n; *at != '\0';) {
		uint32_t code = 0;
		size_t size = utf8_decode(at, &code);

		span.width += add_shown(&shown, at, size, code, has_unicode);
		at += size > 0 ? size : 1;
	}
	span.size = shown.n;
	span.bytes = arena_strndup(memory, shown.bytes, shown.n);
	text_release(&shown);
	return span;
}

void text_shown(struct text *out, const char *words)
{
	struct arena memory = { 0 };
	struct span shown = span_of(&memory, words, true);

	text_add(out, shown.bytes, shown.size);
	arena_release(&memory);
}

struct span span_head(struct span span, size_t width)
{
	struct span head = { .bytes = span.bytes };

	while (head.size < span.size) {
		uint32_t code = 0;
		size_t size = utf8_decode(span.bytes + head.size, &code);
		unsigned columns = utf8_width(code);

		if (size == 0 || head.width + columns > width)
			break;
		head.size += size;
		head.width += columns;
	}
	return head;
}

struct span span_tail(struct span span, size_t width)
{
	struct span head = span_head(span, span.width > width ? span.width - width : 0);

	/* A wide character at the border is kept whole, with its combining marks. */
	if (span.width - head.width > width)
		head = span_head(span, head.width + 2);
	return (struct span){
		.bytes = span.bytes + head.size,
		.size = span.size - head.size,
		.width = span.width - head.width,
	};
}

struct span span_part(struct span span, size_t from, size_t to)
{
	struct span part = { .bytes = span.bytes + from, .size = to - from };

	return span_head(part, SIZE_MAX / 2);
}

size_t display_width(const char *text)
{
	struct arena memory = { 0 };
	size_t width = span_of(&memory, text, true).width;

	arena_release(&memory);
	return width;
}

const char *valid_text(struct arena *memory, const char *text)
{
	struct text valid = { 0 };
	const char *copy;

	while (*text != '\0') {
		uint32_t code;
		size_t size = utf8_decode(text, &code);

		if (size > 0) {
			text_add(&valid, text, size);
		} else {
			text_str(&valid, "\\x");
			text_hex_padded(&valid, (uint8_t)*text, 2);
		}
		text += size > 0 ? size : 1;
	}
	copy = arena_strndup(memory, valid.n > 0 ? valid.bytes : "", valid.n);
	text_release(&valid);
	return copy;
}
