/* SPDX-License-Identifier: Apache-2.0 */
/* How many SPE samples were lost, out of counts of the PMU's events of sampling. */
#include "scan/lost_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "spe/packet.h"

/* The capture has so many records. Each stands for INTERVAL + 1 operations, on a Neoverse N1. */
enum { TAKEN = 10, INTERVAL = 1024 };

/* Jitter, which the upper limit allows for. */
#define ROOT_OF_TAKEN 3.1622776601683795

/* What `perf stat -x,` wrote: value, event, time on a counter, percentage of the time. */
static const struct {
	const char *what, *counts;
	double n, most, share;
} cases[] = {
	{ "counted: 5 collisions", "5,,SAMPLE_COLLISION,100,100.00,,\n", 5, 5, 1 - 10 / 15.0 },
	{ "the same by number", "5,,r4003,100,100.00,,\n", 5, 5, 1 - 10 / 15.0 },
	{ "counted for half of the time: up to half more", "5,,SAMPLE_COLLISION,100,50.00,,\n", 5,
	  7.5, 1 - 10 / 15.0 },
	{ "taken, but not in the capture", "20,,SAMPLE_FEED,100,100.00,,\n", 10, 10, 0.5 },
	{ "derived: 20 intervals of operations", "20500,,SAMPLE_POP,100,100.00,,\n", 10,
	  10 + ROOT_OF_TAKEN, 0.5 },
	{ "derived from half of the time", "20500,,SAMPLE_POP,100,50.00,,\n", 10,
	  20 + ROOT_OF_TAKEN, 0.5 },
	{ "fewer operations than records stand for", "5125,,SAMPLE_POP,100,100.00,,\n", 0,
	  ROOT_OF_TAKEN, 0 },
	{ "collisions that were counted are not derived",
	  "20500,,SAMPLE_POP,100,100.00,,\n5,,SAMPLE_COLLISION,100,100.00,,\n", 5, 5,
	  1 - 10 / 15.0 },
	{ "of another run, or of a part of this one: in proportion to samples taken",
	  "4,,SAMPLE_FEED,100,40.00,,\n2,,SAMPLE_COLLISION,100,40.00,,\n", 5, 8 + 2.4,
	  1 - 10 / 15.0 },
	{ "all samples taken are in the capture, but for the scaling",
	  "8,,SAMPLE_FEED,100,50.00,,\n2,,SAMPLE_COLLISION,100,50.00,,\n", 2, 3 + 4,
	  1 - 10 / 12.0 },
	{ "what was not counted says nothing",
	  "<not counted>,,SAMPLE_POP,0,0.00,,\n5,,SAMPLE_COLLISION,100,100.00,,\n", 5, 5,
	  1 - 10 / 15.0 },
};

static void open_records(struct session *s)
{
	struct spe_record records[TAKEN];

	for (unsigned i = 0; i < TAKEN; i++)
		records[i] = spe_of(TEXT_START, ALPHA, SPE_OP_OTHER, 1u << SPE_EV_RETIRED, 20,
				    START_NS + i);
	open_fixture(&(struct contents){ .records = records,
					 .n_records = TAKEN,
					 .spe_interval = INTERVAL },
		     1, s);
}

static void write_counts(const char *counts, char *path)
{
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	fputs(counts, file);
	assert_int_equal(fclose(file), 0);
}

static void expect_near(const char *what, const char *field, double found, double wanted)
{
	if (fabs(found - wanted) > 1e-9)
		fail_msg("%s: %s is %g, not %g", what, field, found, wanted);
}

static void test_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[] = "/tmp/lost-samples-XXXXXX";
		struct session s;
		struct err err;

		open_records(&s);
		write_counts(cases[i].counts, path);
		if (lost_samples_find(&s, path, &err) < 0)
			fail_msg("%s: %s", cases[i].what, err.text);
		assert_true(s.lost.is_counted);
		assert_false(s.lost.is_unknown);
		expect_near(cases[i].what, "n", s.lost.n, cases[i].n);
		expect_near(cases[i].what, "most", s.lost.most, cases[i].most);
		expect_near(cases[i].what, "share", s.lost.share, cases[i].share);
		unlink(path);
		close_fixture(&s);
	}
}

static void test_no_counts(void **state)
{
	char path[] = "/tmp/lost-samples-XXXXXX";
	struct session s;
	struct err err;

	(void)state;
	open_records(&s);
	assert_int_equal(lost_samples_find(&s, NULL, &err), 0);
	assert_false(s.lost.is_counted);
	write_counts("5,,cycles,100,100.00,,\n", path);
	assert_int_equal(lost_samples_find(&s, path, &err), -1);
	unlink(path);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_no_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
