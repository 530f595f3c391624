/* SPDX-License-Identifier: Apache-2.0 */
/* Time that no operation waits for: when the front end is blamed, and when nobody can tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "../table/expect.h"
#include "base/alloc.h"
#include "report/report.h"
#include "spe/packet.h"

enum { RECORDS = 2000, INTERVAL = 1024, LINE = 64, PAGE = 4096, LONG_EVERY = 50 };

#define EV(bit) (1ull << SPE_EV_##bit)

/* At 2 GHz, which is assumed, 1024 operations in 1024 ns take two cycles each. */
static const struct {
	const char *what;
	size_t n_lines;
	uint64_t apart; /* bytes between lines */
	uint64_t ns;	/* between records */
	uint16_t total;
	uint8_t op_class;
	uint64_t events;
	bool has_long_gaps, has_no_interval;
	const char *remedy, *note; /* of the front end; the beginning of a note */
} cases[] = {
	{ "large code, slow, waits for nothing", 1000, LINE, 1024, 8, SPE_OP_OTHER, 0, false, false,
	  "code-order", NULL },
	{ "few lines of many pages", 60, PAGE, 1024, 8, SPE_OP_OTHER, 0, false, false, "code-pages",
	  NULL },
	{ "the same in little code", 2, LINE, 1024, 8, SPE_OP_OTHER, 0, false, false, NULL,
	  "About 87 % of the time is unexplained" },
	{ "as fast as the core is wide", 1000, LINE, 128, 8, SPE_OP_OTHER, 0, false, false, NULL,
	  NULL },
	{ "latencies may have it", 1000, LINE, 1024, 12, SPE_OP_OTHER, 0, false, false, NULL,
	  NULL },
	{ "latencies in which the window does not fill, in code that no L1I holds", 1600, LINE,
	  1024, 40, SPE_OP_OTHER, 0, false, false, "code-order", NULL },
	{ "latencies in which it does", 1600, LINE, 1024, 250, SPE_OP_OTHER, 0, false, false, NULL,
	  NULL },
	{ "mispredicted branches may have it", 1000, LINE, 1024, 8, SPE_OP_BRANCH, EV(MISPREDICTED),
	  false, false, NULL, NULL },
	{ "a few long gaps: the kernel", 1000, LINE, 128, 8, SPE_OP_OTHER, 0, true, false, NULL,
	  NULL },
	{ "the interval is not known", 1000, LINE, 1024, 8, SPE_OP_OTHER, 0, false, true, NULL,
	  NULL },
};

static void open_case(size_t i, unsigned n_workers, struct session *out)
{
	struct spe_record *records = mem_alloc(RECORDS, sizeof(*records));
	uint64_t ns = START_NS;

	for (size_t k = 0; k < RECORDS; k++) {
		records[k] = spe_of(TEXT_START + k % cases[i].n_lines * cases[i].apart, ALPHA,
				    cases[i].op_class, cases[i].events, cases[i].total, ns);
		ns += cases[i].has_long_gaps && k % LONG_EVERY == 0 ? 900000 : cases[i].ns;
	}
	open_fixture(&(struct contents){ .records = records,
					 .n_records = RECORDS,
					 .spe_interval = INTERVAL },
		     n_workers, out);
	if (cases[i].has_no_interval)
		for (size_t cpu = 0; cpu <= SESSION_CPUS; cpu++)
			out->intervals[cpu] = (struct spe_interval){ 0 };
	free(records);
}

static const char *front_end_remedy(const struct table *t)
{
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (strcmp(table_cell(t, row, (size_t)table_column(t, "kind"))->text,
			   "front-end") == 0)
			return table_cell(t, row, (size_t)table_column(t, "remedy_id"))->text;
	return NULL;
}

static bool has_note(const struct table *t, const char *begin)
{
	for (size_t i = 0; i < t->notes.n; i++)
		if (strncmp(t->notes.items[i], begin, strlen(begin)) == 0)
			return true;
	return false;
}

static void the_front_end_has_what_nothing_waits_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
			struct session s;
			struct report r = { 0 };
			struct err err = { 0 };
			const char *remedy;

			open_case(i, n_workers, &s);
			assert_int_equal(report_make(&s, NULL, REPORT_BRIEF, &r, &err), 0);
			remedy = front_end_remedy(&r.findings);
			if ((remedy == NULL) != (cases[i].remedy == NULL) ||
			    (remedy != NULL && strcmp(remedy, cases[i].remedy) != 0))
				fail_msg("%s: %s", cases[i].what, remedy);
			if (has_note(&r.findings, "About ") != (cases[i].note != NULL) ||
			    (cases[i].note != NULL && !has_note(&r.findings, cases[i].note)))
				fail_msg("%s: %s", cases[i].what, r.findings.notes.items[0]);
			report_release(&r);
			close_fixture(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_front_end_has_what_nothing_waits_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
