/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of line tables: of tables made by hand, whole and cut, and of this program, beside libdw. */
#include "dwarf/line_table.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"

enum { CODE = 0x10000, STEP = 4, BASE = -3, RANGE = 12, OPCODE_BASE = 13 };

static void put(struct text *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_char(t, (char)(value >> (8 * i)));
}

static void put_string(struct text *t, const char *string)
{
	text_add(t, string, strlen(string) + 1);
}

static void put_at(struct text *t, size_t at, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		t->bytes[at + i] = (char)(value >> (8 * i));
}

/* An extended opcode with a number of `size` bytes. */
static void put_extended(struct text *t, uint8_t opcode, uint64_t value, uint8_t size)
{
	put(t, 0, 1);
	put(t, 1u + size, 1);
	put(t, opcode, 1);
	put(t, value, size);
}

/* A special opcode: a row. */
static void put_row(struct text *t, int line_step, unsigned instructions)
{
	put(t, (uint64_t)(line_step - BASE) + RANGE * instructions + OPCODE_BASE, 1);
}

static void put_old_names(struct text *t)
{
	put_string(t, "lib");
	put_string(t, "");
	put_string(t, "main.c"); /* 1 */
	put(t, 0, 3);
	put_string(t, "list.h"); /* 2 */
	put(t, 1, 1);
	put(t, 0, 2);
	put_string(t, "/usr/include/a.h"); /* 3 */
	put(t, 1, 1);
	put(t, 0, 2);
	put_string(t, "");
}

/* The same; names are in .debug_line_str, files have checksums. */
static void put_new_names(struct text *t, struct text *strings)
{
	static const struct {
		const char *name;
		uint8_t folder;
	} files[] = {
		{ "main.c", 0 }, { "main.c", 0 }, { "list.h", 1 }, { "/usr/include/a.h", 1 }
	};
	static const char *const folders[] = { "/src", "lib" };

	put(t, 1, 1);
	put(t, DW_LNCT_path, 1);
	put(t, DW_FORM_line_strp, 1);
	put(t, COUNT(folders), 1);
	for (size_t i = 0; i < COUNT(folders); i++) {
		put(t, strings->n, 4);
		put_string(strings, folders[i]);
	}
	put(t, 3, 1);
	put(t, DW_LNCT_path, 1);
	put(t, DW_FORM_string, 1);
	put(t, DW_LNCT_directory_index, 1);
	put(t, DW_FORM_udata, 1);
	put(t, DW_LNCT_MD5, 1);
	put(t, DW_FORM_data16, 1);
	put(t, COUNT(files), 1);
	for (size_t i = 0; i < COUNT(files); i++) {
		put_string(t, files[i].name);
		put(t, files[i].folder, 1);
		put(t, 0, 8);
		put(t, 0, 8);
	}
}

/* Two sequences, the later one in front of the other, which ends where a row of it has its address, too. */
static void put_program(struct text *t)
{
	put_extended(t, DW_LNE_set_address, CODE, 8);
	put(t, DW_LNS_set_column, 1);
	put(t, 7, 1);
	put_row(t, 4, 0); /* CODE: line 5 */
	put(t, DW_LNS_set_file, 1);
	put(t, 2, 1);
	put_extended(t, DW_LNE_set_discriminator, 9, 1);
	put_row(t, -2, 2); /* CODE + 8: line 3 */
	put(t, DW_LNS_const_add_pc, 1);
	put(t, DW_LNS_negate_stmt, 1);
	put(t, DW_LNS_advance_line, 1);
	put(t, 0xe4, 1); /* 100 */
	put(t, 0x00, 1);
	put(t, DW_LNS_copy, 1); /* CODE + 88: line 103 */
	put_row(t, 1, 0);	/* of two rows there the second counts: line 104 */
	put(t, DW_LNS_advance_pc, 1);
	put(t, 3, 1);
	put_extended(t, DW_LNE_end_sequence, 0, 0); /* CODE + 100 */
	put_extended(t, DW_LNE_set_address, CODE - 64, 8);
	put_row(t, 0, 0); /* CODE - 64: line 1 */
	put(t, DW_LNS_fixed_advance_pc, 1);
	put(t, 32, 2);
	put(t, DW_LNS_set_file, 1);
	put(t, 3, 1);
	put_row(t, 5, 0); /* CODE - 32: line 6 */
	put(t, DW_LNS_advance_pc, 1);
	put(t, 8, 1);
	put_extended(t, DW_LNE_end_sequence, 0, 0); /* CODE */
}

struct made {
	struct text table, strings;
};

static void make_table(struct made *m, unsigned version)
{
	static const uint8_t operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct text *t = &m->table;
	size_t header;

	*m = (struct made){ 0 };
	put(t, 0, 4);
	put(t, version, 2);
	if (version >= 5)
		put(t, 8, 2);
	header = t->n;
	put(t, 0, 4);
	put(t, STEP, 1);
	if (version >= 4)
		put(t, 1, 1);
	put(t, 1, 1);
	put(t, (uint8_t)BASE, 1);
	put(t, RANGE, 1);
	put(t, OPCODE_BASE, 1);
	text_add(t, (const char *)operands, sizeof(operands));
	if (version >= 5)
		put_new_names(t, &m->strings);
	else
		put_old_names(t);
	put_at(t, header, (uint32_t)(t->n - header - 4));
	put_program(t);
	put_at(t, 0, (uint32_t)t->n - 4);
}

static void made_release(struct made *m)
{
	text_release(&m->table);
	text_release(&m->strings);
}

static struct line_source source_of(const struct made *m, size_t size)
{
	return (struct line_source){
		.table = cur_of(m->table.bytes, size),
		.line_strings = cur_of(m->strings.bytes, m->strings.n),
		.address_size = 8,
		.folder = "/src",
	};
}

static const struct known_row {
	uint64_t address;
	uint32_t line, column, discriminator; /* line 0: no row covers it */
	const char *path;
} known[] = {
	{ CODE - 65, 0, 0, 0, NULL },
	{ CODE - 64, 1, 0, 0, "/src/main.c" },
	{ CODE - 33, 1, 0, 0, "/src/main.c" },
	{ CODE - 32, 6, 0, 0, "/usr/include/a.h" },
	{ CODE - 1, 6, 0, 0, "/usr/include/a.h" },
	{ CODE, 5, 7, 0, "/src/main.c" },
	{ CODE + 7, 5, 7, 0, "/src/main.c" },
	{ CODE + 8, 3, 7, 9, "lib/list.h" },
	{ CODE + 87, 3, 7, 9, "lib/list.h" },
	{ CODE + 88, 104, 7, 0, "lib/list.h" },
	{ CODE + 99, 104, 7, 0, "lib/list.h" },
	{ CODE + 100, 0, 0, 0, NULL },
	{ UINT64_MAX, 0, 0, 0, NULL },
};

static void check_row(struct line_table *table, size_t i, const struct known_row *wanted,
		      struct arena *memory)
{
	const struct line_row *row = line_table_row(table, i);

	if (wanted->line == 0) {
		assert_null(row);
		return;
	}
	assert_non_null(row);
	assert_int_equal(row->line, wanted->line);
	assert_int_equal(row->column, wanted->column);
	assert_int_equal(row->discriminator, wanted->discriminator);
	assert_string_equal(line_table_path(table, row->file, memory), wanted->path);
}

/* For all addresses at once, and for each alone. */
static void rows_cover_their_addresses(void **state)
{
	struct arena memory = { 0 };
	uint64_t addresses[COUNT(known)];

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++)
		addresses[i] = known[i].address;
	for (unsigned version = 2; version <= 5; version++) {
		struct line_table table = { 0 };
		struct line_source source;
		struct made made;

		make_table(&made, version);
		source = source_of(&made, made.table.n);
		assert_true(line_table_read(&table, &source, addresses, COUNT(known)));
		for (size_t i = 0; i < COUNT(known); i++)
			check_row(&table, i, &known[i], &memory);
		assert_null(line_table_path(&table, 4, &memory));
		line_table_release(&table);
		for (size_t i = 0; i < COUNT(known); i++) {
			assert_true(line_table_read(&table, &source, &addresses[i], 1));
			check_row(&table, 0, &known[i], &memory);
			line_table_release(&table);
		}
		made_release(&made);
	}
	arena_release(&memory);
}

/* Half a table is none; libdw says what it is then. */
static void cut_tables_are_not_read(void **state)
{
	const uint64_t address = CODE;

	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		struct made made;

		make_table(&made, version);
		for (size_t size = 0; size < made.table.n; size++) {
			struct line_table table = { 0 };
			char *copy = mem_alloc(size + 1, 1);
			struct line_source source = source_of(&made, size);

			memcpy(copy, made.table.bytes, size);
			source.table = cur_of(copy, size);
			assert_false(line_table_read(&table, &source, &address, 1));
			assert_int_equal(table.rows.n, 0);
			/* The same where the header says that it ends there. */
			if (size > 4) {
				for (size_t i = 0; i < 4; i++)
					copy[i] = (char)((size - 4) >> (8 * i));
				(void)line_table_read(&table, &source, &address, 1);
			}
			line_table_release(&table);
			free(copy);
		}
		made_release(&made);
	}
}

/* Any byte may be any other one. */
static void damaged_tables_do_no_harm(void **state)
{
	const uint64_t addresses[] = { 0, CODE - 40, CODE, CODE + 90, UINT64_MAX };
	struct arena memory = { 0 };

	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		struct made made;

		make_table(&made, version);
		for (size_t at = 0; at < made.table.n; at++) {
			char before = made.table.bytes[at];

			for (unsigned value = 0; value < 256; value += 5) {
				struct line_table table = { 0 };
				struct line_source source = source_of(&made, made.table.n);

				made.table.bytes[at] = (char)value;
				if (line_table_read(&table, &source, addresses, COUNT(addresses)))
					for (size_t i = 0; i < COUNT(addresses); i++) {
						const struct line_row *row =
							line_table_row(&table, i);

						if (row != NULL)
							(void)line_table_path(&table, row->file,
									      &memory);
					}
				line_table_release(&table);
			}
			made.table.bytes[at] = before;
		}
		made_release(&made);
	}
	arena_release(&memory);
}

/* What is there, and not read here. */
static void other_forms_are_not_read(void **state)
{
	static const struct {
		size_t at; /* in the header of version 4 */
		uint8_t value;
	} cases[] = {
		{ 4, 1 },	      /* version */
		{ 4, 6 },  { 11, 4 }, /* operations of an instruction */
		{ 14, 0 },	      /* range of line steps */
		{ 15, 9 },	      /* opcode base */
		{ 16, 1 },	      /* operands of an opcode */
	};
	const uint64_t address = CODE;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct line_table table = { 0 };
		struct line_source source;
		struct made made;

		make_table(&made, 4);
		made.table.bytes[cases[i].at] = (char)cases[i].value;
		source = source_of(&made, made.table.n);
		assert_false(line_table_read(&table, &source, &address, 1));
		line_table_release(&table);
		made_release(&made);
	}
}

/* The row of libdw that covers an address. */
static Dwarf_Line *row_of_libdw(Dwarf_Lines *lines, size_t n, uint64_t address)
{
	Dwarf_Line *found = NULL;
	bool is_end = true;

	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr at;

		if (dwarf_lineaddr(row, &at) != 0 || at > address)
			break;
		found = row;
	}
	return found == NULL || dwarf_lineendsequence(found, &is_end) != 0 || is_end ? NULL : found;
}

static void compare_row(struct line_table *table, size_t i, Dwarf_Line *theirs,
			struct arena *memory)
{
	const struct line_row *ours = line_table_row(table, i);
	int line = 0, column = 0;
	unsigned discriminator = 0;

	assert_int_equal(ours == NULL, theirs == NULL);
	if (ours == NULL)
		return;
	assert_int_equal(dwarf_lineno(theirs, &line), 0);
	assert_int_equal(dwarf_linecol(theirs, &column), 0);
	assert_int_equal(dwarf_linediscriminator(theirs, &discriminator), 0);
	assert_int_equal(ours->line, line);
	assert_int_equal(ours->column, column);
	assert_int_equal(ours->discriminator, discriminator);
	assert_string_equal(line_table_path(table, ours->file, memory),
			    dwarf_linesrc(theirs, NULL, NULL));
}

enum { MOST_ADDRESSES = 400 };

/* Addresses of rows, and one behind each, ascending. */
static size_t list_addresses(Dwarf_Lines *lines, size_t n, uint64_t *out)
{
	size_t n_addresses = 0;

	for (size_t i = 0; i < n && n_addresses + 2 < MOST_ADDRESSES; i += 1 + n / 150)
		for (uint64_t more = 0; more < 2; more++) {
			Dwarf_Addr at = 0;

			(void)dwarf_lineaddr(dwarf_onesrcline(lines, i), &at);
			if (n_addresses == 0 || at + more > out[n_addresses - 1])
				out[n_addresses++] = at + more;
		}
	return n_addresses;
}

/* All units of this program, which the build gives lines. */
static void rows_are_those_of_libdw(void **state)
{
	struct diags diags = { 0 };
	struct dwarf_file file;
	struct arena memory = { 0 };
	uint64_t addresses[MOST_ADDRESSES];
	size_t n_read = 0, n_units = 0;
	struct err err;

	(void)state;
	assert_int_equal(dwarf_file_open(&file, "/proc/self/exe", NULL, NULL, &diags, &err), 0);
	for (size_t i = 0; i < file.units.n; i++) {
		struct line_table table = { 0 };
		struct line_source source;
		Dwarf_Lines *lines;
		size_t n, n_addresses;

		if (!dwarf_hasattr(&file.units.items[i].die, DW_AT_stmt_list) ||
		    dwarf_getsrclines(&file.units.items[i].die, &lines, &n) != 0)
			continue;
		n_units++;
		n_addresses = list_addresses(lines, n, addresses);
		if (!line_source_find(&source, &file, &file.units.items[i]) ||
		    !line_table_read(&table, &source, addresses, n_addresses))
			continue;
		n_read++;
		for (size_t k = 0; k < n_addresses; k++)
			compare_row(&table, k, row_of_libdw(lines, n, addresses[k]), &memory);
		line_table_release(&table);
	}
	dwarf_file_release(&file);
	diags_release(&diags);
	arena_release(&memory);
	assert_int_equal(n_read, n_units);
	if (n_units == 0)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_cover_their_addresses),
		cmocka_unit_test(cut_tables_are_not_read),
		cmocka_unit_test(damaged_tables_do_no_harm),
		cmocka_unit_test(other_forms_are_not_read),
		cmocka_unit_test(rows_are_those_of_libdw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
