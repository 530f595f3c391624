/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/access.h"

#include "base/alloc.h"
#include "base/cursor.h"
#include "isa/a64_memory.h"
#include "isa/x86.h"

/* Bit n: value n of bits 28:25 is allocated ("Main A64 encodings"). */
static const uint16_t a64_groups = 0xfff4;

/*
 * Encoding groups that consist of memory accesses only: a word that is not in the table is
 * undefined.
 */
static const struct {
	uint32_t mask, match;
} a64_memory_groups[] = {
	{ 0x0a000000, 0x08000000 }, /* loads and stores */
	{ 0x9e000000, 0x84000000 }, /* SVE */
	{ 0xfe000000, 0xe0000000 }, /* SME */
	{ 0xfe800000, 0xa0000000 }, /* SME2, SVE2.1 */
};

static bool a64_is_allocated(uint32_t word)
{
	unsigned group = word >> 25 & 15;
	bool is_sme = group == 0 && word >> 31 != 0;

	for (size_t i = 0; i < COUNT(a64_memory_groups); i++) {
		if ((word & a64_memory_groups[i].mask) == a64_memory_groups[i].match)
			return false;
	}
	return is_sme || (a64_groups >> group & 1) != 0;
}

static bool a64_access(const void *code, size_t size, struct isa_access *out)
{
	struct cursor c = cur_of(code, size);
	uint32_t word = cur_u32(&c);
	unsigned top = word >> 24;

	if (!cur_ok(&c))
		return false;
	for (unsigned i = a64_form_starts[top]; i < a64_form_starts[top + 1]; i++) {
		const struct a64_form *form = &a64_forms[i];

		if ((word & form->mask) == form->match) {
			*out = (struct isa_access){ .bytes = form->bytes, .flags = form->flags };
			return true;
		}
	}
	if (!a64_is_allocated(word))
		return false;
	*out = (struct isa_access){ 0 };
	return true;
}

bool isa_access(enum isa isa, const void *code, size_t size, struct isa_access *out)
{
	if (isa_is_x86(isa))
		return x86_access(isa, code, size, out);
	return isa == ISA_A64 && a64_access(code, size, out);
}
