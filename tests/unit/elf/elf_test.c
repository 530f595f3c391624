/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files and their symbol tables: elf_file, elf_symbols, debugdata. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lzma.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "elf_builder.h"

enum { CODE = SHF_ALLOC | SHF_EXECINSTR, TEXT = 0x10000, TEXT_SIZE = 0x100 };

static const struct built_section sections[] = {
	{ ".text", SHT_PROGBITS, CODE, TEXT, NULL, TEXT_SIZE },
	{ ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x20000, NULL, 16 },
	{ NULL },
};

static const struct built_symbol symbols[] = {
	{ "one", TEXT, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
	{ "$x", TEXT + 0x10, 0, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1 },
	{ "$d.12", TEXT + 0x14, 0, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1 },
	{ ".Lloop", TEXT + 0x18, 0, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1 },
	{ "hidden_end", TEXT + 0x1c, 0, STB_GLOBAL, STT_NOTYPE, STV_HIDDEN, 1 },
	{ "label", TEXT + 0x20, 0, STB_GLOBAL, STT_NOTYPE, STV_DEFAULT, 1 },
	{ "indirect", TEXT + 0x40, 0x10, STB_GLOBAL, STT_GNU_IFUNC, STV_DEFAULT, 1 },
	{ "object", TEXT + 0x50, 0x10, STB_GLOBAL, STT_OBJECT, STV_DEFAULT, 1 },
	{ "in_data", 0x20000, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 2 },
	{ "elsewhere", 0, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF },
	{ "absolute", TEXT + 0x60, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_ABS },
	{ "bad_section", TEXT + 0x60, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 99 },
	{ "odd", TEXT + 0x81, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
	{ "too_long", TEXT + 0xf0, UINT32_MAX, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1 },
	{ NULL },
};

static const struct build_id id = { 20, { 0xab, 0xcd, 0xef, 1, 2, 3 } };

/* Names at some addresses; what an Arm machine sees differently is in its own column. */
static const struct {
	uint64_t address;
	const char *arm, *aarch64, *x86;
} expected[] = {
	{ TEXT - 1, NULL, NULL, NULL },
	{ TEXT, "one", "one", "one" },
	{ TEXT + 0x0f, "one", "one", "one" },
	{ TEXT + 0x10, NULL, NULL, "$x" },
	{ TEXT + 0x18, NULL, NULL, "$d.12" },
	{ TEXT + 0x20, "label", "label", "label" },
	{ TEXT + 0x3f, "label", "label", "label" },
	{ TEXT + 0x40, "indirect", "indirect", "indirect" },
	{ TEXT + 0x50, NULL, NULL, NULL },
	{ TEXT + 0x60, NULL, NULL, NULL },
	{ TEXT + 0x80, "odd", NULL, NULL },
	{ TEXT + 0x90, NULL, "odd", "odd" },
	{ TEXT + 0xff, "too_long", "too_long", "too_long" },
	{ TEXT + 0x100, NULL, NULL, NULL },
	{ 0x20000, NULL, NULL, NULL },
};

static void check_name(const struct functions *f, uint64_t address, const char *name)
{
	const struct function *found = functions_find(f, address);
	const char *got = found == NULL ? "nothing" : found->name;
	const char *wanted = name == NULL ? "nothing" : name;

	if (strcmp(got, wanted) != 0)
		fail_msg("%#llx is in %s, not %s", (unsigned long long)address, got, wanted);
}

static void test_machines(void **state)
{
	static const struct {
		uint16_t machine;
		unsigned char elf_class;
	} kinds[] = { { EM_ARM, ELFCLASS32 },
		      { EM_AARCH64, ELFCLASS64 },
		      { EM_X86_64, ELFCLASS64 } };
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct elf_file file = { 0 };
		struct functions f = { 0 };
		struct err err;
		uint64_t address, offset;
		uint64_t start = elf_build(path, &(struct built_elf){
							 .elf_class = kinds[i].elf_class,
							 .machine = kinds[i].machine,
							 .build_id = id,
							 .sections = sections,
							 .symbols = symbols,
						 });

		assert_int_equal(elf_file_open(&file, path, &err), 0);
		assert_int_equal(file.machine, kinds[i].machine);
		assert_true(build_id_matches(&id, &file.build_id));
		assert_true(elf_file_to_address(&file, start + 8, &address));
		assert_int_equal(address, TEXT + 8);
		assert_true(elf_file_to_offset(&file, TEXT + 8, &offset));
		assert_int_equal(offset, start + 8);
		assert_false(elf_file_to_address(&file, start + TEXT_SIZE, &address));
		assert_false(elf_file_to_offset(&file, TEXT + TEXT_SIZE, &offset));
		elf_symbols_add(&f, &file, SHT_SYMTAB);
		functions_build(&f);
		for (size_t k = 0; k < COUNT(expected); k++)
			check_name(&f, expected[k].address,
				   i == 0   ? expected[k].arm
				   : i == 1 ? expected[k].aarch64
					    : expected[k].x86);
		assert_int_equal(elf_symbols_add(&f, &file, SHT_DYNSYM), 0);
		assert_true(elf_symbols_find(&file, "in_data", &address));
		assert_int_equal(address, 0x20000);
		assert_false(elf_symbols_find(&file, "elsewhere", &address));
		functions_release(&f);
		elf_file_release(&file);
	}
	folder_remove(folder);
}

/* Code sections of a kernel module follow each other; .init stands elsewhere. */
static void test_relocatable(void **state)
{
	static const struct built_section parts[] = {
		{ ".text", SHT_PROGBITS, CODE, 0, NULL, 0x24 },
		{ ".init.text", SHT_PROGBITS, CODE, 0, NULL, 0x40 },
		{ ".data", SHT_PROGBITS, SHF_ALLOC, 0, NULL, 0x40 },
		{ ".text.unlikely", SHT_PROGBITS, CODE, 0, NULL, 0x10 },
		{ NULL },
	};
	static const struct built_symbol names[] = {
		{ "work", 4, 0x10, STB_LOCAL, STT_FUNC, STV_DEFAULT, 1 },
		{ "init", 0, 0x10, STB_LOCAL, STT_FUNC, STV_DEFAULT, 2 },
		{ "cold", 0, 0x10, STB_LOCAL, STT_FUNC, STV_DEFAULT, 4 },
		{ NULL },
	};
	char *folder = folder_make();
	const char *path = in_folder(folder, "module.ko");
	struct elf_file file = { 0 };
	struct functions f = { 0 };
	struct err err;

	(void)state;
	elf_build(path, &(struct built_elf){ .machine = EM_AARCH64,
					     .type = ET_REL,
					     .sections = parts,
					     .symbols = names });
	assert_int_equal(elf_file_open(&file, path, &err), 0);
	assert_int_equal(elf_symbols_add(&f, &file, SHT_SYMTAB), 2);
	functions_build(&f);
	check_name(&f, 4, "work");
	check_name(&f, 0x14, NULL);
	check_name(&f, 0x30, "cold");
	check_name(&f, 0x40, NULL);
	functions_release(&f);
	elf_file_release(&file);
	folder_remove(folder);
}

/* The bytes of a file, compressed with xz. */
static uint8_t *compress_file(const char *path, size_t *out_size)
{
	enum { ROOM = 1 << 16 };
	struct mapped file = { 0 };
	uint8_t *packed = mem_alloc(ROOM, 1);
	struct err err;

	*out_size = 0;
	assert_int_equal(mapped_open(&file, path, &err), 0);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, file.bytes, file.size,
						 packed, out_size, ROOM),
			 LZMA_OK);
	mapped_release(&file);
	return packed;
}

static void test_debugdata(void **state)
{
	char *folder = folder_make();
	const char *inner_path = in_folder(folder, "inner"), *path = in_folder(folder, "outer");
	struct elf_file file = { 0 }, inner = { 0 };
	struct functions f = { 0 };
	struct err err;
	uint8_t *packed;
	size_t size;

	(void)state;
	elf_build(inner_path, &(struct built_elf){ .machine = EM_AARCH64,
						   .sections = sections,
						   .symbols = symbols });
	packed = compress_file(inner_path, &size);
	for (size_t cut = 0; cut <= size; cut++) {
		struct built_section outer[] = {
			sections[0],
			{ ".gnu_debugdata", SHT_PROGBITS, 0, 0, packed, cut },
			{ NULL },
		};

		elf_build(path, &(struct built_elf){ .machine = EM_AARCH64, .sections = outer });
		assert_int_equal(elf_file_open(&file, path, &err), 0);
		assert_int_equal(elf_file_has(&file, ".gnu_debugdata"), cut > 0);
		assert_int_equal(elf_symbols_open_debugdata(&inner, &file, &err),
				 cut == size ? 0 : -1);
		if (cut < size)
			elf_file_release(&file);
	}
	assert_true(elf_symbols_add(&f, &inner, SHT_SYMTAB) > 0);
	functions_build(&f);
	check_name(&f, TEXT, "one");
	functions_release(&f);
	elf_file_release(&inner);
	elf_file_release(&file);
	free(packed);
	folder_remove(folder);
}

/* A file cut anywhere gives fewer names, never wrong ones. */
static void test_cut(void **state)
{
	char *folder = folder_make();
	const char *whole = in_folder(folder, "whole"), *path = in_folder(folder, "cut");
	struct mapped bytes = { 0 };
	struct err err;

	(void)state;
	elf_build(whole, &(struct built_elf){ .machine = EM_AARCH64,
					      .build_id = id,
					      .sections = sections,
					      .symbols = symbols });
	assert_int_equal(mapped_open(&bytes, whole, &err), 0);
	for (size_t size = 0; size < bytes.size; size++) {
		struct elf_file file = { 0 };
		struct functions f = { 0 };

		file_write(path, bytes.bytes, size);
		if (elf_file_open(&file, path, &err) < 0)
			continue;
		elf_symbols_add(&f, &file, SHT_SYMTAB);
		functions_build(&f);
		if (functions_find(&f, TEXT) != NULL)
			check_name(&f, TEXT, "one");
		functions_release(&f);
		elf_file_release(&file);
	}
	mapped_release(&bytes);
	folder_remove(folder);
}

static void test_not_elf(void **state)
{
	static const struct {
		const char *path;
		enum err_code code;
	} cases[] = {
		{ "/dev/zero", ERR_IO },    { "/dev/null", ERR_IO }, { "/", ERR_IO },
		{ "/nonexistent", ERR_IO }, { "", ERR_IO },	     { "/etc/passwd", ERR_FORMAT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct elf_file file = { 0 };
		struct err err;

		assert_int_equal(elf_file_open(&file, cases[i].path, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_false(elf_file_is_open(&file));
	}
}

static void test_build_ids(void **state)
{
	static const struct {
		struct build_id recorded, found;
		bool is_match;
	} cases[] = {
		{ { 20, { 1, 2, 3 } }, { 20, { 1, 2, 3 } }, true },
		{ { 20, { 1, 2, 3 } }, { 3, { 1, 2, 3 } }, true }, /* padded by the recorder */
		{ { 3, { 1, 2, 3 } }, { 3, { 1, 2, 3 } }, true },
		{ { 3, { 1, 2, 3 } }, { 20, { 1, 2, 3 } }, false },
		{ { 20, { 1, 2, 3, 4 } }, { 3, { 1, 2, 3 } }, false },
		{ { 20, { 1, 2, 3 } }, { 20, { 1, 2, 4 } }, false },
		{ { 0 }, { 3, { 1, 2, 3 } }, false },
		{ { 3, { 1, 2, 3 } }, { 0 }, false },
		{ { 0 }, { 0 }, false },
	};
	char text[BUILD_ID_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(build_id_matches(&cases[i].recorded, &cases[i].found),
				 cases[i].is_match);
	assert_string_equal(build_id_text(&(struct build_id){ 3, { 0xab, 0, 0x1f } }, text),
			    "ab001f");
	assert_string_equal(build_id_text(&(struct build_id){ 0 }, text), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),  cmocka_unit_test(test_relocatable),
		cmocka_unit_test(test_debugdata), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_not_elf),	  cmocka_unit_test(test_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
