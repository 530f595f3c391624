/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/stub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"

enum { MAX_BYTES = 16, GOT = 0x4000 };

static const struct stub_case {
	const char *text;
	enum isa isa;
	uint8_t bytes[MAX_BYTES];
	size_t size, read;
	uint64_t slot; /* of a stub at 0x1000 */
} cases[] = {
	{ "jmp *0x2000(%rip)", ISA_X86_64, { 0xff, 0x25, 0, 0x20, 0, 0 }, 6, 6, 0x3006 },
	{ "jmp *-8(%rip)", ISA_X86_64, { 0xff, 0x25, 0xf8, 0xff, 0xff, 0xff }, 6, 6, 0xffe },
	{ "endbr64; bnd jmp *0x2000(%rip)",
	  ISA_X86_64,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0x20, 0, 0 },
	  11,
	  11,
	  0x300b },
	{ "jmp *0x804a00c", ISA_X86_32, { 0xff, 0x25, 0x0c, 0xa0, 0x04, 0x08 }, 6, 6, 0x804a00c },
	{ "endbr32; jmp *0x10(%ebx)",
	  ISA_X86_32,
	  { 0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0xa3, 0x10, 0, 0, 0 },
	  10,
	  10,
	  GOT + 0x10 },
	{ "push 0x2000(%rip)", ISA_X86_64, { 0xff, 0x35, 0, 0x20, 0, 0 }, 6, 0, 0 },
	{ "jmp *%rax", ISA_X86_64, { 0xff, 0xe0 }, 2, 0, 0 },
	{ "jmp *0x10(%rbx)", ISA_X86_64, { 0xff, 0xa3, 0x10, 0, 0, 0 }, 6, 0, 0 },
	{ "jmp *0x10(%ecx)", ISA_X86_32, { 0xff, 0xa1, 0x10, 0, 0, 0 }, 6, 0, 0 },
	{ "jmp .+5", ISA_X86_64, { 0xe9, 0, 0, 0, 0 }, 5, 0, 0 },
	{ "nothing", ISA_X86_64, { 0 }, 0, 0, 0 },
};

static void slot_is_where_the_stub_jumps_through(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct stub_case *c = &cases[i];
		uint64_t slot = 0;
		size_t read = isa_x86_stub(c->isa, c->bytes, c->size, 0x1000, GOT, &slot);

		if (read != c->read || slot != c->slot)
			fail_msg("%s: %zu bytes, slot 0x%lx", c->text, read, (unsigned long)slot);
		for (size_t n = 0; n < c->read; n++)
			if (isa_x86_stub(c->isa, c->bytes, n, 0x1000, GOT, &slot) != 0)
				fail_msg("%s: read of %zu bytes", c->text, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_is_where_the_stub_jumps_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
