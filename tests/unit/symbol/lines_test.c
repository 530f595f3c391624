/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inline chains from DWARF written by hand, sound and hostile. */
#include "symbol/lines.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "../elf/elf_builder.h"

enum { CODE = 0x10000, CODE_SIZE = 0x100, OTHER_CODE = 0x20000 };

/* Abbreviation codes. */
enum { UNIT = 1, FUNCTION, INLINED, ABSTRACT, REFERENCE };

/* clang-format off */
static const uint8_t abbreviations[] = {
	UNIT, DW_TAG_compile_unit, 1,
		DW_AT_name, DW_FORM_string,
		DW_AT_comp_dir, DW_FORM_string,
		DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data4,
		DW_AT_stmt_list, DW_FORM_sec_offset,
		0, 0,
	FUNCTION, DW_TAG_subprogram, 1,
		DW_AT_name, DW_FORM_string,
		DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data4,
		0, 0,
	INLINED, DW_TAG_inlined_subroutine, 1,
		DW_AT_abstract_origin, DW_FORM_ref4,
		DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data4,
		DW_AT_call_file, DW_FORM_data1,
		DW_AT_call_line, DW_FORM_data1,
		0, 0,
	ABSTRACT, DW_TAG_subprogram, 0,
		DW_AT_name, DW_FORM_string,
		DW_AT_inline, DW_FORM_data1,
		0, 0,
	REFERENCE, DW_TAG_subprogram, 0,
		DW_AT_abstract_origin, DW_FORM_ref4,
		0, 0,
	0,
};
/* clang-format on */

/* The sections of one file. */
struct dwarf {
	struct text info, abbrev, line;
};

static void put(struct text *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_char(t, (char)(value >> 8 * i));
}

static void put_string(struct text *t, const char *string)
{
	text_add(t, string, strlen(string) + 1);
}

static void put_at(struct text *t, size_t at, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		t->bytes[at + i] = (char)(value >> 8 * i);
}

static void begin_unit(struct dwarf *d)
{
	text_add(&d->abbrev, (const char *)abbreviations, sizeof(abbreviations));
	put(&d->info, 0, 4); /* length: see end_unit() */
	put(&d->info, 4, 2);
	put(&d->info, 0, 4);
	put(&d->info, 8, 1);
	put(&d->info, UNIT, 1);
	put_string(&d->info, "main.c");
	put_string(&d->info, "/src");
	put(&d->info, CODE, 8);
	put(&d->info, CODE_SIZE, 4);
	put(&d->info, 0, 4);
}

static void end_entry(struct dwarf *d)
{
	put(&d->info, 0, 1);
}

static void end_unit(struct dwarf *d)
{
	end_entry(d);
	put_at(&d->info, 0, (uint32_t)d->info.n - 4);
}

static void begin_function(struct dwarf *d, const char *name, uint64_t start, uint32_t size)
{
	put(&d->info, FUNCTION, 1);
	put_string(&d->info, name);
	put(&d->info, CODE + start, 8);
	put(&d->info, size, 4);
}

static void begin_inlined(struct dwarf *d, size_t origin, uint64_t start, uint32_t size,
			  uint8_t file, uint8_t line)
{
	put(&d->info, INLINED, 1);
	put(&d->info, origin, 4);
	put(&d->info, CODE + start, 8);
	put(&d->info, size, 4);
	put(&d->info, file, 1);
	put(&d->info, line, 1);
}

/* Returns the offset by which begin_inlined() refers to it. */
static size_t add_abstract(struct dwarf *d, const char *name)
{
	size_t at = d->info.n;

	put(&d->info, ABSTRACT, 1);
	put_string(&d->info, name);
	put(&d->info, DW_INL_declared_inlined, 1);
	return at;
}

static size_t add_reference(struct dwarf *d, size_t origin)
{
	size_t at = d->info.n;

	put(&d->info, REFERENCE, 1);
	put(&d->info, origin, 4);
	return at;
}

static void add_row(struct text *t, uint8_t file, int8_t line_step, uint8_t address_step)
{
	put(t, DW_LNS_set_file, 1);
	put(t, file, 1);
	put(t, DW_LNS_advance_line, 1);
	put(t, (uint64_t)line_step & 0x7f, 1);
	put(t, DW_LNS_advance_pc, 1);
	put(t, address_step, 1);
	put(t, DW_LNS_copy, 1);
}

/* Lines 10, 11 … of main.c every 0x10 bytes, but inner.h:5 at 0x20 … 0x30; ends at 0x80. */
static void add_lines(struct dwarf *d)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct text *t = &d->line;
	size_t header;

	put(t, 0, 4);
	put(t, 4, 2);
	header = t->n;
	put(t, 0, 4);
	put(t, 0x010101, 3);
	put(t, 0xfb, 1);
	put(t, 14, 1);
	put(t, sizeof(operands) + 1, 1);
	text_add(t, (const char *)operands, sizeof(operands));
	put(t, 0, 1);
	put_string(t, "main.c");
	put(t, 0, 3);
	put_string(t, "inner.h");
	put(t, 0, 3);
	put(t, 0, 1);
	put_at(t, header, (uint32_t)(t->n - header - 4));

	put(t, 0, 1);
	put(t, 9, 1);
	put(t, DW_LNE_set_address, 1);
	put(t, CODE, 8);
	add_row(t, 1, 9, 0);
	add_row(t, 1, 1, 0x10);
	add_row(t, 2, -6, 0x10);
	add_row(t, 1, 8, 0x10);
	add_row(t, 1, 1, 0x10);
	put(t, DW_LNS_advance_pc, 1);
	put(t, 0x40, 1);
	put(t, 0, 1);
	put(t, 1, 1);
	put(t, DW_LNE_end_sequence, 1);
	put_at(t, 0, (uint32_t)t->n - 4);
}

/*
 * outer() has 0x00 … 0x50; middle() is inlined into it from 0x10 to 0x40 at line 33, and
 * inner() into that from 0x20 to 0x30 at line 44. plain() has 0x50 … 0x60, and no lines
 * come after 0x80, though last() goes to 0x90.
 */
static void make_sound(struct dwarf *d)
{
	size_t inner, middle;

	begin_unit(d);
	inner = add_abstract(d, "inner");
	middle = add_reference(d, add_abstract(d, "_ZN2ns6middleEi"));
	begin_function(d, "outer", 0, 0x50);
	begin_inlined(d, middle, 0x10, 0x30, 1, 33);
	begin_inlined(d, inner, 0x20, 0x10, 2, 44);
	end_entry(d);
	end_entry(d);
	end_entry(d);
	begin_function(d, "plain", 0x50, 0x10);
	end_entry(d);
	begin_function(d, "last", 0x70, 0x20);
	end_entry(d);
	end_unit(d);
	add_lines(d);
}

/* Another unit behind that: function other() and no lines. */
static void add_other_unit(struct dwarf *d)
{
	size_t from = d->info.n;

	put(&d->info, 0, 4);
	put(&d->info, 4, 2);
	put(&d->info, 0, 4);
	put(&d->info, 8, 1);
	put(&d->info, UNIT, 1);
	put_string(&d->info, "other.c");
	put_string(&d->info, "/src");
	put(&d->info, OTHER_CODE, 8);
	put(&d->info, 0x10, 4);
	put(&d->info, 0, 4);
	begin_function(d, "other", OTHER_CODE - CODE, 0x10);
	end_entry(d);
	end_entry(d);
	put_at(&d->info, from, (uint32_t)(d->info.n - from - 4));
}

static void dwarf_release(struct dwarf *d)
{
	text_release(&d->info);
	text_release(&d->abbrev);
	text_release(&d->line);
}

static void write_file(const char *path, const struct dwarf *d)
{
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, NULL, CODE_SIZE },
		{ ".debug_info", SHT_PROGBITS, 0, 0, d->info.bytes, d->info.n },
		{ ".debug_abbrev", SHT_PROGBITS, 0, 0, d->abbrev.bytes, d->abbrev.n },
		{ ".debug_line", SHT_PROGBITS, 0, 0, d->line.bytes, d->line.n },
		{ NULL },
	};

	elf_build(path, &(struct built_elf){ .machine = EM_AARCH64, .sections = sections });
}

/* "outer main.c:10" and so on, innermost first, with " < " between. */
static char *chain_text(const struct lines_answer *answer, size_t address)
{
	struct line_chain chain = answer->chains[address];
	struct text text = { 0 };
	char *copy;

	for (uint32_t i = 0; i < chain.n; i++) {
		const struct symbol_frame *f = &answer->frames.items[chain.first + i];
		const char *path = strings_get(&answer->strings, f->file);
		const char *slash = strrchr(path, '/');

		assert_int_equal(f->is_inlined, i + 1 < chain.n);
		text_format(&text, "%s%s %s:%u", i == 0 ? "" : " < ",
			    strings_get(&answer->strings, f->function),
			    slash == NULL ? path : slash + 1, f->line);
	}
	copy = mem_strndup(text.n == 0 ? "" : text.bytes, text.n);
	text_release(&text);
	return copy;
}

static const struct expected {
	uint64_t address;
	const char *chain;
} expected[] = {
	{ CODE - 1, "" },
	{ CODE, "outer main.c:10" },
	{ CODE + 0x0f, "outer main.c:10" },
	{ CODE + 0x10, "_ZN2ns6middleEi main.c:11 < outer main.c:33" },
	{ CODE + 0x20, "inner inner.h:5 < _ZN2ns6middleEi inner.h:44 < outer main.c:33" },
	{ CODE + 0x2f, "inner inner.h:5 < _ZN2ns6middleEi inner.h:44 < outer main.c:33" },
	{ CODE + 0x30, "_ZN2ns6middleEi main.c:13 < outer main.c:33" },
	{ CODE + 0x40, "outer main.c:14" },
	{ CODE + 0x50, "plain main.c:14" },
	{ CODE + 0x60, " main.c:14" },
	{ CODE + 0x7f, "last main.c:14" },
	{ CODE + 0x80, "last :0" },
	{ CODE + 0x90, "" },
	{ CODE + 0x100, "" },
};

static void ask(struct lines_answer *answer, const char *path, size_t part, size_t n_parts)
{
	static uint64_t addresses[COUNT(expected)];
	struct lines_question question = {
		.path = path,
		.addresses = addresses,
		.n = COUNT(expected),
		.part = part,
		.n_parts = n_parts,
	};

	for (size_t i = 0; i < COUNT(expected); i++)
		addresses[i] = expected[i].address;
	lines_ask(&question, answer);
}

static void test_chains(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct lines_answer answer = { 0 };
	struct dwarf d = { 0 };

	(void)state;
	make_sound(&d);
	write_file(path, &d);
	ask(&answer, path, 0, 1);
	for (size_t i = 0; i < COUNT(expected); i++) {
		char *found = chain_text(&answer, i);

		assert_string_equal(found, expected[i].chain);
		free(found);
	}
	assert_int_equal(answer.diags.list.n, 0);
	lines_answer_release(&answer);
	dwarf_release(&d);
	folder_remove(folder);
}

/* Functions with a symbol are not named by debug information; what is inlined into them is. */
static void test_named(void **state)
{
	static const struct expected chains[] = {
		{ CODE, " main.c:10" },
		{ CODE + 0x10, "_ZN2ns6middleEi main.c:11 <  main.c:33" },
		{ CODE + 0x20, "inner inner.h:5 < _ZN2ns6middleEi inner.h:44 <  main.c:33" },
		{ CODE + 0x50, "plain main.c:14" },
		{ CODE + 0x60, " main.c:14" },
		{ CODE + 0x80, " :0" },
	};
	bool is_named[COUNT(chains)];
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	uint64_t addresses[COUNT(chains)];
	struct lines_question question = {
		.path = path,
		.addresses = addresses,
		.is_named = is_named,
		.n = COUNT(chains),
		.n_parts = 1,
	};
	struct lines_answer answer = { 0 };
	struct dwarf d = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(chains); i++) {
		addresses[i] = chains[i].address;
		is_named[i] = chains[i].address != CODE + 0x50;
	}
	make_sound(&d);
	write_file(path, &d);
	lines_ask(&question, &answer);
	for (size_t i = 0; i < COUNT(chains); i++) {
		char *found = chain_text(&answer, i);

		assert_string_equal(found, chains[i].chain);
		free(found);
	}
	assert_int_equal(answer.diags.list.n, 0);
	lines_answer_release(&answer);
	dwarf_release(&d);
	folder_remove(folder);
}

/*
 * Where all addresses have symbols and lines, and no entry can be inlined, the entries are not read: here
 * they are damaged, which is noted if they are.
 */
static void test_scopes_are_read_if_needed(void **state)
{
	static const struct {
		bool may_be_inlined, is_named;
		uint64_t second; /* address */
		bool are_read;
	} cases[] = {
		{ false, true, CODE + 0x50, false },
		{ true, true, CODE + 0x50, true },
		{ false, false, CODE + 0x50, true },
		{ false, true, CODE + 0x80, true }, /* has no line */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const uint64_t addresses[] = { CODE, cases[i].second };
		const bool is_named[] = { true, cases[i].is_named };
		char *folder = folder_make(), *found;
		const char *path = in_folder(folder, "file");
		struct lines_question question = {
			.path = path,
			.addresses = addresses,
			.is_named = is_named,
			.n = COUNT(addresses),
			.n_parts = 1,
		};
		struct lines_answer answer = { 0 };
		struct dwarf d = { 0 };
		size_t first;
		char *tag;

		begin_unit(&d);
		first = d.info.n;
		begin_function(&d, "outer", 0, 0x50);
		end_entry(&d);
		end_unit(&d);
		add_lines(&d);
		d.info.bytes[first] = 99; /* no abbreviation has this number */
		tag = memchr(d.abbrev.bytes, DW_TAG_inlined_subroutine, d.abbrev.n);
		assert_non_null(tag);
		assert_int_equal(tag[-1], INLINED);
		if (!cases[i].may_be_inlined)
			*tag = DW_TAG_lexical_block;
		write_file(path, &d);
		lines_ask(&question, &answer);
		assert_int_equal(answer.diags.list.n > 0, cases[i].are_read);
		found = chain_text(&answer, 0);
		assert_string_equal(found, " main.c:10");
		free(found);
		lines_answer_release(&answer);
		dwarf_release(&d);
		folder_remove(folder);
	}
}

/* What was read may be given back behind each unit: the next one is answered all the same. */
static void test_given_back(void **state)
{
	static const uint64_t addresses[] = { CODE, CODE + 0x60, OTHER_CODE + 4 };
	static const char *const chains[] = { "outer main.c:10", " main.c:14", "other :0" };
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct dwarf d = { 0 };

	(void)state;
	make_sound(&d);
	add_other_unit(&d);
	write_file(path, &d);
	for (size_t n_kept_rows = 0; n_kept_rows < 2; n_kept_rows++) {
		struct lines_question question = {
			.path = path,
			.addresses = addresses,
			.n = COUNT(addresses),
			.n_parts = 1,
			.n_kept_rows = n_kept_rows,
		};
		struct lines_answer answer = { 0 };

		lines_ask(&question, &answer);
		for (size_t i = 0; i < COUNT(addresses); i++) {
			char *found = chain_text(&answer, i);

			assert_string_equal(found, chains[i]);
			free(found);
		}
		assert_int_equal(answer.diags.list.n, 0);
		lines_answer_release(&answer);
	}
	dwarf_release(&d);
	folder_remove(folder);
}

/* Inline chains alone: no line table is read. */
static void test_without_lines(void **state)
{
	static const struct expected chains[] = {
		{ CODE, "outer :0" },
		{ CODE + 0x10, "_ZN2ns6middleEi :0 < outer :33" },
		{ CODE + 0x20, "inner :0 < _ZN2ns6middleEi :44 < outer :33" },
		{ CODE + 0x60, "" },
		{ CODE + 0x90, "" },
	};
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	uint64_t addresses[COUNT(chains)];
	struct lines_question question = {
		.path = path,
		.addresses = addresses,
		.n = COUNT(chains),
		.n_parts = 1,
		.without_lines = true,
	};
	struct lines_answer answer = { 0 };
	struct dwarf d = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(chains); i++)
		addresses[i] = chains[i].address;
	make_sound(&d);
	write_file(path, &d);
	lines_ask(&question, &answer);
	for (size_t i = 0; i < COUNT(chains); i++) {
		char *found = chain_text(&answer, i);

		assert_string_equal(found, chains[i].chain);
		free(found);
	}
	assert_int_equal(answer.diags.list.n, 0);
	lines_answer_release(&answer);
	dwarf_release(&d);
	folder_remove(folder);
}

/* One of the parts of a question has the unit; the others leave its addresses alone. */
static void test_parts(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct lines_answer parts[3] = { 0 };
	struct dwarf d = { 0 };

	(void)state;
	make_sound(&d);
	write_file(path, &d);
	for (size_t part = 0; part < COUNT(parts); part++)
		ask(&parts[part], path, part, COUNT(parts));
	for (size_t i = 0; i < COUNT(expected); i++) {
		size_t n_answers = 0;

		for (size_t part = 0; part < COUNT(parts); part++) {
			char *found = chain_text(&parts[part], i);

			n_answers += found[0] != '\0';
			assert_true(found[0] == '\0' || strcmp(found, expected[i].chain) == 0);
			free(found);
		}
		assert_int_equal(n_answers, expected[i].chain[0] != '\0');
	}
	for (size_t part = 0; part < COUNT(parts); part++)
		lines_answer_release(&parts[part]);
	dwarf_release(&d);
	folder_remove(folder);
}

/* Any section cut anywhere: some answers are missing, and the program lives. */
static void test_cut(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");

	(void)state;
	for (size_t section = 0; section < 3; section++) {
		struct dwarf d = { 0 };
		struct text *cut = section == 0 ? &d.info : section == 1 ? &d.abbrev : &d.line;

		make_sound(&d);
		while (cut->n > 0) {
			struct lines_answer answer = { 0 };

			cut->n--;
			write_file(path, &d);
			ask(&answer, path, 0, 1);
			for (size_t i = 0; i < COUNT(expected); i++)
				free(chain_text(&answer, i));
			lines_answer_release(&answer);
		}
		dwarf_release(&d);
	}
	folder_remove(folder);
}

/* Each byte of the entries changed in turn, in a few ways. */
static void test_damaged(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct dwarf d = { 0 };

	(void)state;
	make_sound(&d);
	for (size_t i = 0; i < d.info.n * COUNT(changes); i++) {
		struct lines_answer answer = { 0 };
		uint8_t change = changes[i % COUNT(changes)];

		d.info.bytes[i / COUNT(changes)] ^= (char)change;
		write_file(path, &d);
		ask(&answer, path, 0, 1);
		for (size_t k = 0; k < COUNT(expected); k++)
			free(chain_text(&answer, k));
		lines_answer_release(&answer);
		d.info.bytes[i / COUNT(changes)] ^= (char)change;
	}
	dwarf_release(&d);
	folder_remove(folder);
}

/* Names that refer to themselves, directly or in a ring. */
static void test_circles(void **state)
{
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct lines_answer answer = { 0 };
	struct dwarf d = { 0 };
	size_t self, first, second;
	char *found;

	(void)state;
	begin_unit(&d);
	self = add_reference(&d, d.info.n);
	first = add_reference(&d, 0);
	second = add_reference(&d, first);
	put_at(&d.info, first + 1, (uint32_t)second);
	begin_function(&d, "outer", 0, 0x50);
	begin_inlined(&d, self, 0x10, 0x10, 1, 33);
	end_entry(&d);
	begin_inlined(&d, first, 0x20, 0x10, 1, 34);
	end_entry(&d);
	end_entry(&d);
	end_unit(&d);
	add_lines(&d);
	write_file(path, &d);
	ask(&answer, path, 0, 1);
	found = chain_text(&answer, 3);
	assert_string_equal(found, " main.c:11 < outer main.c:33");
	free(found);
	found = chain_text(&answer, 4);
	assert_string_equal(found, " inner.h:5 < outer main.c:34");
	free(found);
	lines_answer_release(&answer);
	dwarf_release(&d);
	folder_remove(folder);
}

/* Inlined a thousand times into itself: cut off, and said so. */
static void test_deep(void **state)
{
	enum { DEPTH = 1000 };
	char *folder = folder_make();
	const char *path = in_folder(folder, "file");
	struct lines_answer answer = { 0 };
	struct dwarf d = { 0 };
	size_t origin;

	(void)state;
	begin_unit(&d);
	origin = add_abstract(&d, "again");
	begin_function(&d, "outer", 0, 0x50);
	for (int i = 0; i < DEPTH; i++)
		begin_inlined(&d, origin, 0, 0x50, 1, 1);
	for (int i = 0; i < DEPTH; i++)
		end_entry(&d);
	end_entry(&d);
	end_unit(&d);
	add_lines(&d);
	write_file(path, &d);
	ask(&answer, path, 0, 1);
	assert_true(answer.chains[1].n > 100 && answer.chains[1].n < DEPTH);
	assert_int_equal(answer.diags.list.n, 1);
	assert_non_null(strstr(answer.diags.list.items[0].text, "inlines are missing"));
	lines_answer_release(&answer);
	dwarf_release(&d);
	folder_remove(folder);
}

static void test_no_file(void **state)
{
	char *folder = folder_make();
	struct lines_answer answers[2] = { 0 };

	(void)state;
	for (size_t part = 0; part < 2; part++) {
		ask(&answers[part], in_folder(folder, "none"), part, 2);
		assert_int_equal(answers[part].diags.list.n, part == 0);
		assert_int_equal(answers[part].chains[1].n, 0);
		lines_answer_release(&answers[part]);
	}
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_without_lines),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_scopes_are_read_if_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
