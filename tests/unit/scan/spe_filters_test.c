/* SPDX-License-Identifier: Apache-2.0 */
/* What a header says was left out, and records that it would not have let through. */
#include "scan/spe_filters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "spe/packet.h"

#define EV(bit) (UINT64_C(1) << SPE_EV_##bit)
#define KIND(bit) (UINT64_C(1) << (bit))

enum { BRANCHES = 32, LOADS = 33, STORES = 34, SIMD = 39, LOADS_MASK = 37, JITTER = 16 };
enum { SOURCE = 8 }; /* L2 */
enum { A_LOAD, A_STORE, AN_ATOMIC, A_BRANCH, AN_OTHER, N_RECORDS };

static const struct {
	uint8_t op_class, op;
} operations[N_RECORDS] = {
	[A_LOAD] = { SPE_OP_LDST, 0 },	     [A_STORE] = { SPE_OP_LDST, 1 },
	[AN_ATOMIC] = { SPE_OP_LDST, 0x16 }, [A_BRANCH] = { SPE_OP_BRANCH, 0 },
	[AN_OTHER] = { SPE_OP_OTHER, 0 },
};

static const struct {
	uint64_t config[5];
	bool hides_kinds, hides_outcomes;
	enum spe_stores stores;
	uint64_t least_cycles;
	unsigned passes; /* bit by record: total 20, events RETIRED */
} cases[] = {
	{ { 0 }, false, false, SPE_STORES_ALL, 0, 0x1f },
	{ { KIND(JITTER) }, false, false, SPE_STORES_ALL, 0, 0x1f },
	{ { KIND(LOADS) }, true, false, SPE_STORES_BY_KIND, 0, 1 << A_LOAD | 1 << AN_ATOMIC },
	{ { KIND(STORES) }, true, false, SPE_STORES_ALL, 0, 1 << A_STORE | 1 << AN_ATOMIC },
	{ { KIND(LOADS) | KIND(STORES) },
	  true,
	  false,
	  SPE_STORES_ALL,
	  0,
	  1 << A_LOAD | 1 << A_STORE | 1 << AN_ATOMIC },
	{ { KIND(BRANCHES) }, true, false, SPE_STORES_BY_KIND, 0, 1 << A_BRANCH },
	{ { KIND(BRANCHES) | KIND(LOADS) },
	  true,
	  false,
	  SPE_STORES_BY_KIND,
	  0,
	  1 << A_LOAD | 1 << AN_ATOMIC | 1 << A_BRANCH },
	{ { KIND(SIMD) }, true, false, SPE_STORES_BY_KIND, 0, 0x1f }, /* records do not tell */
	{ { KIND(LOADS) | KIND(LOADS_MASK) }, true, false, SPE_STORES_BY_KIND, 0, 0x1f },
	{ { 0, EV(RETIRED) }, false, true, SPE_STORES_BY_EVENT, 0, 0x1f },
	{ { 0, EV(RETIRED) | EV(L1D_REFILL) }, false, true, SPE_STORES_BY_EVENT, 0, 0 },
	{ { 0, 0, 20 }, false, true, SPE_STORES_BY_LATENCY, 20, 0x1f },
	{ { 0, 0, 21 }, false, true, SPE_STORES_BY_LATENCY, 21, 0 },
	{ { 0, 0, 1 }, false, true, SPE_STORES_ALL, 1, 0x1f },
	{ { KIND(LOADS), 0, 21 }, true, true, SPE_STORES_BY_KIND, 21, 0 },
	/* none with an event, none from a data source; all have RETIRED, and source 8 where any */
	{ { 0, 0, 0, EV(L1D_REFILL) }, false, true, SPE_STORES_BY_EVENT, 0, 0x1f },
	{ { 0, 0, 0, EV(RETIRED) }, false, true, SPE_STORES_BY_EVENT, 0, 0 },
	{ { 0, 0, 0, 0, 1 << 9 }, false, true, SPE_STORES_ALL, 0, 0x1f },
	{ { 0, 0, 0, 0, 1 << 8 }, false, true, SPE_STORES_ALL, 0, 0x1f & ~(1 << A_LOAD) },
	/* masks alone: no loads */
	{ { KIND(LOADS_MASK) }, true, false, SPE_STORES_BY_KIND, 0, 0x1f },
};

static void headers_say_what_passed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct batch *b = batch_new();
		struct contents contents = { 0 };
		struct spe_record record =
			spe_of(TEXT_START, ALPHA, SPE_OP_LDST, EV(RETIRED), 20, START_NS);
		const struct attr *a;
		struct spe_filters filters;
		struct session s;

		print_message("%zu\n", i);
		contents.records = &record;
		contents.n_records = 1;
		for (int k = 0; k < 5; k++)
			contents.spe_config[k] = cases[i].config[k];
		open_fixture(&contents, 1, &s);
		a = &capture_event(s.capture, EVENT_SPE)->attr;
		assert_int_equal(spe_filters_hide_kinds(a), cases[i].hides_kinds);
		assert_int_equal(spe_filters_hide_outcomes(a), cases[i].hides_outcomes);
		assert_int_equal(spe_filters_hide(&s),
				 cases[i].hides_kinds || cases[i].hides_outcomes);
		assert_int_equal(spe_filters_thin(&s), cases[i].hides_outcomes);
		assert_int_equal(spe_filters_stores(&s), cases[i].stores);
		assert_int_equal(spe_filters_least_cycles(&s), cases[i].least_cycles);
		spe_filters_init(&filters, &s);
		assert_int_equal(filters.events.n > 0,
				 cases[i].hides_kinds || cases[i].hides_outcomes);
		for (size_t row = 0; row < N_RECORDS; row++) {
			b->has[row] = HAS_OP | HAS_EVENTS | HAS_TOTAL;
			b->op_class[row] = operations[row].op_class;
			b->op[row] = operations[row].op;
			b->events[row] = EV(RETIRED);
			b->total[row] = 20;
			b->source[row] = SOURCE;
			if (row == A_LOAD)
				b->has[row] |= HAS_SOURCE;
			assert_int_equal(spe_filters_let_pass(&filters, b, row),
					 cases[i].passes >> row & 1);
			/* What a record does not say cannot contradict. */
			b->has[row] = 0;
			assert_true(spe_filters_let_pass(&filters, b, row));
		}
		spe_filters_release(&filters);
		batch_free(b);
		close_fixture(&s);
	}
}

static void filters_have_words(void **state)
{
	static const struct {
		uint64_t config[5];
		const char *text;
	} list[] = {
		{ { 0 }, ", all operations" },
		{ { KIND(LOADS) | KIND(STORES) }, ", only loads + stores" },
		{ { KIND(LOADS) | KIND(SIMD) | KIND(SIMD + 1) }, ", only loads, only SIMD" },
		{ { KIND(LOADS_MASK) }, ", no loads" },
		{ { 0, EV(L1D_REFILL), 10, EV(NOT_TAKEN) },
		  ", all operations, only with L1D-REFILL, none with NOT-TAKEN, latency from 10 "
		  "cycles" },
		{ { KIND(LOADS), 0, 0, 0, 1 << 8 | 1ull << 50 },
		  ", only loads, none from L2+data source 0x32" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct contents contents = { 0 };
		struct text text = { 0 };
		struct session s;

		for (int k = 0; k < 5; k++)
			contents.spe_config[k] = list[i].config[k];
		open_fixture(&contents, 1, &s);
		spe_filters_text(&s, &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, list[i].text);
		text_release(&text);
		close_fixture(&s);
	}
}

/* One record in a thousand may be damaged. */
static void many_contradict_the_header(void **state)
{
	static const struct {
		uint64_t n, n_records;
		bool expected;
	} list[] = { { 0, 0, false },	     { 0, 1000, false }, { 1, 1000, false },
		     { 2, 1000, true },	     { 1, 999, true },	 { 1000, 1000000, false },
		     { 1001, 1000000, true } };

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct session s = { 0 };

		s.unfiltered.n = list[i].n;
		s.unfiltered.n_records = list[i].n_records;
		assert_int_equal(spe_filters_are_contradicted(&s), list[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_say_what_passed),
		cmocka_unit_test(filters_have_words),
		cmocka_unit_test(many_contradict_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
