/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as people and the kernel write them. */
#ifndef CYCLOPS_BASE_SIZE_H
#define CYCLOPS_BASE_SIZE_H

#include <stdint.h>

/*
 * Parses a size such as "64K", "1.5M", "4096", "512B" or "2GiB" at the start of `text`, and moves behind it. K is 1024.
 * Fails, and leaves both, if there is none, or none from 1 to 1e15.
 */
int size_parse(const char **text, uint64_t *out_bytes);

#endif
