/* SPDX-License-Identifier: Apache-2.0 */
/* Translation, against sequences worked out by hand (small.h: TLBs of two and four entries). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/tlb.h"
#include "small.h"

enum { PAGE = 1 << PAGE_SHIFT, FIRST_FRAME = 0x80000 };

static void levels_and_walks(void **state)
{
	/* A walk: 6 for both levels of TLB, 20 for the upper tables, and a load of its entry. */
	static const struct {
		uint64_t page;
		uint64_t cycles;
		bool walked;
		uint64_t frame; /* from the first one on */
	} steps[] = {
		{ 8, 6 + 20 + 1000, true, 0 },
		{ 8, 1, false, 0 },
		{ 9, 6 + 20 + 10, true, 1 }, /* its entry stands in the same line */
		{ 8, 1, false, 0 },
		{ 64, 6 + 20 + 1000, true, 2 }, /* 9 leaves the first level */
		{ 9, 6, false, 1 },
		{ 10, 6 + 20 + 10, true, 3 },
		{ 11, 6 + 20 + 10, true, 4 }, /* 8 leaves the second level */
		{ 8, 6 + 20 + 10, true, 0 },
		{ 11, 1, false, 4 },
	};
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct frames frames;
	struct memory m;
	struct tlbs tlbs;
	uint64_t time = 0;

	(void)state;
	memory_init(&m, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
	for (size_t i = 0; i < COUNT(steps); i++) {
		uint64_t va = steps[i].page * PAGE + 0x123;
		struct translation t;

		time += 100000;
		t = tlb_translate(&tlbs, &frames, &m, 0, 0, va, TRANSLATE_LOAD, time);
		if (t.cycles != steps[i].cycles || t.walked != steps[i].walked ||
		    t.pa != (FIRST_FRAME + steps[i].frame) * PAGE + 0x123)
			fail_msg("step %zu: %llu cycles, frame 0x%llx", i,
				 (unsigned long long)t.cycles,
				 (unsigned long long)(t.pa >> PAGE_SHIFT));
	}
	assert_int_equal(counts[0].n[COUNT_L1D_TLB_RD], COUNT(steps));
	assert_int_equal(counts[0].n[COUNT_L1D_TLB_REFILL_RD], 7);
	assert_int_equal(counts[0].n[COUNT_L2D_TLB_REFILL], 6);
	assert_int_equal(counts[0].n[COUNT_DTLB_WALK], 6);
	assert_int_equal(counts[0].n[COUNT_ITLB_WALK], 0);
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&m);
}

static void processes_have_their_own_pages(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct frames frames;
	struct memory m;
	struct tlbs tlbs;
	struct translation a, b, again;

	(void)state;
	memory_init(&m, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
	a = tlb_translate(&tlbs, &frames, &m, 0, 0, 8 * PAGE, TRANSLATE_LOAD, 0);
	b = tlb_translate(&tlbs, &frames, &m, 0, 1, 8 * PAGE, TRANSLATE_STORE, 0);
	again = tlb_translate(&tlbs, &frames, &m, 0, 0, 8 * PAGE, TRANSLATE_FETCH, 0);
	assert_true(a.pa != b.pa);
	assert_int_equal(again.pa, a.pa);
	assert_int_equal(again.cycles, 6); /* code and data share the second level */
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&m);
}

/* A page of 2 MiB is one entry; code stays in small pages, of the same memory. */
static void huge_pages_hold_data(void **state)
{
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct translation a, b, code;
	struct frames frames;
	struct memory m;
	struct tlbs tlbs;

	(void)state;
	p.huge_pages = 1;
	memory_init(&m, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
	a = tlb_translate(&tlbs, &frames, &m, 0, 0, 0x40000123, TRANSLATE_LOAD, 0);
	b = tlb_translate(&tlbs, &frames, &m, 0, 0, 0x401fffff, TRANSLATE_STORE, a.cycles);
	code = tlb_translate(&tlbs, &frames, &m, 0, 0, 0x401fffff, TRANSLATE_FETCH, 0);
	assert_true(a.walked && !b.walked && code.walked);
	assert_int_equal(b.cycles, 1);
	assert_int_equal(b.pa - a.pa, 0x401fffff - 0x40000123);
	assert_int_equal(code.pa, b.pa);
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&m);
}

/* What follows a walk to the same page waits for its end, unless nothing is walked for. */
static void walks_are_waited_for(void **state)
{
	static const struct {
		uint64_t page, time, cycles;
		enum translation_kind kind;
	} steps[] = {
		{ 8, 100000, 6 + 20 + 1000, TRANSLATE_LOAD },
		{ 8, 100000, 6 + 20 + 1000, TRANSLATE_STORE },
		{ 8, 101020, 6, TRANSLATE_LOAD },
		{ 8, 101026, 1, TRANSLATE_LOAD },
		{ 8, 101027, 1, TRANSLATE_LOAD },
	};

	(void)state;
	for (int is_ideal = 0; is_ideal < 2; is_ideal++) {
		struct params p = small_params();
		struct counts counts[4] = { 0 };
		struct frames frames;
		struct memory m;
		struct tlbs tlbs;

		memory_init(&m, &p, counts);
		m.ideal = is_ideal ? IDEAL_DTLB : 0;
		frames_init(&frames, &p);
		tlbs_init(&tlbs, &p);
		for (size_t i = 0; i < COUNT(steps); i++) {
			struct translation t =
				tlb_translate(&tlbs, &frames, &m, 0, 0, steps[i].page * PAGE,
					      steps[i].kind, steps[i].time);

			assert_int_equal(t.cycles, is_ideal ? 1 : steps[i].cycles);
		}
		assert_int_equal(counts[0].n[COUNT_DTLB_WALK], !is_ideal);
		tlbs_release(&tlbs);
		frames_release(&frames);
		memory_release(&m);
	}
}

/* Misses from page to page find the next translation in the second level, up and down. */
static void pages_in_a_row_are_foreseen(void **state)
{
	static const struct {
		uint64_t page;
		bool walked;
	} steps[] = {
		{ 100, true }, { 101, true }, { 102, true }, { 103, false }, { 104, false },
		{ 200, true }, { 199, true }, { 198, true }, { 197, false }, { 196, false },
		{ 300, true }, { 302, true }, { 304, true }, { 306, true },
	};
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct frames frames;
	struct memory m;
	struct tlbs tlbs;

	(void)state;
	p.tlb_prefetch = 1;
	memory_init(&m, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct translation t = tlb_translate(&tlbs, &frames, &m, 0, 0, steps[i].page * PAGE,
						     TRANSLATE_LOAD, 100000 * i);

		if (t.walked != steps[i].walked)
			fail_msg("step %zu", i);
	}
	assert_int_equal(counts[0].n[COUNT_DTLB_WALK], 10 + 6); /* six of them ahead of time */
	assert_int_equal(counts[0].n[COUNT_L2D_TLB_REFILL], 10 + 6);
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&m);
}

/* Pages that are given up are walked for again, and their frames used again, the last first. */
static void pages_are_given_up(void **state)
{
	static const struct {
		uint64_t page;
		bool walked;
		uint64_t frame;
	} steps[] = {
		{ 10, true, 0 },
		{ 11, true, 1 },
		{ 12, true, 2 },
		{ 13, true, 3 },
		/* then 11 and 12 are given up */
		{ 13, false, 3 },
		{ 10, false, 0 },
		{ 12, true, 2 },
		{ 20, true, 1 },
		{ 11, true, 4 },
	};
	struct params p = small_params();
	struct counts counts[4] = { 0 };
	struct frames frames;
	struct memory m;
	struct tlbs tlbs;

	(void)state;
	p.l2tlb_entries = p.l2tlb_ways = 16;
	memory_init(&m, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct translation t;

		if (i == 4) {
			assert_int_equal(frames_unmap(&frames, 0, 10 * PAGE + 1, 13 * PAGE + 5), 2);
			tlbs_invalidate(&tlbs, 0, 11 * PAGE, 13 * PAGE);
		}
		t = tlb_translate(&tlbs, &frames, &m, 0, 0, steps[i].page * PAGE, TRANSLATE_LOAD,
				  100000 * i);
		if (t.walked != steps[i].walked || t.pa != (FIRST_FRAME + steps[i].frame) * PAGE)
			fail_msg("step %zu: frame 0x%llx", i,
				 (unsigned long long)(t.pa >> PAGE_SHIFT));
	}
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&m);
}

/* Memory is that of the pages in use, whatever was used before. */
static void frames_are_used_again(void **state)
{
	enum { ROUNDS = 300, PAGES = 700 };
	struct params p = small_params();
	struct frames frames;
	uint64_t va = (uint64_t)1 << 32;

	(void)state;
	frames_init(&frames, &p);
	assert_int_equal(frames_get(&frames, 0, 0), 0);
	for (unsigned round = 0; round < ROUNDS; round++, va += (uint64_t)(PAGES + 3) * PAGE) {
		uint64_t end = va + (uint64_t)PAGES * PAGE;

		for (uint64_t at = va; at < end; at += PAGE)
			assert_in_range(frames_get(&frames, 0, at), 1, PAGES);
		assert_int_equal(frames_get(&frames, 0, va), frames_get(&frames, 0, va + 5));
		assert_int_equal(frames_unmap(&frames, 0, va, end), PAGES);
		assert_int_equal(frames_unmap(&frames, 0, va, end), 0);
	}
	assert_int_equal(frames.n_leaves, 1);
	assert_int_equal(frames_get(&frames, 0, 4), 0);
	assert_int_equal(frames_unmap(&frames, 0, 0x2000, 0x1000), 0); /* from beyond its end */
	assert_int_equal(frames_unmap(&frames, 0, 0x2000, UINT64_MAX), 0);
	frames_release(&frames);
}

/* Pages after fork: the first to write gets a copy, the last owner keeps the frame. */
static void forked_pages_are_copied(void **state)
{
	struct params p = small_params();
	struct counts counts[MAX_CPUS] = { 0 };
	const uint64_t own = 0x10000, shared = 0x20000, never = 0x30000;
	struct spans both = { 0 };
	struct memory memory;
	struct frames frames;
	struct tlbs tlbs;
	uint64_t before, read, written;

	(void)state;
	memory_init(&memory, &p, counts);
	frames_init(&frames, &p);
	tlbs_init(&tlbs, &p);
#define PA(process, va, kind) tlb_translate(&tlbs, &frames, &memory, 0, process, va, kind, 0).pa
	before = PA(0, own, TRANSLATE_STORE);
	written = PA(0, shared, TRANSLATE_STORE);
	spans_add(&both, shared, shared + 0x1000);
	tlbs_invalidate_process(&tlbs, 0);
	frames_fork(&frames, 0, 1, &both);
	assert_true(frames_copies(&frames, 1, own) && !frames_copies(&frames, 1, shared));
	assert_int_equal(PA(1, own, TRANSLATE_LOAD), before);
	assert_int_equal(PA(1, shared, TRANSLATE_STORE), written);
	assert_int_equal(PA(0, shared, TRANSLATE_LOAD), written);
	read = PA(1, own, TRANSLATE_STORE);
	assert_int_not_equal(read, before);
	assert_int_equal(PA(1, own, TRANSLATE_LOAD), read);
	assert_int_equal(PA(0, own, TRANSLATE_LOAD), before);
	assert_int_equal(PA(0, own, TRANSLATE_STORE), before); /* nobody else has it any more */
	assert_false(frames_copies(&frames, 0, own));
	assert_int_not_equal(PA(1, never, TRANSLATE_LOAD), PA(0, never, TRANSLATE_LOAD));
	frames_exit(&frames, 1);
	assert_int_equal(frames.freed.n, 2); /* what only it had */
	frames_exit(&frames, 0);
	assert_int_equal(frames.freed.n, frames.n);
#undef PA
	spans_release(&both);
	tlbs_release(&tlbs);
	frames_release(&frames);
	memory_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_and_walks),
		cmocka_unit_test(processes_have_their_own_pages),
		cmocka_unit_test(huge_pages_hold_data),
		cmocka_unit_test(walks_are_waited_for),
		cmocka_unit_test(pages_in_a_row_are_foreseen),
		cmocka_unit_test(pages_are_given_up),
		cmocka_unit_test(frames_are_used_again),
		cmocka_unit_test(forked_pages_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
