/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of data addresses where debug information tells types and members, with known sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../dwarf/dwarf_builder.h"
#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "../table/expect.h"
#include "addr/answer.h"
#include "base/alloc.h"
#include "spe/packet.h"

/*
 *	struct slot { long hits; int kind, flags; long spare[4]; };   48 bytes
 *	struct slot slots[4];
 *	struct slot one;
 *	long total;
 */
enum {
	FILE_ADDRESS = 0x10000,
	FILE_BYTES = 0x2000,
	SLOTS = 0x1000, /* offsets in the section */
	ONE = 0x1100,
	TOTAL = 0x1200,
	LONG = 8,
	SLOT_BYTES = 48,
	N_SLOTS = 4,
	HITS = 0,
	KIND = 8,
	FLAGS = 12,
	SPARE = 16,
	LOAD = 0,
	STORE = 1,
	MAX_RECORDS = 128,
};

/* So many records of this latency. */
static const struct {
	uint64_t offset;
	uint8_t op;
	uint16_t total;
	unsigned n;
} accesses[] = {
	{ SLOTS + HITS, LOAD, 10, 30 },
	{ SLOTS + 3 * SLOT_BYTES + HITS, STORE, 10, 10 },
	{ SLOTS + 2 * SLOT_BYTES + FLAGS, LOAD, 50, 20 },
	{ ONE + KIND + 1, LOAD, 5, 2 },
	{ TOTAL, STORE, 100, 3 },
};

enum {
	N_RECORDS = 65,
	SLOTS_CYCLES = 30 * 10 + 10 * 10 + 20 * 50,
	ONE_CYCLES = 2 * 5,
	ALL_CYCLES = SLOTS_CYCLES + ONE_CYCLES + 3 * 100,
};

/* A file with the variables; returns where its section stands in it. */
static uint64_t build_file(const char *path, uint64_t address)
{
	struct built_dwarf dwarf = { 0 };
	uint64_t offset;

	dwarf_begin_unit(&dwarf);
	struct built_type number = dwarf_base(&dwarf, "long", LONG);
	struct built_type small = dwarf_base(&dwarf, "int", 4);
	struct built_type spare = dwarf_array(&dwarf, number, 4);
	const struct built_member members[] = { { "hits", number, HITS },
						{ "kind", small, KIND },
						{ "flags", small, FLAGS },
						{ "spare", spare, SPARE } };
	struct built_type slot = dwarf_struct(&dwarf, "slot", SLOT_BYTES, members, COUNT(members));
	dwarf_variable(&dwarf, "slots", dwarf_array(&dwarf, slot, N_SLOTS), address + SLOTS);
	dwarf_variable(&dwarf, "one", slot, address + ONE);
	dwarf_variable(&dwarf, "total", number, address + TOTAL);
	dwarf_end_unit(&dwarf);

	const struct built_section sections[] = {
		{ ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, address, NULL, FILE_BYTES },
		{ ".debug_info", SHT_PROGBITS, 0, 0, dwarf.info.bytes, dwarf.info.n },
		{ ".debug_abbrev", SHT_PROGBITS, 0, 0, dwarf.abbrev.bytes, dwarf.abbrev.n },
		{ NULL },
	};
	const struct built_symbol symbols[] = {
		{ "slots", address + SLOTS, N_SLOTS * SLOT_BYTES, STB_GLOBAL, STT_OBJECT, 0, 1 },
		{ "one", address + ONE, SLOT_BYTES, STB_GLOBAL, STT_OBJECT, 0, 1 },
		{ "total", address + TOTAL, LONG, STB_GLOBAL, STT_OBJECT, 0, 1 },
		{ NULL },
	};

	offset = elf_build(path, &(struct built_elf){ .machine = EM_AARCH64,
						      .sections = sections,
						      .symbols = symbols });
	dwarf_release(&dwarf);
	return offset;
}

/* Alpha's file; returns where its section is mapped. Addresses are on pages as in the file. */
static uint64_t build_alpha(const char *folder)
{
	const char *path = in_folder(folder, "bin/alpha");
	uint64_t offset = build_file(path, FILE_ADDRESS);

	return TEXT_START + build_file(path, FILE_ADDRESS + offset);
}

static size_t make_records(uint64_t start, struct spe_record *out)
{
	size_t n = 0;

	for (size_t a = 0; a < COUNT(accesses); a++)
		for (unsigned i = 0; i < accesses[a].n; i++, n++) {
			out[n] = spe_of(FIRST, ALPHA, SPE_OP_LDST, UINT64_C(1) << SPE_EV_RETIRED,
					accesses[a].total, START_NS + n);
			out[n].op = accesses[a].op;
			out[n].has |= HAS_VA;
			out[n].va = start + accesses[a].offset;
		}
	return n;
}

#define NUMBER(table, row, column, value)                                                          \
	{                                                                                          \
		table, row, column, value, MARK_EXACT                                              \
	}
#define TEXT(table, row, column, text)                                                             \
	{                                                                                          \
		table, row, column, 0, MARK_EXACT, text                                            \
	}

static const struct {
	const char *name;
	struct addr_request request;
	size_t n_rows;
	struct expected_cell cells[16]; /* ends without a table */
} cases[] = {
	{ "objects have types",
	  { .by = ADDR_BY_OBJECT },
	  3,
	  { TEXT("objects", 0, "object", "slots"), TEXT("objects", 0, "type", "struct slot[4]"),
	    NUMBER("objects", 0, "size", N_SLOTS *SLOT_BYTES), NUMBER("objects", 0, "records", 60),
	    TEXT("objects", 1, "type", "long"), TEXT("objects", 2, "object", "one"),
	    TEXT("objects", 2, "type", "struct slot") } },
	{ "elements of arrays are of their type",
	  { .by = ADDR_BY_TYPE },
	  2,
	  { TEXT("types", 0, "type", "struct slot"), NUMBER("types", 0, "size", SLOT_BYTES),
	    NUMBER("types", 0, "records", 62),
	    NUMBER("types", 0, "latency_cycles", SLOTS_CYCLES + ONE_CYCLES),
	    TEXT("types", 1, "type", "long"), NUMBER("types", 1, "stores", 3) } },
	{ "members of all elements are one",
	  { .by = ADDR_BY_FIELD },
	  4,
	  { TEXT("fields", 0, "object", "slots"), TEXT("fields", 0, "field", "flags"),
	    NUMBER("fields", 0, "offset", FLAGS), NUMBER("fields", 0, "size", 4),
	    NUMBER("fields", 0, "records", 20), TEXT("fields", 1, "field", "hits"),
	    NUMBER("fields", 1, "records", 40), NUMBER("fields", 1, "stores", 10),
	    TEXT("fields", 2, "object", "total"), TEXT("fields", 3, "object", "one"),
	    TEXT("fields", 3, "field", "kind"), NUMBER("fields", 3, "offset", KIND),
	    NUMBER("fields", 3, "latency_cycles", ONE_CYCLES) } },
	{ "… of one type alone",
	  { .by = ADDR_BY_FIELD, .type = "struct slot" },
	  3,
	  { TEXT("fields", 0, "field", "flags"), TEXT("fields", 2, "object", "one") } },
	{ "offsets in the elements of a variable",
	  { .by = ADDR_BY_OFFSET, .object = "slots" },
	  2,
	  { NUMBER("offsets", 0, "offset", HITS), NUMBER("offsets", 0, "records", 40),
	    TEXT("offsets", 0, "field", "hits"), NUMBER("offsets", 1, "offset", FLAGS),
	    TEXT("offsets", 1, "field", "flags") } },
	{ "a struct that could be split",
	  { .by = ADDR_BY_FIELD },
	  4,
	  { TEXT("splits", 0, "type", "struct slot"), NUMBER("splits", 0, "hot_bytes", 12),
	    TEXT("splits", 0, "hot", "hits, flags"), TEXT("splits", 0, "untouched", "spare"),
	    NUMBER("splits", 0, "untouched_bytes", 32), NUMBER("splits", 0, "records", 62) } },
};

static void expect_case(size_t number, unsigned n_workers)
{
	char *folder = folder_make();
	struct spe_record records[MAX_RECORDS];
	size_t n = make_records(build_alpha(folder), records);
	struct addr_report report = { 0 };
	struct session s;
	struct err err = { 0 };

	assert_int_equal(n, N_RECORDS);
	open_fixture(&(struct contents){ .records = records, .n_records = n, .symfs = folder },
		     n_workers, &s);
	if (addr_report_make(&s, NULL, &cases[number].request, &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(table_n_rows(&report.rows), cases[number].n_rows);
	for (size_t i = 0; i < COUNT(cases[number].cells); i++)
		if (cases[number].cells[i].table != NULL)
			expect_cell(&report.shown, &cases[number].cells[i]);
	addr_report_release(&report);
	close_fixture(&s);
	folder_remove(folder);
}

static void types_and_members_have_their_accesses(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("%s\n", cases[i].name);
		expect_case(i, 1);
		expect_case(i, 3);
	}
}

/* Walks are those of all pages, of the kernel's too, whatever objects are shown. */
static void walks_are_of_all_pages(void **state)
{
	const struct addr_request request = { .by = ADDR_BY_FIELD, .type = "struct slot" };
	char *folder = folder_make();
	struct spe_record records[MAX_RECORDS];
	size_t n = make_records(build_alpha(folder), records);
	struct addr_report report = { 0 };
	struct session s;
	struct err err = { 0 };

	(void)state;
	records[0].events |= UINT64_C(1) << SPE_EV_TLB_WALK;
	records[n] = records[0];
	records[n++].va = 0xffff800010000000;
	open_fixture(&(struct contents){ .records = records, .n_records = n, .symfs = folder }, 1,
		     &s);
	if (addr_report_make(&s, NULL, &request, &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(table_n_rows(&report.coverage) > 0);
	addr_report_release(&report);
	close_fixture(&s);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_members_have_their_accesses),
		cmocka_unit_test(walks_are_of_all_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
