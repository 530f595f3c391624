/* SPDX-License-Identifier: Apache-2.0 */
/* Which time is sliced: that of records and samples, and how many slices there are. */
#include "scan/time_slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"

enum { FIRST_NS = START_NS + 500, LAST_NS = START_NS + 1500 };

/* A thread that is named long after the last sample. */
static void name_late(struct writer *w)
{
	const struct record_comm comm = { .pid = ALPHA, .tid = ALPHA, .comm = "late" };
	const struct sample_id id = { .has = HAS_TID | HAS_TIME,
				      .pid = ALPHA,
				      .tid = ALPHA,
				      .time_ns = UINT64_C(2000000000000) };

	writer_comm(w, &comm, &id);
}

static void open_samples(uint64_t first_ns, uint64_t last_ns, struct session *s)
{
	struct sample samples[2] = {
		sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0),
		sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0),
	};

	samples[0].time_ns = first_ns;
	samples[1].time_ns = last_ns;
	open_fixture(
		&(struct contents){ .samples = samples, .n_samples = 2, .write_more = name_late },
		1, s);
}

static void slices_are_of_what_was_sampled(void **state)
{
	static const struct {
		uint64_t first_ns, last_ns;
		uint32_t n;
		int rc;
	} cases[] = {
		{ FIRST_NS, LAST_NS, 10, 0 },
		{ FIRST_NS, LAST_NS, SLICES_MAX + 1, -1 },
		{ FIRST_NS, FIRST_NS, 10, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct slices slices = { 0 };
		struct session s;
		struct err err;

		print_message("%zu\n", i);
		open_samples(cases[i].first_ns, cases[i].last_ns, &s);
		assert_true(capture_totals(s.capture)->last_ns > 1000 * LAST_NS);
		assert_int_equal(scan_time_slices(&s, cases[i].n, &slices, &err), cases[i].rc);
		if (cases[i].rc == 0) {
			assert_int_equal(slices.first_ns, FIRST_NS);
			assert_int_equal(slices.width_ns, (LAST_NS - FIRST_NS) / cases[i].n + 1);
			assert_int_equal(slices_start_ns(&slices, 0),
					 FIRST_NS - capture_totals(s.capture)->first_ns);
		}
		close_fixture(&s);
	}
}

/* No option and no key of time: none; the key alone: as many as are usual. */
static void slices_are_chosen(void **state)
{
	static const struct {
		uint32_t n;
		bool by_time;
		uint32_t expected;
	} cases[] = {
		{ 0, false, 0 }, { 0, true, SLICES_DEFAULT }, { 7, false, 7 }, { 7, true, 7 }
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;
		struct err err;

		open_samples(FIRST_NS, LAST_NS, &s);
		assert_int_equal(scan_choose_slices(&s, cases[i].n, cases[i].by_time, &err), 0);
		assert_int_equal(s.slices.n, cases[i].expected);
		close_fixture(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_of_what_was_sampled),
		cmocka_unit_test(slices_are_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
