/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the user, and the width of the terminal. */
#ifndef CYCLOPS_CLI_MESSAGE_H
#define CYCLOPS_CLI_MESSAGE_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

/* The width for a stream (NULL: a file) in columns: COLUMNS, else that of its terminal, else 100. */
unsigned output_width(FILE *);

/*
 * Appends words, wrapped to `width` columns, and a newline. Lines begin at column `indent`; the
 * first one has `column` columns already. Blanks and newlines only separate words.
 */
void put_words(struct text *, const char *words, size_t column, size_t indent, size_t width);

/*
 * Prints "cyclops: …" and a newline on standard error. Lines are wrapped on a terminal only, so
 * that files can be searched by line.
 */
void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
