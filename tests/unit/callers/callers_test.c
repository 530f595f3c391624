/* SPDX-License-Identifier: Apache-2.0 */
/* Callers of SPE records, estimated from stacks, against captures whose callers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "callers/callers.h"
#include "callers/neighbours.h"
#include "capture/writer/writer.h"
#include "process/place_numbers.h"
#include "stacks/stacks.h"

enum { MANY = 400, LEAF = SECOND + 16, BY_FIRST = FIRST + 32, BY_MEMCPY = MEMCPY + 64 };

#define EV(bit) (1ull << SPE_EV_##bit)

static const struct fixture_event instructions = { "instructions", ATTR_TYPE_HARDWARE, 1 };
static const struct fixture_event refills = { "l1d_cache_refill", ATTR_TYPE_RAW, 0x03 };

static const uint64_t from_first[] = { LEAF, BY_FIRST };
static const uint64_t from_memcpy[] = { LEAF, BY_MEMCPY };
static const uint64_t from_none[] = { LEAF };

/* A capture while it is made. */
struct making {
	struct sample samples[MANY];
	struct spe_record records[MANY];
	struct contents contents;
};

static struct making *making_new(const struct fixture_event *event)
{
	struct making *m = mem_zalloc(1, sizeof(*m));

	m->contents.samples = m->samples;
	m->contents.records = m->records;
	m->contents.misses = event;
	return m;
}

static struct sample *add_sample(struct making *m, unsigned event, uint64_t time_ns,
				 const uint64_t *chain, size_t n)
{
	struct sample *s = &m->samples[m->contents.n_samples++];

	assert_true(m->contents.n_samples <= MANY);
	*s = sample_of(event, LEAF, ALPHA, 1000, chain, n);
	s->time_ns = time_ns;
	return s;
}

static struct spe_record *add_record(struct making *m, uint64_t ticks, bool is_miss)
{
	struct spe_record *r = &m->records[m->contents.n_records++];

	assert_true(m->contents.n_records <= MANY);
	*r = spe_of(LEAF, ALPHA, SPE_OP_LDST, EV(RETIRED) | (is_miss ? EV(L1D_REFILL) : 0),
		    is_miss ? 300 : 10, ticks);
	return r;
}

/* Records by caller: of the estimated chains. */
struct caller_counts {
	uint64_t by_first, by_memcpy, without; /* without callers */
	uint64_t misses_by_first;
};

static void count_callers(const struct making *m, unsigned n_workers, uint32_t only_tid,
			  struct caller_counts *out, struct callers_known *known)
{
	const struct stacks_wish wish = {
		.records = { .event = -1, .branches_of = -1, .without_samples = true },
		.by_thread = true,
		.depth = SYMBOLS_FUNCTIONS,
	};
	struct stacks stacks;
	struct stack stack;
	struct session s;
	struct err err;

	*out = (struct caller_counts){ 0 };
	open_fixture(&m->contents, n_workers, &s);
	assert_int_equal(stacks_collect(&stacks, &s, NULL, &wish, &err), 0);
	for (uint64_t at = 0; stacks_next(&stacks, &at, &stack);) {
		uint64_t n = stack.values[STACK_RECORDS], offset = 0;
		struct stack_walk walk;
		struct stack_frame f;

		if (only_tid != 0 && stack.tid != only_tid)
			continue;
		for (stack_walk_init(&walk, &stacks, &stack); stack_walk_next(&walk, &f);)
			if (!f.is_leaf)
				offset = session_place(&s, f.place).offset;
		/* of code at run time an offset is the address; a caller's is in its call */
		*(offset == 0		   ? &out->without
		  : offset == BY_FIRST - 1 ? &out->by_first
					   : &out->by_memcpy) += n;
		if (offset == BY_FIRST - 1)
			out->misses_by_first += stack.values[STACK_L1D_MISSES];
	}
	*known = callers_known_of_all(&s);
	stacks_release(&stacks);
	close_fixture(&s);
}

/* The same for any number of workers. */
static struct caller_counts callers_in(const struct making *m, uint32_t only_tid,
				       struct callers_known *known)
{
	struct caller_counts first, other;

	count_callers(m, 1, only_tid, &first, known);
	for (unsigned n = 2; n < 4; n++) {
		count_callers(m, n, only_tid, &other, known);
		assert_memory_equal(&first, &other, sizeof(first));
	}
	return first;
}

static void add_records(struct making *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_record(m, 1000 + 100 * i, false);
}

/* Nothing is estimated without stacks; every sentence and table says so by being absent. */
static void test_no_stacks(void **state)
{
	struct making *m = making_new(&instructions);
	struct text text = { 0 };
	struct callers_known known;
	struct caller_counts n;
	struct session s;

	(void)state;
	add_records(m, 20);
	n = callers_in(m, 0, &known);
	assert_int_equal(n.without, 20);
	assert_int_equal(known.n_records, 0);
	open_fixture(&m->contents, 1, &s);
	callers_estimate(&s);
	assert_false(callers_known_at(&s, 0, &known));
	assert_false(callers_sentence(&s, &text));
	close_fixture(&s);
	text_release(&text);
	free(m);
}

/* Where no event records call chains the capture is not read for them. */
static void test_no_chains(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct session s;
	uint32_t n_places;

	(void)state;
	m->contents.without_chains = true;
	add_sample(m, EVENT_MISSES, 1000, NULL, 0);
	add_records(m, 20);
	open_fixture(&m->contents, 1, &s);
	n_places = place_numbers_n(s.places);
	callers_estimate(&s);
	assert_int_equal(place_numbers_n(s.places), n_places);
	assert_false(callers_known_at(&s, 0, &known));
	close_fixture(&s);
	free(m);
}

/* A stack that ends at its leaf says that nobody called: so do the records that get it. */
static void test_empty_stacks(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		add_sample(m, EVENT_MISSES, 1000 + 70 * i, from_none, COUNT(from_none));
	add_records(m, 20);
	n = callers_in(m, 0, &known);
	assert_int_equal(n.without, 20);
	assert_int_equal(known.n_records, 20);
	free(m);
}

/* Three of four samples of instructions are of one caller: so are the records; the error is that of chance. */
static void test_shares(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		add_sample(m, EVENT_MISSES, 1000 + 100 * i, i % 4 == 0 ? from_memcpy : from_first,
			   2);
	add_records(m, 200);
	n = callers_in(m, 0, &known);
	assert_in_range(n.by_first, 130, 170);
	assert_int_equal(n.by_first + n.by_memcpy, 200);
	assert_int_equal(known.n_stacks, 200);
	/* 1.96 * sqrt(0.75 * 0.25 / (1 / (1 / 200 + 2 / 200))) = 0.104, smoothed 0.106 */
	assert_true(known.error[CALLERS_OF_RECORDS] > 0.09 &&
		    known.error[CALLERS_OF_RECORDS] < 0.12);
	/* nothing is known of misses, and none are there */
	free(m);
}

/* Callers that were sampled equally often share equally, in the same way each time. */
static void test_ties(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		add_sample(m, EVENT_MISSES, 5000, i % 2 == 0 ? from_memcpy : from_first, 2);
	for (size_t i = 0; i < 200; i++) /* all at one time, too */
		add_record(m, 5000, false);
	n = callers_in(m, 0, &known);
	assert_in_range(n.by_first, 75, 125);
	assert_int_equal(n.by_first + n.by_memcpy, 200);
	free(m);
}

/* Misses are of the caller of the refills, whoever executes most. */
static void test_misses(void **state)
{
	struct making *m = making_new(&refills);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		add_sample(m, EVENT_MISSES, 1000 + 310 * i, from_memcpy, 2);
	for (size_t i = 0; i < 120; i++)
		add_sample(m, EVENT_CYCLES, 1000 + 170 * i, i % 6 == 0 ? from_memcpy : from_first,
			   2);
	for (size_t i = 0; i < 200; i++)
		add_record(m, 1000 + 100 * i, i % 10 == 0);
	n = callers_in(m, 0, &known);
	assert_int_equal(n.misses_by_first, 0);
	assert_true(n.by_first > 100);
	/* shares of records are of samples of time alone here, which callers that take turns do not tell */
	assert_true(known.error[CALLERS_OF_RECORDS] > 0.3);
	free(m);
}

/* A thread with enough stacks is judged by these, one with few by those of its process. */
static void test_threads(void **state)
{
	for (size_t n_own = 10; n_own <= 30; n_own += 20) {
		struct making *m = making_new(&instructions);
		struct callers_known known;
		struct caller_counts n;

		for (size_t i = 0; i < 200; i++)
			add_sample(m, EVENT_MISSES, 1000 + 100 * i, from_first, 2);
		for (size_t i = 0; i < n_own; i++)
			add_sample(m, EVENT_MISSES, 1050 + 100 * i, from_memcpy, 2)->tid =
				ALPHA_THREAD;
		for (size_t i = 0; i < 100; i++)
			add_record(m, 1000 + 100 * i, false)->context = ALPHA_THREAD;
		n = callers_in(m, ALPHA_THREAD, &known);
		if (n_own == 30)
			assert_int_equal(n.by_memcpy, 100);
		else
			assert_true(n.by_first > 80);
		free(m);
	}
	(void)state;
}

/* Code that both processes have mapped. */
enum { SHARED_LEAF = 0x400100, SHARED_LEAF_OF_BETA = 0x500100 };

static const uint64_t shared_from_first[] = { SHARED_LEAF, BY_FIRST };

/* The thread ends, and beta has one with its number. */
static void write_reused_thread(struct writer *w)
{
	const struct sample_id at = { .has = HAS_TIME, .time_ns = 500000 };
	const struct record_task end = { ALPHA, ALPHA, ALPHA_THREAD, ALPHA_THREAD, 500000 };
	const struct record_task begin = { BETA, BETA, ALPHA_THREAD, BETA, 500001 };
	const struct record_mmap map = {
		.pid = BETA,
		.tid = BETA,
		.start = 0x500000,
		.length = 0x10000,
		.protection = 5,
		.path = "/bin/alpha",
	};

	writer_mmap2(w, &map, 2, NULL);
	writer_task(w, RECORD_EXIT, &end, &at);
	writer_task(w, RECORD_FORK, &begin, &at);
}

/* A thread id that another process uses later has none of the stacks of the first. */
static void test_reused_thread(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	m->contents.write_more = write_reused_thread;
	for (size_t i = 0; i < 100; i++) {
		struct sample *s =
			add_sample(m, EVENT_MISSES, 1000 + 100 * i, shared_from_first, 2);

		s->ip = SHARED_LEAF;
		s->tid = ALPHA_THREAD;
	}
	for (size_t i = 0; i < 100; i++) {
		struct spe_record *r = add_record(m, (i < 50 ? 1000 : 600000) + 100 * i, false);

		r->context = ALPHA_THREAD;
		r->pc = i < 50 ? SHARED_LEAF : SHARED_LEAF_OF_BETA;
	}
	n = callers_in(m, 0, &known);
	assert_int_equal(n.by_first, 50);
	assert_int_equal(n.without, 50);
	free(m);
}

/* Stacks of another process, or of another leaf, say nothing. */
static void test_others(void **state)
{
	static const uint64_t other_leaf[] = { FIRST + 4, BY_MEMCPY };
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 50; i++) {
		struct sample *s = add_sample(m, EVENT_MISSES, 1000 + 100 * i, from_first, 2);

		s->pid = s->tid = BETA;
		s = add_sample(m, EVENT_MISSES, 1000 + 100 * i, other_leaf, 2);
		s->ip = other_leaf[0];
	}
	add_records(m, 100);
	n = callers_in(m, 0, &known);
	assert_int_equal(n.without, 100);
	assert_int_equal(known.n_records, 0);
	free(m);
}

/* Records and samples whose times go backwards have the same callers. */
static void test_backwards(void **state)
{
	struct making *m = making_new(&instructions);
	struct callers_known known;
	struct caller_counts n;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		add_sample(m, EVENT_MISSES, 100000 - 100 * i, i % 4 == 0 ? from_memcpy : from_first,
			   2);
	for (size_t i = 0; i < 200; i++)
		add_record(m, 100000 - 100 * i, false);
	n = callers_in(m, 0, &known);
	assert_in_range(n.by_first, 130, 170);
	assert_int_equal(n.by_first + n.by_memcpy, 200);
	free(m);
}

/* A stack is next to the record of its time, though the record before it in the file is a later one of another CPU. */
static void test_two_cpus(void **state)
{
	struct making *m = making_new(&instructions);
	struct neighbours *neighbours;
	struct caller_groups groups;
	struct stacks_seen seen;
	struct session s;

	(void)state;
	add_sample(m, EVENT_MISSES, 5000, from_first, 2);
	add_record(m, 9000, false);
	add_record(m, 5000, false);
	m->contents.n_first = 1;
	open_fixture(&m->contents, 1, &s);
	assert_true(stacks_seen_collect(&seen, &s));
	caller_groups_init(&groups, &seen);
	neighbours = neighbours_find(&groups, &s);
	assert_int_equal(seen.list.n, 1);
	assert_int_equal(neighbours->of_stacks[0].distance_ns, 0);
	neighbours_free(neighbours);
	caller_groups_release(&groups);
	stacks_seen_release(&seen);
	close_fixture(&s);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_stacks),    cmocka_unit_test(test_no_chains),
		cmocka_unit_test(test_empty_stacks), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_ties),	     cmocka_unit_test(test_misses),
		cmocka_unit_test(test_threads),	     cmocka_unit_test(test_reused_thread),
		cmocka_unit_test(test_others),	     cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_two_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
