/* SPDX-License-Identifier: Apache-2.0 */
/* Files that zstd, gzip or xz compressed as a whole. */
#ifndef CYCLOPS_CAPTURE_UNPACK_H
#define CYCLOPS_CAPTURE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mapped.h"

enum {
	UNPACK_ERROR_BYTES = 96,

	/*
	 * Limit of the compression ratio. Records compress 10 times, copied stacks up to 2000 times. More
	 * is an attempt to fill the disk.
	 */
	UNPACK_MAX_RATIO = 8192,
};

/* Is that more than any capture is compressed? Little is always allowed. */
bool is_bomb(uint64_t n_out, uint64_t n_in);

/* Do such a file's first bytes stand here? */
bool is_packed(const uint8_t *bytes, size_t size);

/*
 * Decompresses a file that is_packed() to a temporary one. `why` says what failed, and stays as it is if
 * nothing did; `out` is what came before. Returns -1 only if no temporary file can be written.
 */
int unpack(const uint8_t *bytes, size_t size, struct mapped *out, char why[UNPACK_ERROR_BYTES],
	   struct err *);

#endif
