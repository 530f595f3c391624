/* SPDX-License-Identifier: Apache-2.0 */
/* Which events are opened, and their rings and buffers; with a fake kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "recording_world.h"

static void events_of_a_cpu_share_a_ring(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, true);
	assert_int_equal(world_open(&w, 1, &err), 0);
	/* CPU 0: clock for both threads; CPU 1: SPE and clock for both. */
	assert_int_equal(w.kernel.n_events, 6);
	assert_int_equal(w.recording.streams.n, 2);
	assert_int_equal(w.recording.n_live, 4);
	for (int i = 0; i < 6; i++) {
		const struct fake_event *e = &w.kernel.events[i];
		int owner = e->cpu == 0 ? FAKE_FIRST_FD : FAKE_FIRST_FD + 2;

		assert_int_equal(e->output, i == 0 || i == 2 ? -1 : owner);
		assert_int_equal(e->pid, i == 0 || i == 2 || i == 3 ? 5 : 6);
		assert_true(attr_has(&e->attr, ATTR_WATERMARK));
		assert_int_equal(e->attr.wakeup, WORLD_RING_BYTES / 4);
	}
	assert_true(w.kernel.events[2].is_aux_writable);
	assert_int_equal(w.kernel.events[2].aux_size, WORLD_AUX_BYTES);
	assert_int_equal(w.recording.fds.items[3].id, (FAKE_FIRST_FD + 3) * 10);
	world_release(&w);
}

/* Threads may start and map code on CPUs where no samples are taken. */
static void other_cpus_have_the_side_band_alone(void **state)
{
	const int32_t threads[] = { 5, 6 };
	const struct cpu_list cpus = { .items = (struct cpu_range[]){ { 1, 1 } }, .n = 1 };
	const struct cpu_list online = { .items = (struct cpu_range[]){ { 0, 2 } }, .n = 1 };
	struct record_event *dummy;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, true);
	w.options.ring_bytes = 4 << 20;
	dummy = vec_add(&w.events.list);
	*dummy = (struct record_event){
		.name = "dummy", .attr = world_sampling(), .leader = 2, .is_side_band = true
	};
	attr_set(&dummy->attr, ATTR_CONTEXT_SWITCH);
	assert_int_equal(
		recording_open(&w.recording, threads, COUNT(threads), &cpus, &online, &err), 0);
	assert_int_equal(w.kernel.n_events, 10);
	assert_int_equal(w.recording.streams.n, 3);
	assert_int_equal(w.recording.n_live, 6);
	for (int i = 0; i < 10; i++) {
		const struct fake_event *e = &w.kernel.events[i];
		size_t event = w.recording.fds.items[i].event;

		/* CPU 1: SPE, clock and dummy for both threads; CPUs 0 and 2: dummy for both. */
		assert_int_equal(e->cpu, i < 6 ? 1 : i < 8 ? 0 : 2);
		assert_int_equal(event, i < 6 ? i % 3 : 2);
		assert_int_equal(e->pid, i == 3 || i == 4 || i == 5 || i == 7 || i == 9 ? 6 : 5);
		assert_int_equal(attr_has(&e->attr, ATTR_CONTEXT_SWITCH), event == 2 && i < 6);
		assert_int_equal(e->attr.wakeup, (event == 2 ? 1 << 20 : 4 << 20) / 4);
	}
	assert_int_equal(w.recording.streams.items[0].ring.size, 4 << 20);
	assert_int_equal(w.recording.streams.items[1].ring.size, 1 << 20);
	assert_int_equal(w.recording.streams.items[2].ring.size, 1 << 20);
	recording_enable_side_band(&w.recording);
	for (int i = 0; i < 10; i++)
		assert_int_equal(w.kernel.events[i].is_enabled,
				 w.recording.fds.items[i].event == 2);
	world_release(&w);
}

static void members_follow_their_leader(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	*vec_add(&w.events.list) = (struct record_event){ .name = "b", .attr = world_sampling() };
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_int_equal(w.kernel.n_events, 4);
	assert_int_equal(w.kernel.events[0].group, -1);
	assert_int_equal(w.kernel.events[1].group, FAKE_FIRST_FD);
	assert_int_equal(w.kernel.events[3].group, FAKE_FIRST_FD + 2);
	world_release(&w);
}

/* Members whose leader is missing on this CPU, or for this thread, lead themselves. */
static void members_without_a_leader_stand_alone(void **state)
{
	const struct pmu first_cpu = {
		.name = "first",
		.cpus = { .items = (struct cpu_range[]){ { 0, 0 } }, .n = 1 },
	};
	static const struct pmu any_cpu = { .name = "any" };
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	w.events.list.items[0].pmu = &first_cpu;
	*vec_add(&w.events.list) =
		(struct record_event){ .name = "b", .attr = world_sampling(), .pmu = &any_cpu };
	assert_int_equal(world_open(&w, 1, &err), 0);
	assert_int_equal(w.kernel.n_events, 6); /* two for each thread on CPU 0, one on CPU 1 */
	assert_int_equal(w.kernel.events[1].group, FAKE_FIRST_FD);
	assert_int_equal(w.kernel.events[3].group, FAKE_FIRST_FD + 2);
	assert_int_equal(w.kernel.events[4].group, -1);
	assert_int_equal(w.kernel.events[5].group, -1);
	assert_true(w.recording.fds.items[4].is_leader);
	world_release(&w);

	world_make(&w, false);
	attr_set(&w.events.list.items[0].attr, ATTR_PINNED);
	*vec_add(&w.events.list) = (struct record_event){ .name = "b", .attr = world_sampling() };
	w.kernel.refusals[0].error = ESRCH;
	w.kernel.refusals[0].pid = 6;
	w.kernel.refusals[0].flags = BIT(ATTR_PINNED);
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_int_equal(w.kernel.n_events, 3);
	assert_int_equal(w.kernel.events[2].pid, 6);
	assert_int_equal(w.kernel.events[2].group, -1);
	world_release(&w);
}

static void what_is_refused_is_given_up(void **state)
{
	static const struct {
		int error;
		uint64_t flags, read_format, precise;
		bool names_modes;
		bool is_opened, is_told;
	} cases[] = {
		{ EINVAL, 0, BIT(READ_LOST), 0, false, true, false },
		{ EINVAL, BIT(ATTR_BUILD_ID), 0, 0, false, true, false },
		{ EINVAL, BIT(ATTR_KSYMBOL), 0, 0, false, true, false },
		{ EINVAL, BIT(ATTR_BPF_EVENT), 0, 0, false, true, false },
		{ EINVAL, BIT(ATTR_NAMESPACES), 0, 0, false, true, false },
		{ EACCES, BIT(ATTR_NAMESPACES), 0, 0, false, true, false },
		{ EINVAL, BIT(ATTR_EXCLUDE_GUEST), 0, 0, false, true, false },
		{ EOPNOTSUPP, 0, 0, 1, false, true, false },
		{ EOPNOTSUPP, 0, 0, 3, false, true, false },
		{ EINVAL, BIT(ATTR_SAMPLE_ID_ALL), 0, 0, false, false, false },
		{ EACCES, BIT(ATTR_SAMPLE_ID_ALL), 0, 0, true, false, false },
		{ ENOENT, 0, BIT(READ_LOST), 0, false, false, false },
		{ EMFILE, 0, BIT(READ_LOST), 0, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct record_event *e;
		struct world w;
		struct err err;
		int rc;

		world_make(&w, false);
		e = &w.events.list.items[0];
		e->wants_precise = true;
		e->names_modes = cases[i].names_modes;
		e->attr.flags |= BIT(ATTR_BUILD_ID) | BIT(ATTR_KSYMBOL) | BIT(ATTR_BPF_EVENT) |
				 BIT(ATTR_NAMESPACES) | BIT(ATTR_EXCLUDE_GUEST) |
				 (uint64_t)3 << ATTR_PRECISE_IP;
		w.kernel.refusals[0].error = cases[i].error;
		w.kernel.refusals[0].flags = cases[i].flags;
		w.kernel.refusals[0].read_format = cases[i].read_format;
		w.kernel.refusals[0].precise = cases[i].precise;
		rc = world_open(&w, 0, &err);
		assert_int_equal(rc, cases[i].is_opened ? 0 : -1);
		assert_int_equal(e->attr.flags & cases[i].flags,
				 cases[i].is_opened ? 0 : cases[i].flags);
		if (cases[i].is_opened && cases[i].precise > 0)
			assert_int_equal(e->attr.flags >> ATTR_PRECISE_IP & 3,
					 cases[i].precise - 1);
		if (!cases[i].is_opened)
			assert_non_null(strstr(err.text, "clock"));
		world_release(&w);
	}
}

static void the_kernel_is_left_out_where_it_must_be(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	/*
	 * The fake kernel refuses attrs by bits that are set. Here the refusal is to end when
	 * exclude_kernel is set, so it is ended by hand: first nothing is allowed.
	 */
	w.kernel.refusals[0].error = EACCES;
	w.kernel.refusals[0].flags = BIT(ATTR_SAMPLE_ID_ALL);
	assert_int_equal(world_open(&w, 0, &err), -1);
	assert_true(attr_has(&w.events.list.items[0].attr, ATTR_EXCLUDE_KERNEL));
	assert_int_equal(w.diags.list.n, 1);
	assert_non_null(strstr(w.diags.list.items[0].text, "kernel code is not recorded"));
	world_release(&w);
}

static void threads_that_have_ended_are_passed_over(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	w.kernel.refusals[0].error = ESRCH;
	w.kernel.refusals[0].pid = 5;
	assert_int_equal(world_open(&w, 1, &err), 0);
	assert_int_equal(w.kernel.n_events, 2);
	assert_int_equal(w.recording.n_live, 2);
	world_release(&w);

	world_make(&w, false);
	w.kernel.refusals[0].error = w.kernel.refusals[1].error = ESRCH;
	w.kernel.refusals[0].pid = 5;
	w.kernel.refusals[1].pid = 6;
	assert_int_equal(world_open(&w, 1, &err), -1);
	assert_non_null(strstr(err.text, "the threads have ended"));
	world_release(&w);
}

static void as_many_files_as_allowed_are_opened(void **state)
{
	struct rlimit limit, old;
	struct world w;
	struct err err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	limit = (struct rlimit){ .rlim_cur = 64, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int again = 0; again < 2; again++) {
		world_make(&w, false);
		assert_int_equal(world_open(&w, 0, &err), 0);
		world_release(&w);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(limit.rlim_cur, limit.rlim_max);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void other_failures_are_told(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	w.kernel.fails_id = true;
	assert_int_equal(world_open(&w, 0, &err), -1);
	assert_non_null(strstr(err.text, "no id"));
	world_release(&w);

	world_make(&w, false);
	w.kernel.fails_output = true;
	assert_int_equal(world_open(&w, 0, &err), -1);
	assert_non_null(strstr(err.text, "cannot share the ring of CPU 0"));
	world_release(&w);
}

static void stacks_for_callers_are_dispensable(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	for (int is_for_callers = 0; is_for_callers < 2; is_for_callers++) {
		struct attr attr = world_sampling();

		world_make(&w, true);
		attr_set(&attr, ATTR_TASK);
		*vec_add(&w.events.list) =
			(struct record_event){ .name = "cycles",
					       .attr = attr,
					       .leader = 2,
					       .is_for_callers = is_for_callers };
		w.kernel.refusals[0].error = ENOENT;
		w.kernel.refusals[0].flags = BIT(ATTR_TASK);
		assert_int_equal(world_open(&w, 1, &err), is_for_callers - 1);
		if (is_for_callers) {
			/* two threads: clock on two CPUs, SPE on one */
			assert_int_equal(w.recording.fds.n, 6);
			assert_int_equal(w.diags.list.n, 1);
			assert_int_equal(w.diags.list.items[0].n, 1);
			assert_non_null(strstr(w.diags.list.items[0].text, "no stacks of cycles"));
		} else {
			assert_non_null(strstr(err.text, "cycles"));
		}
		world_release(&w);
	}
}

static void side_band_is_enabled_by_itself(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	*vec_add(&w.events.list) = (struct record_event){
		.name = "dummy", .attr = world_sampling(), .leader = 1, .is_side_band = true
	};
	assert_int_equal(world_open(&w, 0, &err), 0);
	recording_enable_side_band(&w.recording);
	assert_true(w.kernel.events[1].is_enabled && !w.kernel.events[0].is_enabled);
	recording_enable(&w.recording);
	assert_true(w.kernel.events[0].is_enabled);
	recording_disable(&w.recording);
	assert_false(w.kernel.events[0].is_enabled || w.kernel.events[1].is_enabled);
	world_release(&w);
}

static void events_that_end_are_not_waited_for(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_true(recording_wait(&w.recording, 0));
	w.kernel.revents[0] = POLLIN;
	assert_true(recording_wait(&w.recording, 0));
	w.kernel.revents[0] = POLLHUP;
	assert_true(recording_wait(&w.recording, 0));
	assert_int_equal(w.recording.n_live, 1);
	w.kernel.revents[1] = POLLIN | POLLHUP;
	assert_false(recording_wait(&w.recording, 0));
	assert_false(recording_wait(&w.recording, 0));
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_a_cpu_share_a_ring),
		cmocka_unit_test(other_cpus_have_the_side_band_alone),
		cmocka_unit_test(members_follow_their_leader),
		cmocka_unit_test(members_without_a_leader_stand_alone),
		cmocka_unit_test(what_is_refused_is_given_up),
		cmocka_unit_test(the_kernel_is_left_out_where_it_must_be),
		cmocka_unit_test(threads_that_have_ended_are_passed_over),
		cmocka_unit_test(as_many_files_as_allowed_are_opened),
		cmocka_unit_test(other_failures_are_told),
		cmocka_unit_test(stacks_for_callers_are_dispensable),
		cmocka_unit_test(side_band_is_enabled_by_itself),
		cmocka_unit_test(events_that_end_are_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
