/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and times as users write them: "512M", "1.5s". */
#ifndef CYCLOPS_RECORD_AMOUNTS_H
#define CYCLOPS_RECORD_AMOUNTS_H

#include <stdint.h>

#include "base/err.h"

/*
 * Reads the value of an option. Bytes: a number with B, K, M or G, of 1024. Time: us, ms, s, m or
 * h; a bare number is seconds. Must be more than 0. NULL leaves `out` as it is.
 */
int read_bytes(const char *option, const char *text, uint64_t *out, struct err *);
int read_time_ns(const char *option, const char *text, uint64_t *out, struct err *);

/* A whole number of at least 1. */
int read_count(const char *option, const char *text, uint64_t *out, struct err *);

#endif
