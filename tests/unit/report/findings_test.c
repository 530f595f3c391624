/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: what is worth a word, how it is worded, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../session/fixture.h"
#include "findings/words.h"
#include "report/report.h"
#include "scan/scan.h"
#include "spe/packet.h"

#define EV(bit) (1ull << SPE_EV_##bit)

enum { MAX_RECORDS = 2000, DRAM = 0xe, REMOTE = 0xd, L1D = 0x0, NO_SOURCE = UINT16_MAX };

/* Equal records of alpha, one after the other. */
struct run {
	size_t n;
	uint64_t pc;
	uint8_t op_class;
	uint64_t events;
	uint16_t total, xlat, source;
};

static size_t add_run(struct spe_record *out, const struct run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		out[i] = spe_of(run->pc, ALPHA, run->op_class, run->events, run->total, 2000);
		out[i].has |= HAS_XLAT;
		out[i].xlat = run->xlat;
		if (run->source == NO_SOURCE)
			continue;
		out[i].has |= HAS_SOURCE;
		out[i].source = run->source;
	}
	return run->n;
}

static void find(struct session *s, struct table *out)
{
	struct analysis hot = { .class = &hot_class, .options = &report_hot_options };
	const struct keys keys = { { KEY_FUNCTION, KEY_LINE }, 2 };
	struct findings found = { 0 };
	struct names names;

	scan(s, NULL, &hot, 1);
	hot_names(s, hot.result, &keys, &names);
	report_find(hot.result, &names, NULL, NULL, &found);
	findings_table(&found, s, out);
	findings_release(&found);
	names_release(&names);
	hot_class.free(hot.result);
}

static const char *cell_of(const struct table *t, size_t row, const char *column)
{
	int at = table_column(t, column);

	assert_true(at >= 0);
	return table_cell(t, row, (size_t)at)->text;
}

/* "kind size; kind size", the findings in order. */
static char *kinds_and_sizes(const struct table *t)
{
	struct text text = { 0 };

	for (size_t row = 0; row < table_n_rows(t); row++)
		text_format(&text, "%s%s %s", row > 0 ? "; " : "", cell_of(t, row, "kind"),
			    cell_of(t, row, "size"));
	text_char(&text, '\0');
	return text.bytes;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *what;
		struct run runs[3];
		const char *expected;
	} cases[] = {
		{ "too few records of each function",
		  { { 29, FIRST, SPE_OP_LDST, 0, 100, 0, DRAM } },
		  "" },
		{ "all loads from memory, whatever else the function does",
		  { { 20, FIRST, SPE_OP_LDST, 0, 100, 0, DRAM },
		    { 60, FIRST, SPE_OP_OTHER, 0, 100, 0, NO_SOURCE },
		    { 80, SECOND, SPE_OP_OTHER, 0, 25, 0, NO_SOURCE } },
		  "memory-bound 80.0 % ± 7.5 of latency cycles; "
		  "hot-function 20.0 % ± 5.0 of latency cycles" },
		{ "half of the latency of loads is from memory",
		  { { 20, FIRST, SPE_OP_LDST, 0, 60, 0, DRAM },
		    { 60, FIRST, SPE_OP_LDST, 0, 20, 0, L1D } },
		  "memory-bound 50.0 % ± 14.1 of latency cycles" },
		{ "or from another chip",
		  { { 20, FIRST, SPE_OP_LDST, 0, 60, 0, REMOTE },
		    { 60, FIRST, SPE_OP_LDST, 0, 20, 0, L1D } },
		  "memory-bound 50.0 % ± 14.1 of latency cycles" },
		{ "nine loads from memory say nothing of a function",
		  { { 9, FIRST, SPE_OP_LDST, 0, 100, 0, DRAM },
		    { 51, FIRST, SPE_OP_OTHER, 0, 100, 0, NO_SOURCE } },
		  "hot-function 100.0 % of latency cycles" },
		{ "table walks by their latency",
		  { { 50, FIRST, SPE_OP_LDST, EV(TLB_WALK), 100, 30, NO_SOURCE },
		    { 50, FIRST, SPE_OP_LDST, 0, 100, 30, NO_SOURCE } },
		  "tlb-walks 15.0 % ± 5.0 of latency cycles" },
		{ "mispredictions among branches",
		  { { 40, FIRST, SPE_OP_BRANCH, EV(MISPREDICTED), 10, 0, NO_SOURCE },
		    { 60, FIRST, SPE_OP_BRANCH, 0, 10, 0, NO_SOURCE },
		    { 100, SECOND, SPE_OP_BRANCH, 0, 1, 0, NO_SOURCE } },
		  "mispredictions 20.0 % ± 5.5 of sampled branches" },
		{ "much slower than the rest",
		  { { 40, FIRST, SPE_OP_OTHER, 0, 200, 0, NO_SOURCE },
		    { 400, SECOND, SPE_OP_OTHER, 0, 5, 0, NO_SOURCE } },
		  "slow-operations 80.0 % ± 5.2 of latency cycles; "
		  "hot-function 20.0 % ± 5.2 of latency cycles" },
		{ "code without names",
		  { { 40, TEXT_START, SPE_OP_OTHER, 0, 10, 0, NO_SOURCE } },
		  "unnamed-code 100.0 % of latency cycles" },
		{ "no latency at all", { { 40, FIRST, SPE_OP_OTHER, 0, 0, 0, NO_SOURCE } }, "" },
	};
	struct spe_record *records = mem_alloc(MAX_RECORDS, sizeof(*records));

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct contents contents = { .records = records };
		struct session s;
		struct table t;
		char *found;

		for (size_t k = 0; k < COUNT(cases[i].runs); k++)
			contents.n_records +=
				add_run(records + contents.n_records, &cases[i].runs[k]);
		open_fixture(&contents, 2, &s);
		find(&s, &t);
		found = kinds_and_sizes(&t);
		if (strcmp(found, cases[i].expected) != 0)
			fail_msg("%s: %s", cases[i].what, found);
		assert_int_equal(t.notes.n > 0, cases[i].expected[0] == '\0');
		/* The code has no source lines. */
		for (size_t row = 0; row < table_n_rows(&t); row++)
			if (strcmp(cell_of(&t, row, "kind"), "hot-function") == 0)
				assert_non_null(
					strstr(cell_of(&t, row, "next"), "cyclops annotate "));
		free(found);
		table_release(&t);
		close_fixture(&s);
	}
	free(records);
}

/* Samples of all events but SPE in turn, of the same places. */
static void fill_samples(struct sample *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = sample_of((unsigned)(EVENT_CYCLES + i % 3),
				   i % 2 != 0 ? FIRST + 4 : SECOND + 8, ALPHA, 1000, NULL, 0);
}

/* Equal findings of several events and functions come in one order, for any numbering. */
static void test_order(void **state)
{
	static const char *const expected[] = {
		"first is hot (cycles)",       "second is hot (cycles)",
		"first is hot (cache-misses)", "second is hot (cache-misses)",
		"first is hot (cpu-clock)",
	};
	struct sample samples[600];

	(void)state;
	fill_samples(samples, COUNT(samples));
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct session s;
		struct table t;

		open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) },
			     n_workers, &s);
		find(&s, &t);
		assert_int_equal(table_n_rows(&t), COUNT(expected));
		for (size_t i = 0; i < COUNT(expected); i++)
			assert_string_equal(cell_of(&t, i, "claim"), expected[i]);
		table_release(&t);
		close_fixture(&s);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *column, *text;
	} expected[] = {
		{ "claim", "first is hot (cpu-clock)" },
		{ "size", "75.0 % ± 7.7 of cpu-clock" },
		{ "evidence", "90.0 ms of 120.0 ms" },
		{ "where", "first+0x4" },
		{ "sure", "from 90 of 120 samples (±: 95 % interval)" },
		{ "kind", "hot-function" },
	};
	struct sample samples[120];
	struct text next = { 0 };
	struct session s;
	struct table t;

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		samples[i] = sample_of(EVENT_CLOCK, i < 90 ? FIRST + 4 : TEXT_START + 8 * i, ALPHA,
				       1000000, NULL, 0);
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 1, &s);
	find(&s, &t);
	assert_int_equal(table_n_rows(&t), 2);
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_string_equal(cell_of(&t, 0, expected[i].column), expected[i].text);
	text_format(&next, "cyclops annotate first %s%c", capture_path(s.capture), 0);
	assert_string_equal(cell_of(&t, 0, "next"), next.bytes);
	text_release(&next);
	assert_string_equal(cell_of(&t, 1, "claim"), "code in alpha has no symbols");
	assert_string_equal(cell_of(&t, 1, "where"), "alpha+0x2d0");
	table_release(&t);
	close_fixture(&s);
}

/* 0.98 * 0.5 * sqrt(1.81 / 50 + 1 / 50): what records weigh is chance, too. */
static void test_spread(void **state)
{
	struct spe_record records[100];
	struct session s;
	struct table t;

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		struct run run = { .n = 1, .op_class = SPE_OP_OTHER, .source = NO_SOURCE };

		run.pc = i % 2 ? FIRST + 4 : SECOND;
		run.total = i % 2 == 0 ? 100 : i % 4 == 1 ? 10 : 190;
		add_run(&records[i], &run);
	}
	open_fixture(&(struct contents){ .records = records, .n_records = COUNT(records) }, 2, &s);
	find(&s, &t);
	assert_string_equal(cell_of(&t, 0, "size"), "50.0 % ± 11.6 of latency cycles");
	assert_string_equal(cell_of(&t, 0, "sure"),
			    "from 50 of 100 samples (±: 95 % interval); the interval had no "
			    "jitter: loops in step with it are over- or undercounted");
	table_release(&t);
	close_fixture(&s);
}

/* The same code without names is one finding, whichever events found it. */
static void test_unnamed_once(void **state)
{
	struct sample samples[240];
	struct session s;
	struct table t;

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		samples[i] = sample_of(i % 2 != 0 ? EVENT_CLOCK : EVENT_MISSES, TEXT_START,
				       i < 160 ? ALPHA : BETA, 1, NULL, 0);
	open_fixture(&(struct contents){ .samples = samples, .n_samples = COUNT(samples) }, 1, &s);
	find(&s, &t);
	assert_int_equal(table_n_rows(&t), 2);
	assert_string_equal(cell_of(&t, 0, "claim"), "code in alpha has no symbols");
	assert_string_equal(cell_of(&t, 1, "claim"), "code in beta has no symbols");
	table_release(&t);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	     cmocka_unit_test(test_order),
		cmocka_unit_test(test_words),	     cmocka_unit_test(test_spread),
		cmocka_unit_test(test_unnamed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
