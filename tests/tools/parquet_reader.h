/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the Parquet files that cyclops writes, and what its part of the format allows (docs/reference/parquet.md), to
 * compare them with what was to be written. Independent of the writer. Any bytes may come.
 */
#ifndef CYCLOPS_TESTS_PARQUET_READER_H
#define CYCLOPS_TESTS_PARQUET_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

enum { READER_MAX_ROWS = 1 << 22, READER_MAX_PAGE = 1 << 24 };

struct reader_column {
	const char *name, *part; /* the part: a field of a list of structs; NULL: none */
	int physical, logical;	 /* numbers of the format; logical 0: none */
	int bits, unit;		 /* of integers, of times */
	bool is_signed, is_list;
};

/* A column of a row group. */
struct reader_chunk {
	int codec;
	uint64_t n_values, n_bytes, data_offset, dictionary_offset, bloom_offset, n_nulls;
	bool has_bounds;
	struct text least, largest;
	unsigned encodings; /* bit n: encoding n is named */
};

struct reader_group {
	uint64_t n_rows;
	VEC_OF(struct reader_chunk) chunks; /* by column */
};

struct reader_file {
	const uint8_t *bytes;
	size_t size;
	uint64_t n_rows;
	VEC_OF(struct reader_column) columns;
	VEC_OF(struct reader_group) groups;
	VEC_OF(const char *) metas; /* key, value, key, value … */
	struct arena memory;
};

/* The values of a column, of all row groups. */
struct reader_values {
	VEC_OF(uint8_t) present;  /* by row */
	VEC_OF(uint32_t) lengths; /* of lists, by row that is present */
	VEC_OF(uint64_t) numbers; /* by value: bits; of texts where they begin */
	VEC_OF(uint32_t) sizes;	  /* of texts, by value */
	struct text texts;
};

/* The bytes are borrowed. -1 and an error if they are no file. Release it in any case. */
int reader_open(const void *bytes, size_t size, struct reader_file *, struct err *);
void reader_close(struct reader_file *);

/* Reads a column. The bounds and counts of each row group are compared with its values. */
int reader_read(const struct reader_file *, size_t column, struct reader_values *, struct err *);
void reader_values_release(struct reader_values *);

/* The value of a key, or NULL. */
const char *reader_meta(const struct reader_file *, const char *key);

/* May a row group have a value with this XXH64? True without a filter. -1 and an error if it cannot be read. */
int reader_may_have(const struct reader_file *, size_t group, size_t column, uint64_t hash,
		    struct err *);

#endif
