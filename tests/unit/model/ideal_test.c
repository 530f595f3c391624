/* SPDX-License-Identifier: Apache-2.0 */
/* Idealisations: as text and back, for which instructions they hold, and what memory takes then. */
#include "model/ideal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/memory.h"
#include "model/tlb.h"
#include "small.h"

static const struct {
	const char *text;
	bool is_right;
} texts[] = {
	{ "0=now", true },
	{ "8=dram", true },
	{ "ff:1000-2000=a@f", true },
	{ "1:1000-2000:ffffffff00000000-ffffffffffffffff=x=y", true },
	{ "8000000*fa=instructions-0.25", true },
	{ "8000001*3e80:1000-2000=l1d+instructions-16@f", true },
	{ "8000000=without a number", false },
	{ "8000000*=without a number", false },
	{ "8000000*9=too few", false },
	{ "8000000*3e81=too many", false },
	{ "8*fa=a number without the bit", false },
	{ "", false },
	{ "8", false },
	{ "=dram", false },
	{ "x=dram", false },
	{ "-8=dram", false },
	{ "100000000=more bits than there are", false },
	{ "8:=dram", false },
	{ "8:1000=dram", false },
	{ "8:1000-=dram", false },
	{ "8:1000-1000=empty", false },
	{ "8:2000-1000=turned", false },
	{ "8:1000-20000000000000000=far", false },
	{ "8 :1000-2000=dram", false },
};

static void text_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct text again = { 0 };
		struct ideal ideal;
		struct err err;
		int rc = ideal_read(texts[i].text, &ideal, &err);

		print_message("%s\n", texts[i].text);
		assert_int_equal(rc, texts[i].is_right ? 0 : -1);
		if (rc < 0) {
			assert_non_null(strstr(err.text, "BITS*INSTRUCTIONS:START-END=NAME"));
			assert_int_equal(ideal.ranges.n, 0);
			continue;
		}
		ideal_write(&ideal, &again);
		assert_int_equal(again.n, strlen(texts[i].text));
		assert_memory_equal(again.bytes, texts[i].text, again.n);
		text_release(&again);
		ideal_release(&ideal);
	}
}

static const struct {
	const char *text;
	uint64_t pc;
	uint32_t bits;
} places[] = {
	{ "8=dram", 0, 8 },
	{ "8=dram", UINT64_MAX, 8 },
	{ "8:1000-2000=dram@f", 0xfff, 0 },
	{ "8:1000-2000=dram@f", 0x1000, 8 },
	{ "8:1000-2000=dram@f", 0x1fff, 8 },
	{ "8:1000-2000=dram@f", 0x2000, 0 },
	{ "8:1000-2000:3000-3004=dram@f", 0x3000, 8 },
	{ "8:1000-2000:3000-3004=dram@f", 0x3004, 0 },
};

static void ranges_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(places); i++) {
		struct ideal ideal;
		struct err err;

		assert_int_equal(ideal_read(places[i].text, &ideal, &err), 0);
		assert_int_equal(ideal_at(&ideal, places[i].pc), places[i].bits);
		ideal_release(&ideal);
	}
}

/* Each has a bit of its own and a name of its own. */
static void they_differ(void **state)
{
	uint32_t all = 0;

	(void)state;
	for (size_t i = 0; i < n_idealisations; i++) {
		assert_int_equal(__builtin_popcount(idealisations[i].bit), 1);
		assert_int_equal(all & idealisations[i].bit, 0);
		all |= idealisations[i].bit;
		assert_null(strpbrk(idealisations[i].name, "+@,="));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(idealisations[i].name, idealisations[k].name);
	}
}

/* The machine of small.h; lines 8, 10, 12 share a set of its L1D, 8, 12, 16 one of its L2. */
static struct memory *small_memory(struct params *p, uint32_t bits)
{
	static struct counts counts[4];
	static struct memory memory;
	const struct ideal ideal = { .bits = bits };

	memory_init(&memory, p, counts);
	memory_make_ideal(&memory, &ideal);
	memory.ideal = bits;
	return &memory;
}

enum { N_LOADS = 7 };

static const uint64_t loaded_lines[N_LOADS] = { 8, 8, 10, 12, 8, 16, 12 };

/* Cycles of each of these loads, one long after the other. */
static const struct {
	uint32_t bits;
	uint64_t cycles[N_LOADS];
} levels[] = {
	{ 0, { 1000, 4, 1000, 1000, 10, 1000, 100 } },
	{ IDEAL_L1D, { 4, 4, 4, 4, 4, 4, 4 } },
	{ IDEAL_L2, { 10, 4, 10, 10, 10, 10, 10 } },
	{ IDEAL_LLC, { 100, 4, 100, 100, 10, 100, 100 } },
	{ IDEAL_DRAM, { 100, 4, 100, 100, 10, 100, 100 } },
	{ IDEAL_LLC_HITS, { 1000, 4, 1000, 1000, 10, 1000, 10 } },
	{ IDEAL_L2_HITS, { 1000, 4, 1000, 1000, 4, 1000, 100 } },
	{ IDEAL_LLC | IDEAL_LLC_HITS | IDEAL_L2_HITS, { 10, 4, 10, 10, 4, 10, 10 } },
	{ IDEAL_COHERENCE, { 1000, 4, 1000, 1000, 10, 1000, 100 } },
};

static void levels_are_perfect(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++) {
		struct params p = small_params();
		struct memory *m = small_memory(&p, levels[i].bits);

		for (size_t k = 0; k < N_LOADS; k++) {
			uint64_t time = 100000 * (k + 1);
			struct access a = memory_access(m, 0, loaded_lines[k], ACCESS_LOAD, time);

			print_message("%x: load %zu\n", levels[i].bits, k);
			assert_int_equal(a.ready - time, levels[i].cycles[k]);
			assert_true(a.finish >= a.ready);
		}
		memory_release(m);
	}
}

/* Three misses at the same cycle: there are two places, and lines keep a distance of 10. */
static const struct {
	uint32_t bits;
	uint64_t ready[3];
} together[] = {
	{ 0, { 1000, 1010, 2000 } },
	{ IDEAL_DRAM_BANDWIDTH, { 1000, 1000, 2000 } },
	{ IDEAL_MISSES, { 1000, 1010, 1020 } },
	{ IDEAL_MISSES | IDEAL_DRAM_BANDWIDTH, { 1000, 1000, 1000 } },
};

static void misses_do_not_wait(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(together); i++) {
		struct params p = small_params();
		struct memory *m;

		p.dram_line_gap = 10;
		m = small_memory(&p, together[i].bits);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(memory_access(m, 0, 8 + k, ACCESS_LOAD, 0).ready,
					 together[i].ready[k]);
		memory_release(m);
	}
}

/* What a CPU had before another one took it is still there; what it never had is not. */
static void lines_that_were_taken_are_there(void **state)
{
	struct params p = small_params();
	struct memory *m = small_memory(&p, IDEAL_COHERENCE);

	(void)state;
	assert_int_equal(memory_access(m, 0, 8, ACCESS_STORE, 100000).ready, 101000);
	assert_int_equal(memory_access(m, 1, 8, ACCESS_STORE, 200000).ready, 200030);
	for (uint64_t i = 3; i < 9; i++)
		assert_int_equal(memory_access(m, i % 2, 8, ACCESS_STORE, i * 100000).ready,
				 i * 100000 + 4);
	assert_int_equal(memory_access(m, 1, 8, ACCESS_LOAD, 1000000).ready, 1000004);
	memory_release(m);
}

/* Cycles of translations: of a page, the same one, another one in the same 2 MiB. */
static const struct {
	uint32_t bits;
	uint64_t cycles[3];
} walks[] = {
	{ 0, { 6 + 20 + 1000, 1, 6 + 20 + 10 } }, /* the second entry of a line is in the L2 */
	{ IDEAL_PAGE_WALKS, { 6, 1, 6 } },
	{ IDEAL_DTLB, { 1, 1, 1 } },
	{ IDEAL_HUGE_PAGES, { 6 + 20 + 1000, 1, 1 } },
};

static void pages_are_not_walked_for(void **state)
{
	static const uint64_t addresses[] = { 0x200000, 0x200008, 0x201000 };

	(void)state;
	for (size_t i = 0; i < COUNT(walks); i++) {
		const struct ideal ideal = { .bits = walks[i].bits };
		struct params p = small_params();
		struct memory *m = small_memory(&p, walks[i].bits);
		struct frames frames;
		struct tlbs tlbs;

		frames_init(&frames, &p);
		frames_make_ideal(&frames, &ideal);
		tlbs = (struct tlbs){ 0 };
		tlbs_init(&tlbs, &p);
		for (size_t k = 0; k < COUNT(addresses); k++) {
			struct translation t = tlb_translate(&tlbs, &frames, m, 0, 0, addresses[k],
							     TRANSLATE_LOAD, 100000 * (k + 1));

			assert_int_equal(t.cycles, walks[i].cycles[k]);
			assert_int_equal(t.walked, t.cycles > 6);
		}
		tlbs_release(&tlbs);
		frames_release(&frames);
		memory_release(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_back),
		cmocka_unit_test(ranges_decide),
		cmocka_unit_test(they_differ),
		cmocka_unit_test(levels_are_perfect),
		cmocka_unit_test(misses_do_not_wait),
		cmocka_unit_test(lines_that_were_taken_are_there),
		cmocka_unit_test(pages_are_not_walked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
