/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: compared and stored as ids. */
#ifndef CYCLOPS_BASE_STRINGS_H
#define CYCLOPS_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct str_id {
	uint32_t v; /* 0: the empty string */
};

struct strings {
	struct arena text;
	VEC_OF(const char *) texts; /* by id */
	uint32_t *slots;	    /* open addressing: id + 1, or 0 */
	uint32_t mask;
	uint64_t seed;
};

void strings_init(struct strings *);
void strings_release(struct strings *);

/*
 * The id of the string, which is added if it is new. Equal strings have equal ids for the life of
 * the table. The bytes are copied; a NUL ends the string. Id 0 is the empty string.
 */
struct str_id strings_add(struct strings *, const char *text, size_t len);

/* The same for a NUL-terminated string. */
struct str_id strings_addz(struct strings *, const char *text);

/* The text of an id, NUL-terminated, valid for the life of the table. */
const char *strings_get(const struct strings *, struct str_id);

#endif
