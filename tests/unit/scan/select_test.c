/* SPDX-License-Identifier: Apache-2.0 */
/* The selection language: what each expression lets through, and what it says of mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "../session/fixture.h"
#include "hot/sums/sums.h"
#include "scan/scan.h"
#include "scan/select.h"

#define EV(bit) (1ull << SPE_EV_##bit)

enum { N_RECORDS = 6 };

/* One record for each bit of an expected set. */
static void make_records(struct spe_record r[N_RECORDS])
{
	r[0] = spe_of(0x400010, ALPHA, SPE_OP_LDST, EV(RETIRED) | EV(L1D_REFILL), 300, 1000);
	r[0].has |= HAS_VA | HAS_XLAT | HAS_ISSUE | HAS_SOURCE;
	r[0].va = 0x7000;
	r[0].issue = 20;
	r[0].xlat = 30;
	r[0].source = 0xe;
	r[1] = spe_of(0x400020, ALPHA_THREAD, SPE_OP_LDST, EV(RETIRED), 40, 2000);
	r[1].op = 1; /* a store */
	r[2] = spe_of(0x400030, BETA, SPE_OP_BRANCH, EV(RETIRED) | EV(MISPREDICTED), 12, 3000);
	r[2].op = 1; /* conditional */
	r[3] = spe_of(0x400040, BETA, SPE_OP_OTHER, EV(RETIRED), 4095, 4000);
	r[4] = spe_of(0xffff800000100000, ALPHA, SPE_OP_LDST, EV(RETIRED), 8, 5000);
	r[4].pc_level = 2;
	r[4].has |= HAS_SOURCE;
	r[4].op = 0x16; /* an atomic load with acquire */
	r[5] = spe_of(0x900000, 999, SPE_OP_OTHER, 0, 0, 6000);
	r[5].has &= ~(uint32_t)(HAS_TOTAL | HAS_EVENTS | HAS_OP);
}

/* Which records came through: bit n for the one with n + 1 thousand ticks. */
struct seen {
	unsigned bits;
};

static void *seen_new(const struct session *s, const void *options)
{
	(void)s;
	(void)options;
	return mem_zalloc(1, sizeof(struct seen));
}

static void seen_consume(void *partial, const struct batch *b)
{
	struct seen *seen = partial;

	for (size_t row = 0; row < b->n; row++)
		seen->bits |= 1u << (b->ticks[row] / 1000 - 1);
}

static void seen_merge(void *into, const void *from, const struct id_map *map)
{
	(void)map;
	((struct seen *)into)->bits |= ((const struct seen *)from)->bits;
}

static const struct analysis_class seen_class = {
	.new = seen_new,
	.free = free,
	.consume = seen_consume,
	.merge = seen_merge,
};

static const struct {
	const char *text;
	unsigned expected;
} cases[] = {
	{ "op=load", 0x11 },
	{ "op==store", 0x02 },
	{ "op=branch", 0x04 },
	{ "op=other", 0x08 },
	{ "op=atomic && op=acquire-release", 0x10 },
	{ "op!=load", 0x0e }, /* a record without operation passes neither test */
	{ "!op=load", 0x2e },
	{ "tot>40", 0x09 },
	{ "tot>=40", 0x0b },
	{ "tot<40", 0x14 },
	{ "tot<=40", 0x16 },
	{ "tot!=40", 0x1d },
	{ "tot<0", 0 },
	{ "tot in 12..300", 0x07 },
	{ "tot in 300..300", 0x01 },
	{ "tot<4e1 || tot>=3.0e2", 0x1d },
	{ "cpu=00 && tot>0x28", 0x01 },
	{ "tid=0101", 0x02 }, /* not octal */
	{ "exec=250", 0x01 },
	{ "issue=20 || xlat=30", 0x01 },
	{ "event=l1d-refill", 0x01 },
	{ "event=mispredicted", 0x04 },
	{ "event=RETIRED", 0x1f },
	{ "source=dram", 0x01 },
	{ "source=L1", 0x10 },
	{ "source=0xe", 0x01 },
	{ "tid=101", 0x02 },
	{ "pid=100", 0x13 },
	{ "comm=beta", 0x0c },
	{ "comm=~'^al'", 0x13 },
	{ "comm!~'^al'", 0x0c },
	{ "cpu=0", 0x07 },
	{ "cpu=1", 0x38 },
	{ "el=0", 0x2f },
	{ "el=2", 0x10 },
	{ "pc in 0x400010..0x400020", 0x03 },
	{ "va=0x7000", 0x01 },
	{ "module=alpha", 0x03 },
	{ "module=/bin/beta", 0x0c },
	{ "time in 1us..2us", 0x06 },
	{ "time<=1000ns", 0x03 },
	{ "op=load && (tot>100 || el=2) && !source=dram", 0x10 },
	{ "tot>40||op=branch&&tid=200", 0x0d }, /* && binds tighter */
};

static unsigned passed(struct session *s, const char *text)
{
	struct analysis seen = { .class = &seen_class };
	struct select *select = NULL;
	struct err err;
	unsigned bits;

	if (select_compile(s, text, &select, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	scan(s, select, &seen, 1);
	bits = ((struct seen *)seen.result)->bits;
	free(seen.result);
	select_free(select);
	return bits;
}

static void open_records(struct session *s)
{
	struct spe_record records[N_RECORDS];

	make_records(records);
	open_fixture(&(struct contents){ .records = records, .n_records = N_RECORDS }, 2, s);
}

static void test_expressions(void **state)
{
	struct session s;

	(void)state;
	open_records(&s);
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned bits = passed(&s, cases[i].text);

		if (bits != cases[i].expected)
			fail_msg("%s: 0x%02x, expected 0x%02x", cases[i].text, bits,
				 cases[i].expected);
	}
	close_fixture(&s);
}

static const struct {
	const char *text, *message; /* a part of it */
	size_t at;
} mistakes[] = {
	{ "", "ends where a field", 0 },
	{ "lat>5", "no field 'lat'; there are op, class, event", 0 },
	{ "tot>", "ends where a number", 4 },
	{ "tot>fast", "at column 5, found 'fast'", 4 },
	{ "tot>1.5", "expected a number", 4 }, /* would be 1 or 2: a surprise either way */
	{ "tot>0x", "expected a number", 4 },
	{ "tot>0x1p3", "expected a number", 4 },
	{ "tot>18446744073709551616", "expected a number", 4 },
	{ "tot>0x10000000000000000", "expected a number", 4 },
	{ "tot>1e20", "expected a number", 4 },
	{ "tot>1e999", "expected a number", 4 },
	{ "time>1e20s", "expected a number", 5 },
	{ "time>1.5m", "found '1.5m'", 5 },
	{ "tot in 7..5", "ends before it begins", 4 },
	{ "tot>5 tot<7", "expected && or ||", 6 },
	{ "tot in 5", "ends where '..'", 8 },
	{ "op>load", "has no order", 2 },
	{ "op=fly", "no operation is called 'fly'", 3 },
	{ "op in 1..2", "has no order", 3 },
	{ "source=moon", "no data source is called 'moon'", 7 },
	{ "sym=nowhere", "no function is called 'nowhere'", 4 },
	{ "line=no.c:1", "no code is of 'no.c:1'", 5 },
	{ "line>no.c:1", "has no order", 4 },
	{ "event=nothing", "neither an SPE event", 6 },
	{ "tot=~'x'", "cannot be matched with a pattern", 3 },
	{ "comm=~'('", "not a regular expression", 6 },
	{ "comm='x", "has no end", 5 },
	{ "(tot>5", "expected ')'", 6 },
	{ "tot>5 &", "means nothing", 6 },
};

static void test_mistakes(void **state)
{
	struct session s;

	(void)state;
	open_records(&s);
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct select *select = NULL;
		struct err err = { .text = "" };

		assert_int_equal(select_compile(&s, mistakes[i].text, &select, &err), -1);
		assert_null(select);
		assert_int_equal(err.code, ERR_USAGE);
		if (strstr(err.text, mistakes[i].message) == NULL &&
		    strstr(err.text, "ends") == NULL)
			fail_msg("%s: %s", mistakes[i].text, err.text);
		if (err.at != mistakes[i].at)
			fail_msg("%s: at %zu, expected %zu (%s)", mistakes[i].text, (size_t)err.at,
				 mistakes[i].at, err.text);
	}
	close_fixture(&s);
}

/* Deep nesting is an error, not a crash. */
static void test_depth(void **state)
{
	char text[4096];
	struct session s;
	struct select *select = NULL;
	struct err err;

	(void)state;
	open_records(&s);
	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(select_compile(&s, text, &select, &err), -1);
	assert_non_null(strstr(err.text, "nested too deeply"));
	memset(text, '!', sizeof(text) - 1);
	assert_int_equal(select_compile(&s, text, &select, &err), -1);
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
