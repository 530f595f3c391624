/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <zstd.h>

#include "base/alloc.h"
#include "capture/segment.h"
#include "image.h"

/* Header fields, the u64 behind them, how many bytes there are, and what is found. */
static const struct {
	uint32_t type;
	uint16_t size;
	uint64_t first;
	uint64_t left;
	enum frame_status status;
	uint64_t found_size, payload, missing;
} frames[] = {
	{ RECORD_COMM, 8, 0, 8, FRAME_OK, 8, 0, 0 },
	{ RECORD_COMM, 16, 0, 100, FRAME_OK, 16, 0, 0 },
	{ RECORD_COMM, 16, 0, 15, FRAME_CUT, 0, 0, 0 },
	{ RECORD_COMM, 16, 0, 7, FRAME_CUT, 0, 0, 0 },
	{ RECORD_COMM, 16, 0, 0, FRAME_CUT, 0, 0, 0 },
	{ RECORD_COMM, 0, 0, 100, FRAME_BAD_SIZE, 0, 0, 0 },
	{ RECORD_COMM, 7, 0, 100, FRAME_BAD_SIZE, 0, 0, 0 },
	{ 0, 24, 0, 100, FRAME_OK, 24, 0, 0 },
	{ 87, 24, 0, 100, FRAME_OK, 24, 0, 0 }, /* a newer recorder's */
	{ 0xffff, 24, 0, 100, FRAME_OK, 24, 0, 0 },
	{ 0x10000, 24, 0, 100, FRAME_BAD_TYPE, 0, 0, 0 },
	{ 0x6570205b, 0x6620, 0, 100, FRAME_BAD_TYPE, 0, 0, 0 }, /* "[ perf " */
	{ RECORD_AUXTRACE, 48, 20, 100, FRAME_OK, 48, 20, 0 },
	{ RECORD_AUXTRACE, 48, 52, 100, FRAME_OK, 48, 52, 0 },
	{ RECORD_AUXTRACE, 48, 53, 100, FRAME_OK, 48, 52, 1 },
	{ RECORD_AUXTRACE, 48, UINT64_MAX, 100, FRAME_OK, 48, 52, UINT64_MAX - 52 },
	{ RECORD_AUXTRACE, 8, 20, 100, FRAME_OK, 8, 0, 0 },   /* has no field for it */
	{ RECORD_AUXTRACE, 76, 20, 100, FRAME_OK, 76, 0, 0 }, /* an old recorder's version text */
	{ RECORD_TRACING_DATA, 16, 9, 100, FRAME_OK, 16, 16, 0 },
	{ RECORD_TRACING_DATA, 16, 16, 100, FRAME_OK, 16, 16, 0 },
	{ RECORD_TRACING_DATA, 16, 5, 100, FRAME_OK, 16, 8, 0 },
	{ RECORD_TRACING_DATA, 2060, 2012, 4096, FRAME_OK, 2060, 0,
	  0 }, /* inside: old simpleperf */
	{ RECORD_TRACING_DATA, 2024, 2012, 4096, FRAME_OK, 2024, 0, 0 },
	{ RECORD_TRACING_DATA, 2016, 2012, 4096, FRAME_OK, 2016, 2016, 0 },
	{ RECORD_TRACING_DATA, 16, UINT32_MAX, 100, FRAME_OK, 16, 84, BIT(32) - 84 },
	{ RECORD_COMPRESSED2, 0, 65520, 1 << 20, FRAME_OK, 65536, 0, 0 },
	{ RECORD_COMPRESSED2, 0, 65513, 1 << 20, FRAME_OK, 65536, 0, 0 },
	{ RECORD_COMPRESSED2, 0, 65512, 1 << 20, FRAME_BAD_SIZE, 0, 0, 0 },
	{ RECORD_COMPRESSED2, 0, 65521, 1 << 20, FRAME_BAD_SIZE, 0, 0, 0 },
	{ RECORD_COMPRESSED2, 0, UINT64_MAX, 1 << 20, FRAME_BAD_SIZE, 0, 0, 0 },
	{ RECORD_COMPRESSED2, 0, 65520, 65535, FRAME_CUT, 0, 0, 0 },
	{ RECORD_COMPRESSED, 0, 65520, 1 << 20, FRAME_BAD_SIZE, 0, 0, 0 },
};

static void test_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(frames); i++) {
		struct text t = { 0 };
		struct frame f = { 0 };

		put_u32(&t, frames[i].type);
		put_u16(&t, 3);
		put_u16(&t, frames[i].size);
		put_word(&t, frames[i].first);
		if (frame_read((const uint8_t *)t.bytes, frames[i].left, &f) != frames[i].status ||
		    f.size != frames[i].found_size || f.payload != frames[i].payload ||
		    f.missing != frames[i].missing)
			fail_msg("row %zu: size %d", i, (int)f.size);
		text_release(&t);
	}
}

static struct segment segment_of(const struct text *t, uint64_t base)
{
	return (struct segment){
		.bytes = (const uint8_t *)t->bytes,
		.size = t->n,
		.base = base,
		.start = base,
		.end = base + t->n,
	};
}

static void test_walk(void **state)
{
	struct text t = { 0 };
	struct walk w;
	struct record r;

	(void)state;
	put_record(&t, RECORD_COMM, 5, (uint64_t[]){ 1, 2 }, 2);
	put_auxtrace(&t, &(struct record_auxtrace){ .size = 3 }, "abc", 3);
	put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
	put_u8(&t, 1); /* the beginning of one more */
	struct segment s = segment_of(&t, 1000);

	walk_start(&w, &s);
	assert_true(walk_next(&w, &r));
	assert_int_equal(r.type, RECORD_COMM);
	assert_int_equal(r.misc, 5);
	assert_int_equal(r.size, 24);
	assert_int_equal(r.position, 1000);
	assert_int_equal(cur_left(&r.body), 16);
	assert_true(walk_next(&w, &r));
	assert_int_equal(r.position, 1024);
	assert_int_equal(w.payload, 3);
	assert_true(walk_next(&w, &r));
	assert_int_equal(r.type, RECORD_FINISHED_ROUND);
	assert_int_equal(r.position, 1024 + 48 + 3);
	assert_false(walk_next(&w, &r));
	assert_int_equal(w.stop, FRAME_CUT);
	assert_int_equal(s.end - w.at, 1);
	text_release(&t);
}

enum { N_RECORDS = 8 };

/* What is written over the header of a record, and how the walk reads that. */
static const struct {
	uint64_t header;
	enum frame_status status;
} damages[] = {
	{ 0, FRAME_BAD_SIZE },
	{ RECORD_COMM | (uint64_t)7 << 48, FRAME_BAD_SIZE },
	{ RECORD_COMM | (uint64_t)0xfff8 << 48, FRAME_CUT },
	{ UINT64_MAX, FRAME_BAD_TYPE },
	{ 0x2a20666570205b20, FRAME_BAD_TYPE },
};

/* Only the damaged record is lost. */
static void test_walk_goes_on_behind_damage(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(damages) * N_RECORDS; k++) {
		size_t damaged = k % N_RECORDS, n = 0;
		struct text t = { 0 };
		uint64_t skipped = 0, at = 0;
		struct record r;
		struct walk w;

		for (size_t i = 0; i < N_RECORDS; i++) {
			if (i == damaged)
				at = t.n;
			put_record(&t, RECORD_SAMPLE, 2, (uint64_t[]){ i, UINT64_MAX, 1, 0 },
				   1 + i % 4);
		}
		patch_u64(&t, at, damages[k / N_RECORDS].header);
		struct segment s = segment_of(&t, 500);

		walk_start(&w, &s);
		for (; walk_next(&w, &r); n++) {
			assert_int_equal(r.type, RECORD_SAMPLE);
			assert_int_equal(load_u64(r.body.pos), n + (n >= damaged));
			skipped += w.skipped;
			assert_true(w.skipped == 0 ||
				    w.skipped_for == damages[k / N_RECORDS].status);
		}
		assert_int_equal(n, N_RECORDS - 1);
		assert_int_equal(skipped, damaged == N_RECORDS - 1 ? 0 : 16 + 8 * (damaged % 4));
		assert_int_equal(w.stop == FRAME_OK, damaged != N_RECORDS - 1);
		text_release(&t);
	}
}

/* Compresses pieces of a stream, one after the other. */
struct packer {
	ZSTD_CStream *stream;
	uint8_t out[1 << 17];
};

static size_t pack(struct packer *p, const void *bytes, size_t size)
{
	ZSTD_inBuffer in = { .src = bytes, .size = size };
	ZSTD_outBuffer out = { .dst = p->out, .size = sizeof(p->out) };

	ZSTD_compressStream2(p->stream, &out, &in, ZSTD_e_flush);
	assert_int_equal(in.pos, in.size);
	return out.pos;
}

static void put_compressed(struct text *t, struct packer *p, uint32_t type, const void *bytes,
			   size_t size)
{
	size_t n = pack(p, bytes, size);
	size_t begin = record_begin(t, type, 0);

	if (type == RECORD_COMPRESSED2)
		put_word(t, n);
	text_add(t, (const char *)p->out, n);
	if (type == RECORD_COMPRESSED2)
		put_zeros(t, -n % 8);
	record_end(t, begin);
}

/* Walks a segment as the scan does. Returns how many records came, sums up their sizes. */
static size_t count_records(struct segment *s, uint64_t *bytes, struct walk *w)
{
	struct record r;
	struct err err;
	size_t n = 0;

	*bytes = 0;
	walk_start(w, s);
	while (walk_next(w, &r)) {
		if (is_compressed(r.type)) {
			if (!s->is_inflated)
				assert_int_equal(segment_inflate(s, r.position, &err), 0);
			continue;
		}
		n++;
		*bytes += r.size;
	}
	return n;
}

/* Three records, cut into two chunks at each byte; both kinds of chunk. */
static void test_records_straddle_chunks(void **state)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };
	struct text plain = { 0 };
	struct packer p;

	(void)state;
	p.stream = ZSTD_createCStream();
	put_record(&plain, RECORD_COMM, 0, (uint64_t[]){ 1, 2 }, 2);
	put_record(&plain, RECORD_SAMPLE, 0, (uint64_t[]){ 3 }, 1);
	put_record(&plain, RECORD_EXIT, 0, (uint64_t[]){ 4, 5, 6 }, 3);
	for (size_t cut = 0; cut <= 2 * plain.n; cut++) {
		struct text t = { 0 };
		struct walk w;
		uint64_t bytes;
		uint32_t type = types[cut % 2];
		size_t first = cut / 2;

		ZSTD_CCtx_reset(p.stream, ZSTD_reset_session_only);
		put_record(&t, RECORD_FINISHED_INIT, 0, NULL, 0);
		put_compressed(&t, &p, type, plain.bytes, first);
		put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
		put_compressed(&t, &p, type, plain.bytes + first, plain.n - first);
		struct segment s = segment_of(&t, 0);

		assert_int_equal(count_records(&s, &bytes, &w), 5);
		assert_int_equal(bytes, plain.n + 16);
		assert_int_equal(w.stop, FRAME_OK);
		assert_int_equal(w.plain_at, w.plain_end);
		segment_release(&s);
		text_release(&t);
	}
	ZSTD_freeCStream(p.stream);
	text_release(&plain);
}

/* Positions are those of the chunk that a record begins in. */
static void test_plain_positions(void **state)
{
	struct text plain = { 0 }, t = { 0 };
	struct packer p;
	struct walk w;
	struct record r;
	struct err err;
	uint64_t first, second;

	(void)state;
	p.stream = ZSTD_createCStream();
	for (uint64_t i = 0; i < 4; i++)
		put_record(&plain, RECORD_SAMPLE, 0, (uint64_t[]){ i }, 1);
	put_record(&t, RECORD_FINISHED_INIT, 0, NULL, 0);
	first = t.n;
	put_compressed(&t, &p, RECORD_COMPRESSED, plain.bytes, 24);
	second = t.n;
	put_compressed(&t, &p, RECORD_COMPRESSED, plain.bytes + 24, 40);
	struct segment s = segment_of(&t, 0);
	const uint64_t wanted[] = { 0, first, first, second, first, second, second };

	assert_int_equal(segment_inflate(&s, first, &err), 0);
	walk_start(&w, &s);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_true(walk_next(&w, &r));
		assert_int_equal(r.was_compressed, i == 2 || i == 4 || i > 4);
		assert_int_equal(r.position, wanted[i]);
	}
	assert_false(walk_next(&w, &r));
	segment_release(&s);
	text_release(&t);
	text_release(&plain);
	ZSTD_freeCStream(p.stream);
}

static void test_damaged_stream(void **state)
{
	struct text plain = { 0 }, t = { 0 };
	struct packer p;
	struct walk w;
	uint64_t bytes;

	(void)state;
	p.stream = ZSTD_createCStream();
	put_record(&plain, RECORD_SAMPLE, 0, (uint64_t[]){ 3 }, 1);
	put_compressed(&t, &p, RECORD_COMPRESSED, plain.bytes, plain.n);
	put_record(&t, RECORD_COMPRESSED, 0, (uint64_t[]){ UINT64_MAX }, 1);
	put_compressed(&t, &p, RECORD_COMPRESSED, plain.bytes, plain.n);
	put_record(&t, RECORD_COMM, 0, NULL, 0);
	struct segment s = segment_of(&t, 0);

	assert_int_equal(count_records(&s, &bytes, &w), 2); /* the first and COMM */
	assert_int_equal(s.chunks.n, 1);
	assert_non_null(strstr(s.inflate_error, "zstd says"));
	assert_int_equal(w.n_chunks, 3);
	assert_false(walk_chunk_is_readable(&w));
	segment_release(&s);
	text_release(&t);
	text_release(&plain);
	ZSTD_freeCStream(p.stream);
}

/* A record that says it is larger than what it holds. */
static void test_compressed_size_is_checked(void **state)
{
	struct text t = { 0 };
	struct walk w;
	uint64_t bytes;

	(void)state;
	put_record(&t, RECORD_COMPRESSED2, 0, (uint64_t[]){ 9, 0 }, 2);
	struct segment s = segment_of(&t, 0);

	assert_int_equal(count_records(&s, &bytes, &w), 0);
	assert_string_equal(s.inflate_error, "its data is longer than the record");
	segment_release(&s);
	text_release(&t);
}

/* A zstd bomb: zeros compress so well that a small file could fill a disk. */
static void test_bomb(void **state)
{
	enum { PIECE = 8 << 20, N_PIECES = 8 };
	struct text t = { 0 };
	uint8_t *zeros = mem_zalloc(PIECE, 1);
	struct packer p;
	struct walk w;
	uint64_t bytes;

	(void)state;
	p.stream = ZSTD_createCStream();
	for (int i = 0; i < N_PIECES; i++)
		put_compressed(&t, &p, RECORD_COMPRESSED, zeros, PIECE);
	assert_true(t.n < 64 << 10);
	struct segment s = segment_of(&t, 0);

	count_records(&s, &bytes, &w);
	assert_non_null(strstr(s.inflate_error, "times its size"));
	assert_true(s.plain.size < (uint64_t)PIECE * N_PIECES);
	segment_release(&s);
	text_release(&t);
	free(zeros);
	ZSTD_freeCStream(p.stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_walk_goes_on_behind_damage),
		cmocka_unit_test(test_records_straddle_chunks),
		cmocka_unit_test(test_plain_positions),
		cmocka_unit_test(test_damaged_stream),
		cmocka_unit_test(test_compressed_size_is_checked),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
