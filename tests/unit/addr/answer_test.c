/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of data addresses: pages, lines, objects, offsets, nodes, with known sums. */
#include "addr/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "../table/expect.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "spe/packet.h"

#define EV(bit) (UINT64_C(1) << SPE_EV_##bit)
#define KERNEL_PAGE UINT64_C(0xffff800000001000)

enum {
	INTERVAL = 1025, /* operations that a record stands for */
	LOAD = 0,
	STORE = 1,
	ATOMIC = 0x16,
	L1D = 0, /* sources of Neoverse N1 */
	DRAM = 0xe,
	NO_SOURCE = 0x100,
	FULL = 4095,
	HUGE = 1 << ADDR_HUGE_SHIFT,
	MAX_RECORDS = 64,
	FILE_ADDRESS = 0x10000,
	TABLE_OFFSET = 0x1000,
	TABLE_BYTES = 256,
	FLAG_OFFSET = 0x1100,
	FLAG_BYTES = 8,
	FILE_BYTES = 0x2000,
	NODE_BYTES = 1 << 27,
};

/* An access. */
struct accesses {
	uint64_t address;
	uint8_t op;
	uint16_t total, source;
	uint16_t walk; /* cycles of one; 0: none */
	uint32_t tid;  /* 0: ALPHA */
	uint64_t pa;   /* 0: not recorded */
	unsigned n;    /* so many of them; 0: one */
};

struct answer_case {
	const char *name;
	enum addr_by by;
	struct accesses accesses[12]; /* ends with a total of 0 */
	size_t n_rows;
	struct expected_cell cells[24]; /* ends without a table */
	const char *type, *base;
	size_t top;
	size_t n_first; /* records on cpu 0, the others on cpu 1; 0: all */
	void (*write_more)(struct writer *);
};

static void two_nodes(struct writer *w)
{
	const struct writer_numa_node nodes[] = { { .node = 0, .cpus = "0" },
						  { .node = 1, .cpus = "1" } };
	const uint64_t blocks[] = { 1, 2 };
	const struct writer_memory_node memory[] = { { 0, &blocks[0], 2 }, { 1, &blocks[1], 2 } };

	writer_n_cpus(w, 2, 2);
	writer_numa_topology(w, nodes, COUNT(nodes));
	writer_memory_topology(w, NODE_BYTES, memory, COUNT(memory));
}

static const struct answer_case cases[] = {
	{ "pages",
	  ADDR_BY_PAGE,
	  { { 0x10008, LOAD, 100, DRAM, 30 },
	    { 0x10ff8, LOAD, 50, L1D },
	    { 0x10010, STORE, 50, NO_SOURCE },
	    { 0x11000, ATOMIC, FULL, NO_SOURCE },
	    { 0x10000, LOAD, 20, L1D, .tid = BETA },
	    { KERNEL_PAGE, LOAD, 30, NO_SOURCE } },
	  4,
	  { { "pages", 0, "page", 0x11000, MARK_EXACT },
	    { "pages", 0, "records", 1, MARK_EXACT },
	    { "pages", 0, "loads", 0, MARK_EXACT },
	    { "pages", 0, "stores", 0, MARK_EXACT },
	    { "pages", 0, "atomics", 1, MARK_EXACT },
	    { "pages", 0, "mean_latency_cycles", FULL, MARK_SATURATED },
	    { "pages", 0, "memory_share", NOT_THERE },
	    { "pages", 1, "page", 0x10000, MARK_EXACT },
	    { "pages", 1, "pid", ALPHA, MARK_EXACT },
	    { "pages", 1, "records", 3, MARK_EXACT },
	    { "pages", 1, "loads", 2, MARK_EXACT },
	    { "pages", 1, "stores", 1, MARK_EXACT },
	    { "pages", 1, "share", 200. / (250 + FULL), MARK_SPARSE },
	    { "pages", 1, "latency_cycles", 200, MARK_EXACT },
	    { "pages", 1, "walks", 1, MARK_EXACT },
	    { "pages", 1, "walk_cycles", 30, MARK_EXACT },
	    { "pages", 1, "memory_share", 0.5, MARK_EXACT },
	    { "pages", 1, "memory_bytes", 64 * INTERVAL, MARK_SPARSE },
	    { "pages", 1, "loads_dram", 1, MARK_EXACT },
	    { "pages", 1, "loads_l1", 1, MARK_EXACT },
	    { "pages", 2, "pid", NOT_THERE },
	    { "pages", 2, "page", (double)KERNEL_PAGE, MARK_EXACT },
	    { "pages", 3, "pid", BETA, MARK_EXACT },
	    { "pages", 3, "records", 1, MARK_EXACT } } },
	{ "the slowest page",
	  ADDR_BY_PAGE,
	  { { 0x10000, LOAD, 10, L1D, .n = 5 }, { 0x20000, LOAD, 60, L1D } },
	  1,
	  { { "pages", 0, "page", 0x20000, MARK_EXACT },
	    { "pages", 0, "share", 60. / 110, MARK_SPARSE } },
	  .top = 1 },
	{ "lines",
	  ADDR_BY_LINE,
	  { { 0x10000, LOAD, 30, L1D },
	    { 0x1003f, STORE, 30, NO_SOURCE },
	    { 0x10040, LOAD, 20, L1D } },
	  2,
	  { { "lines", 0, "line", 0x10000, MARK_EXACT },
	    { "lines", 0, "records", 2, MARK_EXACT },
	    { "lines", 1, "line", 0x10040, MARK_EXACT },
	    { "lines", 1, "records", 1, MARK_EXACT } } },
	{ "huge pages, and what they would serve",
	  ADDR_BY_HUGEPAGE,
	  { { 0, LOAD, 100, L1D, 250, .n = 2 },
	    { 0x3000, LOAD, 100, L1D, 300 },
	    { HUGE - 1, LOAD, 10, L1D },
	    { HUGE, LOAD, 90, L1D, 100, .n = 2 },
	    { KERNEL_PAGE, LOAD, 50, L1D, 4000, .n = 3 } },
	  3,
	  { { "hugepages", 0, "hugepage", 0, MARK_EXACT },
	    { "hugepages", 0, "records", 4, MARK_EXACT },
	    { "hugepages", 0, "walks", 3, MARK_EXACT },
	    { "hugepages", 0, "walk_cycles", 800, MARK_EXACT },
	    { "hugepages", 1, "hugepage", HUGE, MARK_EXACT },
	    { "hugepages", 2, "walk_cycles", 12000, MARK_EXACT },
	    /* One page was met by one of the five walks that are no kernel's. */
	    { "huge_pages", 0, "walks_share", 0.5, MARK_EXACT },
	    { "huge_pages", 0, "huge_pages", 1, MARK_EXACT },
	    { "huge_pages", 0, "huge_bytes", HUGE, MARK_EXACT },
	    { "huge_pages", 0, "pages", 2, MARK_AT_LEAST },
	    { "huge_pages", 1, "walks_share", 0.8, MARK_EXACT },
	    { "huge_pages", 1, "huge_pages", 1, MARK_EXACT },
	    { "huge_pages", 2, "huge_pages", 2, MARK_EXACT },
	    { "huge_pages", 2, "pages", 3, MARK_AT_LEAST },
	    { "huge_pages", 4, "walks_share", 1, MARK_EXACT },
	    { "huge_pages", 4, "huge_pages", 2, MARK_EXACT } } },
	{ "offsets in a window of three elements",
	  ADDR_BY_OFFSET,
	  { { 0x10008, LOAD, 10, L1D },
	    { 0x10018, STORE, 20, NO_SOURCE },
	    { 0x10020, LOAD, 40, L1D },
	    { 0x1002f, LOAD, 40, L1D },
	    { 0x10030, LOAD, 999, L1D },
	    { 0xffff, LOAD, 999, L1D } },
	  3,
	  { { "offsets", 0, "offset", 0, MARK_EXACT },
	    { "offsets", 0, "records", 1, MARK_EXACT },
	    { "offsets", 1, "offset", 8, MARK_EXACT },
	    { "offsets", 1, "records", 2, MARK_EXACT },
	    { "offsets", 1, "stores", 1, MARK_EXACT },
	    { "offsets", 1, "share", 30. / 110, MARK_SPARSE },
	    { "offsets", 2, "offset", 15, MARK_EXACT } },
	  .type = "16",
	  .base = "0x10000,3" },
	{ "instructions",
	  ADDR_BY_INSTRUCTION,
	  { { 0x20000, LOAD, 10, L1D, .n = 32 } }, /* each 64 bytes further on */
	  1,
	  { { "instructions", 0, "records", 32, MARK_EXACT },
	    { "instructions", 0, "pattern", 0, MARK_EXACT, "stride" },
	    { "instructions", 0, "stride", 64, MARK_EXACT },
	    { "instructions", 0, "span", 31 * 64, MARK_EXACT },
	    { "instructions", 0, "pairs", 31, MARK_EXACT },
	    { "instructions", 0, "up", 31, MARK_EXACT },
	    { "instructions", 0, "down", 0, MARK_EXACT } } },
	{ "an instruction on two CPUs",
	  ADDR_BY_INSTRUCTION,
	  { { 0x20000, LOAD, 10, L1D, .n = 20 }, { 0x10000, LOAD, 10, L1D, .n = 20 } },
	  1,
	  { { "instructions", 0, "records", 40, MARK_EXACT },
	    { "instructions", 0, "pairs", 38, MARK_EXACT },
	    { "instructions", 0, "up", 38, MARK_EXACT } },
	  .n_first = 20 },
	{ "nodes: all on cpu 0",
	  ADDR_BY_NODE,
	  { { 0x10000, LOAD, 10, L1D, .pa = 0x1000, .n = 3 },
	    { 0x11000, LOAD, 70, L1D, .pa = NODE_BYTES + 0x1000, .n = 2 } },
	  2,
	  { { "nodes", 0, "page_nodes", 0, MARK_EXACT, "1" },
	    { "nodes", 0, "far", 2, MARK_EXACT },
	    { "nodes", 0, "near", 0, MARK_EXACT },
	    { "nodes", 0, "far_cycles", 140, MARK_EXACT },
	    { "nodes", 1, "page_nodes", 0, MARK_EXACT, "0" },
	    { "nodes", 1, "far", 0, MARK_EXACT },
	    { "nodes", 1, "near", 3, MARK_EXACT } },
	  .write_more = two_nodes },
	{ "nodes are not known",
	  ADDR_BY_NODE,
	  { { 0x10000, LOAD, 10, L1D, .pa = 0x1000, .n = 3 } },
	  1,
	  { { "nodes", 0, "far", NOT_THERE }, { "nodes", 0, "records", 3, MARK_EXACT } } },
};

static struct spe_record record_of(const struct accesses *a, size_t i)
{
	struct spe_record r = spe_of(FIRST, a->tid != 0 ? a->tid : ALPHA, SPE_OP_LDST, EV(RETIRED),
				     a->total, START_NS + i);

	r.op = a->op;
	r.has |= HAS_VA;
	r.va = a->address;
	if (a->source != NO_SOURCE) {
		r.has |= HAS_SOURCE;
		r.source = a->source;
	}
	if (a->walk > 0) {
		r.has |= HAS_XLAT;
		r.xlat = a->walk < FULL ? a->walk : FULL;
		r.events |= EV(TLB_WALK);
	}
	if (a->pa != 0) {
		r.has |= HAS_PA;
		r.pa = a->pa;
	}
	return r;
}

/* `by_64`: those of one access are 64 bytes apart. */
static size_t make_records(const struct accesses *list, bool by_64, struct spe_record *out)
{
	size_t n = 0;

	for (; list->total > 0; list++)
		for (unsigned i = 0; i < (list->n > 0 ? list->n : 1); i++, n++) {
			out[n] = record_of(list, n);
			out[n].va += by_64 ? UINT64_C(64) * i : 0;
		}
	return n;
}

static void expect_case(const struct answer_case *c, unsigned n_workers)
{
	const struct addr_request request = {
		.by = c->by,
		.type = c->type,
		.base = c->base,
		.top = c->top,
	};
	struct spe_record records[MAX_RECORDS];
	size_t n = make_records(c->accesses, c->by == ADDR_BY_INSTRUCTION, records);
	struct addr_report report = { 0 };
	struct session s;
	struct err err;

	open_fixture(&(struct contents){ .records = records,
					 .n_records = n,
					 .n_first = c->n_first > 0 ? c->n_first : n,
					 .write_more = c->write_more },
		     n_workers, &s);
	assert_int_equal(addr_report_make(&s, NULL, &request, &report, &err), 0);
	assert_int_equal(table_n_rows(&report.rows), c->n_rows);
	for (size_t i = 0; i < COUNT(c->cells) && c->cells[i].table != NULL; i++)
		expect_cell(&report.shown, &c->cells[i]);
	addr_report_release(&report);
	close_fixture(&s);
}

static void tables_have_their_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
			print_message("%s\n", cases[i].name);
			expect_case(&cases[i], n_workers);
		}
}

/* A file with two variables, whose section is to be at that address; returns where it is in it. */
static uint64_t build_file(const char *path, uint64_t address)
{
	const struct built_section sections[] = {
		{ ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, address, NULL, FILE_BYTES },
		{ NULL },
	};
	const struct built_symbol symbols[] = {
		{ "table", address + TABLE_OFFSET, TABLE_BYTES, STB_GLOBAL, STT_OBJECT, 0, 1 },
		{ "flag", address + FLAG_OFFSET, FLAG_BYTES, STB_GLOBAL, STT_OBJECT, 0, 1 },
		{ NULL },
	};
	const struct built_elf elf = {
		.machine = EM_AARCH64,
		.sections = sections,
		.symbols = symbols,
	};

	return elf_build(path, &elf);
}

/* That of alpha; returns where its section is mapped. Addresses are on pages as in the file. */
static uint64_t build_variables(const char *folder)
{
	const char *path = in_folder(folder, "bin/alpha");
	uint64_t offset = build_file(path, FILE_ADDRESS);

	return TEXT_START + build_file(path, FILE_ADDRESS + offset);
}

static void objects_have_their_accesses(void **state)
{
	static const struct {
		enum addr_by by;
		size_t n_rows;
		struct expected_cell cells[12];
	} list[] = {
		{ ADDR_BY_OBJECT,
		  3,
		  { { "objects", 0, "object", 0, MARK_EXACT, "table" },
		    { "objects", 0, "kind", 0, MARK_EXACT, "static" },
		    { "objects", 0, "size", TABLE_BYTES, MARK_EXACT },
		    { "objects", 0, "records", 3, MARK_EXACT },
		    { "objects", 0, "stores", 1, MARK_EXACT },
		    { "objects", 0, "share", 600. / 710, MARK_SPARSE },
		    { "objects", 1, "records", 1, MARK_EXACT },
		    { "objects", 1, "size", NOT_THERE },
		    { "objects", 2, "object", 0, MARK_EXACT, "flag" },
		    { "objects", 2, "records", 1, MARK_EXACT } } },
		{ ADDR_BY_FIELD,
		  4, /* without types: by offset */
		  { { "fields", 0, "object", 0, MARK_EXACT, "table" },
		    { "fields", 0, "offset", TABLE_BYTES - 1, MARK_EXACT },
		    { "fields", 0, "records", 2, MARK_EXACT },
		    { "fields", 1, "offset", 0, MARK_EXACT },
		    { "fields", 1, "records", 1, MARK_EXACT } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		char *folder = folder_make();
		uint64_t start = build_variables(folder);
		const struct accesses accesses[] = {
			{ start + TABLE_OFFSET, LOAD, 100, L1D },
			{ start + TABLE_OFFSET + TABLE_BYTES - 1, LOAD, 300, L1D },
			{ start + TABLE_OFFSET + TABLE_BYTES - 1, STORE, 200, NO_SOURCE },
			{ start + FLAG_OFFSET, LOAD, 10, L1D },
			{ start + FLAG_OFFSET + FLAG_BYTES, LOAD, 100, L1D }, /* of nothing */
			{ 0 },
		};
		struct spe_record records[MAX_RECORDS];
		size_t n = make_records(accesses, false, records);
		struct addr_report report = { 0 };
		struct session s;
		struct err err;

		open_fixture(
			&(struct contents){ .records = records, .n_records = n, .symfs = folder },
			2, &s);
		assert_int_equal(addr_report_make(&s, NULL, &(struct addr_request){ list[i].by },
						  &report, &err),
				 0);
		assert_int_equal(s.n_scans, 2); /* by page, then by what is on it */
		assert_int_equal(table_n_rows(&report.rows), list[i].n_rows);
		for (size_t c = 0; list[i].cells[c].table != NULL; c++)
			expect_cell(&report.shown, &list[i].cells[c]);
		addr_report_release(&report);
		close_fixture(&s);
		folder_remove(folder);
	}
}

/* Without variables and code an object has whole pages, so one scan has its sums: the same as of all pages. */
static void whole_pages_need_one_scan(void **state)
{
	static const struct accesses accesses[] = {
		{ 0x10008, LOAD, 100, DRAM, 30 },	 { 0x10ff8, LOAD, 50, L1D },
		{ 0x10010, STORE, FULL, NO_SOURCE },	 { 0x911000, ATOMIC, 40, NO_SOURCE },
		{ KERNEL_PAGE, LOAD, 30, NO_SOURCE, 7 }, { 0 },
	};
	static const struct expected_cell cells[] = {
		{ "objects", 0, "object", 0, MARK_EXACT, "[unknown]" },
		{ "objects", 0, "records", 4, MARK_EXACT },
		{ "objects", 0, "loads", 2, MARK_EXACT },
		{ "objects", 0, "stores", 1, MARK_EXACT },
		{ "objects", 0, "atomics", 1, MARK_EXACT },
		{ "objects", 0, "latency_cycles", 190 + FULL, MARK_SATURATED },
		{ "objects", 0, "walks", 1, MARK_EXACT },
		{ "objects", 0, "walk_cycles", 30, MARK_EXACT },
		{ "objects", 0, "loads_dram", 1, MARK_EXACT },
		{ "objects", 1, "object", 0, MARK_EXACT, "[kernel]" },
		{ "objects", 1, "walk_cycles", 7, MARK_EXACT },
	};
	struct spe_record records[MAX_RECORDS];
	size_t n = make_records(accesses, false, records);

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
		struct addr_report report = { 0 };
		struct session s;
		struct err err;

		open_fixture(
			&(struct contents){ .records = records, .n_records = n, .n_first = n / 2 },
			n_workers, &s);
		assert_int_equal(addr_report_make(&s, NULL,
						  &(struct addr_request){ ADDR_BY_OBJECT }, &report,
						  &err),
				 0);
		assert_int_equal(s.n_scans, 1);
		assert_int_equal(table_n_rows(&report.rows), 2);
		for (size_t i = 0; i < COUNT(cells); i++)
			expect_cell(&report.shown, &cells[i]);
		addr_report_release(&report);
		close_fixture(&s);
	}
}

/* What cannot be answered is an error, not an empty answer. */
static void wrong_requests_fail(void **state)
{
	static const struct addr_request requests[] = {
		{ .by = ADDR_BY_OFFSET },
		{ .by = ADDR_BY_OFFSET, .type = "16" },
		{ .by = ADDR_BY_OFFSET, .base = "0x1000" },
		{ .by = ADDR_BY_OFFSET, .type = "16", .base = "" },
		{ .by = ADDR_BY_OFFSET, .type = "16", .base = "0x1000," },
		{ .by = ADDR_BY_OFFSET, .type = "16", .base = "0x1000,0" },
		{ .by = ADDR_BY_OFFSET, .type = "16", .base = "0x1000,2x" },
		{ .by = ADDR_BY_OFFSET, .type = "0", .base = "0x1000" },
		{ .by = ADDR_BY_OFFSET, .type = "struct nothing", .base = "0x1000" },
		{ .by = ADDR_BY_OFFSET, .object = "nothing" },
		{ .by = ADDR_BY_FIELD, .type = "struct nothing" },
		{ .by = ADDR_BY_FIELD, .type = "16" },
		{ .by = ADDR_BY_PAGE, .sort = "nothing" },
	};
	const struct accesses access[] = { { 0x10000, LOAD, 10, L1D }, { 0 } };
	struct spe_record record;
	struct session s;

	(void)state;
	make_records(access, false, &record);
	open_fixture(&(struct contents){ .records = &record, .n_records = 1 }, 1, &s);
	for (size_t i = 0; i < COUNT(requests); i++) {
		struct addr_report report = { 0 };
		struct err err = { 0 };

		print_message("%zu\n", i);
		assert_int_equal(addr_report_make(&s, NULL, &requests[i], &report, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		addr_report_release(&report);
	}
	close_fixture(&s);
}

static void keys_are_known_by_name(void **state)
{
	static const char *const names[N_ADDR_BYS] = { "object", "type",	"field",
						       "line",	 "page",	"hugepage",
						       "node",	 "instruction", "offset" };
	enum addr_by by;
	struct err err;

	(void)state;
	for (int i = 0; i < N_ADDR_BYS; i++) {
		assert_int_equal(addr_by_parse(names[i], &by, &err), 0);
		assert_int_equal(by, i);
	}
	assert_int_equal(addr_by_parse("pages", &by, &err), -1);
	assert_int_equal(addr_by_parse("", &by, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_their_numbers),
		cmocka_unit_test(objects_have_their_accesses),
		cmocka_unit_test(whole_pages_need_one_scan),
		cmocka_unit_test(wrong_requests_fail),
		cmocka_unit_test(keys_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
