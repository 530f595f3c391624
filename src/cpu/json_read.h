/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of untrusted JSON objects: files of the catalog, and those that users write. */
#ifndef CYCLOPS_CPU_JSON_READ_H
#define CYCLOPS_CPU_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* Sets the error "KEY: found 12, wanted a text". Returns -1. */
int json_wrong(const char *key, const json_t *found, const char *wanted, struct err *);

/* Copies a required text, which must not be empty. */
int json_read_text(struct arena *, const json_t *object, const char *key, const char **out,
		   struct err *);

/* Reads a number written as a text, "0xd0c" or "13", of at most `max`. */
int json_read_code(const json_t *object, const char *key, uint64_t max, uint64_t *out,
		   struct err *);

/* Reads an optional list. *out is NULL if it is missing or null; json_array_size() accepts that. */
int json_read_list(const json_t *object, const char *key, const json_t **out, struct err *);

/* Zeroed memory for `n` items; NULL if n is 0. */
void *json_array_memory(struct arena *, size_t n, size_t size);

#endif
