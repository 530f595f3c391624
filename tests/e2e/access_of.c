/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: tells of each 32-bit word on standard input what isa_access() says of it as an A64
 * instruction: two words, bytes and flags; all ones if it is no instruction.
 */
#include <stdio.h>

#include "base/cursor.h"
#include "isa/access.h"

static void put_u32(uint32_t value)
{
	for (int shift = 0; shift < 32; shift += 8)
		putchar((int)(value >> shift & 0xff));
}

int main(void)
{
	unsigned char word[4];

	while (fread(word, sizeof(word), 1, stdin) == 1) {
		struct isa_access access = { UINT32_MAX, UINT32_MAX };

		(void)isa_access(ISA_A64, word, sizeof(word), &access);
		put_u32(access.bytes);
		put_u32(access.flags);
	}
	return ferror(stdin) || fflush(stdout) != 0;
}
