/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/handles.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static void groups_are_read_and_never_past_their_end(void **state)
{
	static const uint64_t words[] = { 3, 1000, 900, 10, 20, 30 };
	struct reading out[GROUP_MAX];

	(void)state;
	assert_int_equal(readings_parse(words, sizeof(words), out), 3);
	assert_int_equal(out[0].value, 10);
	assert_int_equal(out[2].value, 30);
	assert_int_equal(out[1].enabled_ns, 1000);
	assert_int_equal(out[1].running_ns, 900);
	for (size_t size = 0; size < sizeof(words); size++)
		assert_int_equal(readings_parse(words, size, out), 0);
}

static void absurd_numbers_of_events_are_refused(void **state)
{
	static const uint64_t counts[] = { GROUP_MAX + 1, UINT32_MAX, UINT64_MAX, 1ull << 61 };
	uint64_t words[8] = { 0 };
	struct reading out[GROUP_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		words[0] = counts[i];
		assert_int_equal(readings_parse(words, sizeof(words), out), 0);
	}
}

/* An event that no kernel has stands between two that each has. */
static void what_cannot_be_opened_is_left_out(void **state)
{
	struct event_spec specs[3] = {
		{ .name = "faults", .attr = { .type = ATTR_TYPE_SOFTWARE, .config = 2 } },
		{ .name = "none", .attr = { .type = ATTR_TYPE_SOFTWARE, .config = 9999 } },
		{ .name = "clock", .attr = { .type = ATTR_TYPE_SOFTWARE, .config = 1 } },
	};
	static const uint32_t events[] = { 1, 0, 2 };
	struct target_place place = { .cpu = -1, .tid = -1 };
	struct opening opening = {
		.specs = specs,
		.events = events,
		.n_events = 3,
		.group = 7,
		.place = &place,
		.next_group = 100,
		.user_only = true,
	};
	struct handles handles = { 0 };
	struct open_outcome outcomes[3] = { { 0 } };
	struct reading out[GROUP_MAX];
	struct err err;
	size_t n;

	(void)state;
	assert_int_equal(handles_open(&handles, &opening, outcomes, "", &err), 0);
	if (outcomes[0].error == EACCES || outcomes[0].error == EPERM ||
	    outcomes[0].error == ENOSYS)
		skip();
	assert_int_equal(outcomes[0].error, 0);
	assert_int_equal(outcomes[1].error, ENOENT);
	assert_int_equal(outcomes[2].error, 0);
	assert_int_equal(handles.list.n, 2);
	assert_true(handles.list.items[0].is_leader);
	assert_false(handles.list.items[1].is_leader);
	assert_int_equal(handles.list.items[0].event, 0);
	assert_int_equal(handles.list.items[1].group, 7);

	assert_true(handles_read(&handles, 0, out, &n));
	assert_int_equal(n, 2);
	assert_int_equal(out[1].enabled_ns, 0);
	handles_start(&handles);
	for (volatile int i = 0; i < 100000; i++)
		;
	handles_stop(&handles);
	assert_true(handles_read(&handles, 0, out, &n));
	assert_true(out[1].value > 0);
	assert_true(out[1].enabled_ns > 0 && out[1].running_ns == out[1].enabled_ns);
	handles_release(&handles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_read_and_never_past_their_end),
		cmocka_unit_test(absurd_numbers_of_events_are_refused),
		cmocka_unit_test(what_cannot_be_opened_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
