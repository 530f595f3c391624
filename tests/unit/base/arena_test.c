/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

enum { N_PIECES = 2000 };

/* Sizes that fill blocks unevenly, a few of them larger than a block. */
static size_t size_of_piece(size_t i)
{
	return i % 500 == 7 ? 100000 + i : i * 37 % 411;
}

static void pieces_are_aligned_and_apart(void **state)
{
	struct arena arena = { 0 };
	unsigned char *pieces[N_PIECES];

	(void)state;
	for (size_t i = 0; i < N_PIECES; i++) {
		pieces[i] = arena_alloc(&arena, size_of_piece(i));
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i & 0xff), size_of_piece(i));
	}
	for (size_t i = 0; i < N_PIECES; i++)
		for (size_t k = 0; k < size_of_piece(i); k++)
			assert_int_equal(pieces[i][k], i & 0xff);
	arena_release(&arena);
	assert_null(arena.blocks);
}

static void copies_text(void **state)
{
	struct arena arena = { 0 };
	char text[] = "abcdef";
	const char *copy = arena_strndup(&arena, text, 3);

	(void)state;
	text[0] = 'x';
	assert_string_equal(copy, "abc");
	assert_string_equal(arena_strndup(&arena, NULL, 0), "");
	arena_release(&arena);
}

/* Filling an arena over and over must not take new memory each time. */
static void reset_keeps_a_block(void **state)
{
	struct arena arena = { 0 };
	void *first;

	(void)state;
	arena_reset(&arena);
	assert_null(arena.blocks);
	for (size_t i = 0; i < N_PIECES; i++)
		arena_alloc(&arena, 100);
	arena_reset(&arena);
	first = arena_alloc(&arena, 100);
	for (int i = 0; i < 10; i++) {
		arena_reset(&arena);
		assert_ptr_equal(arena_alloc(&arena, 100), first);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_aligned_and_apart),
		cmocka_unit_test(copies_text),
		cmocka_unit_test(reset_keeps_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
