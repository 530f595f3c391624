/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects that somebody else wrote: inside this folder only. */
#ifndef CYCLOPS_CPU_JSON_READ_H
#define CYCLOPS_CPU_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* "name: found 12, wanted a text". Returns -1. */
int json_wrong(const char *key, const json_t *found, const char *wanted, struct err *);

/* A text that is there and not empty, copied. */
int json_read_text(struct arena *, const json_t *object, const char *key, const char **out,
		   struct err *);

/* A number written as text, "0xd0c" or "13", as large as `max`. */
int json_read_code(const json_t *object, const char *key, unsigned long max, unsigned long *out,
		   struct err *);

/* A list that may be missing or null: *out is then NULL, which json_array_size() takes. */
int json_read_list(const json_t *object, const char *key, const json_t **out, struct err *);

/* Zeroed memory for `n` items, NULL for none. */
void *json_array_memory(struct arena *, size_t n, size_t size);

#endif
