/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH64, a hash that other programs compute, too (`xxhsum -H64`): of files, and of values in the bloom filters of
 * Parquet. For tables of our own there is base/hash.h.
 */
#ifndef CYCLOPS_BASE_XXHASH64_H
#define CYCLOPS_BASE_XXHASH64_H

#include <stddef.h>
#include <stdint.h>

/* The hash with seed 0. */
uint64_t xxhash64(const void *bytes, size_t size);

#endif
