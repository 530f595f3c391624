/* SPDX-License-Identifier: Apache-2.0 */
/* How often answers decode the capture: twice at most, and what lies near contended lines is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "c2c/c2c.h"
#include "hot/elapsed/elapsed.h"
#include "report/report.h"
#include "spe/packet.h"

enum {
	DATA = 0x10000000,
	LINE_BYTES = 64,
	L1 = 0x0,
	PEER = 0x9, /* data sources of a Neoverse N1 */
	N_LINES = 240,
	REPORTED_LINES = 4,
	STRIDE = 3,    /* a contended line, and two that are near it */
	ACCESSES = 20, /* to a contended line, by each of two threads */
	FEW = 2,
	MANY = 64, /* if all of them differ, those near by are more than are wanted */
	STEP_NS = 10,
};

/* What a CPU records, of the thread that runs there. */
struct recording {
	struct spe_record *records;
	size_t n;
	uint64_t pc, offset;
	uint32_t tid;
	bool stores;  /* to contended lines: else it loads */
	bool spreads; /* near them, each access to another byte, or by another instruction */
};

static void add(struct recording *r, uint64_t pc, uint64_t va, bool is_contended)
{
	struct spe_record *out = &r->records[r->n];
	bool is_store = is_contended && r->stores;

	*out = spe_of(pc, r->tid, SPE_OP_LDST, 0, is_contended && !is_store ? 200 : 4,
		      2000 + r->n * STEP_NS);
	out->has |= HAS_VA | (is_store ? 0 : HAS_SOURCE);
	out->va = va + r->offset;
	out->op = is_store;
	out->source = is_contended ? PEER : L1;
	r->n++;
}

static void record(struct recording *r, size_t n_lines, size_t n_near)
{
	for (size_t i = 0; i < ACCESSES; i++)
		for (uint64_t line = 0; line < n_lines; line++)
			add(r, r->pc, DATA + line * STRIDE * LINE_BYTES, true);
	for (size_t i = 0; i < n_near; i++) {
		size_t byte = r->spreads ? i % (LINE_BYTES / 2) : 0;
		size_t instruction = r->spreads ? i / (LINE_BYTES / 2) : 0;

		for (uint64_t line = 0; line < n_lines * STRIDE; line++)
			if (line % STRIDE != 0)
				add(r, r->pc + 4 * instruction, DATA + line * LINE_BYTES + byte,
				    false);
	}
}

/* Two threads that write and read different words of each of many lines. */
static void open_shared(size_t n_lines, size_t n_near, bool spreads, unsigned n_workers,
			struct session *out)
{
	size_t n = n_lines * (ACCESSES + (STRIDE - 1) * n_near);
	struct spe_record *all = mem_alloc(2 * n, sizeof(*all));
	struct recording reader = { .records = all, .pc = FIRST, .tid = ALPHA, .spreads = spreads };
	struct recording writer = {
		.records = all + n,
		.pc = SECOND,
		.offset = 32, /* farther than an access reaches whose size is not known */
		.tid = ALPHA_THREAD,
		.stores = true,
		.spreads = spreads,
	};

	record(&reader, n_lines, n_near);
	record(&writer, n_lines, n_near);
	assert_int_equal(reader.n, n);
	open_fixture(&(struct contents){ .records = all, .n_records = 2 * n }, n_workers, out);
	free(all);
}

static uint64_t count_around(const struct c2c *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->around.n; i++)
		n += s->around.items[i].counts.n[C2C_RECORDS];
	return n;
}

static void test_c2c(void **state)
{
	static const struct {
		size_t n_near; /* accesses of each thread to each line near by */
		bool spreads;
		bool with_objects;
		unsigned n_scans;
	} cases[] = {
		{ FEW, false, false, 2 },
		{ FEW, false, true, 2 },
		{ MANY, false, true, 2 },
		/* The data has no name, so lines next to it are looked at, however many accesses. */
		{ MANY, true, true, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct c2c_request request = { .mode = -1,
						     .top = 3,
						     .with_objects = cases[i].with_objects };

		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
			struct err err = { .text = "" };
			struct session s;
			struct c2c c2c;

			open_shared(N_LINES, cases[i].n_near, cases[i].spreads, n_workers, &s);
			if (c2c_run(&s, NULL, &request, &c2c, &err) < 0)
				fail_msg("%s", err.text);
			assert_int_equal(c2c.subjects.n, cases[i].with_objects ? N_LINES : 3);
			assert_int_equal(c2c.subjects.items[0].judgement.verdict, C2C_FALSE);
			assert_int_equal(count_around(&c2c),
					 cases[i].with_objects
						 ? 2 * cases[i].n_near * N_LINES * (STRIDE - 1)
						 : 0);
			assert_int_equal(s.n_scans, cases[i].n_scans);
			c2c_release(&c2c);
			close_fixture(&s);
		}
	}
}

/*
 * What is done near lines has a limit, for lines very near and for others: the last lines are left out, the
 * same ones for any number of workers, and whether the second scan kept enough of the others or a third is made for them.
 */
static void test_too_much(void **state)
{
	enum {
		EACH = MANY * 2, /* touches of a line near by: those of two threads */
		WANTED = 2 * C2C_MOST_NEAR / EACH, /* lines */
	};
	static const struct {
		size_t n_lines;
		unsigned n_scans;
	} cases[] = {
		{ 300, 2 }, { 600, 3 }, /* more touches than C2C_MOST_KEPT */
	};
	const struct c2c_request request = { .mode = -1, .top = 3, .with_objects = true };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		size_t n_lines = cases[i / 2].n_lines;
		struct err err = { .text = "" };
		struct session s;
		struct c2c c2c;

		open_shared(n_lines, MANY, true, i % 2 == 0 ? 1 : 3, &s);
		if (c2c_run(&s, NULL, &request, &c2c, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(s.n_scans, cases[i / 2].n_scans);
		assert_int_equal(c2c.subjects.n, n_lines);
		assert_int_equal(c2c.n_lines_left_out, n_lines * (STRIDE - 1) - WANTED);
		assert_int_equal(count_around(&c2c), 2 * MANY * WANTED);
		c2c_release(&c2c);
		close_fixture(&s);
	}
}

/* Hot code, run time and sharing, all in two. */
static void test_report(void **state)
{
	struct err err = { .text = "" };
	struct report report = { 0 };
	bool has_sharing = false;
	struct session s;

	(void)state;
	open_shared(REPORTED_LINES, FEW, false, 2, &s);
	assert_null(elapsed_obstacle(&s, NULL, false));
	if (report_make(&s, NULL, REPORT_BRIEF, &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.n_scans, 2);
	for (size_t row = 0; row < table_n_rows(&report.findings); row++) {
		int kind = table_column(&report.findings, "kind");
		const char *text = table_cell(&report.findings, row, (size_t)kind)->text;

		has_sharing |= strcmp(text, "false-sharing") == 0;
	}
	assert_true(has_sharing);
	assert_true(report.elapsed.n_columns > 0);
	report_release(&report);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c2c),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
