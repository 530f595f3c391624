/* SPDX-License-Identifier: Apache-2.0 */
/* How far accesses reach, which loads waited for others, what that costs: with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "c2c/accesses/cost.h"
#include "c2c/accesses/extent.h"

static bool is_close(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

static void extents_are_as_sure_as_known(void **state)
{
	static const struct c2c_instruction nothing = { 0 },
					    load8 = { .bytes = 8, .is_load = true },
					    store8 = { .bytes = 8, .is_store = true },
					    whole = { .scalable = 16, .is_load = true },
					    half = { .scalable = 8, .is_load = true },
					    gather = { .is_scattered = true, .is_load = true },
					    lock = { .bytes = 4,
						     .is_load = true,
						     .is_store = true,
						     .kind = C2C_KIND_ORDERED };
	static const struct {
		const struct c2c_instruction *instruction;
		unsigned kind, vector, given_bits;
		uint16_t least, most;
		unsigned of_kind;
		bool lacks_length, is_scattered;
	} cases[] = {
		{ &nothing, 0, 0, 0, 1, 16, 0 },
		{ &nothing, C2C_KIND_VECTOR, 0, 0, 1, 64, C2C_KIND_VECTOR },
		{ &load8, 0, 0, 0, 8, 8, 0 },
		{ &store8, C2C_KIND_STORE, 0, 0, 8, 8, C2C_KIND_STORE },
		{ &load8, C2C_KIND_STORE, 0, 0, 1, 16, C2C_KIND_STORE }, /* of something else */
		{ &store8, 0, 0, 0, 1, 16, 0 },
		{ &load8, C2C_KIND_PARTIAL, 0, 0, 1, 8, C2C_KIND_PARTIAL },
		{ &lock, C2C_KIND_STORE, 0, 0, 4, 4, C2C_KIND_STORE | C2C_KIND_ORDERED },
		{ &whole, 0, 0, 0, 1, 256, 0, true },
		{ &whole, 0, 0, 256, 32, 32, 0 },
		{ &whole, 0, 4, 0, 32, 32, 0 },
		{ &whole, 0, 4, 512, 32, 32, 0 }, /* the record knows better */
		{ &whole, 0, 2, 0, 1, 256, 0 },	  /* 64 bits: no vector is as short */
		{ &half, 0, 4, 0, 16, 32, 0 },
		{ &half, 0, 2, 0, 4, 8, 0 },
		{ &gather, 0, 0, 0, 1, C2C_LINE_BYTES_MAX, 0, false, true },
		{ &gather, C2C_KIND_STORE, 0, 0, 1, 16, C2C_KIND_STORE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_instruction instructions[] = { { 0 }, *cases[i].instruction };
		struct session session = { 0 };
		const struct c2c s = { .session = &session,
				       .instructions = instructions,
				       .request.vector_bits = cases[i].given_bits };
		const struct c2c_touch_key key = { .place = 1,
						   .kind = (uint8_t)cases[i].kind,
						   .vector = (uint8_t)cases[i].vector };
		struct c2c_extent e = c2c_extent(&s, &key);

		print_message("%zu\n", i);
		assert_int_equal(e.least, cases[i].least);
		assert_int_equal(e.most, cases[i].most);
		assert_int_equal(e.kind, cases[i].of_kind);
		assert_int_equal(e.lacks_length, cases[i].lacks_length);
		assert_int_equal(e.is_scattered, cases[i].is_scattered);
	}
}

static void the_usual_latency_is_the_median(void **state)
{
	static const struct {
		uint32_t hits[3][2]; /* latency, how many */
		uint64_t minimum, expected;
	} cases[] = {
		{ { { 0 } }, 0, 0 },
		{ { { 4, 1 } }, 0, 4 },
		{ { { 4, 5 }, { 9, 4 }, { 100, 1 } }, 0, 4 },
		{ { { 4, 4 }, { 9, 5 }, { 100, 1 } }, 0, 9 },
		{ { { 65535, 3 } }, 0, 65535 },
		/* A filter left out what was fast. */
		{ { { 40, 9 } }, 30, 30 },
		{ { { 4, 9 } }, 30, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_lines lines = {
			.local_hits = mem_zalloc(C2C_LATENCY_MAX + 1, sizeof(uint32_t)),
		};
		const struct c2c s = { .lines = &lines, .minimum_cycles = cases[i].minimum };

		for (int k = 0; k < 3; k++) {
			lines.local_hits[cases[i].hits[k][0]] += cases[i].hits[k][1];
			lines.all_latencies |= cases[i].hits[k][0];
		}
		assert_int_equal(c2c_local_cycles(&s), cases[i].expected);
		free(lines.local_hits);
	}
}

enum { OWN_CACHE_LINES = 8192 }; /* that a core can keep: the catalog has it */

static void lines_are_kept_if_used_often(void **state)
{
	static const struct {
		uint64_t n, n_contended, n_reloads;
		uint32_t all, without_address;
		uint64_t minimum;
		bool expected;
	} cases[] = {
		/* (100 - 1.96 * 10) * 8192 = 658637 */
		{ 100, 0, 50, 658000, 0, 0, true },
		{ 100, 0, 50, 659000, 0, 0, false },
		{ 100, 0, 50, 659000, 2000, 0, true },
		{ 100, 0, 50, 100, 0, 0, true },
		{ 1, 0, 1, 1, 0, 0, false }, /* one record tells nothing */
		/* Fast ones were not recorded. */
		{ 100, 50, 50, 659000, 0, 30, true },
		{ 100, 49, 50, 100, 0, 30, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_lines lines = { 0 };
		const struct c2c s = { .lines = &lines,
				       .own_cache_lines = OWN_CACHE_LINES,
				       .minimum_cycles = cases[i].minimum };
		const struct c2c_use use = { cases[i].n, cases[i].n_contended, cases[i].n_reloads };

		print_message("%zu\n", i);
		lines.total.n[C2C_RECORDS] = cases[i].all;
		lines.total.n[C2C_LOAD_NO_ADDRESS] = cases[i].without_address;
		assert_int_equal(c2c_is_kept(&s, &use), cases[i].expected);
	}
}

struct times {
	uint64_t first, last;
};

#define NEVER                                                                                      \
	{                                                                                          \
		UINT64_MAX, 0                                                                      \
	}

/* One thread has ten reloads of 60 cycles; others, or itself, write. */
static const struct {
	const char *name;
	struct times reloads;
	struct {
		uint32_t tid, n;
		struct times when;
	} writes[2];
	uint32_t others_records; /* of the capture */
	bool is_explained;
} settled[] = {
	{ "at once", { 0, 100 }, { { 2, 5, { 0, 100 } } }, 100, true },
	{ "four writes", { 0, 100 }, { { 2, 4, { 0, 100 } } }, 100, false },
	{ "own writes", { 0, 100 }, { { 1, 50, { 0, 100 } } }, 100, false },
	{ "own and others'",
	  { 0, 100 },
	  { { 1, 50, { 0, 100 } }, { 2, 4, { 0, 100 } } },
	  100,
	  false },
	{ "two others", { 0, 100 }, { { 2, 3, { 0, 100 } }, { 3, 2, { 0, 100 } } }, 100, true },
	{ "before", { 200, 300 }, { { 2, 50, { 0, 100 } } }, 100, false },
	{ "half of the time", { 50, 150 }, { { 2, 50, { 0, 100 } } }, 100, true },
	{ "less of it", { 52, 152 }, { { 2, 50, { 0, 100 } } }, 100, false },
	{ "around it", { 40, 60 }, { { 2, 50, { 0, 100 } } }, 100, true },
	{ "one after the other",
	  { 0, 100 },
	  { { 2, 5, { 0, 40 } }, { 3, 5, { 70, 100 } } },
	  100,
	  true },
	{ "no times", NEVER, { { 2, 5, NEVER } }, 100, true },
	{ "a line that is evicted", { 0, 100 }, { { 2, 5, { 0, 100 } } }, 1000000, false },
	{ "nobody", { 0, 100 }, { { 0 } }, 100, false },
};

static void add_touch(struct c2c_accesses *seen, uint32_t tid, unsigned kind,
		      const struct c2c_touch *touch)
{
	const uint64_t key[C2C_TOUCH_WORDS] = { kind, tid };

	assert_int_equal(tuples_add(&seen->keys, key), seen->kept.n);
	*vec_add(&seen->kept) =
		(struct c2c_kept_touch){ .many = (uint32_t)seen->many.n, .flags = C2C_KEPT_MANY };
	*vec_add(&seen->many) = *touch;
}

static void reloads_are_those_that_writes_explain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(settled); i++) {
		struct c2c_lines lines = { 0 };
		struct c2c_accesses seen = { 0 };
		struct c2c s = { .lines = &lines,
				 .accesses_seen = &seen,
				 .own_cache_lines = OWN_CACHE_LINES };
		struct c2c_touch touch = {
			.reloads = { .n = 10, .cycles = 600 },
			.first_ns = settled[i].reloads.first,
			.last_ns = settled[i].reloads.last,
			.first_reload_ns = settled[i].reloads.first,
			.last_reload_ns = settled[i].reloads.last,
		};

		print_message("%s\n", settled[i].name);
		lines.total.n[C2C_RECORDS] = settled[i].others_records;
		tuples_init(&seen.keys, C2C_TOUCH_WORDS);
		touch.counts.n[C2C_RECORDS] = 100;
		add_touch(&seen, 1, 0, &touch);
		for (size_t w = 0; w < 2 && settled[i].writes[w].n > 0; w++) {
			struct c2c_touch writes = {
				.first_ns = settled[i].writes[w].when.first,
				.last_ns = settled[i].writes[w].when.last,
			};

			writes.counts.n[C2C_RECORDS] = settled[i].writes[w].n;
			add_touch(&seen, settled[i].writes[w].tid, C2C_KIND_STORE, &writes);
		}
		c2c_settle_reloads(&s, 0, (uint32_t)seen.kept.n);
		assert_int_equal(seen.many.items[0].reloads.n, settled[i].is_explained ? 10 : 0);
		assert_int_equal(seen.many.items[0].reloads.cycles,
				 settled[i].is_explained ? 600 : 0);
		tuples_release(&seen.keys);
		vec_release(&seen.kept);
		vec_release(&seen.many);
	}
}

static void waiting_costs_what_it_takes_longer(void **state)
{
	static const struct {
		uint64_t local;
		struct c2c_latency contended, reloads, all;
		int64_t excess;
		double share, error, reload_share;
		struct lost_samples lost;
	} cases[] = {
		/* 1000 - 200 and 300 - 100 of 4000; 1.96 * sqrt(72000 * .5625 + 82000 * .0625) / 4000 */
		{ 20,
		  { 10, 0, 1000, 100000 },
		  { 5, 0, 300, 18000 },
		  { 100, 0, 4000, 200000 },
		  1000,
		  0.25,
		  0.10466404588013975,
		  0.05 },
		/* The same; one of five samples was lost, any of which may wait as long, or none. */
		{ 20,
		  { 10, 0, 1000, 100000 },
		  { 5, 0, 300, 18000 },
		  { 100, 0, 4000, 200000 },
		  1000,
		  0.25,
		  0.10466404588013975 + 0.2 * 0.75,
		  0.05,
		  { .is_counted = true, .n = 20, .most = 20, .share = 0.2 } },
		/* Faster than usual costs nothing. */
		{ 200,
		  { 10, 0, 1000, 100000 },
		  { 0 },
		  { 100, 0, 4000, 200000 },
		  0,
		  0,
		  0.15495160534825062,
		  0 },
		/* No loads have a latency. */
		{ 0, { 0 }, { 0 }, { 0 }, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct c2c_lines lines = { .loads = cases[i].all };
		struct session session = { .lost = cases[i].lost };
		const struct c2c s = { .session = &session,
				       .lines = &lines,
				       .local_cycles = cases[i].local };
		struct c2c_subject subject = { .contended = cases[i].contended,
					       .reloads = cases[i].reloads };

		c2c_rate(&s, &subject);
		assert_int_equal(subject.excess_cycles, cases[i].excess);
		assert_true(is_close(subject.share, cases[i].share));
		assert_true(is_close(subject.reload_share, cases[i].reload_share));
		assert_true(is_close(subject.error, cases[i].error));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_are_as_sure_as_known),
		cmocka_unit_test(the_usual_latency_is_the_median),
		cmocka_unit_test(lines_are_kept_if_used_often),
		cmocka_unit_test(reloads_are_those_that_writes_explain),
		cmocka_unit_test(waiting_costs_what_it_takes_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
