/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of memory operations: of records whose sums, percentiles and bytes are known. */
#include "mem/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "../session/fixture.h"
#include "../table/expect.h"
#include "base/alloc.h"
#include "spe/packet.h"

#define EV(bit) (UINT64_C(1) << SPE_EV_##bit)

enum {
	INTERVAL = 1025, /* operations that a record stands for */
	LOAD = 0,
	STORE = 1,
	ATOMIC = 0x16,
	SOURCE_L1_HIT = 0, /* of Neoverse N1 */
	SOURCE_MEMORY = 0xe,
	FULL = 4095,
	N_MANY = 70000, /* more than a group's small sums have room for */
	LOAD_X = 0,	/* offsets in the code */
	STORE_W = 4,
};

/* ldr x0, [x1]; str w0, [x1]: 8 bytes and 4 */
static const uint32_t code[] = { 0xf9400020, 0xb9000020 };

static struct spe_record access_of(uint8_t op, uint64_t pc, uint16_t total, uint64_t ticks)
{
	struct spe_record r = spe_of(pc, ALPHA, SPE_OP_LDST, EV(RETIRED), total, ticks);

	r.op = op;
	r.has |= HAS_ISSUE;
	return r;
}

/*
 * Ten loads of 8 bytes that hit the L1 in 10, 20 … 100 cycles, 5 of them until issue; four loads
 * of the other thread from memory in 200, 400 and 600 cycles and one of which the counter was
 * full, two of them with walks of 100 and 300 cycles; five stores of 4 bytes; an atomic; a branch.
 */
static size_t make_records(struct spe_record *r, uint64_t text)
{
	static const uint16_t slow[] = { 200, 400, 600, FULL };
	size_t n = 0;

	for (unsigned i = 0; i < 10; i++) {
		r[n] = access_of(LOAD, text + LOAD_X, (uint16_t)(10 * i + 10), 1000 + 100 * i);
		r[n].has |= HAS_SOURCE;
		r[n].source = SOURCE_L1_HIT;
		r[n++].issue = 5;
	}
	for (unsigned i = 0; i < 4; i++) {
		r[n] = access_of(LOAD, FIRST, slow[i], 2000 + 1000 * i);
		r[n].context = ALPHA_THREAD;
		r[n].has |= HAS_SOURCE | (i < 2 ? (uint32_t)HAS_XLAT : 0);
		r[n].source = SOURCE_MEMORY;
		r[n].xlat = (uint16_t)(200 * i + 100);
		r[n++].events |= i < 2 ? EV(TLB_WALK) : 0;
	}
	for (unsigned i = 0; i < 5; i++)
		r[n++] = access_of(STORE, text + STORE_W, 7, 1000 + 500 * i);
	r[n++] = access_of(ATOMIC, SECOND, 50, 1500);
	r[n++] = spe_of(SECOND, ALPHA, SPE_OP_BRANCH, EV(RETIRED), 3, 1600);
	return n;
}

/* Rows of "sources": loads from memory, from the L1; stores; atomics. */
static const struct expected_cell cells[] = {
	{ "sources", 0, "access", 0, MARK_EXACT, "load" },
	{ "sources", 0, "source", 0, MARK_EXACT, "DRAM" },
	{ "sources", 0, "samples", 4, MARK_EXACT },
	{ "sources", 0, "share", 4. / 14, MARK_SPARSE },
	{ "sources", 0, "latency_share", (1200. + FULL) / (1750 + FULL), MARK_SPARSE },
	{ "sources", 0, "saturated_share", 0.25, MARK_EXACT },
	{ "sources", 0, "total_mean_cycles", 400, MARK_SATURATED },
	{ "sources", 0, "total_p50_cycles", 400, MARK_EXACT },
	{ "sources", 0, "total_p90_cycles", FULL, MARK_SATURATED },
	{ "sources", 0, "total_mean_ns", 200, MARK_SATURATED },
	{ "sources", 0, "translation_mean_cycles", 200, MARK_EXACT },
	{ "sources", 0, "execution_mean_cycles", (100. + 100 + 600) / 3, MARK_SATURATED },
	{ "sources", 0, "access_mean_cycles", 400, MARK_SATURATED },
	{ "sources", 0, "access_p50_cycles", 400, MARK_SATURATED },
	{ "sources", 0, "walk_share", 0.5, MARK_EXACT },
	{ "sources", 0, "walk_mean_cycles", 200, MARK_EXACT },
	{ "sources", 0, "estimated_operations", 4 * INTERVAL, MARK_SCALED },
	{ "sources", 0, "bytes", NOT_THERE },
	{ "sources", 0, "sized_share", 0, MARK_EXACT },

	{ "sources", 1, "access", 0, MARK_EXACT, "load" },
	{ "sources", 1, "source", 0, MARK_EXACT, "L1D" },
	{ "sources", 1, "samples", 10, MARK_EXACT },
	{ "sources", 1, "share", 10. / 14, MARK_EXACT },
	{ "sources", 1, "latency_share", 550. / (1750 + FULL), MARK_AT_MOST },
	{ "sources", 1, "saturated_share", 0, MARK_EXACT },
	{ "sources", 1, "total_mean_cycles", 55, MARK_EXACT },
	{ "sources", 1, "total_p50_cycles", 50, MARK_EXACT },
	{ "sources", 1, "total_p90_cycles", 90, MARK_EXACT },
	{ "sources", 1, "total_p99_cycles", 100, MARK_EXACT },
	{ "sources", 1, "total_max_cycles", 100, MARK_EXACT },
	{ "sources", 1, "total_mean_ns", 27.5, MARK_EXACT },
	{ "sources", 1, "issue_mean_cycles", 5, MARK_EXACT },
	{ "sources", 1, "access_mean_cycles", 50, MARK_EXACT },
	{ "sources", 1, "execution_p50_cycles", 45, MARK_EXACT },
	{ "sources", 1, "translation_mean_cycles", NOT_THERE },
	{ "sources", 1, "walk_share", 0, MARK_EXACT },
	{ "sources", 1, "walk_mean_cycles", NOT_THERE },
	{ "sources", 1, "estimated_operations", 10 * INTERVAL, MARK_SCALED },
	{ "sources", 1, "bytes", 80 * INTERVAL, MARK_SCALED },
	{ "sources", 1, "bytes_per_s", 80. * INTERVAL / 4000 * 1e9, MARK_SCALED },
	{ "sources", 1, "sized_share", 1, MARK_EXACT },

	{ "sources", 2, "access", 0, MARK_EXACT, "store" },
	{ "sources", 2, "source", NOT_THERE },
	{ "sources", 2, "samples", 5, MARK_EXACT },
	{ "sources", 2, "share", 1, MARK_SPARSE },
	{ "sources", 2, "bytes", 20 * INTERVAL, MARK_SCALED },
	{ "sources", 3, "access", 0, MARK_EXACT, "atomic" },
	{ "sources", 3, "total_mean_cycles", 50, MARK_EXACT },

	/* Time from the first to the last record of a kind, by thread. */
	{ "region", 0, "samples", 14, MARK_EXACT },
	{ "region", 0, "estimated_operations", 14 * INTERVAL, MARK_SCALED },
	{ "region", 0, "thread_time_ns", 900 + 3000, MARK_EXACT },
	{ "region", 0, "direct_latency_cycles", (500. + 1200) / 13, MARK_SATURATED },
	{ "region", 0, "direct_latency_ns", (500. + 1200) / 26, MARK_SATURATED },
	{ "region", 0, "derived_latency_ns", 3900. / (14 * INTERVAL), MARK_SCALED },
	{ "region", 0, "bytes", 80 * INTERVAL, MARK_SCALED },
	{ "region", 0, "bytes_per_s", 80. * INTERVAL / 4000 * 1e9, MARK_SCALED },
	{ "region", 0, "sized_share", 10. / 14, MARK_EXACT },
	{ "region", 1, "thread_time_ns", 2000, MARK_EXACT },
	{ "region", 1, "derived_latency_ns", NOT_THERE }, /* a rate, for stores */
	{ "region", 2, "thread_time_ns", NOT_THERE },
	{ "region", 2, "bytes", NOT_THERE },

	{ "translation", 0, "translation", 0, MARK_EXACT, "no walk" },
	{ "translation", 0, "samples", 12, MARK_EXACT },
	{ "translation", 0, "translation_mean_cycles", NOT_THERE },
	{ "translation", 0, "total_mean_cycles", (550. + 600) / 11, MARK_SATURATED },
	{ "translation", 1, "translation", 0, MARK_EXACT, "walk" },
	{ "translation", 1, "samples", 2, MARK_EXACT },
	{ "translation", 1, "share", 2. / 14, MARK_EXACT },
	{ "translation", 1, "translation_mean_cycles", 200, MARK_EXACT },
	{ "translation", 1, "total_mean_cycles", 300, MARK_EXACT },
	{ "translation", 1, "translation_share", 400. / (1750 + FULL), MARK_SPARSE },
	{ "translation", 2, "access", 0, MARK_EXACT, "store" },

	{ "events", 0, "samples", 12, MARK_EXACT },
	{ "events", 1, "samples", 2, MARK_EXACT },
	{ "events", 1, "share", 2. / 14, MARK_EXACT },
	{ "events", 2, "access", 0, MARK_EXACT, "store" },

	{ "functions", 0, "function", 0, MARK_EXACT, "first" },
	{ "functions", 0, "samples", 4, MARK_EXACT },
	{ "functions", 1, "samples", 10, MARK_EXACT },
	{ "functions", 3, "function", 0, MARK_EXACT, "second" },

	/* What is said first has the numbers of the tables. */
	{ "answer", 0, "answer", 0, MARK_EXACT,
	  "28.6 % of loads come from DRAM, p50 400 cycles: at least 90.6 % of load latency "
	  "(too few samples)." },
	{ "answer", 1, "answer", 0, MARK_EXACT,
	  "first has at least 90.6 % of load latency. 14.3 % of loads need a page table walk. "
	  "7.1 % of total latencies are saturated." },

	/* Of loads from memory, total: steps of half a doubling, then the full counters. */
	{ "histogram", 0, "latency", 0, MARK_EXACT, "total" },
	{ "histogram", 0, "from_cycles", 192, MARK_EXACT },
	{ "histogram", 0, "to_cycles", 256, MARK_EXACT },
	{ "histogram", 0, "share", 0.25, MARK_EXACT },
	{ "histogram", 1, "from_cycles", 384, MARK_EXACT },
	{ "histogram", 2, "from_cycles", 512, MARK_EXACT },
	{ "histogram", 3, "from_cycles", FULL, MARK_SATURATED },
	{ "histogram", 3, "to_cycles", NOT_THERE },
	{ "histogram", 3, "samples", 1, MARK_EXACT },
};

/* A file for alpha that has the code; returns where that is mapped. */
static uint64_t build_code(const char *folder)
{
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10000, code, sizeof(code) },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64, .sections = sections };

	return TEXT_START + elf_build(in_folder(folder, "bin/alpha"), &elf);
}

static void tables_have_their_numbers(void **state)
{
	struct mem_request request = {
		.with_histogram = true,
		.for_programs = true,
		.clock = { .basis = CLOCK_GIVEN, .hz = 2e9 },
	};

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct spe_record records[32];
		char *folder = folder_make();
		struct mem_report report = { 0 };
		struct session s;
		struct err err;
		size_t n = make_records(records, build_code(folder));

		request.groups_bytes = n_workers > 1; /* all go to a file */
		open_fixture(
			&(struct contents){ .records = records, .n_records = n, .symfs = folder },
			n_workers, &s);
		assert_int_equal(mem_report_make(&s, NULL, &request, &report, &err), 0);
		assert_int_equal(table_n_rows(&report.rows), 4);
		assert_int_equal(table_n_rows(&report.region), 3);
		expect_cells(&report.shown, cells, COUNT(cells));
		mem_report_release(&report);
		close_fixture(&s);
		folder_remove(folder);
	}
}

/* Bytes of what passed a filter by latency are no bandwidth; bytes of one kind of access are. */
static void filtered_bytes_are_no_bandwidth(void **state)
{
	static const struct {
		uint64_t config[5];
		struct expected_cell rate;
	} list[] = {
		{ { 0, 0, 10 }, { "region", 0, "bytes_per_s", NOT_THERE } },
		{ { 0, EV(L1D_REFILL), 0 }, { "region", 0, "bytes_per_s", NOT_THERE } },
		{ { (uint64_t)1 << 33, 0, 0 },
		  { "region", 0, "bytes_per_s", 80. * INTERVAL / 4000 * 1e9, MARK_SCALED } },
	};
	const struct mem_request request = { .for_programs = true };

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct contents contents = { 0 };
		struct spe_record records[32];
		char *folder = folder_make();
		struct mem_report report = { 0 };
		struct session s;
		struct err err;

		contents.n_records = make_records(records, build_code(folder));
		contents.records = records;
		contents.symfs = folder;
		memcpy(contents.spe_config, list[i].config, sizeof(contents.spe_config));
		open_fixture(&contents, 1, &s);
		assert_int_equal(mem_report_make(&s, NULL, &request, &report, &err), 0);
		expect_cell(&report.shown, &list[i].rate);
		expect_cell(&report.shown, &(struct expected_cell){ "region", 0, "bytes",
								    80 * INTERVAL, MARK_SCALED });
		mem_report_release(&report);
		close_fixture(&s);
		folder_remove(folder);
	}
}

/* What is selected decides what shares are of; --top counts for each kind of access. */
static void rows_are_those_asked_for(void **state)
{
	static const struct {
		enum key key;
		size_t top;
		const char *sort;
		size_t n_rows;
		struct expected_cell first;
	} list[] = {
		{ KEY_SOURCE, 1, NULL, 3, { "mem", 0, "samples", 4, MARK_EXACT } },
		{ KEY_SOURCE, 0, "samples", 4, { "mem", 0, "samples", 10, MARK_EXACT } },
		{ KEY_SOURCE, 2, "samples", 2, { "mem", 1, "samples", 5, MARK_EXACT } },
		{ KEY_THREAD, 0, NULL, 4, { "mem", 0, "total_p50_cycles", 400, MARK_EXACT } },
		{ KEY_FUNCTION, 0, NULL, 4, { "mem", 1, "total_p50_cycles", 50, MARK_EXACT } },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(list); i++) {
		const struct mem_request request = {
			.by = { { list[i / 2].key }, 1 },
			.top = list[i / 2].top,
			.sort = list[i / 2].sort,
			.groups_bytes = i % 2, /* all go to a file */
		};
		struct spe_record records[32];
		struct mem_report report = { 0 };
		struct session s;
		struct err err;
		size_t n = make_records(records, TEXT_START);

		open_fixture(&(struct contents){ .records = records, .n_records = n }, 2, &s);
		assert_int_equal(mem_report_make(&s, NULL, &request, &report, &err), 0);
		assert_int_equal(table_n_rows(&report.rows), list[i / 2].n_rows);
		expect_cell(&report.shown, &list[i / 2].first);
		mem_report_release(&report);
		close_fixture(&s);
	}
}

/* A group with more records than its small sums have room for. */
static void many_records_do_not_overflow(void **state)
{
	static const struct expected_cell list[] = {
		{ "sources", 0, "samples", N_MANY, MARK_EXACT },
		{ "sources", 0, "total_mean_cycles", 600, MARK_EXACT },
		{ "sources", 0, "total_p90_cycles", 600, MARK_EXACT },
		{ "sources", 0, "walk_share", 1, MARK_EXACT },
		{ "sources", 0, "walk_mean_cycles", 30, MARK_EXACT },
		{ "sources", 0, "estimated_operations", (double)N_MANY * INTERVAL, MARK_SCALED },
	};
	struct spe_record *records = mem_alloc(N_MANY, sizeof(*records));
	struct mem_report report = { 0 };
	struct session s;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < N_MANY; i++) {
		records[i] = access_of(LOAD, FIRST, 600, 1000 + i);
		records[i].events |= EV(TLB_WALK);
		records[i].has |= HAS_XLAT;
		records[i].xlat = 30;
	}
	for (size_t groups_bytes = 0; groups_bytes < 2; groups_bytes++) {
		const struct mem_request request = { .groups_bytes = groups_bytes };

		open_fixture(&(struct contents){ .records = records,
						 .n_records = N_MANY,
						 .n_first = N_MANY },
			     1, &s);
		assert_int_equal(mem_report_make(&s, NULL, &request, &report, &err), 0);
		expect_cells(&report.shown, list, COUNT(list));
		mem_report_release(&report);
		close_fixture(&s);
	}
	free(records);
}

/* Rows are looked up many at once: sums go to the right ones, in whatever parts groups come. */
static void many_places_have_their_rows(void **state)
{
	/* of several partitions (mem/groups.c), each of which comes more than once */
	enum {
		N_PLACES = 20000,
		N_RECORDS = N_PLACES + 3,
		HEAVIEST = 15000,
		SECOND_HEAVIEST = 700
	};
	static const struct expected_cell list[] = {
		{ "mem", 0, "samples", 3, MARK_EXACT },
		{ "mem", 0, "total_mean_cycles", 900, MARK_EXACT },
		{ "mem", 0, "share", 3. / N_RECORDS, MARK_SPARSE },
		{ "mem", 1, "samples", 2, MARK_EXACT },
		{ "mem", 1, "total_mean_cycles", 800, MARK_EXACT },
	};
	struct spe_record *records = mem_alloc(N_RECORDS, sizeof(*records));
	struct session s;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < N_RECORDS; i++) {
		unsigned place = i < N_PLACES ? i : i == N_PLACES ? SECOND_HEAVIEST : HEAVIEST;
		uint16_t total = place == HEAVIEST ? 900 : place == SECOND_HEAVIEST ? 800 : 10;

		records[i] = access_of(LOAD, FIRST + 4 * place, total, 1000 + i);
	}
	for (unsigned i = 0; i < 6; i++) {
		const struct mem_request request = { .by = { { KEY_PLACE }, 1 },
						     .top = 2,
						     .groups_bytes = i % 2 };
		struct mem_report report = { 0 };

		open_fixture(&(struct contents){ .records = records,
						 .n_records = N_RECORDS,
						 .n_first = N_RECORDS / 2 },
			     1 + i / 2, &s);
		assert_int_equal(mem_report_make(&s, NULL, &request, &report, &err), 0);
		assert_int_equal(table_n_rows(&report.rows), 2);
		expect_cells(&report.shown, list, COUNT(list));
		mem_report_release(&report);
		close_fixture(&s);
	}
	free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_places_have_their_rows),
		cmocka_unit_test(tables_have_their_numbers),
		cmocka_unit_test(filtered_bytes_are_no_bandwidth),
		cmocka_unit_test(rows_are_those_asked_for),
		cmocka_unit_test(many_records_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
