/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of threads' time: the same ones for any number of workers, and nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "c2c/lines/paces.h"

enum { N_THREADS = 3, N_BATCHES = 64, MOST_WORKERS = 3 };

/* Records of three threads over a second; one of ten is a load that waited for 100 cycles. */
static void fill(struct batch *b, uint64_t *waits, uint64_t number)
{
	batch_reset(b, BATCH_SPE);
	for (uint64_t i = 0; i < BATCH_ROWS; i++) {
		uint64_t at = number * BATCH_ROWS + i;
		size_t row = b->n++;

		b->has[row] = HAS_TIME | HAS_TID | HAS_PROCESS;
		b->time_ns[row] = 5000 + at * 15625;
		b->tid[row] = (uint32_t)(at / 100 % N_THREADS);
		b->process[row] = 1;
		waits[row] = at % 10 == 0 ? c2c_wait(100) : 0;
	}
}

static void make(unsigned n_workers, struct c2c_paces *out)
{
	struct c2c_paces parts[MOST_WORKERS];
	struct batch *b = batch_new();
	uint64_t waits[BATCH_ROWS];

	for (unsigned i = 0; i < n_workers; i++)
		c2c_paces_init(&parts[i]);
	for (uint64_t i = 0; i < N_BATCHES; i++) {
		fill(b, waits, i);
		c2c_paces_add(&parts[i * 7 % n_workers], b, waits);
	}
	*out = parts[0];
	for (unsigned i = 1; i < n_workers; i++) {
		c2c_paces_merge(out, &parts[i]);
		c2c_paces_release(&parts[i]);
	}
	batch_free(b);
}

static void slices_do_not_depend_on_workers(void **state)
{
	struct c2c_paces one;

	(void)state;
	make(1, &one);
	for (unsigned n = 2; n <= MOST_WORKERS; n++) {
		struct c2c_paces many;

		make(n, &many);
		assert_int_equal(many.shift, one.shift);
		assert_int_equal(many.keys.n, one.keys.n);
		for (uint32_t i = 0; i < one.keys.n; i++) {
			uint32_t k = tuples_find(&many.keys, tuples_get(&one.keys, i));

			assert_true(k < many.keys.n);
			assert_memory_equal(&many.list.items[k], &one.list.items[i],
					    sizeof(one.list.items[i]));
		}
		c2c_paces_release(&many);
	}
	c2c_paces_release(&one);
}

static void nothing_is_lost(void **state)
{
	uint64_t n = 0, n_waited = 0, waited = 0;
	struct c2c_paces p;

	(void)state;
	make(2, &p);
	for (uint32_t i = 0; i < p.keys.n; i++) {
		const struct c2c_pace *one = &p.list.items[i];

		assert_true(one->first_ns <= one->last_ns);
		assert_int_equal(one->first_ns >> p.shift, tuples_get(&p.keys, i)[1]);
		assert_int_equal(one->last_ns >> p.shift, tuples_get(&p.keys, i)[1]);
		n += one->n;
		n_waited += one->n_waited;
		waited += one->waited;
	}
	assert_int_equal(n, N_BATCHES * BATCH_ROWS);
	assert_int_equal(n_waited, (N_BATCHES * BATCH_ROWS + 9) / 10);
	assert_int_equal(waited, 100 * n_waited);
	c2c_paces_release(&p);
}

enum { MOST_PACES = 4096 }; /* as in paces.c */

/* How many slices there are if they are 1 << shift long. The rows are those of add_spread(). */
static uint32_t slices_of(uint32_t n_threads, const uint64_t *times_ns, size_t n_times,
			  unsigned shift)
{
	struct tuples keys;
	uint32_t n;

	tuples_init(&keys, 2);
	for (uint32_t tid = 0; tid < n_threads; tid++)
		for (size_t i = 0; i < n_times; i++)
			tuples_add(&keys, (const uint64_t[]){ tid, times_ns[i] >> shift });
	n = keys.n;
	tuples_release(&keys);
	return n;
}

/* A record of each thread at each of these times. */
static void add_spread(struct c2c_paces *p, uint32_t n_threads, const uint64_t *times_ns,
		       size_t n_times)
{
	static const uint64_t waits[BATCH_ROWS];
	struct batch *b = batch_new();

	batch_reset(b, BATCH_SPE);
	for (uint32_t tid = 0; tid < n_threads; tid++)
		for (size_t i = 0; i < n_times; i++) {
			if (batch_is_full(b)) {
				c2c_paces_add(p, b, waits);
				batch_reset(b, BATCH_SPE);
			}
			b->has[b->n] = HAS_TIME | HAS_TID | HAS_PROCESS;
			b->time_ns[b->n] = times_ns[i];
			b->tid[b->n] = tid;
			b->process[b->n++] = 0;
		}
	c2c_paces_add(p, b, waits);
	batch_free(b);
}

/* Also where it is not enough that they are twice as long, and where nothing is. */
static void slices_are_as_long_as_they_have_to_be(void **state)
{
	static const struct {
		uint32_t n_threads;
		uint64_t times_ns[4];
	} cases[] = {
		{ 1024, { 1, 1 << 14, 1 << 18, 1 << 24 } }, /* as many as are kept */
		{ 1025, { 1, 1 << 14, 1 << 18, 1 << 24 } },
		{ 2049, { 1, 1 << 14, 1 << 18, 1 << 24 } },
		{ 3000, { 1, 1 << 14, 1 << 18, UINT64_C(1) << 50 } },
		{ 4096, { 1, 1 << 14, 1 << 18, UINT64_C(1) << 62 } },
		{ 5000, { 1, 1 << 14, 1 << 18, 1 << 24 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n_times = COUNT(cases[i].times_ns);
		unsigned shift = 12; /* the shortest */
		struct c2c_paces p;

		while (shift < 63 && slices_of(cases[i].n_threads, cases[i].times_ns, n_times,
					       shift) > MOST_PACES)
			shift++;
		c2c_paces_init(&p);
		add_spread(&p, cases[i].n_threads, cases[i].times_ns, n_times);
		assert_int_equal(p.shift, shift);
		assert_int_equal(p.keys.n,
				 slices_of(cases[i].n_threads, cases[i].times_ns, n_times, shift));
		c2c_paces_release(&p);
	}
}

/* What has no time or no thread is in no slice. */
static void what_is_not_known_is_left_out(void **state)
{
	static const uint32_t missing[] = { HAS_TIME, HAS_TID, HAS_TIME | HAS_TID };
	struct batch *b = batch_new();
	uint64_t waits[BATCH_ROWS];
	struct c2c_paces p;
	uint64_t n = 0;

	(void)state;
	c2c_paces_init(&p);
	fill(b, waits, 0);
	for (size_t i = 0; i < COUNT(missing); i++)
		b->has[50 * i] &= ~missing[i];
	c2c_paces_add(&p, b, waits);
	for (uint32_t i = 0; i < p.keys.n; i++)
		n += p.list.items[i].n;
	assert_int_equal(n, BATCH_ROWS - COUNT(missing));
	c2c_paces_release(&p);
	batch_free(b);
}

/* In order they are the same paces, each found by its key; what is added then is added to these. */
static void they_are_put_in_order(void **state)
{
	struct c2c_paces p, before;
	uint32_t n;

	(void)state;
	make(2, &before);
	make(2, &p);
	c2c_paces_order(&p);
	assert_int_equal(p.keys.n, before.keys.n);
	assert_true(p.keys.n > 1);
	for (uint32_t i = 0; i < p.keys.n; i++) {
		const uint64_t *key = tuples_get(&p.keys, i);
		uint32_t number = tuples_find(&before.keys, key);

		assert_true(number != TUPLES_NONE);
		assert_memory_equal(&p.list.items[i], &before.list.items[number],
				    sizeof(p.list.items[i]));
		assert_int_equal(tuples_find(&p.keys, key), i);
		assert_true(i == 0 || key[0] > key[-2] || (key[0] == key[-2] && key[1] > key[-1]));
	}
	n = p.keys.n;
	c2c_paces_merge(&p, &before);
	assert_int_equal(p.keys.n, n);
	assert_int_equal(
		p.list.items[0].n,
		2 * before.list.items[tuples_find(&before.keys, tuples_get(&p.keys, 0))].n);
	c2c_paces_release(&before);
	c2c_paces_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_do_not_depend_on_workers),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(slices_are_as_long_as_they_have_to_be),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(they_are_put_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
