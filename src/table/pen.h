/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines of text by columns of the terminal, never past its width. */
#ifndef CYCLOPS_TABLE_PEN_H
#define CYCLOPS_TABLE_PEN_H

#include <stddef.h>

#include "base/text.h"
#include "table/format.h"
#include "table/utf8.h"

enum pen_style {
	PEN_PLAIN,
	PEN_BOLD, /* titles */
	PEN_DIM,  /* headings, absent values, remarks */
	PEN_MARK, /* signs of trust */
};

struct pen {
	struct text *out;
	size_t width;  /* of a line */
	size_t column; /* where the next span goes; move at will to the right */
	size_t inked;  /* end of what is written; blanks follow only when more does */
	bool has_colour, has_unicode, is_wide;
};

struct pen pen_of(const struct document *, struct text *out);

/* Writes at `column` and moves behind it. What would stand past the width is cut off. */
void pen_write(struct pen *, enum pen_style, struct span);

/* The same for a literal of ours in ASCII. */
void pen_ascii(struct pen *, enum pen_style, const char *text);

void pen_newline(struct pen *);

/*
 * Writes words from `column` on and goes on in further lines from column `indent` to `end`.
 * Blanks inside a line stay as they are, numbers like "11 245" and "83.9 %" stay whole, a word
 * longer than a line is broken. Leaves the pen behind the last word, in the last line.
 */
void pen_wrap(struct pen *, enum pen_style, struct span, size_t indent, size_t end);

/*
 * The same for a command of the shell, which can still be pasted: lines that go on end in a
 * backslash, and words in single quotes stay whole. Up to the width of the pen.
 */
void pen_wrap_command(struct pen *, struct span, size_t indent);

#endif
