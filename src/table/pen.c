/* SPDX-License-Identifier: Apache-2.0 */
#include "table/pen.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 40, LEAST_LINE = 8 };

static const char *const style_codes[] = {
	[PEN_BOLD] = "\033[1m",
	[PEN_DIM] = "\033[2m",
	[PEN_MARK] = "\033[33m",
};

struct pen pen_of(const struct document *d, struct text *out)
{
	size_t width = d->width == 0 ? DEFAULT_WIDTH : d->width;

	return (struct pen){
		.out = out,
		.width = width < LEAST_WIDTH ? LEAST_WIDTH : width,
		.has_colour = d->has_colour,
		.has_unicode = d->has_unicode,
		.is_wide = d->is_wide,
	};
}

/* Writes a span, which ends in a visible character. */
static void ink(struct pen *pen, enum pen_style style, struct span span)
{
	bool is_coloured = pen->has_colour && style != PEN_PLAIN;

	if (pen->column > pen->inked)
		text_repeat(pen->out, ' ', pen->column - pen->inked);
	if (is_coloured)
		text_str(pen->out, style_codes[style]);
	text_add(pen->out, span.bytes, span.size);
	if (is_coloured)
		text_str(pen->out, "\033[0m");
	pen->column += span.width;
	pen->inked = pen->column;
}

void pen_write(struct pen *pen, enum pen_style style, struct span span)
{
	size_t n_blanks = 0;

	if (pen->column + span.width > pen->width)
		span = span_head(span, pen->column < pen->width ? pen->width - pen->column : 0);
	while (n_blanks < span.size && span.bytes[span.size - 1 - n_blanks] == ' ')
		n_blanks++;
	span.size -= n_blanks;
	span.width -= n_blanks;
	if (span.size > 0)
		ink(pen, style, span);
	pen->column += n_blanks;
}

void pen_ascii(struct pen *pen, enum pen_style style, const char *text)
{
	size_t n = strlen(text);

	pen_write(pen, style, (struct span){ .bytes = text, .size = n, .width = n });
}

void pen_newline(struct pen *pen)
{
	text_char(pen->out, '\n');
	pen->column = pen->inked = 0;
}

/* Is the blank inside of a number, or between a number and its per cent sign? */
static bool is_joint(struct span s, size_t at)
{
	return at > 0 && at + 1 < s.size && isdigit((unsigned char)s.bytes[at - 1]) &&
	       (isdigit((unsigned char)s.bytes[at + 1]) || s.bytes[at + 1] == '%');
}

/* What follows `head` and blanks in `s`. */
static struct span span_rest(struct span s, struct span head)
{
	size_t n = head.size;

	while (n < s.size && s.bytes[n] == ' ')
		n++;
	return (struct span){
		.bytes = s.bytes + n,
		.size = s.size - n,
		.width = s.width - head.width - (n - head.size),
	};
}

/* The first words of `s` that fit `room` columns; empty if the first does not. */
static struct span fitting_words(struct span s, size_t room)
{
	struct span fits = { .bytes = s.bytes };

	if (s.width <= room)
		return s;
	for (size_t at = 0; at < s.size; at++) {
		struct span words;

		if (s.bytes[at] != ' ' || is_joint(s, at) || s.bytes[at - 1] == ' ')
			continue;
		words = span_part(s, 0, at);
		if (words.width > room)
			break;
		fits = words;
	}
	return fits;
}

void pen_wrap(struct pen *pen, enum pen_style style, struct span s, size_t indent, size_t end)
{
	if (end > pen->width)
		end = pen->width;
	if (indent + LEAST_LINE > end)
		indent = 0;
	for (s = span_rest(s, (struct span){ 0 }); s.size > 0;) {
		size_t room = end > pen->column ? end - pen->column : 0;
		struct span line = fitting_words(s, room);

		if (line.size == 0 && pen->inked <= indent)
			line = span_head(s, room);
		pen_write(pen, style, line);
		s = span_rest(s, line);
		if (s.size == 0)
			break;
		pen_newline(pen);
		pen->column = indent;
	}
}

/* The first word of a shell command, with quoted blanks. */
static struct span shell_word(struct span s)
{
	bool is_quoted = false;
	size_t n = 0;

	for (; n < s.size && (is_quoted || s.bytes[n] != ' '); n++)
		is_quoted ^= s.bytes[n] == '\'';
	return span_part(s, 0, n);
}

void pen_wrap_command(struct pen *pen, struct span s, size_t indent)
{
	const struct span backslash = { .bytes = "\\", .size = 1, .width = 1 };

	while (s.size > 0) {
		struct span word = shell_word(s);
		struct span rest = span_rest(s, word);
		size_t going_on = rest.size > 0 ? strlen(" \\") : 0;

		if (pen->column + word.width + going_on > pen->width && pen->inked > indent) {
			ink(pen, PEN_PLAIN, backslash);
			pen_newline(pen);
			pen->column = indent;
		}
		ink(pen, PEN_PLAIN, word);
		pen->column++;
		s = rest;
	}
}
