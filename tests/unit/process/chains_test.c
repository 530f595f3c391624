/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"
#include "process/chains.h"

#define KERNEL ((uint64_t)-128)
#define USER ((uint64_t)-512)
#define USER_DEFERRED ((uint64_t)-640)
#define GUEST ((uint64_t)-2048)
#define GUEST_KERNEL ((uint64_t)-2176)
#define GUEST_USER ((uint64_t)-2560)
#define UNKNOWN_MARKER ((uint64_t)-4095)
#define K 0xffff800008000000

enum { PID = 7, U = 0x10000 };

/* Expected frames, innermost first: "k" kernel, "u" the user's file, "g" and "h" those of a guest, "?" nothing; offset. */
static const struct {
	const char *what;
	uint64_t words[8];
	size_t n;
	bool is_kernel; /* the sample is the kernel's */
	const char *expected;
} cases[] = {
	{ "empty", { 0 }, 0, false, "" },
	{ "only markers", { KERNEL, USER }, 2, false, "" },
	{ "user", { USER, U + 0x10, U + 0x24, U + 0x38 }, 4, false, "u10 u23 u37 " },
	{ "no marker: as the sample", { U + 0x10, U + 0x24 }, 2, false, "u10 u23 " },
	{ "no marker, kernel", { K + 0x10, K + 0x24 }, 2, true, "k10 k23 " },
	{ "kernel over user",
	  { KERNEL, K + 0x10, K + 0x24, USER, U + 0x30, U + 0x44 },
	  6,
	  true,
	  "k10 k23 u30 u43 " },
	{ "markers rule, not the sample", { USER, U + 0x10 }, 2, true, "u10 " },
	{ "a kernel address as the user's", { USER, K + 0x10 }, 2, false, "?10 " },
	{ "guest", { GUEST, U + 0x10 }, 2, false, "?10 " },
	{ "guest's kernel and user",
	  { GUEST_KERNEL, K + 0x10, GUEST_USER, U + 0x20 },
	  4,
	  false,
	  "g10 h20 " },
	{ "deferred: a cookie, no address",
	  { KERNEL, K + 0x10, USER_DEFERRED, 0x1234 },
	  4,
	  true,
	  "k10 " },
	{ "unknown marker", { UNKNOWN_MARKER, U + 0x10, USER, U + 0x20 }, 4, false, "u20 " },
	{ "null at the end", { USER, U + 0x10, 0 }, 3, false, "u10 ?0 " },
};

static void describe(const struct fixture *f, uint32_t number, struct text *out)
{
	struct place place = place_numbers_get(f->places, number);
	const struct modules *modules = timeline_modules(f->timeline);
	static const char *const names[] = {
		[MODULE_UNKNOWN] = "?",	     [MODULE_FILE] = "u",  [MODULE_KERNEL] = "k",
		[MODULE_GUEST_KERNEL] = "g", [MODULE_OTHER] = "h",
	};

	text_str(out, names[modules_get(modules, place.module)->kind]);
	text_format(out, "%llx ", (unsigned long long)(place.offset & 0xffff));
}

static void test_known(void **state)
{
	struct fixture f;
	struct place_cache cache;
	struct chains chains;
	struct text text = { 0 };

	(void)state;
	fixture_init(&f);
	feed_kernel(&f, 0, K, 0x100000, K, "[kernel.kallsyms]_text");
	feed_map(&f, 10, PID, U, 0x1000, 0, "/bin/a");
	timeline_add_guests(f.timeline);
	fixture_freeze(&f);
	place_cache_init(&cache, f.timeline, f.places);
	chains_init(&chains, &cache);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t process = timeline_process_of_pid(f.timeline, PID, 20);
		const struct chain_sample sample = {
			.process = process,
			.whose = cases[i].is_kernel ? PLACE_OF_KERNEL : process,
			.time_ns = 20,
		};
		uint32_t frame = chains_add(&chains, &sample, cases[i].words, cases[i].n);

		text_reset(&text);
		for (; frame != 0; frame = (uint32_t)tuples_get(&chains.frames, frame)[0])
			describe(&f, (uint32_t)tuples_get(&chains.frames, frame)[1], &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, cases[i].expected);
	}
	text_release(&text);
	chains_release(&chains);
	place_cache_release(&cache);
	fixture_release(&f);
}

/* Equal callers are one frame; a place called from two places is two frames. */
static void test_tree(void **state)
{
	static const uint64_t a[] = { U + 0x10, U + 0x21, U + 0x31 };
	static const uint64_t b[] = { U + 0x11, U + 0x21, U + 0x31 };
	static const uint64_t c[] = { U + 0x10, U + 0x31 };
	struct fixture f;
	struct place_cache cache;
	struct chains chains;
	struct chain_sample s = { .time_ns = 20 };
	uint32_t frame_a, frame_b, frame_c;

	(void)state;
	fixture_init(&f);
	feed_map(&f, 10, PID, U, 0x1000, 0, "/bin/a");
	fixture_freeze(&f);
	s.process = s.whose = timeline_process_of_pid(f.timeline, PID, 20);
	place_cache_init(&cache, f.timeline, f.places);
	chains_init(&chains, &cache);
	frame_a = chains_add(&chains, &s, a, COUNT(a));
	frame_b = chains_add(&chains, &s, b, COUNT(b));
	frame_c = chains_add(&chains, &s, c, COUNT(c));
	assert_int_equal(chains_add(&chains, &s, a, COUNT(a)), frame_a);
	assert_int_equal(tuples_get(&chains.frames, frame_a)[0],
			 tuples_get(&chains.frames, frame_b)[0]);
	assert_int_equal(tuples_get(&chains.frames, frame_a)[1],
			 tuples_get(&chains.frames, frame_c)[1]);
	assert_int_not_equal(frame_a, frame_c);
	assert_int_equal(chains.frames.n, 1 + 3 + 1 + 1);
	chains_release(&chains);
	place_cache_release(&cache);
	fixture_release(&f);
}

static size_t depth_of(const struct chains *c, uint32_t frame)
{
	size_t depth = 0;

	for (; frame != 0; frame = (uint32_t)tuples_get(&c->frames, frame)[0])
		depth++;
	return depth;
}

/* Of a chain that is too long the inner part counts. */
static void test_long(void **state)
{
	uint64_t words[2000];
	struct fixture f;
	struct place_cache cache;
	struct chains chains;
	const struct chain_sample s = {
		.process = PLACE_OF_NOBODY,
		.whose = PLACE_OF_NOBODY,
		.time_ns = 20,
	};
	uint32_t frame;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		words[i] = U + i;
	fixture_init(&f);
	fixture_freeze(&f);
	place_cache_init(&cache, f.timeline, f.places);
	chains_init(&chains, &cache);
	frame = chains_add(&chains, &s, words, COUNT(words));
	assert_int_equal(depth_of(&chains, frame), 1024);
	assert_int_equal(
		place_numbers_get(f.places, (uint32_t)tuples_get(&chains.frames, frame)[1]).offset,
		U);
	chains_release(&chains);
	place_cache_release(&cache);
	fixture_release(&f);
}

/* Equal chains are looked for as long as some come again, and after a while once more. */
static void test_loose(void **state)
{
	const uint64_t often[] = { U, U + 8 };
	struct fixture f;
	struct place_cache cache;
	struct chains chains;
	const struct chain_sample s = {
		.process = PLACE_OF_NOBODY,
		.whose = PLACE_OF_NOBODY,
		.time_ns = 20,
	};
	unsigned n_loose = 0;

	(void)state;
	fixture_init(&f);
	fixture_freeze(&f);
	place_cache_init(&cache, f.timeline, f.places);
	chains_init(&chains, &cache);
	for (int i = 0; i < 4; i++)
		chains_add(&chains, &s, often, COUNT(often));
	chains_reset(&chains);
	assert_false(chains_are_loose(&chains));
	for (uint64_t i = 0; i < 64; i++)
		chains_add(&chains, &s, (const uint64_t[]){ U + 16 * i, U + 16 * i + 8 }, 2);
	chains_reset(&chains);
	assert_true(chains_are_loose(&chains));
	for (; chains_are_loose(&chains); n_loose++) {
		uint32_t first = chains_add(&chains, &s, often, COUNT(often));
		uint32_t second = chains_add(&chains, &s, often, COUNT(often));

		assert_int_not_equal(first, second);
		assert_int_equal(depth_of(&chains, second), 2);
		assert_int_equal(tuples_get(&chains.frames, first)[1],
				 tuples_get(&chains.frames, second)[1]);
		chains_reset(&chains);
	}
	assert_true(n_loose > 1);
	assert_int_equal(chains_add(&chains, &s, often, COUNT(often)),
			 chains_add(&chains, &s, often, COUNT(often)));
	chains_release(&chains);
	place_cache_release(&cache);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_loose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
