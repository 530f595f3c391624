/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines of text, never wider than the terminal. */
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
	PEN_MARK, /* marks of trust */
};

struct pen {
	struct text *out;
	size_t width;  /* of a line */
	size_t column; /* where the next span begins; may be moved to the right */
	/* end of the text so far; blanks behind it are written only before more text */
	size_t inked;
	bool has_colour, has_unicode, is_wide;
};

struct pen pen_of(const struct document *, struct text *out);

/* Writes at `column` and moves behind it. Cuts what does not fit. */
void pen_write(struct pen *, enum pen_style, struct span);

/* The same for an ASCII literal. */
void pen_ascii(struct pen *, enum pen_style, const char *text);

void pen_newline(struct pen *);

/*
 * Writes words between the columns `indent` and `end`, the first line from `column` on. Blanks
 * inside a line stay. Numbers such as "11 245" and "83.9 %" are not split; a word longer than a
 * line is. The pen then stands behind the last word.
 */
void pen_wrap(struct pen *, enum pen_style, struct span, size_t indent, size_t end);

/*
 * The same for a shell command, so that it can be pasted: continued lines end in a backslash, and no
 * word is split, nor what is in single quotes: one that is wider than the pen goes beyond it.
 */
void pen_wrap_command(struct pen *, struct span, size_t indent);

#endif
