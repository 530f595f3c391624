/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/events.h"
#include "capture/format/sample.h"
#include "image.h"

#define IP BIT(SAMPLE_IP)
#define TID BIT(SAMPLE_TID)
#define TIME BIT(SAMPLE_TIME)
#define ADDR BIT(SAMPLE_ADDR)
#define ID BIT(SAMPLE_ID)
#define CPU BIT(SAMPLE_CPU)
#define STREAM BIT(SAMPLE_STREAM_ID)
#define PERIOD BIT(SAMPLE_PERIOD)
#define IDENTIFIER BIT(SAMPLE_IDENTIFIER)

static void add(struct events *e, uint64_t sample_type, const uint64_t *ids, size_t n)
{
	struct attr attr = { .sample_type = sample_type, .flags = BIT(ATTR_SAMPLE_ID_ALL) };

	events_add(e, &attr, cur_of(ids, n * sizeof(*ids)));
}

/* Words of a record: word i is 100 + i. Ids 100 … 115 are those of events 0 … 15. */
static const struct {
	uint64_t sample_type;
	int sample_word, trailer_word, time_word;
} layouts[] = {
	{ IDENTIFIER | IP | TID | TIME, 0, 1, 3 },
	{ IDENTIFIER | TIME, 0, 1, 1 },
	{ IDENTIFIER | ID | IP | CPU, 0, 1, NO_WORD },
	{ IP | TID | TIME | ID | PERIOD, 3, 1, 2 },
	{ IP | TID | TIME | ADDR | ID | CPU | PERIOD, 4, 2, 2 },
	{ IP | TIME | ID | STREAM | CPU, 2, 3, 1 },
	{ ID, 0, 1, NO_WORD },
};

static void test_layouts(void **state)
{
	uint64_t words[16];
	struct record r = { .body = cur_of(words, sizeof(words)) };

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		words[i] = 100 + i;
	for (size_t i = 0; i < COUNT(layouts); i++) {
		struct events e;

		events_init(&e);
		for (size_t j = 0; j < 16; j++)
			add(&e, layouts[i].sample_type, &words[j], 1);
		assert_int_equal(e.sample_id_word, layouts[i].sample_word);
		assert_int_equal(e.trailer_id_word, layouts[i].trailer_word);
		assert_int_equal(e.sample_time_word, layouts[i].time_word);
		assert_int_equal(events_of_sample(&e, r.body.pos, cur_left(&r.body)),
				 layouts[i].sample_word);
		assert_int_equal(events_of_trailer(&e, &r), 16 - layouts[i].trailer_word);
		assert_int_equal(events_sample_time(&e, r.body.pos, cur_left(&r.body)),
				 layouts[i].time_word < 0 ? 0 : 100 + layouts[i].time_word);
		assert_false(e.has_mixed_layout);
		events_release(&e);
	}
}

static void test_ids(void **state)
{
	struct events e;

	(void)state;
	events_init(&e);
	assert_int_equal(events_of_id(&e, 0), -1);
	add(&e, IDENTIFIER, (uint64_t[]){ 7, 8 }, 2);
	add(&e, IDENTIFIER, (uint64_t[]){ 9, 8 }, 2); /* 8 belongs to the first that has it */
	assert_int_equal(events_of_id(&e, 0), 0);
	assert_int_equal(events_of_id(&e, 7), 0);
	assert_int_equal(events_of_id(&e, 8), 0);
	assert_int_equal(events_of_id(&e, 9), 1);
	assert_int_equal(events_of_id(&e, 10), -1);
	assert_int_equal(e.list.items[1].ids.n, 2);
	events_release(&e);
}

/* A single event needs no ids; without events nothing belongs to anything. */
static void test_few_events(void **state)
{
	uint64_t words[] = { 1, 2 };
	struct record r = { .body = cur_of(words, sizeof(words)) };
	struct events e;

	(void)state;
	events_init(&e);
	assert_int_equal(events_of_sample(&e, r.body.pos, cur_left(&r.body)), -1);
	assert_int_equal(events_of_trailer(&e, &r), -1);
	assert_int_equal(events_sample_time(&e, r.body.pos, cur_left(&r.body)), 0);
	add(&e, IDENTIFIER, (uint64_t[]){ 77 }, 1);
	assert_int_equal(events_of_sample(&e, r.body.pos, cur_left(&r.body)), 0);
	assert_int_equal(events_of_trailer(&e, &r), 0);
	events_release(&e);
}

static void test_short_records(void **state)
{
	const uint64_t words[] = { 0, 0, 0, 5, 5 };
	struct events e;

	(void)state;
	events_init(&e);
	add(&e, IP | TID | TIME | ID | CPU, (uint64_t[]){ 4 }, 1);
	add(&e, IP | TID | TIME | ID | CPU, (uint64_t[]){ 5 }, 1);
	for (size_t n = 0; n <= sizeof(words); n++) {
		struct record r = { .body = cur_of(words, n) };

		assert_int_equal(events_of_sample(&e, r.body.pos, cur_left(&r.body)),
				 n >= 4 * 8 ? 1 : -1);
		if (n < 2 * 8)
			assert_int_equal(events_of_trailer(&e, &r), -1);
	}
	events_release(&e);
}

static void test_mixed_layouts(void **state)
{
	const uint64_t words[] = { 5, 11, 12, 13 };
	struct record r = { .body = cur_of(words, sizeof(words)) };
	struct events e;

	(void)state;
	events_init(&e);
	add(&e, IDENTIFIER | IP | TIME, (uint64_t[]){ 4 }, 1);
	add(&e, IDENTIFIER | TIME, (uint64_t[]){ 5 }, 1);
	assert_false(e.has_mixed_layout);
	assert_int_equal(e.sample_time_word, WORD_DIFFERS);
	assert_int_equal(events_sample_time(&e, r.body.pos, cur_left(&r.body)), 11);
	add(&e, IP | ID, (uint64_t[]){ 6 }, 1);
	assert_true(e.has_mixed_layout);
	events_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),	      cmocka_unit_test(test_ids),
		cmocka_unit_test(test_few_events),    cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_mixed_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
