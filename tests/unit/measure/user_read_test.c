/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a page that the test writes as the kernel would. */
#include "measure/user_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The bits are where the header has them. */
static void test_capabilities(void **state)
{
	struct perf_event_mmap_page page = { 0 };

	(void)state;
	page.cap_user_rdpmc = 1;
	assert_int_equal(page.capabilities, USER_RDPMC);
	page.cap_user_rdpmc = 0;
	page.cap_user_time = 1;
	assert_int_equal(page.capabilities, USER_TIME);
	page.cap_user_time = 0;
	page.cap_user_time_short = 1;
	assert_int_equal(page.capabilities, USER_TIME_SHORT);
}

/* What the fake counters and the clock are; they are asked through functions without context. */
static struct fake {
	struct perf_event_mmap_page page;
	uint64_t counter, clock;
	uint32_t index;	    /* that was asked for */
	unsigned n_changes; /* times that the kernel changes the page while it is read */
} fake;

static uint64_t fake_counter(uint32_t index)
{
	fake.index = index;
	if (fake.n_changes > 0) {
		fake.n_changes--;
		fake.page.lock += 2;
		fake.page.offset += 1000;
	}
	return fake.counter;
}

static uint64_t fake_clock(void)
{
	return fake.clock;
}

static const struct user_counters cpu = { fake_counter, fake_clock };

static int fake_reset(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.page.cap_user_rdpmc = 1;
	fake.page.cap_user_time = 1;
	fake.page.index = 3;
	fake.page.pmc_width = 48;
	fake.page.time_mult = 1;
	return 0;
}

static void test_value_is_offset_and_counter(void **state)
{
	static const struct {
		uint16_t width;
		int64_t offset;
		uint64_t counter, value;
	} cases[] = {
		{ 48, 0, 5, 5 },
		{ 48, 100, 5, 105 },
		/* a sampling or overflow period starts below zero */
		{ 48, 1000, 0xffffffffffffull, 999 },
		{ 48, 0x7fffffffff, 0xffff80000000ull, 0x7f7fffffff },
		{ 32, 0x80000000, 0x80000000, 0 },
		{ 32, 0x80000000, 0xffffffff, 0x7fffffff },
		{ 32, 0x80000000, 0x1, 0x80000001 },
		/* only as many bits as the counter has */
		{ 32, 0, 0x100000007ull, 7 },
		/* extended by the kernel through the offset */
		{ 32, 0x580000000, 0x80000005, 0x500000005 },
		{ 64, 7, 0xfffffffffffffff0ull, (uint64_t)-9 },
	};
	struct user_reading r = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.page.pmc_width = cases[i].width;
		fake.page.offset = cases[i].offset;
		fake.counter = cases[i].counter;
		assert_true(user_read(&fake.page, &cpu, false, &r));
		if (r.value != cases[i].value)
			fail_msg("case %zu: %#llx", i, (unsigned long long)r.value);
	}
	assert_int_equal(fake.index, 2);
}

static void test_a_change_is_read_again(void **state)
{
	struct user_reading r = { 0 };

	(void)state;
	fake.counter = 1;
	fake.n_changes = 3;
	assert_true(user_read(&fake.page, &cpu, false, &r));
	assert_int_equal(r.value, 3001);
}

static void test_no_counter_now(void **state)
{
	struct user_reading r = { 0 };

	(void)state;
	fake.page.index = 0;
	assert_false(user_read(&fake.page, &cpu, false, &r));
	fake.page.index = 3;
	fake.page.cap_user_rdpmc = 0;
	assert_false(user_read(&fake.page, &cpu, false, &r));
	fake.page.cap_user_rdpmc = 1;
	assert_true(user_read(&fake.page, &cpu, false, &r));
}

static void test_times(void **state)
{
	struct user_reading r = { 0 };
	uint64_t enabled_ns, running_ns;

	(void)state;
	fake.page.time_enabled = 5000;
	fake.page.time_running = 4000;
	fake.page.time_shift = 10;
	fake.page.time_mult = 3 << 10;
	fake.page.time_offset = (uint64_t)-300;
	fake.clock = 200;
	assert_true(user_read(&fake.page, &cpu, true, &r));
	/* the page may have changed when the times are wanted */
	fake.page.time_enabled = 9000;
	fake.page.time_offset = 0;
	user_times(&fake.page, &r, &enabled_ns, &running_ns);
	assert_int_equal(enabled_ns, 5000 + 3 * 200 - 300);
	assert_int_equal(running_ns, 4000 + 3 * 200 - 300);
	/* a clock of few bits that has wrapped */
	fake.page.cap_user_time_short = 1;
	fake.page.time_mask = 0xff;
	fake.page.time_cycles = 0xf0;
	fake.clock = 0x10;
	assert_true(user_read(&fake.page, &cpu, true, &r));
	user_times(&fake.page, &r, &enabled_ns, &running_ns);
	assert_int_equal(enabled_ns, 9000 + 3 * 0x110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test_setup(test_value_is_offset_and_counter, fake_reset),
		cmocka_unit_test_setup(test_a_change_is_read_again, fake_reset),
		cmocka_unit_test_setup(test_no_counter_now, fake_reset),
		cmocka_unit_test_setup(test_times, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
