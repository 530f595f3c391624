/* SPDX-License-Identifier: Apache-2.0 */
/* SPE buffers without a file around them, and files that zstd compressed as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/capture.h"
#include "image.h"

/* A load, then a branch without a time. */
static const uint8_t buffer[] = {
	0xb0, 0,    0x10, 0x40, 0, 0,	 0,  0, 0x80,		     /* PC */
	0x65, 7,    0,	  0,	0,				     /* CONTEXT */
	0x49, 0,    0x52, 0x16, 0, 0x98, 12, 0,			     /* load, events, latency */
	0xb2, 0x28, 0x6b, 0,	0, 0,	 0,  0, 0,    0x43, 8, 0, 0, /* VA, source, padding */
	0x71, 1,    2,	  3,	0, 0,	 0,  0, 0,		     /* timestamp */
	0xb0, 4,    0x10, 0x40, 0, 0,	 0,  0, 0x80, 0x4a, 1, 1,
};
enum { FIRST_RECORD = 44 };

static size_t count_rows(const struct capture *c, struct batch *batch)
{
	struct unit_reader *reader = unit_reader_new(c);
	size_t n = 0;

	for (size_t unit = 0; unit < capture_n_units(c); unit++) {
		unit_reader_start(reader, unit);
		while (unit_reader_next(reader, batch)) {
			n += batch->n;
			for (size_t row = 0; row < batch->n; row++)
				assert_int_equal(batch->has[row] &
							 (HAS_CPU | HAS_TID | HAS_PID | HAS_TIME),
						 0);
		}
	}
	unit_reader_free(reader);
	return n;
}

static struct capture *open_raw(const void *bytes, size_t size, uint64_t midr)
{
	struct capture *c = NULL;
	struct err err;

	assert_int_equal(capture_open_raw_bytes("x", bytes, size, midr, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), 0);
	assert_all_accounted_for(c);
	return c;
}

static void test_whole(void **state)
{
	struct capture *c = open_raw(buffer, sizeof(buffer), 0x410fd0c1);
	struct batch *batch = batch_new();

	(void)state;
	assert_true(capture_is_raw(c));
	assert_int_equal(capture_midr(c, 3), 0x410fd0c1);
	assert_int_equal(capture_n_events(c), 0);
	assert_int_equal(capture_n_chunks(c), 1);
	assert_int_equal(capture_totals(c)->aux_bytes, sizeof(buffer));
	assert_non_null(find_diag(capture_diags(c), "no time base"));
	assert_null(find_diag(capture_diags(c), "--midr"));
	assert_int_equal(count_rows(c, batch), 2);
	batch_free(batch);
	capture_free(c);
}

static void test_cut_at_each_byte(void **state)
{
	struct batch *batch = batch_new();

	(void)state;
	for (size_t n = 1; n <= sizeof(buffer); n++) {
		struct capture *c = open_raw(buffer, n, 0);

		assert_int_equal(capture_midr(c, 0), 0);
		assert_non_null(find_diag(capture_diags(c), "--midr"));
		assert_int_equal(count_rows(c, batch), (n >= FIRST_RECORD) + (n == sizeof(buffer)));
		capture_free(c);
	}
	batch_free(batch);
}

static const struct {
	const char *bytes;
	size_t size;
	const char *says;
} refused[] = {
	{ "", 0, "empty" },
	{ "PERFILE2\x68", 9, "leave out --raw" },
	{ "PERFFILE\x68", 9, "leave out --raw" },
};

static void test_refused(void **state)
{
	struct capture *c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		assert_int_equal(
			capture_open_raw_bytes("x", refused[i].bytes, refused[i].size, 0, &c, &err),
			-1);
		assert_non_null(strstr(err.text, refused[i].says));
	}
}

/* A stream of COMM records, compressed: `frames` times in frames of their own. */
enum { N_RECORDS = 3000 };

static void put_stream(struct text *t)
{
	put_stream_header(t);
	for (uint64_t i = 0; i < N_RECORDS; i++)
		put_record(t, RECORD_COMM, 0, (uint64_t[]){ i * i * 7919, 0x61 }, 2);
}

static size_t pack(const struct text *t, size_t n_frames, uint8_t *out, size_t room)
{
	size_t step = t->n / n_frames, at = 0;

	for (size_t i = 0; i < n_frames; i++) {
		size_t size = i + 1 < n_frames ? step : t->n - i * step;
		size_t n = ZSTD_compress(out + at, room - at, t->bytes + i * step, size, 3);

		assert_false(ZSTD_isError(n));
		at += n;
	}
	return at;
}

/* The number of records, -1 if the file is refused. */
static int64_t count_records(const uint8_t *bytes, size_t size, bool *is_partial, struct err *err)
{
	struct capture *c;
	int64_t n;

	if (capture_open_bytes("x", bytes, size, &c, err) < 0)
		return -1;
	if (capture_scan(c, NULL, NULL, err) < 0) {
		capture_free(c);
		return -1;
	}
	assert_all_accounted_for(c);
	*is_partial = find_diag(capture_diags(c), "only a part") != NULL;
	n = (int64_t)capture_totals(c)->n_records;
	capture_free(c);
	return n;
}

static void test_compressed(void **state)
{
	struct text t = { 0 };
	size_t room;
	uint8_t *packed;

	(void)state;
	put_stream(&t);
	room = 2 * t.n + 4096;
	packed = mem_alloc(room, 1);
	for (size_t n_frames = 1; n_frames < 5; n_frames++) {
		size_t size = pack(&t, n_frames, packed, room);
		bool is_partial;
		struct err err;

		assert_int_equal(count_records(packed, size, &is_partial, &err), N_RECORDS);
		assert_false(is_partial);
		/* what is no frame behind the last one */
		memset(packed + size, 0xee, 9);
		assert_int_equal(count_records(packed, size + 9, &is_partial, &err), N_RECORDS);
		assert_true(is_partial);
	}
	free(packed);
	text_release(&t);
}

/* Cut at each byte, of several frames: what came before is read, and it is said that the rest is missing. */
static void test_compressed_cut(void **state)
{
	enum { N_FRAMES = 3 };
	struct text t = { 0 };
	size_t room, size, last = 0;
	uint8_t *packed;

	(void)state;
	put_stream(&t);
	room = 2 * t.n + 4096;
	packed = mem_alloc(room, 1);
	size = pack(&t, N_FRAMES, packed, room);
	for (size_t n = 4; n < size; n += n < 64 || n > size - 64 ? 1 : 97) {
		bool is_partial = true;
		struct err err = { 0 };
		int64_t found = count_records(packed, n, &is_partial, &err);

		if (found < 0) {
			assert_int_equal(last, 0);
			assert_non_null(strstr(err.text, "cut off"));
			continue;
		}
		assert_true((size_t)found >= last && found < N_RECORDS);
		/* a cut between two frames cannot be seen */
		assert_true(is_partial || n > 64);
		last = (size_t)found;
	}
	assert_true(last >= N_RECORDS / N_FRAMES);
	free(packed);
	text_release(&t);
}

/* More than 8192 times its size: an attempt to fill the disk. What came out before is read. */
static void test_compressed_bomb(void **state)
{
	enum { BOMB_BYTES = 64 << 20, ROOM = 64 << 10 };
	uint8_t *zeros = mem_zalloc(BOMB_BYTES, 1), *packed = mem_alloc(ROOM, 1);
	struct text t = { 0 };
	bool is_partial = false;
	struct err err;
	size_t size;

	(void)state;
	put_stream_header(&t);
	put_record(&t, RECORD_COMM, 0, (uint64_t[]){ 1, 0x61 }, 2);
	memcpy(zeros, t.bytes, t.n);
	size = ZSTD_compress(packed, ROOM, zeros, BOMB_BYTES, 1);
	assert_false(ZSTD_isError(size));
	assert_true(size < (BOMB_BYTES - (16 << 20)) / 8192);
	assert_int_equal(count_records(packed, size, &is_partial, &err), 1);
	assert_true(is_partial);
	text_release(&t);
	free(packed);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	       cmocka_unit_test(test_cut_at_each_byte),
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_compressed_cut), cmocka_unit_test(test_compressed_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
