/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/x86_registers.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_CHARACTERS = 8, N_NAMED = 8, N_REGISTERS = 16 };

/* By DWARF's numbers: 64, 32, 16, 8 bits, and the second 8. */
static const char *const names[N_NAMED][5] = {
	{ "rax", "eax", "ax", "al", "ah" }, { "rdx", "edx", "dx", "dl", "dh" },
	{ "rcx", "ecx", "cx", "cl", "ch" }, { "rbx", "ebx", "bx", "bl", "bh" },
	{ "rsi", "esi", "si", "sil", "" },  { "rdi", "edi", "di", "dil", "" },
	{ "rbp", "ebp", "bp", "bpl", "" },  { "rsp", "esp", "sp", "spl", "" },
};

/* r8 and above: what is behind the number. */
static const char *const suffixes[] = { "", "d", "w", "b" };

static const uint8_t widths[] = { 64, 32, 16, 8, 8 };

static bool is_called(const char *name, size_t n, const char *wanted)
{
	return strlen(wanted) == n && memcmp(name, wanted, n) == 0;
}

static bool find_named(const char *name, size_t n, struct x86_register *out)
{
	for (uint8_t i = 0; i < N_NAMED; i++) {
		for (size_t k = 0; k < COUNT(widths); k++) {
			if (!is_called(name, n, names[i][k]))
				continue;
			*out = (struct x86_register){ i, widths[k] };
			return true;
		}
	}
	return false;
}

static bool find_numbered(const char *name, size_t n, struct x86_register *out)
{
	unsigned number = 0;
	size_t at = 1;

	for (; at < n && isdigit((unsigned char)name[at]); at++)
		number = number * 10 + (unsigned)(name[at] - '0');
	if (name[0] != 'r' || number < N_NAMED || number >= N_REGISTERS || name[1] == '0')
		return false;
	for (size_t k = 0; k < COUNT(suffixes); k++) {
		if (!is_called(name + at, n - at, suffixes[k]))
			continue;
		*out = (struct x86_register){ (uint8_t)number, widths[k] };
		return true;
	}
	return false;
}

bool x86_register_find(const char *name, size_t n, struct x86_register *out)
{
	return n > 0 && n < MOST_CHARACTERS &&
	       (find_named(name, n, out) || find_numbered(name, n, out));
}
