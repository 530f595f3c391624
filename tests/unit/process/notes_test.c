/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged records: cut at each byte, and of types that have no such body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "fixture.h"

/* The shortest sound body of each type that is read. */
static const struct {
	uint32_t type;
	size_t size;
} sound[] = {
	{ RECORD_MMAP, 33 },	  { RECORD_MMAP2, 65 },		 { RECORD_COMM, 9 },
	{ RECORD_FORK, 24 },	  { RECORD_EXIT, 24 },		 { RECORD_KSYMBOL, 17 },
	{ RECORD_SWITCH, 0 },	  { RECORD_SWITCH_CPU_WIDE, 8 }, { RECORD_ITRACE_START, 8 },
	{ RECORD_NAMESPACES, 8 },
};

/* An exact copy on the heap, so that a read past its end is noticed. */
static uint64_t damage_of(uint32_t type, const uint8_t *bytes, size_t size)
{
	const struct sample_id id = { .has = HAS_TIME | HAS_CPU, .time_ns = 5 };
	uint8_t *copy = mem_alloc(size + 1, 1);
	struct fixture f;
	uint64_t n = 0;

	memcpy(copy, bytes, size);
	copy = mem_resize(copy, size > 0 ? size : 1, 1);
	fixture_init(&f);
	feed_bytes(&f, type, 0, copy, size, &id);
	fixture_freeze(&f);
	for (size_t i = 0; i < timeline_diags(f.timeline)->list.n; i++)
		n += timeline_diags(f.timeline)->list.items[i].n;
	fixture_release(&f);
	free(copy);
	return n;
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sound); i++) {
		uint8_t bytes[80];

		memset(bytes, 1, sizeof(bytes));
		bytes[sound[i].size > 0 ? sound[i].size - 1 : 0] = 0;
		for (size_t size = 0; size <= sound[i].size; size++)
			assert_int_equal(damage_of(sound[i].type, bytes, size),
					 size < sound[i].size);
	}
}

static void test_all_types(void **state)
{
	const uint8_t bytes[80] = { 0 };

	(void)state;
	for (uint32_t type = 0; type < N_RECORD_TYPES + 2; type++)
		assert_int_equal(damage_of(type, bytes, sizeof(bytes)), 0);
}

/* Any record tells the process of its thread; the end of time is a time like others. */
static void test_own_thread(void **state)
{
	const struct sample_id id = {
		.has = HAS_PID | HAS_TID | HAS_TIME,
		.pid = 7,
		.tid = 8,
		.time_ns = UINT64_MAX,
	};
	struct fixture f;

	(void)state;
	fixture_init(&f);
	feed_bytes(&f, RECORD_AUX, 0, "", 0, &id);
	feed_fork(&f, UINT64_MAX, 9, 9, 7, 8);
	fixture_freeze(&f);
	assert_int_equal(pid_of(&f, 8, 5), 7);
	assert_int_equal(pid_of(&f, 9, 5), -1);
	assert_int_equal(pid_of(&f, 9, UINT64_MAX - 1), 9);
	assert_int_equal(pid_of(&f, 9, TIMELINE_NO_TIME), 9);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_all_types),
		cmocka_unit_test(test_own_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
