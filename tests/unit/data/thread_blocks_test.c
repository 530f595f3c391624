/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of thread-local data: the same ones, those next to each other, those that cannot be. */
#include "data/thread_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"

static const struct thread_block made[] = {
	{ .process = 1, .tid = 0, .module = { 3 }, .start = 0x1000, .size = 0x80 },
	{ .process = 1, .tid = 7, .module = { 3 }, .start = 0x1000, .size = 0x80 },
	{ .process = 1, .tid = 8, .module = { 3 }, .start = 0x1080, .size = 0x80 },
	{ .process = 2, .tid = 9, .module = { 3 }, .start = 0x1040, .size = 0x80 },

	/* A part of the first, which is known; and one that contradicts what is around it. */
	{ .process = 1, .tid = 0, .module = { 3 }, .start = 0x1000, .first = 0x20, .size = 1 },
	{ .process = 1, .tid = 7, .module = { 3 }, .start = 0x2000, .size = 0x100 },
	{ .process = 1, .tid = 7, .module = { 3 }, .start = 0x2010, .size = 0x10 },
	{ .process = 1, .tid = 7, .module = { 3 }, .start = 0x2050, .size = 0x10 },
	{ .process = 1, .tid = 7, .module = { 4 }, .start = 0x2100, .size = 0x10 },
	{ .process = 1, .tid = 7, .module = { 5 }, .start = 0x3000, .first = 0x18, .size = 1 },

	/* Whose thread only a part of it tells. */
	{ .process = 1, .tid = 0, .module = { 3 }, .start = 0x4000, .size = 0x80 },
	{ .process = 1, .tid = 7, .module = { 3 }, .start = 0x4000, .first = 0x20, .size = 1 },
};

static const struct {
	uint32_t process;
	uint64_t address, start; /* 0: none */
	uint32_t tid;
} asked[] = {
	{ 1, 0xfff, 0, 0 },	  { 1, 0x1000, 0x1000, 7 }, { 1, 0x107f, 0x1000, 7 },
	{ 1, 0x1080, 0x1080, 8 }, { 1, 0x1100, 0, 0 },	    { 2, 0x1040, 0x1040, 9 },
	{ 2, 0x1000, 0, 0 },	  { 3, 0x1040, 0, 0 },	    { 1, 0x2000, 0, 0 },
	{ 1, 0x2015, 0, 0 },	  { 1, 0x2058, 0, 0 },	    { 1, 0x20ff, 0, 0 },
	{ 1, 0x2100, 0x2100, 7 }, { 1, 0x3018, 0x3000, 7 }, { 1, 0x3019, 0, 0 },
	{ 1, 0x3017, 0, 0 },	  { 1, UINT64_MAX, 0, 0 },  { 0, 0, 0, 0 },
	{ 1, 0x4000, 0x4000, 7 },
};

/* In whatever order they are added. */
static void blocks_are_found(void **state)
{
	(void)state;
	for (size_t turn = 0; turn < COUNT(made); turn++) {
		struct thread_blocks blocks = { 0 };

		for (size_t i = 0; i < COUNT(made); i++)
			*vec_add(&blocks.list) = made[(i + turn) % COUNT(made)];
		thread_blocks_build(&blocks);
		for (size_t i = 0; i < COUNT(asked); i++) {
			const struct thread_block *b =
				thread_blocks_find(&blocks, asked[i].process, asked[i].address);

			assert_int_equal(b == NULL ? 0 : b->start, asked[i].start);
			assert_int_equal(b == NULL ? 0 : b->tid, asked[i].tid);
		}
		thread_blocks_release(&blocks);
	}
}

static void none_is_found_in_nothing(void **state)
{
	struct thread_blocks blocks = { 0 };

	(void)state;
	thread_blocks_build(&blocks);
	assert_null(thread_blocks_find(&blocks, 1, 0x1000));
	thread_blocks_release(&blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_found),
		cmocka_unit_test(none_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
