/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ types as people can read them: what a template is made of fills screens. */
#ifndef CYCLOPS_DATA_SHORT_NAME_H
#define CYCLOPS_DATA_SHORT_NAME_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends a name of `len` bytes, or words with names in them. If it is longer than `most` columns,
 * arguments of templates become "<…>", and if it still is, its middle "…": what stands at its end,
 * such as a member, stays.
 */
void short_name(const char *name, size_t len, size_t most, struct text *out);

#endif
