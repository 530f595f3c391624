/* SPDX-License-Identifier: Apache-2.0 */
/* Names from outside in texts that are no tables: messages, errors. */
#ifndef CYCLOPS_TABLE_SHOWN_TEXT_H
#define CYCLOPS_TABLE_SHOWN_TEXT_H

#include "base/text.h"

/* Appends what is shown of it: newlines and other control characters, and bytes that are no UTF-8, as \xNN. */
void text_shown(struct text *out, const char *words);

#endif
