/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the person at the terminal, and how wide that is. */
#ifndef CYCLOPS_CLI_TELL_H
#define CYCLOPS_CLI_TELL_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

/* Columns of text for a stream: what COLUMNS says, or its terminal has, or 100. */
unsigned output_width(FILE *);

/*
 * Appends words, wrapped to `width` columns, and a newline: from column `indent` on, also in the
 * line that has `column` columns already. Blanks and newlines only part the words.
 */
void put_words(struct text *, const char *words, size_t column, size_t indent, size_t width);

/*
 * Prints "cyclops: …" and a newline on standard error. On a terminal it is wrapped to its width;
 * elsewhere each line stays whole, for those who search them.
 */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
