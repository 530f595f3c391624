/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of json: texts from outside may contain any bytes. */
#ifndef CYCLOPS_TABLE_JSON_STRING_H
#define CYCLOPS_TABLE_JSON_STRING_H

#include "base/text.h"

/*
 * Appends a string with its quotes. What is not UTF-8 becomes U+FFFD; control characters and those
 * that change the direction of text are escaped.
 */
void json_put_string(struct text *, const char *string);

#endif
