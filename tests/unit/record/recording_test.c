/* SPDX-License-Identifier: Apache-2.0 */
/* Events, rings and AUX buffers, with a fake kernel. */
#include "record/recording.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/capture.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "fake_kernel.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { SAMPLE_BYTES = 40, RING = 64 << 10, AUX = 8 << 10 };

static const struct pmu spe_pmu_1 = {
	.name = "arm_spe_0",
	.type = 9,
	.cpus = { .items = (struct cpu_range[]){ { 1, 1 } }, .n = 1 },
};

/* SPE on CPU 1 alone, and an event on all CPUs. */
struct world {
	struct fake_kernel kernel;
	struct record_options options;
	struct record_events events;
	struct diags diags;
	struct recording recording;
	struct writer *writer;
	char path[64];
};

static struct attr sampling(void)
{
	return (struct attr){
		.type = 1,
		.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TID) |
			       BIT(SAMPLE_TIME),
		.flags = BIT(ATTR_SAMPLE_ID_ALL),
		.read_format = BIT(READ_ID) | BIT(READ_LOST),
		.sample_period = 1000,
	};
}

static void world_make(struct world *w, bool has_spe)
{
	*w = (struct world){ .options = { .ring_bytes = RING, .aux_bytes = AUX } };
	fake_kernel_init(&w->kernel);
	w->kernel.now_ns = 77;
	if (has_spe)
		*vec_add(&w->events.list) = (struct record_event){
			.name = "arm_spe_0//", .attr = sampling(), .pmu = &spe_pmu_1, .is_spe = true
		};
	*vec_add(&w->events.list) =
		(struct record_event){ .name = "clock", .attr = sampling(), .leader = has_spe };
	w->recording = (struct recording){
		.kernel = &w->kernel.kernel,
		.options = &w->options,
		.root = "",
		.diags = &w->diags,
		.events = &w->events,
	};
}

static int world_open(struct world *w, uint32_t last_cpu, struct err *err)
{
	const int32_t threads[] = { 5, 6 };
	struct cpu_list cpus = { .items = (struct cpu_range[]){ { 0, last_cpu } }, .n = 1 };

	return recording_open(&w->recording, threads, COUNT(threads), &cpus, &cpus, err);
}

static void world_write(struct world *w)
{
	const struct writer_event event = { .attr = sampling(), .name = "clock" };
	struct err err;
	int fd;

	strcpy(w->path, "/tmp/cyclops-recording-XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(writer_open(w->path, &event, 1, &w->writer, &err), 0);
}

static void world_release(struct world *w)
{
	recording_release(&w->recording);
	for (int i = 0; i < w->kernel.n_events; i++)
		assert_true(w->kernel.events[i].is_closed);
	record_events_release(&w->events);
	diags_release(&w->diags);
	fake_kernel_release(&w->kernel);
	if (w->writer != NULL)
		writer_abandon(w->writer);
}

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
		assert_int_equal(e->attr.wakeup, RING / 4);
	}
	assert_true(w.kernel.events[2].is_aux_writable);
	assert_int_equal(w.kernel.events[2].aux_size, AUX);
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
		.name = "dummy", .attr = sampling(), .leader = 2, .is_side_band = true
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
	*vec_add(&w.events.list) = (struct record_event){ .name = "b", .attr = sampling() };
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_int_equal(w.kernel.n_events, 4);
	assert_int_equal(w.kernel.events[0].group, -1);
	assert_int_equal(w.kernel.events[1].group, FAKE_FIRST_FD);
	assert_int_equal(w.kernel.events[3].group, FAKE_FIRST_FD + 2);
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
	assert_non_null(strstr(w.diags.list.items[0].text, "rings are smaller"));
	assert_non_null(strstr(w.diags.list.items[1].text, "AUX buffers are smaller than 1 MiB"));
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
			.name = "dummy", .attr = sampling(), .leader = 2, .is_side_band = true
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
		(struct record_event){ .name = "b", .attr = sampling(), .pmu = &any_cpu };
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
	*vec_add(&w.events.list) = (struct record_event){ .name = "b", .attr = sampling() };
	w.kernel.refusals[0].error = ESRCH;
	w.kernel.refusals[0].pid = 6;
	w.kernel.refusals[0].flags = BIT(ATTR_PINNED);
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_int_equal(w.kernel.n_events, 3);
	assert_int_equal(w.kernel.events[2].pid, 6);
	assert_int_equal(w.kernel.events[2].group, -1);
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

/* IDENTIFIER, IP, TID, TIME */
static void put_sample(struct world *w, uint64_t number, uint64_t time_ns)
{
	uint8_t record[SAMPLE_BYTES] = { 0 };

	store_u32(record, RECORD_SAMPLE);
	store_u16(record + 6, SAMPLE_BYTES);
	store_u64(record + 16, number);
	store_u64(record + 32, time_ns);
	fake_ring_put(&w->kernel.events[0], record, sizeof(record));
}

static void put_words(struct world *w, uint32_t type, const uint64_t *words, size_t n)
{
	uint8_t record[64] = { 0 };

	store_u32(record, type);
	store_u16(record + 6, (uint16_t)(8 + 8 * n));
	for (size_t i = 0; i < n; i++)
		store_u64(record + 8 + 8 * i, words[i]);
	fake_ring_put(&w->kernel.events[0], record, 8 + 8 * n);
}

static void records_come_out_as_they_went_in(void **state)
{
	struct world w;
	struct err err;
	uint64_t n = 0, lost = 0;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	world_write(&w);
	assert_int_equal(recording_drain(&w.recording, w.writer), 0);
	for (uint64_t round = 0; round < 300; round++) {
		uint64_t before = writer_size(w.writer), bytes = 0;

		for (uint64_t i = 0; i < round % 50; i++, n++, bytes += SAMPLE_BYTES)
			put_sample(&w, n, 1000 - round + i);
		put_words(&w, RECORD_LOST, (const uint64_t[]){ 1000, round }, 2);
		lost += round;
		assert_int_equal(recording_drain(&w.recording, w.writer), bytes + 24);
		assert_int_equal(writer_size(w.writer) - before,
				 bytes + 24 + 8); /* and the FINISHED_ROUND record */
		assert_int_equal(w.kernel.events[0].page->data_tail,
				 w.kernel.events[0].page->data_head);
	}
	assert_int_equal(w.recording.n_samples, n);
	assert_int_equal(w.recording.n_records_lost, lost);
	assert_int_equal(w.recording.last_ns, 1000 - 49 + 48);
	assert_int_equal(w.recording.first_ns, 1000 - 299);
	world_release(&w);
}

static void aux_records_are_counted(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	world_write(&w);
	for (uint64_t flags = 0; flags < 16; flags++)
		put_words(&w, RECORD_AUX, (const uint64_t[]){ 0, 64, flags }, 3);
	put_words(&w, RECORD_AUX, (const uint64_t[]){ 0, 64 }, 2); /* truncated: not counted */
	put_words(&w, RECORD_LOST, NULL, 0);
	recording_drain(&w.recording, w.writer);
	assert_int_equal(w.recording.n_aux_truncated, 8);
	assert_int_equal(w.recording.n_aux_collided, 8);
	assert_int_equal(w.recording.n_records_lost, 0);
	put_words(&w, RECORD_COMM, NULL, 0);
	w.kernel.events[0].page->data_head += 8; /* zeros are no record and no endless loop */
	assert_int_equal(recording_drain(&w.recording, w.writer), 16);
	world_release(&w);
}

/* Records that no kernel writes are skipped; those before are counted. */
static void odd_records_are_not_looked_into(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	world_write(&w);
	put_words(&w, RECORD_SAMPLE, (const uint64_t[]){ 1, 2, 3 }, 3); /* no time in it */
	recording_drain(&w.recording, w.writer);
	assert_int_equal(w.recording.n_samples, 1);
	assert_int_equal(w.recording.last_ns, 0);
	put_sample(&w, 1, 50);
	fake_ring_put(&w.kernel.events[0], (const uint8_t[]){ 9, 0, 0, 0, 0, 0, 0, 4 }, 8);
	assert_int_equal(recording_drain(&w.recording, w.writer), SAMPLE_BYTES + 8);
	assert_int_equal(w.recording.n_samples, 2);
	assert_int_equal(w.recording.last_ns, 50);
	world_release(&w);

	world_make(&w, false);
	w.events.list.items[0].attr.sample_type = BIT(SAMPLE_IP);
	assert_int_equal(world_open(&w, 0, &err), 0);
	world_write(&w);
	put_sample(&w, 1, 50);
	recording_drain(&w.recording, w.writer);
	assert_int_equal(w.recording.n_samples, 1);
	assert_int_equal(w.recording.last_ns, 0);
	world_release(&w);
}

/* The file's bytes behind `from`. */
static uint8_t *file_bytes(struct world *w, uint64_t from, size_t *out_n)
{
	FILE *file;
	uint8_t *bytes = mem_zalloc(1 << 20, 1);

	writer_checkpoint(w->writer);
	file = fopen(w->path, "rb");
	assert_non_null(file);
	fseek(file, (long)from, SEEK_SET);
	*out_n = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/*
 * perf's record of AUX data (tools/perf/util/auxtrace.c): 48 bytes, then the data in order, padded
 * to 8 bytes.
 */
static void expect_chunk(const uint8_t *at, uint64_t position, const uint8_t *data, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7;

	assert_int_equal(load_u32(at), 71);
	assert_int_equal(load_u16(at + 4), 0);
	assert_int_equal(load_u16(at + 6), 48);
	assert_int_equal(load_u64(at + 8), padded);
	assert_int_equal(load_u64(at + 16), position);
	assert_int_equal(load_u64(at + 24), 77); /* the CPU clock event */
	assert_int_equal(load_u32(at + 32), 1);	 /* number of the ring */
	assert_int_equal(load_u32(at + 36), UINT32_MAX);
	assert_int_equal(load_u32(at + 40), 1); /* CPU */
	assert_int_equal(load_u32(at + 44), 0);
	assert_memory_equal(at + 48, data, size);
	for (size_t i = size; i < padded; i++)
		assert_int_equal(at[48 + i], 0);
}

static void aux_data_comes_out_as_it_went_in(void **state)
{
	uint8_t data[6000];
	uint64_t position = 0;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, true);
	assert_int_equal(world_open(&w, 1, &err), 0);
	world_write(&w);
	for (size_t round = 1; round < 40; round++) {
		size_t size = round * 157 % sizeof(data) + 1, n;
		uint64_t before = writer_size(w.writer);
		uint8_t *bytes;

		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)(i * 7 + round);
		fake_aux_put(&w.kernel.events[2], data, size);
		assert_int_equal(recording_drain(&w.recording, w.writer), size);
		bytes = file_bytes(&w, before, &n);
		expect_chunk(bytes, position, data, size);
		free(bytes);
		position += size;
		assert_int_equal(w.kernel.events[2].page->aux_tail, position);
	}
	assert_int_equal(w.recording.aux_bytes, position);
	recording_hold_spe(&w.recording, false);
	assert_true(w.kernel.events[2].is_enabled && w.kernel.events[4].is_enabled);
	assert_false(w.kernel.events[3].is_enabled);
	recording_hold_spe(&w.recording, true);
	assert_false(w.kernel.events[2].is_enabled);
	world_release(&w);
}

/* As the kernel does it: events 2 and 4 have a full buffer, and are stopped. */
static void fill_up(struct world *w)
{
	static const uint8_t data[64] = { 1 };

	fake_aux_put(&w->kernel.events[2], data, sizeof(data));
	w->kernel.events[2].is_enabled = w->kernel.events[4].is_enabled = false;
	w->kernel.events[3].is_enabled = false;
}

static void spe_that_was_stopped_goes_on(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, true);
	assert_int_equal(world_open(&w, 1, &err), 0);
	world_write(&w);
	/* Without data no event is started: the program may not have started yet. */
	recording_drain(&w.recording, w.writer);
	assert_false(w.kernel.events[2].is_enabled);
	recording_enable(&w.recording);
	fill_up(&w);
	recording_drain(&w.recording, w.writer);
	assert_true(w.kernel.events[2].is_enabled && w.kernel.events[4].is_enabled);
	assert_false(w.kernel.events[3].is_enabled);

	recording_hold_spe(&w.recording, true);
	fill_up(&w);
	recording_drain(&w.recording, w.writer);
	assert_false(w.kernel.events[2].is_enabled || w.kernel.events[4].is_enabled);
	recording_hold_spe(&w.recording, false);
	assert_true(w.kernel.events[2].is_enabled && w.kernel.events[4].is_enabled);

	recording_disable(&w.recording);
	fill_up(&w);
	recording_drain(&w.recording, w.writer);
	assert_false(w.kernel.events[2].is_enabled || w.kernel.events[4].is_enabled);
	world_release(&w);
}

static void expect_snapshot(struct world *w, uint64_t position, const uint8_t *data, size_t size)
{
	uint64_t before = writer_size(w->writer);
	uint8_t *bytes;
	size_t n;

	recording_snapshot(&w->recording, w->writer);
	if (size == 0) {
		assert_int_equal(writer_size(w->writer), before);
		return;
	}
	bytes = file_bytes(w, before, &n);
	expect_chunk(bytes, position, data, size);
	free(bytes);
}

/* The kernel overwrites old bytes. Its head is an offset, or with `counts_on` a position. */
static void snapshots_hold_the_last_of_it(void **state)
{
	(void)state;
	for (int counts_on = 0; counts_on < 2; counts_on++) {
		uint8_t data[3 * AUX];
		struct world w;
		struct err err;

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)(i % 251 + 1);
		world_make(&w, true);
		w.options.is_snapshot = true;
		assert_int_equal(world_open(&w, 1, &err), 0);
		assert_false(w.kernel.events[2].is_aux_writable);
		world_write(&w);
		expect_snapshot(&w, 0, data, 0);
		fake_aux_put(&w.kernel.events[2], data, 1000);
		assert_int_equal(recording_drain(&w.recording, w.writer), 0);
		expect_snapshot(&w, 0, data, 1000);
		expect_snapshot(&w, 0, data, 0); /* nothing new */
		fake_aux_put(&w.kernel.events[2], data + 1000, 512);
		expect_snapshot(&w, 1000, data + 1000, 512);
		/* Around the end. */
		fake_aux_put(&w.kernel.events[2], data + 1512, AUX + 100);
		if (!counts_on)
			w.kernel.events[2].page->aux_head %= AUX;
		expect_snapshot(&w, 1612, data + 1612, AUX);
		/* a full buffer: the last snapshot is unknown */
		expect_snapshot(&w, 1612, data + 1612, AUX);
		world_release(&w);
	}
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

static void lost_samples_are_read(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 1, &err), 0);
	w.kernel.events[0].n_lost = 3;
	w.kernel.events[3].n_lost = 4;
	assert_int_equal(recording_lost_samples(&w.recording), 7);
	w.kernel.fails_read = true;
	assert_int_equal(recording_lost_samples(&w.recording), 0);
	w.kernel.fails_read = false;
	w.events.list.items[0].attr.read_format = BIT(READ_ID);
	assert_int_equal(recording_lost_samples(&w.recording), 0);
	world_release(&w);
}

static void side_band_is_enabled_by_itself(void **state)
{
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	*vec_add(&w.events.list) = (struct record_event){
		.name = "dummy", .attr = sampling(), .leader = 1, .is_side_band = true
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

static void the_clock_is_described(void **state)
{
	struct record_time_conv t = { 0 };
	struct perf_event_mmap_page *page;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_false(recording_time_conv(&w.recording, &t));
	assert_int_equal(world_open(&w, 0, &err), 0);
	assert_false(recording_time_conv(&w.recording, &t));
	page = w.kernel.events[0].page;
	page->time_shift = 21;
	page->time_mult = 0x1800000;
	page->time_zero = 5;
	page->time_cycles = 6;
	page->time_mask = 7;
	page->lock = 2;
	page->cap_user_time_zero = 1;
	assert_true(recording_time_conv(&w.recording, &t));
	assert_int_equal(t.shift, 21);
	assert_int_equal(t.mult, 0x1800000);
	assert_int_equal(t.zero, 5);
	assert_int_equal(t.cycles, 6);
	assert_int_equal(t.mask, 7);
	assert_false(t.has_short);
	page->cap_user_time_short = 1;
	assert_true(recording_time_conv(&w.recording, &t));
	assert_true(t.has_short);
	world_release(&w);
}

static void *end_writing(void *page)
{
	struct perf_event_mmap_page *p = page;

	sched_yield();
	p->time_zero = 9;
	__atomic_store_n(&p->lock, 2, __ATOMIC_RELEASE);
	return NULL;
}

/* The sequence number is odd while the kernel writes. */
static void a_half_written_clock_is_waited_for(void **state)
{
	struct record_time_conv t = { 0 };
	struct perf_event_mmap_page *page;
	pthread_t kernel;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	assert_int_equal(world_open(&w, 0, &err), 0);
	page = w.kernel.events[0].page;
	page->cap_user_time_zero = 1;
	page->lock = 1;
	assert_int_equal(pthread_create(&kernel, NULL, end_writing, page), 0);
	assert_true(recording_time_conv(&w.recording, &t));
	pthread_join(kernel, NULL);
	assert_int_equal(t.zero, 9);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_a_cpu_share_a_ring),
		cmocka_unit_test(other_cpus_have_the_side_band_alone),
		cmocka_unit_test(members_follow_their_leader),
		cmocka_unit_test(what_is_refused_is_given_up),
		cmocka_unit_test(the_kernel_is_left_out_where_it_must_be),
		cmocka_unit_test(threads_that_have_ended_are_passed_over),
		cmocka_unit_test(memory_is_what_the_limit_allows),
		cmocka_unit_test(memory_is_as_much_as_seems_right),
		cmocka_unit_test(memory_that_cannot_be_had_is_told),
		cmocka_unit_test(members_without_a_leader_stand_alone),
		cmocka_unit_test(as_many_files_as_allowed_are_opened),
		cmocka_unit_test(other_failures_are_told),
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(aux_records_are_counted),
		cmocka_unit_test(odd_records_are_not_looked_into),
		cmocka_unit_test(aux_data_comes_out_as_it_went_in),
		cmocka_unit_test(spe_that_was_stopped_goes_on),
		cmocka_unit_test(snapshots_hold_the_last_of_it),
		cmocka_unit_test(events_that_end_are_not_waited_for),
		cmocka_unit_test(lost_samples_are_read),
		cmocka_unit_test(side_band_is_enabled_by_itself),
		cmocka_unit_test(the_clock_is_described),
		cmocka_unit_test(a_half_written_clock_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
