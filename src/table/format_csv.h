/* SPDX-License-Identifier: Apache-2.0 */
/* A text as a field of csv, for rows that are written without cells. */
#ifndef CYCLOPS_TABLE_FORMAT_CSV_H
#define CYCLOPS_TABLE_FORMAT_CSV_H

#include "base/text.h"

/* Appends the text, in quotes if it needs them; bytes that are not UTF-8, or control a terminal, become U+FFFD. */
void csv_put_text(struct text *, const char *value);

#endif
