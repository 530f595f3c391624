/* SPDX-License-Identifier: Apache-2.0 */
/* What regions count, by the marks of threads and processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "measure/mark.h"
#include "model/regions.h"
#include "small.h"

/* A mark, and the instructions that its thread has retired before it; a cycle is as long as each. */
struct step {
	uint32_t kind, region;
	const char *name;
	uint32_t thread;
	uint64_t instructions;
};

static const struct step steps[] = {
	{ MARK_BEGIN, 1, "early", 0, 5 }, /* no handle is open */
	{ MARK_OPEN, 0, "", 0, 10 },	  { MARK_BEGIN, 1, "bias", 0, 10 },
	{ MARK_END, 1, "", 0, 13 },	  { MARK_BEGIN, 1, "bias", 0, 20 },
	{ MARK_END, 1, "", 0, 27 },	  { MARK_BEGIN, 1, "bias", 0, 30 },
	{ MARK_END, 1, "", 0, 34 },	  { MARK_READY, 0, "", 0, 40 },
	{ MARK_BEGIN, 1, "a", 0, 100 },	  { MARK_RESET, 0, "", 0, 110 },
	{ MARK_END, 1, "", 0, 120 }, /* of before the reset */
	{ MARK_BEGIN, 1, "a", 0, 200 },	  { MARK_BEGIN, 2, "b", 0, 210 },
	{ MARK_BEGIN, 1, "a", 1, 1000 }, /* another thread, at the same time */
	{ MARK_BEGIN, 1, "a", 0, 230 },	  { MARK_END, 2, "", 0, 240 }, /* not the innermost */
	{ MARK_END, 1, "", 0, 260 },	  { MARK_END, 2, "", 0, 300 },
	{ MARK_END, 1, "", 1, 1500 },	  { MARK_END, 1, "", 0, 1200 },
	{ MARK_END, 1, "", 0, 1300 }, /* none is open */
	{ MARK_BEGIN, 2, "b", 1, 2000 },  { MARK_CLOSE, 0, "", 1, 2100 },
	{ MARK_END, 2, "", 1, 2200 },	  { 99, 1, "", 1, 2300 },
};

enum { PID = 7, TID = 70, HANDLE = 1 };

static void run_steps(struct regions *r, struct region_stacks stacks[2])
{
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct seen_mark mark = {
			.kind = steps[i].kind,
			.handle = HANDLE,
			.region = steps[i].region,
		};
		struct region_counts now = { .cycle = steps[i].instructions };

		memcpy(mark.name, steps[i].name, strlen(steps[i].name) + 1);
		now.counts.n[COUNT_INST_RETIRED] = steps[i].instructions;
		regions_see(r, &stacks[steps[i].thread], PID, TID + steps[i].thread, &mark, &now);
	}
}

/* The row of INST_RETIRED in the json of a path. */
static void expect_row(const struct text *json, const char *path, const char *counts)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "{%s,\"event\":\"INST_RETIRED\",%s,", path, counts);
	if (!text_has(json, wanted))
		fail_msg("no %s in %.*s", wanted, (int)json->n, json->bytes);
}

static void test_regions(void **state)
{
	const struct params p = small_params();
	struct region_stacks stacks[2] = { 0 };
	struct regions r;
	struct text json = { 0 };

	(void)state;
	regions_init(&r);
	regions_json(&r, &p, &json);
	assert_int_equal(json.n, 0);
	run_steps(&r, stacks);
	regions_json(&r, &p, &json);
	text_char(&json, '\0');
	expect_row(&json,
		   "\"region\":\"a\",\"thread\":70,\"recursive\":false,\"set\":0,\"calls\":1",
		   "\"count\":1000,\"exclusive\":910");
	expect_row(&json,
		   "\"region\":\"b\",\"thread\":70,\"parent\":\"a\",\"recursive\":false,\"set\":0,"
		   "\"calls\":1",
		   "\"count\":90,\"exclusive\":60");
	expect_row(&json,
		   "\"region\":\"a\",\"thread\":70,\"parent\":\"b\",\"recursive\":true,\"set\":0,"
		   "\"calls\":1",
		   "\"count\":30,\"exclusive\":30");
	expect_row(&json,
		   "\"region\":\"a\",\"thread\":71,\"recursive\":false,\"set\":0,\"calls\":1",
		   "\"count\":500,\"exclusive\":500");
	assert_true(text_has(&json, "\"bias\":4}"));
	assert_false(text_has(&json, "early"));
	assert_false(text_has(&json, "\"region\":\"bias\""));
	assert_false(text_has(&json, "\"region\":\"b\",\"thread\":71"));
	text_release(&json);
	regions_release(&r);
	for (size_t i = 0; i < COUNT(stacks); i++)
		region_stacks_release(&stacks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_regions) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
