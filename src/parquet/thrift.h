/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol, which Parquet's headers and footer are in. */
#ifndef CYCLOPS_PARQUET_THRIFT_H
#define CYCLOPS_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { THRIFT_DEPTH = 8 };

/* The types of list elements that Parquet has. */
enum thrift_type { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 };

/*
 * A writer. Starts in a struct that thrift_end() ends. Fields are written in ascending order of their
 * numbers.
 */
struct thrift {
	struct text *out;
	int last_field[THRIFT_DEPTH]; /* by depth; 0: none */
	unsigned depth;
};

static inline struct thrift thrift_begin(struct text *out)
{
	return (struct thrift){ .out = out };
}

/* Ends the struct. */
void thrift_end(struct thrift *);

/* Fields. */
void thrift_bool(struct thrift *, int field, bool value);
void thrift_i8(struct thrift *, int field, int8_t value);
void thrift_int(struct thrift *, int field, int32_t value);
void thrift_long(struct thrift *, int field, int64_t value);
void thrift_bytes(struct thrift *, int field, const void *bytes, size_t size);
void thrift_string(struct thrift *, int field, const char *value);

/* Begins a struct as a field: its fields follow, then thrift_end(). */
void thrift_struct(struct thrift *, int field);

/* A field that is a list of `n` elements, which follow: structs between thrift_element() and thrift_end(). */
void thrift_list(struct thrift *, int field, enum thrift_type, size_t n);
void thrift_element(struct thrift *);
void thrift_int_element(struct thrift *, int32_t value);
void thrift_string_element(struct thrift *, const char *value);

/* An unsigned number of 7 bits a byte, the lowest first; and a signed one, whose sign is its lowest bit. */
void varint_put(struct text *out, uint64_t value);
void zigzag_put(struct text *out, int64_t value);

#endif
