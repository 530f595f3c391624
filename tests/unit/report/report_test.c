/* SPDX-License-Identifier: Apache-2.0 */
/* The report: which facts its head has, which sections there are and in which order. */
#include "report/report.h"
#include "table/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "../table/expect.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "spe/packet.h"

enum { MAX_RECORDS = 16, MAX_NAMES = 10, JITTER = 1 << 16 };

static const char *const arguments[] = { "true" };

static void with_command(struct writer *w)
{
	writer_command_line(w, COUNT(arguments), arguments);
}

/* What a capture holds: so many records and samples, of places of alpha or beta. */
static const struct {
	const char *name;
	unsigned n_records, n_samples;
	uint64_t pcs[3];
	uint32_t tids[3];
	uint64_t config;
	void (*write_more)(struct writer *);
	const char *facts[MAX_NAMES], *sections[MAX_NAMES];
} cases[] = {
	{ "nothing", .facts = { "ran", "machine", "SPE", "lost" },
	  .sections = { "capture", "findings" } },
	{ "records of one function", .n_records = 6, .pcs = { FIRST }, .tids = { ALPHA },
	  .facts = { "ran", "machine", "recorded", "SPE", "jitter", "lost" },
	  .sections = { "capture", "functions", "findings" } },
	{ "… with jitter, and a command", .n_records = 6, .pcs = { FIRST }, .tids = { ALPHA },
	  .config = JITTER, .write_more = with_command,
	  .facts = { "command", "ran", "machine", "recorded", "SPE", "lost" },
	  .sections = { "capture", "functions", "findings" } },
	{ "samples", .n_samples = 6, .pcs = { FIRST }, .tids = { ALPHA },
	  .facts = { "ran", "machine", "recorded", "samples", "SPE", "lost" },
	  .sections = { "capture", "functions", "findings" } },
	{ "both, of two processes and modules", .n_records = 6, .n_samples = 6,
	  .pcs = { FIRST, TEXT_START + 0x10 }, .tids = { ALPHA, BETA },
	  .facts = { "ran", "machine", "recorded", "samples", "SPE", "jitter", "lost" },
	  .sections = { "capture", "functions", "modules", "processes", "findings" } },
	{ "records of two processes in one module each", .n_records = 6,
	  .pcs = { FIRST, TEXT_START + 0x10 }, .tids = { ALPHA, BETA },
	  .facts = { "ran", "machine", "recorded", "SPE", "jitter", "lost" },
	  .sections = { "capture", "functions", "modules", "processes", "findings" } },
	{ "two threads of one process", .n_records = 6, .pcs = { FIRST, SECOND },
	  .tids = { ALPHA, ALPHA_THREAD },
	  .facts = { "ran", "machine", "recorded", "SPE", "jitter", "lost" },
	  .sections = { "capture", "functions", "findings" } },
	{ "outside of all modules", .n_records = 6, .pcs = { 0x10 }, .tids = { ALPHA },
	  .facts = { "ran", "machine", "recorded", "SPE", "jitter", "lost", "unknown" },
	  .sections = { "capture", "functions", "findings" } },
};

static size_t n_of(const uint64_t *pcs)
{
	return 1 + (pcs[1] != 0) + (pcs[2] != 0);
}

static void open_case(size_t i, unsigned n_workers, struct session *out)
{
	struct spe_record records[MAX_RECORDS];
	struct sample samples[MAX_RECORDS];

	for (unsigned k = 0; k < cases[i].n_records; k++)
		records[k] = spe_of(cases[i].pcs[k % n_of(cases[i].pcs)],
				    cases[i].tids[k % n_of(cases[i].pcs)], SPE_OP_OTHER,
				    UINT64_C(1) << SPE_EV_RETIRED, 10, START_NS + 100 * k);
	for (unsigned k = 0; k < cases[i].n_samples; k++) {
		samples[k] = sample_of(EVENT_CYCLES, cases[i].pcs[k % n_of(cases[i].pcs)],
				       cases[i].tids[k % n_of(cases[i].pcs)], 1000, NULL, 0);
		samples[k].time_ns = START_NS + 100 * k;
	}
	open_fixture(&(struct contents){ .records = records,
					 .n_records = cases[i].n_records,
					 .samples = samples,
					 .n_samples = cases[i].n_samples,
					 .spe_config = { cases[i].config },
					 .write_more = cases[i].write_more },
		     n_workers, out);
}

static void expect_names(const char *const *wanted, size_t n,
			 const char *(*at)(const void *, size_t), const void *context)
{
	size_t i = 0;

	for (; i < MAX_NAMES && wanted[i] != NULL; i++) {
		assert_true(i < n);
		assert_string_equal(at(context, i), wanted[i]);
	}
	assert_int_equal(n, i);
}

static const char *fact_at(const void *context, size_t i)
{
	return table_cell(context, i, 0)->text;
}

static const char *section_at(const void *context, size_t i)
{
	const struct tables *shown = context;

	return shown->list.items[i]->name;
}

static void facts_and_sections_are_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
			struct report report = { 0 };
			struct tables sections;
			struct session s;
			struct err err;

			print_message("%s\n", cases[i].name);
			open_case(i, n_workers, &s);
			assert_int_equal(report_make(&s, NULL, REPORT_BRIEF, &report, &err), 0);
			expect_names(cases[i].facts, table_n_rows(&report.facts), fact_at,
				     &report.facts);
			sections = format_tables(&format_text, &report.shown);
			expect_names(cases[i].sections, sections.list.n, section_at, &sections);
			vec_release(&sections.list);
			report_release(&report);
			close_damaged_fixture(&s);
		}
}

/* Of ten places as many rows as are asked for; the costly ones first. */
static void tables_are_as_long_as_asked_for(void **state)
{
	static const struct {
		size_t top, n_rows;
	} list[] = { { REPORT_BRIEF, 2 }, { 0, 2 }, { 1, 1 } };
	static const struct expected_cell cells[] = {
		{ "functions", 0, "function", 0, MARK_EXACT, "second" },
		{ "functions", 0, "samples", 10, MARK_EXACT },
		{ "functions", 0, "latency_cycles", 500, MARK_EXACT },
		{ "functions", 0, "share", 500. / 600, MARK_EXACT },
	};
	struct spe_record records[15];

	(void)state;
	for (unsigned i = 0; i < COUNT(records); i++)
		records[i] = spe_of(i < 5 ? FIRST : SECOND, ALPHA, SPE_OP_OTHER,
				    UINT64_C(1) << SPE_EV_RETIRED, i < 5 ? 20 : 50, START_NS + i);
	for (size_t i = 0; i < COUNT(list); i++) {
		struct report report = { 0 };
		struct session s;
		struct err err;

		open_fixture(&(struct contents){ .records = records, .n_records = COUNT(records) },
			     2, &s);
		assert_int_equal(report_make(&s, NULL, list[i].top, &report, &err), 0);
		assert_int_equal(table_n_rows(&report.functions), list[i].n_rows);
		expect_cells(&report.shown, cells, COUNT(cells));
		report_release(&report);
		close_fixture(&s);
	}
}

/* Cycles lead, else clocks, else all: by samples, not by what was asked for. */
static void events_of_time_lead(void **state)
{
	static const struct {
		const char *name;
		unsigned n[N_FIXTURE_EVENTS]; /* samples of each event */
		const char *event;	      /* of the first finding */
		size_t n_next; /* a command for each hot function; of one event of a tree none */
	} list[] = {
		{ "cycles before clocks and misses", { 0, 40, 200, 100 }, "cycles", 1 },
		{ "a clock before misses", { 0, 0, 200, 40 }, "cpu-clock", 1 },
		{ "misses alone", { 0, 0, 200, 0 }, "cache-misses", 2 },
		{ "cycles alone", { 0, 40, 0, 0 }, "cycles", 1 },
	};
	struct sample samples[400];

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		const struct report_detail detail = { 0 };
		struct report r = { 0 };
		struct session s;
		struct err err;
		size_t n = 0;

		print_message("%s\n", list[i].name);
		for (unsigned event = EVENT_CYCLES; event < N_FIXTURE_EVENTS; event++)
			for (unsigned k = 0; k < list[i].n[event]; k++)
				samples[n++] = sample_of(event, k % 4 == 0 ? FIRST : SECOND, ALPHA,
							 1000, NULL, 0);
		open_fixture(&(struct contents){ .samples = samples, .n_samples = n }, 2, &s);
		assert_int_equal(report_make(&s, NULL, REPORT_BRIEF, &r, &err), 0);
		report_screen(&s, &detail, &r);
		assert_string_equal(r.found.list.items[0]->event, list[i].event);
		assert_int_equal(table_n_rows(&r.functions), 2);
		assert_int_equal(table_column(&r.functions, "event"), -1);
		assert_int_equal(table_n_rows(&r.next), list[i].n_next);
		report_release(&r);
		close_fixture(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_and_sections_are_there),
		cmocka_unit_test(tables_are_as_long_as_asked_for),
		cmocka_unit_test(events_of_time_lead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
