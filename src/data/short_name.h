/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens names of C++ types: template arguments can fill a screen. */
#ifndef CYCLOPS_DATA_SHORT_NAME_H
#define CYCLOPS_DATA_SHORT_NAME_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends a text of `len` bytes with names in it. If it is longer than `most` columns, template
 * arguments become "<…>". If it is still longer, its middle becomes "…": its end, such as a member,
 * is kept.
 */
void short_name(const char *name, size_t len, size_t most, struct text *out);

#endif
