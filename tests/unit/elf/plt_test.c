/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs as the assembler of each machine would write them, and which symbol each is for. */
#include "elf/plt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "elf_builder.h"

enum { CODE = SHF_ALLOC | SHF_EXECINSTR, PLT = 0x1020, GOT = 0x4018, MAX_CODE = 64 };

/* Symbols 1 and 2 of .dynsym; slots GOT and GOT + 8 (64 bits) or GOT + 4 (32 bits). */
static const struct built_symbol dynamic[] = {
	{ "memcpy", 0, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF },
	{ "puts", 0, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF },
	{ NULL },
};

/* clang-format off */
static const struct stubs {
	const char *why;
	uint16_t machine;
	const char *section;
	size_t size;
	uint8_t code[MAX_CODE]; /* at PLT */
	size_t memcpy_at, memcpy_end, puts_at;
} cases[] = {
	{ "x86-64, with a header", EM_X86_64, ".plt", 48,
	  { /* push GOT + 8; jmp *GOT + 16; nop */
	    0xff, 0x35, 0xca, 0x2f, 0, 0, 0xff, 0x25, 0xcc, 0x2f, 0, 0, 0x0f, 0x1f, 0x40, 0,
	    /* jmp *0x4018; push 0; jmp header */
	    0xff, 0x25, 0xe2, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff,
	    /* jmp *0x4020; push 1; jmp header */
	    0xff, 0x25, 0xda, 0x2f, 0, 0, 0x68, 1, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff },
	  16, 32, 32 },
	{ "x86-64 for indirect branch tracking", EM_X86_64, ".plt.sec", 32,
	  { /* endbr64; bnd jmp *0x4018; nop */
	    0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xed, 0x2f, 0, 0, 0x0f, 0x1f, 0x44, 0, 0,
	    /* endbr64; jmp *0x4020; nop */
	    0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xe6, 0x2f, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0 },
	  0, 16, 16 },
	{ "x86-64 without lazy binding", EM_X86_64, ".plt.got", 16,
	  { /* jmp *0x4018; xchg ax, ax; jmp *0x4020; xchg ax, ax */
	    0xff, 0x25, 0xf2, 0x2f, 0, 0, 0x66, 0x90, 0xff, 0x25, 0xf2, 0x2f, 0, 0, 0x66, 0x90 },
	  0, 8, 8 },
	{ "i386, not position-independent", EM_386, ".plt", 32,
	  { /* jmp *0x4018; push 0; jmp header */
	    0xff, 0x25, 0x18, 0x40, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,
	    0xff, 0x25, 0x1c, 0x40, 0, 0, 0x68, 8, 0, 0, 0, 0xe9, 0, 0, 0, 0 },
	  0, 16, 16 },
	{ "i386, position-independent: from .got.plt at 0x400c", EM_386, ".plt", 32,
	  { /* jmp *0xc(%ebx); push 0; jmp header */
	    0xff, 0xa3, 0x0c, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,
	    0xff, 0xa3, 0x10, 0, 0, 0, 0x68, 8, 0, 0, 0, 0xe9, 0, 0, 0, 0 },
	  0, 16, 16 },
	{ "aarch64, with the end of a header", EM_AARCH64, ".plt", 48,
	  { /* stp x16, x30, [sp, -16]!; adrp x16, 0x4000; ldr x17, [x16, 0x10]; nop */
	    0xf0, 0x7b, 0xbf, 0xa9, 0x10, 0, 0, 0xf0, 0x11, 0x0a, 0x40, 0xf9, 0x1f, 0x20, 0x03, 0xd5,
	    /* adrp x16, 0x4000; ldr x17, [x16, 0x18]; add x16, x16, 0x18; br x17 */
	    0x10, 0, 0, 0xf0, 0x11, 0x0e, 0x40, 0xf9, 0x10, 0x62, 0, 0x91, 0x20, 0x02, 0x1f, 0xd6,
	    0x10, 0, 0, 0xf0, 0x11, 0x12, 0x40, 0xf9, 0x10, 0x82, 0, 0x91, 0x20, 0x02, 0x1f, 0xd6 },
	  16, 32, 32 },
	{ "aarch64 with branch target identification", EM_AARCH64, ".plt", 48,
	  { /* bti c; adrp x16, 0x4000; ldr x17, [x16, 0x18]; add; br x17; nop */
	    0x5f, 0x24, 0x03, 0xd5, 0x10, 0, 0, 0xf0, 0x11, 0x0e, 0x40, 0xf9, 0x10, 0x62, 0, 0x91,
	    0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5,
	    0x5f, 0x24, 0x03, 0xd5, 0x10, 0, 0, 0xf0, 0x11, 0x12, 0x40, 0xf9, 0x10, 0x82, 0, 0x91,
	    0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5 },
	  0, 24, 24 },
	{ "arm: the second one is entered from Thumb", EM_ARM, ".plt", 28,
	  { /* add ip, pc, 0; add ip, ip, 0x2000; ldr pc, [ip, 0xff0]! */
	    0x00, 0xc6, 0x8f, 0xe2, 0x02, 0xca, 0x8c, 0xe2, 0xf0, 0xff, 0xbc, 0xe5,
	    /* bx pc; nop; add ip, pc, 0; add ip, ip, 0x2000; ldr pc, [ip, 0xfe4]! */
	    0x78, 0x47, 0xc0, 0x46,
	    0x00, 0xc6, 0x8f, 0xe2, 0x02, 0xca, 0x8c, 0xe2, 0xe4, 0xff, 0xbc, 0xe5 },
	  0, 12, 12 },
};
/* clang-format on */

union relocations {
	Elf64_Rela rela[2];
	Elf32_Rel rel[2];
};

static bool is_64(const struct stubs *s)
{
	return s->machine == EM_X86_64 || s->machine == EM_AARCH64;
}

/* Relocations of the two slots, in the file's class. */
static void make_relocations(const struct stubs *s, union relocations *out)
{
	for (unsigned i = 0; i < 2; i++) {
		if (is_64(s))
			out->rela[i] =
				(Elf64_Rela){ .r_offset = GOT + 8 * i,
					      .r_info = ELF64_R_INFO((Elf64_Xword)i + 1, 7) };
		else
			out->rel[i] = (Elf32_Rel){ .r_offset = GOT + 4 * i,
						   .r_info = ELF32_R_INFO(i + 1, 7) };
	}
}

static void open_stubs(struct elf_file *file, const char *path, const struct stubs *s, size_t size)
{
	union relocations relocations;
	struct built_section sections[] = {
		{ s->section, SHT_PROGBITS, CODE, PLT, s->code, size },
		{ ".got.plt", SHT_PROGBITS, SHF_ALLOC, 0x400c, NULL, 64 },
		{ is_64(s) ? ".rela.plt" : ".rel.plt", is_64(s) ? SHT_RELA : SHT_REL, SHF_ALLOC, 0,
		  &relocations, is_64(s) ? sizeof(relocations.rela) : sizeof(relocations.rel) },
		{ NULL },
	};
	struct err err;

	make_relocations(s, &relocations);
	elf_build(path, &(struct built_elf){
				.elf_class = is_64(s) ? ELFCLASS64 : ELFCLASS32,
				.machine = s->machine,
				.sections = sections,
				.dynamic = dynamic,
			});
	assert_int_equal(elf_file_open(file, path, &err), 0);
}

static void check(const struct stubs *s, const struct functions *f, size_t at, const char *name)
{
	const struct function *found = functions_find(f, PLT + at);
	struct text text = { 0 };

	if (found != NULL)
		function_name(found, DEMANGLE_SHORT, &text);
	text_char(&text, '\0');
	if (strcmp(text.bytes, name) != 0)
		fail_msg("%s: \"%s\" at %zu, not \"%s\"", s->why, text.bytes, at, name);
	text_release(&text);
}

static void test_stubs(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct stubs *s = &cases[i];
		struct elf_file file = { 0 };
		struct functions f = { 0 };

		open_stubs(&file, path, s, s->size);
		plt_add(&f, &file);
		functions_build(&f);
		assert_int_equal(f.list.n, 2);
		check(s, &f, s->memcpy_at, "memcpy@plt");
		check(s, &f, s->memcpy_end - 1, "memcpy@plt");
		check(s, &f, s->puts_at, "puts@plt");
		check(s, &f, s->size - 1, "puts@plt");
		if (s->memcpy_at > 0)
			assert_null(functions_find(&f, PLT + s->memcpy_at - 1));
		functions_release(&f);
		elf_file_release(&file);
	}
	folder_remove(folder);
}

/* In a static program a stub's function is chosen at start, by calling another one. */
static void test_chosen_at_start(void **state)
{
	static const struct built_symbol symbols[] = {
		{ "strlen", 0x1040, 8, STB_GLOBAL, STT_GNU_IFUNC, STV_DEFAULT, 1 },
		{ NULL },
	};
	static const Elf64_Rela relocations[] = {
		{ GOT, ELF64_R_INFO(0, R_AARCH64_IRELATIVE), 0x1040 },
		{ GOT + 8, ELF64_R_INFO(0, R_AARCH64_IRELATIVE), 0x1044 }, /* inside of it */
	};
	const struct stubs *s = &cases[5];
	uint8_t code[MAX_CODE] = { 0 };
	const struct built_section sections[] = {
		{ ".plt", SHT_PROGBITS, CODE, PLT, code, sizeof(code) },
		{ ".rela.plt", SHT_RELA, SHF_ALLOC, 0, relocations, sizeof(relocations) },
		{ NULL },
	};
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct elf_file file = { 0 };
	struct functions f = { 0 };
	struct err err;

	(void)state;
	memcpy(code, s->code + s->memcpy_at, s->size - s->memcpy_at);
	elf_build(path, &(struct built_elf){ .machine = EM_AARCH64,
					     .type = ET_EXEC,
					     .sections = sections,
					     .symbols = symbols });
	assert_int_equal(elf_file_open(&file, path, &err), 0);
	functions_add(&f, &(struct function){ 0x1040, 8, 0x2000, "strlen", FUNCTION_GLOBAL });
	functions_build(&f);
	assert_int_equal(plt_add(&f, &file), 1);
	functions_build(&f);
	check(s, &f, 0, "strlen@plt");
	check(s, &f, 0x1040 - PLT, "strlen");
	functions_release(&f);
	elf_file_release(&file);
	folder_remove(folder);
}

/* The code cut anywhere: each stub is found whole, or not at all. */
static void test_cut(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (size_t size = 0; size < cases[i].size; size++) {
			struct elf_file file = { 0 };
			struct functions f = { 0 };

			open_stubs(&file, path, &cases[i], size);
			plt_add(&f, &file);
			functions_build(&f);
			assert_true(f.list.n <= (size > cases[i].puts_at ? 2u : 1u));
			if (f.list.n > 0)
				check(&cases[i], &f, cases[i].memcpy_at, "memcpy@plt");
			functions_release(&f);
			elf_file_release(&file);
		}
	}
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_chosen_at_start),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
