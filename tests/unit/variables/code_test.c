/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of modules, from whole, cut and missing files. */
#include "variables/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "../symbol/world.h"

static const uint8_t text[] = "instructions, by and by: 39 bytes of it";

static uint64_t write_code(struct world *w, uint16_t machine, uint32_t type)
{
	const struct built_section sections[] = {
		{ ".text", type, SHF_ALLOC | SHF_EXECINSTR, WORLD_TEXT, text, sizeof(text) },
		{ ".rodata", SHT_PROGBITS, SHF_ALLOC, WORLD_TEXT + 0x1000, text, sizeof(text) },
		{ NULL },
	};
	const struct built_elf elf = { .machine = machine, .sections = sections };

	return elf_build(world_path(w, "sym/bin/x"), &elf);
}

static void open_world(struct world *w)
{
	world_init(w);
	w->options.symfs = world_path(w, "sym");
	world_module(w, MODULE_FILE, "/bin/x");
	w->symbols = symbols_new(&w->modules, &w->options);
}

static void code_is_what_the_file_holds(void **state)
{
	struct world w;
	struct code code;
	uint64_t offset;

	(void)state;
	open_world(&w);
	offset = write_code(&w, EM_AARCH64, SHT_PROGBITS);
	assert_true(symbols_code(w.symbols, (struct place){ { 1 }, offset + 14 }, 6, &code));
	assert_int_equal(code.size, 6);
	assert_memory_equal(code.bytes, "by and", 6);
	assert_int_equal(code.isa, ISA_A64);
	assert_true(symbols_code(w.symbols, (struct place){ { 1 }, offset + 38 }, 100, &code));
	assert_int_equal(code.size, 2);
	assert_false(symbols_code(w.symbols, (struct place){ { 1 }, offset + 40 }, 100, &code));
	assert_false(symbols_code(w.symbols, (struct place){ { 1 }, UINT64_MAX }, 100, &code));
	assert_false(symbols_code(w.symbols, (struct place){ { 1 }, offset }, 0, &code));
	assert_false(symbols_code(w.symbols, (struct place){ { 0 }, offset }, 4, &code));
	world_release(&w);
}

/* Its sections say that the bytes are elsewhere. */
static void a_debug_file_has_no_code(void **state)
{
	struct world w;
	struct code code;
	uint64_t offset;

	(void)state;
	open_world(&w);
	offset = write_code(&w, EM_AARCH64, SHT_NOBITS);
	assert_false(symbols_code(w.symbols, (struct place){ { 1 }, offset }, 4, &code));
	world_release(&w);
}

static const struct isa_case {
	uint16_t machine; /* 0: there is no file */
	const char *arch; /* of the capture */
	enum isa expected;
} isa_cases[] = {
	{ EM_AARCH64, "aarch64", ISA_A64 },
	{ EM_ARM, "aarch64", ISA_A32 },
	{ EM_X86_64, "x86_64", ISA_X86_64 },
	{ EM_386, "x86_64", ISA_X86_32 },
	{ EM_RISCV, "riscv64", ISA_UNKNOWN },
	{ 0, "aarch64", ISA_A64 },
	{ 0, "arm64", ISA_A64 },
	{ 0, "armv7l", ISA_A32 },
	{ 0, "x86_64", ISA_X86_64 },
	{ 0, "i686", ISA_X86_32 },
	{ 0, "s390x", ISA_UNKNOWN },
	{ 0, NULL, ISA_UNKNOWN },
};

static void the_instruction_set_is_the_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(isa_cases); i++) {
		const struct isa_case *c = &isa_cases[i];
		struct world w;

		world_init(&w);
		w.options.symfs = world_path(&w, "sym");
		w.options.arch = c->arch;
		world_module(&w, MODULE_FILE, "/bin/x");
		w.symbols = symbols_new(&w.modules, &w.options);
		if (c->machine != 0)
			write_code(&w, c->machine, SHT_PROGBITS);
		assert_int_equal(symbols_isa(w.symbols, (struct module_id){ 1 }), c->expected);
		world_release(&w);
	}
}

/* However short the file is, no byte behind its end is handed out. */
static void cut_files_give_what_they_have(void **state)
{
	struct world w;
	struct mapped whole = { 0 };
	struct err err;
	uint64_t offset;

	(void)state;
	open_world(&w);
	offset = write_code(&w, EM_AARCH64, SHT_PROGBITS);
	assert_int_equal(mapped_open(&whole, world_path(&w, "sym/bin/x"), &err), 0);
	for (size_t size = 0; size < whole.size; size++) {
		struct code code;
		struct symbols *symbols;

		file_write(world_path(&w, "cut/bin/x"), whole.bytes, size);
		w.options.symfs = world_path(&w, "cut");
		symbols = symbols_new(&w.modules, &w.options);
		if (symbols_code(symbols, (struct place){ { 1 }, offset }, 40, &code))
			assert_memory_equal(code.bytes, text, code.size);
		symbols_free(symbols);
	}
	mapped_release(&whole);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_what_the_file_holds),
		cmocka_unit_test(a_debug_file_has_no_code),
		cmocka_unit_test(the_instruction_set_is_the_files),
		cmocka_unit_test(cut_files_give_what_they_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
