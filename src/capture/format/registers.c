/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/format/registers.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

static const char *const x86_names[] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp",  "sp",  "ip",	 "flags", "cs",	 "ss",
	"",   "",   "",	  "",	"r8", "r9", "r10", "r11", "r12", "r13",	  "r14", "r15",
};

static const char *const arm64_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
};

/* DWARF: System V psABI figure 3.36 (17th is the return address); "DWARF for the Arm 64-bit
 * Architecture" 4.1. */
static const uint8_t x86_dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
static const uint8_t arm64_dwarf[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				       22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

/* Arguments: System V psABI 3.2.3 (di, si, dx, cx, r8, r9); AAPCS64 6.8.2 (x0 to x7). */
static const struct registers all[] = {
	{ "x86_64",
	  x86_names,
	  COUNT(x86_names),
	  6,
	  { 5, 4, 3, 2, 16, 17 },
	  x86_dwarf,
	  COUNT(x86_dwarf) },
	{ "aarch64",
	  arm64_names,
	  COUNT(arm64_names),
	  8,
	  { 0, 1, 2, 3, 4, 5, 6, 7 },
	  arm64_dwarf,
	  COUNT(arm64_dwarf) },
};

const struct registers *registers_of(const char *arch)
{
	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(all[i].arch, arch) == 0)
			return &all[i];
	return NULL;
}

uint64_t registers_mask(const struct registers *r)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < r->n; i++)
		if (r->names[i][0] != '\0')
			mask |= (uint64_t)1 << i;
	return mask;
}

int registers_find(const struct registers *r, const char *name)
{
	for (unsigned i = 0; i < r->n; i++)
		if (name[0] != '\0' && strcasecmp(r->names[i], name) == 0)
			return (int)i;
	return -1;
}

int registers_of_dwarf(const struct registers *r, unsigned dwarf)
{
	return dwarf < r->n_dwarf ? r->dwarf[dwarf] : -1;
}

const char *registers_name_at(const void *registers, size_t i)
{
	const struct registers *r = registers;

	return i < r->n ? r->names[i] : NULL;
}
