/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/self/maps, ranges of addresses, and system calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/call.h"
#include "model/maps.h"

static const char full[] =
	"400000-47e000 r-xp 0008c000 fe:00 10002476                   /opt/a program (deleted)\n";

static void lines_are_read(void **state)
{
	static const struct {
		const char *line;
		bool is_line;
		uint64_t start, end, offset;
		uint32_t protection;
		bool is_shared;
		const char *path;
	} cases[] = {
		{ full, true, 0x400000, 0x47e000, 0x8c000, 5, false, "/opt/a program (deleted)" },
		{ "7f00-8000 rw-s 00000000 00:01 7 /dev/zero", true, 0x7f00, 0x8000, 0, 3, true,
		  "/dev/zero" },
		{ "7f00-8000 ---p 00000000 00:00 0 \n", true, 0x7f00, 0x8000, 0, 0, false, "" },
		{ "", false, 0, 0, 0, 0, false, NULL },
		{ "7f00-8000 r 0 00:00 0 \n", false, 0, 0, 0, 0, false, NULL },
		{ "Rss: 12 kB\n", false, 0, 0, 0, 0, false, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct mapping m;

		assert_int_equal(mapping_read(cases[i].line, &m), cases[i].is_line);
		if (!cases[i].is_line)
			continue;
		assert_int_equal(m.start, cases[i].start);
		assert_int_equal(m.end, cases[i].end);
		assert_int_equal(m.offset, cases[i].offset);
		assert_int_equal(m.protection, cases[i].protection);
		assert_int_equal(m.is_shared, cases[i].is_shared);
		assert_string_equal(m.path, cases[i].path);
		free(m.path);
	}
}

static void cut_lines_are_survived(void **state)
{
	char line[sizeof(full)];

	(void)state;
	for (size_t n = 0; n < sizeof(full); n++) {
		struct mapping m;

		memcpy(line, full, n);
		line[n] = '\0';
		if (mapping_read(line, &m))
			free(m.path);
		else
			assert_true(n < 45);
	}
}

static void own_mappings_are_found(void **state)
{
	struct mapping m;

	(void)state;
	assert_true(mapping_find((uint64_t)(uintptr_t)full, &m));
	assert_non_null(strstr(m.path, "maps"));
	free(m.path);
	assert_false(mapping_find(0, &m));
}

static void spans_are_forgotten(void **state)
{
	struct spans r = { 0 };

	(void)state;
	spans_add(&r, 100, 200);
	spans_add(&r, 200, 300);
	spans_add(&r, 400, 500);
	assert_true(spans_hold(&r, 100) && spans_hold(&r, 299) && spans_hold(&r, 499));
	assert_false(spans_hold(&r, 99) || spans_hold(&r, 300) || spans_hold(&r, 500));
	spans_forget(&r, 150, 200);
	assert_false(spans_hold(&r, 120));
	assert_true(spans_hold(&r, 200));
	spans_forget(&r, 0, 1000);
	assert_false(spans_hold(&r, 200) || spans_hold(&r, 450));
	spans_release(&r);
}

static void calls_are_told_apart(void **state)
{
	static const struct {
		int64_t number;
		uint64_t arguments[CALL_ARGUMENTS];
		struct call wanted;
	} cases[] = {
		{ 172, { 0 }, { .kind = CALL_PLAIN } }, /* getpid */
		{ -1, { 0 }, { .kind = CALL_PLAIN } },
		{ 63, { 0 }, { .kind = CALL_BLOCKS } },				  /* read */
		{ 98, { 0x1000, 0 }, { .kind = CALL_BLOCKS } },			  /* futex: wait */
		{ 98, { 0x1000, 128 | 9 }, { .kind = CALL_BLOCKS, .clock = 1 } }, /* wait_bitset */
		{ 98,
		  { 0x1000, 256 | 9, 0, 0x2000 },
		  { .kind = CALL_BLOCKS, .deadline = 0x2000, .clock = 0 } },
		{ 98, { 0x1000, 1 }, { .kind = CALL_WAKES } }, /* wake */
		{ 94, { 3 }, { .kind = CALL_PLAIN, .ends_process = true } },
		{ 220, { 0x50f00 }, { .kind = CALL_PLAIN, .makes_thread = true } },
		{ 220, { 17 }, { .kind = CALL_PLAIN, .makes_process = true } },	    /* fork */
		{ 220, { 0x4111 }, { .kind = CALL_PLAIN, .makes_process = true } }, /* vfork */
		{ 221, { 0x1000 }, { .kind = CALL_EXECUTES } },
		{ 72, { 3, 0x1000 }, { .kind = CALL_BLOCKS } }, /* pselect6 */
		{ 73, { 0x1000, 1 }, { .kind = CALL_BLOCKS } }, /* ppoll */
		{ 215,
		  { 0x5000, 0x1000 },
		  { .kind = CALL_PLAIN, .unmapped = 0x5000, .unmapped_end = 0x6000 } },
		{ 222, { 0x5000, 0x1000, 3, 0x22 }, { .kind = CALL_PLAIN } }, /* what is free */
		{ 222,
		  { 0x5000, 0x1000, 3, 0x32 },
		  { .kind = CALL_PLAIN, .unmapped = 0x5000, .unmapped_end = 0x6000 } }, /* fixed */
		{ 115,
		  { 1, 1, 0x2000 },
		  { .kind = CALL_BLOCKS,
		    .deadline = 0x2000,
		    .clock = 1 } }, /* until a given time */
	};
	static const int64_t second_and_half[] = { 1, 500000000 }, nonsense[] = { -1, 0 };
	const uint64_t sleep[CALL_ARGUMENTS] = { 0x10 }, select[CALL_ARGUMENTS] = { [4] = 0x10 };
	const uint64_t poll[CALL_ARGUMENTS] = { [2] = 0x10 };
	uint64_t base = (uint64_t)(uintptr_t)second_and_half - 0x10;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct call call = call_read(cases[i].number, cases[i].arguments, 0);

		if (memcmp(&call, &cases[i].wanted, sizeof(call)) != 0)
			fail_msg("case %zu", i);
	}
	assert_int_equal(call_read(101, sleep, base).sleep_ns, 1500000000);
	assert_int_equal(call_read(72, select, base).sleep_ns, 1500000000);
	assert_int_equal(call_read(73, poll, base).kind, CALL_SLEEPS);
	base = (uint64_t)(uintptr_t)nonsense - 0x10;
	assert_int_equal(call_read(101, sleep, base).sleep_ns, 0);
	assert_int_equal(call_returned(98), CALL_WAKES);
	assert_int_equal(call_returned(63), CALL_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),	  cmocka_unit_test(cut_lines_are_survived),
		cmocka_unit_test(own_mappings_are_found), cmocka_unit_test(spans_are_forgotten),
		cmocka_unit_test(calls_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
