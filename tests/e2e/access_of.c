/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: tells of each instruction on standard input what isa_access() says of it: two words
 * of 32 bits, bytes and flags; all ones if it is no instruction. Without an argument instructions
 * are 32-bit words of A64; with "x86_64" or "i386" they are blocks of 16 bytes, each with one.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "isa/access.h"

enum { MOST_BYTES = 16 };

static const struct {
	const char *name;
	enum isa isa;
	size_t size;
} kinds[] = {
	{ "a64", ISA_A64, 4 },
	{ "x86_64", ISA_X86_64, MOST_BYTES },
	{ "i386", ISA_X86_32, MOST_BYTES },
};

static void put_u32(uint32_t value)
{
	for (int shift = 0; shift < 32; shift += 8)
		putchar((int)(value >> shift & 0xff));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "a64";
	unsigned char code[MOST_BYTES];
	size_t k = 0;

	while (k < COUNT(kinds) && strcmp(kinds[k].name, name) != 0)
		k++;
	if (k == COUNT(kinds))
		return 2;
	while (fread(code, kinds[k].size, 1, stdin) == 1) {
		struct isa_access access = { UINT32_MAX, UINT32_MAX };

		(void)isa_access(kinds[k].isa, code, kinds[k].size, &access);
		put_u32(access.bytes);
		put_u32(access.flags);
	}
	return ferror(stdin) || fflush(stdout) != 0;
}
