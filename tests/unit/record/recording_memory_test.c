/* SPDX-License-Identifier: Apache-2.0 */
/* How large rings and buffers are, by the limits of the system; with a fake kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "recording_world.h"

static void memory_is_what_the_limit_allows(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, true);
	w.options.ring_bytes = 1 << 20;
	w.options.aux_bytes = 1 << 20;
	w.kernel.max_ring = 256 << 10;
	w.kernel.max_aux = 64 << 10;
	assert_int_equal(world_open(&w, 1, &err), 0);
	assert_int_equal(w.recording.streams.items[0].ring.size, 256 << 10);
	assert_int_equal(w.recording.streams.items[1].aux.size, 64 << 10);
	assert_int_equal(w.diags.list.n, 2);
	assert_non_null(strstr(w.diags.list.items[0].text, "ring buffers are too small"));
	assert_non_null(strstr(w.diags.list.items[1].text, "AUX buffers are below 1 MiB"));
	world_release(&w);

	/* A buffer below the default is no warning from 1 MiB on, nor if it was asked for. */
	world_make(&w, true);
	w.options.aux_bytes = 0;
	w.kernel.max_aux = 1 << 20;
	assert_int_equal(world_open(&w, 1, &err), 0);
	assert_int_equal(w.recording.streams.items[1].aux.size, 1 << 20);
	assert_int_equal(w.diags.list.n, 0);
	world_release(&w);

	world_make(&w, true);
	w.options.aux_bytes = w.kernel.max_aux = 64 << 10;
	assert_int_equal(world_open(&w, 1, &err), 0);
	assert_int_equal(w.recording.streams.items[1].aux.size, 64 << 10);
	assert_int_equal(w.diags.list.n, 0);
	world_release(&w);

	world_make(&w, false);
	w.kernel.max_ring = 4096;
	assert_int_equal(world_open(&w, 0, &err), -1);
	assert_non_null(strstr(err.text, "perf_event_mlock_kb"));
	world_release(&w);

	world_make(&w, true);
	w.kernel.max_aux = 4096;
	assert_int_equal(world_open(&w, 1, &err), -1);
	assert_non_null(strstr(err.text, "AUX buffer of CPU 1"));
	world_release(&w);
}

/* Room for half a second, between 1 and 32 MiB. */
static void memory_is_as_much_as_seems_right(void **state)
{
	static const struct {
		uint64_t period, wanted;
		bool is_frequency;
		uint32_t stack_bytes;
		size_t ring;
	} cases[] = {
		{ 1000, 0, false, 0, 1 << 20 },
		{ 4000, 0, true, 0, 1 << 20 },
		{ 100000, 0, true, 0, 2 << 20 },
		{ 1000000, 0, true, 8192, 32 << 20 },
		{ 1000, 1, false, 0, 64 << 10 },
		{ 1000, 1, false, 60000, 512 << 10 }, /* eight samples */
		{ 1000, 100000, false, 0, 128 << 10 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct attr *attr;
		struct world w;
		struct err err;

		world_make(&w, true);
		w.options.ring_bytes = cases[i].wanted;
		w.options.aux_bytes = 0;
		*vec_add(&w.events.list) = (struct record_event){
			.name = "dummy", .attr = world_sampling(), .leader = 2, .is_side_band = true
		};
		w.events.list.items[2].attr.sample_period = 0;
		attr = &w.events.list.items[1].attr;
		attr->sample_period = cases[i].period;
		attr->sample_stack_user = cases[i].stack_bytes;
		if (cases[i].is_frequency)
			attr_set(attr, ATTR_FREQ);
		assert_int_equal(world_open(&w, 1, &err), 0);
		assert_int_equal(w.recording.streams.items[0].ring.size, cases[i].ring);
		assert_int_equal(w.recording.streams.items[1].aux.size, 4 << 20);
		world_release(&w);
	}
}

static void memory_that_cannot_be_had_is_told(void **state)
{
	static const struct {
		int error;
		bool is_limit;
	} cases[] = { { EPERM, true }, { ENOMEM, true }, { EINVAL, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct err err;

		world_make(&w, false);
		w.kernel.map_error = cases[i].error;
		assert_int_equal(world_open(&w, 0, &err), -1);
		assert_non_null(strstr(err.text, "cannot map 64 KiB for the ring of CPU 0: "));
		assert_non_null(strstr(err.text, strerror(cases[i].error)));
		assert_int_equal(strstr(err.text, "ulimit -l") != NULL, cases[i].is_limit);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_what_the_limit_allows),
		cmocka_unit_test(memory_is_as_much_as_seems_right),
		cmocka_unit_test(memory_that_cannot_be_had_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
