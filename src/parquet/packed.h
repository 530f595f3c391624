/* SPDX-License-Identifier: Apache-2.0 */
/* Texts one behind the other, each after its size in four bytes: Parquet's plain encoding of them. */
#ifndef CYCLOPS_PARQUET_PACKED_H
#define CYCLOPS_PARQUET_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { packed_prefix = sizeof(uint32_t) };

/* The size of the text that is packed there, without its prefix. */
static inline size_t packed_size(const char *at)
{
	uint32_t size;

	memcpy(&size, at, sizeof(size));
	return size;
}

/* What is behind it. */
static inline const char *packed_next(const char *at)
{
	return at + packed_prefix + packed_size(at);
}

#endif
