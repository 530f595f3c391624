/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of rings and AUX buffers; with a fake kernel. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "capture/capture.h"
#include "capture/format/sample.h"
#include "capture/writer/emit.h"
#include "recording_world.h"

enum { SAMPLE_BYTES = 40 };

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

/* Closes the file and reads it. */
static struct capture *read_back(struct world *w)
{
	struct capture *c;
	struct err err;

	assert_int_equal(writer_close(w->writer, &err), 0);
	w->writer = NULL;
	assert_int_equal(capture_open(w->path, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), 0);
	unlink(w->path);
	return c;
}

/* What the kernel lost behind the last LOST record is in the file, for each event. */
static void lost_samples_are_written(void **state)
{
	static const struct {
		uint64_t told; /* by a LOST record; 0: there is none */
		unsigned n_lost[2];
		bool fails_read, is_not_counted;
		uint64_t n_written, n_records, lost;
	} cases[] = {
		{ 0, { 3, 4 }, false, false, 7, 2, 7 }, { 5, { 3, 4 }, false, false, 7, 2, 7 },
		{ 9, { 0, 4 }, false, false, 4, 1, 9 }, /* records that are no samples, too */
		{ 9, { 0, 0 }, false, false, 0, 0, 9 }, { 0, { 3, 4 }, true, false, 0, 0, 0 },
		{ 0, { 3, 4 }, false, true, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct capture_totals *t;
		struct capture *c;
		struct world w;
		struct err err;

		world_make(&w, false);
		if (cases[i].is_not_counted)
			w.events.list.items[0].attr.read_format = BIT(READ_ID);
		assert_int_equal(world_open(&w, 1, &err), 0);
		world_write(&w);
		if (cases[i].told > 0)
			writer_lost(w.writer, &(struct record_lost){ .n = cases[i].told },
				    &(struct sample_id){ .has = HAS_TIME, .time_ns = 9 });
		w.kernel.events[0].n_lost = cases[i].n_lost[0];
		w.kernel.events[3].n_lost = cases[i].n_lost[1];
		w.kernel.fails_read = cases[i].fails_read;
		assert_int_equal(recording_write_lost(&w.recording, w.writer), cases[i].n_written);
		c = read_back(&w);
		t = capture_totals(c);
		assert_int_equal(t->n_lost_events, cases[i].told);
		assert_int_equal(t->n_lost_samples, cases[i].n_written);
		assert_int_equal(t->by_type[RECORD_LOST_SAMPLES], cases[i].n_records);
		assert_int_equal(capture_lost(t), cases[i].lost);
		capture_free(c);
		world_release(&w);
	}
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
		uint8_t data[3 * WORLD_AUX_BYTES];
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
		fake_aux_put(&w.kernel.events[2], data + 1512, WORLD_AUX_BYTES + 100);
		if (!counts_on)
			w.kernel.events[2].page->aux_head %= WORLD_AUX_BYTES;
		expect_snapshot(&w, 1612, data + 1612, WORLD_AUX_BYTES);
		/* a full buffer: the last snapshot is unknown */
		expect_snapshot(&w, 1612, data + 1612, WORLD_AUX_BYTES);
		world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(aux_records_are_counted),
		cmocka_unit_test(odd_records_are_not_looked_into),
		cmocka_unit_test(lost_samples_are_written),
		cmocka_unit_test(aux_data_comes_out_as_it_went_in),
		cmocka_unit_test(spe_that_was_stopped_goes_on),
		cmocka_unit_test(snapshots_hold_the_last_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
