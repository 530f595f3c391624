/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that commands draw: as text, or in the language of Graphviz ("dot"). */
#ifndef CYCLOPS_CLI_DRAWING_H
#define CYCLOPS_CLI_DRAWING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/printer.h"

/* Fails if an option's form (NULL: not given) is neither dot nor text. */
int drawing_check(const char *option, const char *form, struct err *);

bool drawing_is_dot(const char *form);

/* Begins a drawing: says whether its numbers are modelled. */
void drawing_begin(const struct printer *, bool is_dot, struct text *out);

/* A text between quotes: what would end it is escaped. */
void dot_text(struct text *out, const char *text);

/* "fillcolor=3": one of nine colours (of the scheme ylorrd9), by a node's part of the hottest. */
void dot_colour(struct text *out, double part);

/* Of an edge that was counted so often. */
double dot_pen_width(uint64_t n);

#endif
