/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes written as "b0 d0 c2 …" in the tables of the tests. */
#ifndef TESTS_UNIT_SPE_HEX_H
#define TESTS_UNIT_SPE_HEX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns how many bytes there are; `out` has room for them. */
static inline size_t hex_bytes(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (;;) {
		char *end;
		unsigned long byte = strtoul(hex, &end, 16);

		if (end == hex)
			return n;
		assert(n < room && byte <= 0xff);
		out[n++] = (uint8_t)byte;
		hex = end;
	}
}

#endif
