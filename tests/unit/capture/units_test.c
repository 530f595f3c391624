/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/state.h"
#include "image.h"

enum { RECORD_SIZE = 64, N_MAX = 8 };

/* SPE data of whole records: each 64 bytes begin with a PC and end with a timestamp packet. */
static void fill_records(uint8_t *bytes, size_t size)
{
	memset(bytes, 0xaa, size);
	for (size_t at = RECORD_SIZE - 9; at < size; at += RECORD_SIZE) {
		bytes[at + 9 - RECORD_SIZE] = 0xb0;
		bytes[at] = 0x71;
		memset(bytes + at + 1, 0, 8); /* small times end with zeros */
		bytes[at + 1] = (uint8_t)(at / RECORD_SIZE);
	}
}

/* A chunk of a buffer: where it is in the buffer's stream, and its bytes. */
struct chunk {
	uint32_t idx;
	uint64_t offset;
	const void *bytes;
	size_t size;
};

static struct text stream_of(const struct chunk *chunks, size_t n)
{
	struct text t = { 0 };

	put_stream_header(&t);
	put_record(&t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 4, 11, 1 }, 3);
	for (size_t i = 0; i < n; i++) {
		struct record_auxtrace a = {
			.size = chunks[i].size,
			.offset = chunks[i].offset,
			.idx = chunks[i].idx,
		};
		put_auxtrace(&t, &a, chunks[i].bytes, chunks[i].size);
	}
	return t;
}

/* Ends of chunks, and whether a stream may end there. */
static const struct {
	const char *bytes;
	size_t size;
	bool is_clean;
} ends[] = {
	{ "\x71\1\2\3\4\5\6\7\1", 9, true },		   /* timestamp */
	{ "\x71\1\2\3\4\0\0\0\0", 9, true },		   /* its payload ends with zeros */
	{ "\x71\1\2\3\4\5\6\7\1\0\0\0", 12, true },	   /* padding behind it */
	{ "\x71\0\0\0\0\0\0\0\0\0", 10, true },		   /* time 0, one byte of padding */
	{ "\x4a\0\1", 3, true },			   /* END */
	{ "\x4a\0\1\0\0", 5, true },			   /* padding behind it */
	{ "\x4a\1", 2, false },				   /* an operation that ends like END */
	{ "\x98\4\1\0", 4, false },			   /* so does a latency */
	{ "\x98\1\x71\x9a\1\1\x4a\0\x98\1\1", 11, false }, /* a latency like a timestamp */
	{ "\x71\1\2\3\4\5\6\1\2\3", 10, false },	   /* a byte behind it */
	{ "\1\2\3\4\5\6\7\2", 8, false },		   /* cut before the header */
	{ "\xb0\1\2", 3, false },			   /* an address begins */
	{ "\0", 1, false },				   /* nothing but padding */
	{ "\2\0\0\0\0\0\0\0\0\0\0\0", 12, false },
};

/* Two chunks that follow each other: does a stream of its own begin with the second one? */
static void test_clean_ends(void **state)
{
	uint8_t next[RECORD_SIZE];

	(void)state;
	fill_records(next, sizeof(next));
	for (size_t i = 0; i < COUNT(ends); i++) {
		const struct chunk chunks[] = {
			{ 0, 1000, ends[i].bytes, ends[i].size },
			{ 0, 1000 + ends[i].size, next, sizeof(next) },
		};
		struct text t = stream_of(chunks, 2);
		struct capture *c = open_image(&t);

		if (count_streams(c) != (ends[i].is_clean ? 2 : 1))
			fail_msg("row %zu", i);
		assert_int_equal(c->pieces.n, 2);
		capture_free(c);
		text_release(&t);
	}
}

/* Beginnings of chunks behind a clean end: does a stream of its own begin there? */
static const struct {
	const char *bytes;
	size_t size;
	bool is_clean;
} beginnings[] = {
	{ "\xb0\1\2\3", 4, true },  /* an address of an instruction */
	{ "\0\0\xb0\1", 4, true },  /* padding in front of it */
	{ "\xb2\1\2\3", 4, false }, /* another address: inside a record */
	{ "\1\2\3\4", 4, false },   { "\0\0\0\0", 4, false },
};

static void test_clean_beginnings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(beginnings); i++) {
		const struct chunk chunks[] = {
			{ 0, 0, "\0\1", 2 },
			{ 0, 2, beginnings[i].bytes, beginnings[i].size },
		};
		struct text t = stream_of(chunks, 2);
		struct capture *c = open_image(&t);

		assert_int_equal(count_streams(c), beginnings[i].is_clean ? 2 : 1);
		capture_free(c);
		text_release(&t);
	}
}

/* A chunk of many records ends clean wherever it is in its buffer, if its last record is whole. */
static void test_many_records(void **state)
{
	enum { N = 12, TIMESTAMP = 9 };
	static const struct {
		uint64_t offset;
		bool is_damaged;
	} cases[] = { { 0, false }, { 64, false }, { 8, false }, { 0, true }, { 8, true } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint8_t records[N * RECORD_SIZE];
		const struct chunk chunks[] = {
			{ 0, cases[i].offset, records, sizeof(records) },
			{ 0, cases[i].offset + sizeof(records), records, sizeof(records) },
		};
		struct capture *c;
		struct text t;

		fill_records(records, sizeof(records));
		if (cases[i].is_damaged)
			records[sizeof(records) - TIMESTAMP] = 0xb2; /* an address, cut */
		t = stream_of(chunks, COUNT(chunks));
		c = open_image(&t);
		assert_int_equal(count_streams(c), cases[i].is_damaged ? 1 : 2);
		capture_free(c);
		text_release(&t);
	}
}

/* The end of a record is not looked for behind more padding than this. */
static void test_padding_is_bounded(void **state)
{
	enum { LOOKED_AT = 1024 };
	static const size_t sizes[] = { 1, 2, 64, LOOKED_AT - 1, LOOKED_AT, LOOKED_AT + 1 };
	uint8_t bytes[LOOKED_AT + 1] = { 0x01 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const struct chunk chunks[] = {
			{ 0, 0, bytes, sizes[i] },
			{ 0, sizes[i], "\xb0", 1 },
		};
		struct text t = stream_of(chunks, 2);
		struct capture *c = open_image(&t);

		assert_int_equal(count_streams(c), sizes[i] <= LOOKED_AT ? 2 : 1);
		capture_free(c);
		text_release(&t);
	}
}

/* Pieces in the order of units: which chunk, from, to; stream. */
struct wanted_piece {
	size_t chunk;
	uint64_t from, to;
	size_t stream;
};

static void check_pieces(const struct capture *c, const struct wanted_piece *wanted, size_t n,
			 size_t n_streams)
{
	size_t seen = 0, stream = 0;

	assert_int_equal(count_streams(c), n_streams);
	for (size_t u = 0; u < c->units.n; u++) {
		const struct unit *unit = &c->units.items[u];

		assert_int_equal(unit->kind, BATCH_SPE);
		assert_int_equal(unit->first_piece, seen);
		for (size_t i = 0; i < unit->n_pieces; i++, seen++) {
			const struct aux_piece *p = &c->pieces.items[unit->first_piece + i];

			assert_true(seen < n);
			stream += seen > 0 && p->begins_stream;
			assert_int_equal(p->chunk, wanted[seen].chunk);
			assert_int_equal(p->from, wanted[seen].from);
			assert_int_equal(p->to, wanted[seen].to);
			assert_int_equal(stream, wanted[seen].stream);
		}
	}
	assert_int_equal(seen, n);
}

/*
 * Bytes 0 … 255 of a buffer are whole records, bytes from 300 on are not. Chunks are taken
 * out of it; `n` of them are there.
 */
static const struct {
	const char *what;
	struct {
		uint32_t idx;
		uint64_t offset;
		size_t from, size;
	} chunks[4];
	size_t n_chunks;
	struct wanted_piece pieces[4];
	size_t n_pieces, n_streams;
	uint64_t n_seen; /* bytes that came twice */
} streams[] = {
	{ "one", { { 0, 0, 0, 128 } }, 1, { { 0, 0, 128, 0 } }, 1, 1, 0 },
	{ "contiguous, clean",
	  { { 0, 0, 0, 128 }, { 0, 128, 128, 64 } },
	  2,
	  { { 0, 0, 128, 0 }, { 1, 0, 64, 1 } },
	  2,
	  2,
	  0 },
	{ "contiguous, cut inside a record",
	  { { 0, 0, 0, 100 }, { 0, 100, 100, 92 } },
	  2,
	  { { 0, 0, 100, 0 }, { 1, 0, 92, 0 } },
	  2,
	  1,
	  0 },
	{ "cut twice, too short to tell how it ends",
	  { { 0, 0, 0, 100 }, { 0, 100, 100, 10 }, { 0, 110, 110, 18 }, { 0, 128, 128, 64 } },
	  4,
	  { { 0, 0, 100, 0 }, { 1, 0, 10, 0 }, { 2, 0, 18, 0 }, { 3, 0, 64, 0 } },
	  4,
	  1,
	  0 },
	{ "a gap behind a cut record",
	  { { 0, 0, 0, 100 }, { 0, 101, 101, 91 } },
	  2,
	  { { 0, 0, 100, 0 }, { 1, 0, 91, 1 } },
	  2,
	  2,
	  0 },
	{ "two buffers, one chunk of each cut",
	  { { 7, 0, 0, 100 }, { 3, 0, 0, 128 }, { 7, 100, 100, 92 }, { 3, 128, 128, 64 } },
	  4,
	  { { 0, 0, 100, 0 }, { 2, 0, 92, 0 }, { 1, 0, 128, 1 }, { 3, 0, 64, 2 } },
	  4,
	  3,
	  0 },
	{ "same offset in another buffer is no repetition",
	  { { 0, 0, 0, 128 }, { 1, 0, 0, 128 } },
	  2,
	  { { 0, 0, 128, 0 }, { 1, 0, 128, 1 } },
	  2,
	  2,
	  0 },
	{ "a snapshot that overlaps",
	  { { 0, 0, 0, 128 }, { 0, 64, 64, 128 } },
	  2,
	  { { 0, 0, 128, 0 }, { 1, 64, 128, 1 } },
	  2,
	  2,
	  64 },
	{ "a snapshot inside the last one",
	  { { 0, 0, 0, 192 }, { 0, 64, 64, 64 }, { 0, 192, 192, 64 } },
	  3,
	  { { 0, 0, 192, 0 }, { 2, 0, 64, 1 } },
	  2,
	  2,
	  64 },
	{ "a snapshot that goes back before the last one",
	  { { 0, 128, 128, 64 }, { 0, 0, 0, 256 } },
	  2,
	  { { 0, 0, 64, 0 }, { 1, 192, 256, 1 } },
	  2,
	  2,
	  192 },
	{ "the same offsets with other bytes: a new stream",
	  { { 0, 0, 0, 128 }, { 0, 64, 0, 128 } },
	  2,
	  { { 0, 0, 128, 0 }, { 1, 0, 128, 1 } },
	  2,
	  2,
	  0 },
	{ "back to a place before the last chunk: a new stream",
	  { { 0, 1000, 0, 100 }, { 0, 0, 0, 100 } },
	  2,
	  { { 0, 0, 100, 0 }, { 1, 0, 100, 1 } },
	  2,
	  2,
	  0 },
	{ "an empty chunk in between",
	  { { 0, 0, 0, 100 }, { 0, 100, 0, 0 }, { 0, 100, 100, 92 } },
	  3,
	  { { 0, 0, 100, 0 }, { 2, 0, 92, 0 } },
	  2,
	  1,
	  0 },
	{ "offsets at the end of the numbers",
	  { { 0, UINT64_MAX - 10, 0, 128 }, { 0, UINT64_MAX - 128, 0, 128 } },
	  2,
	  { { 1, 0, 128, 0 } },
	  1,
	  1,
	  0 },
};

static void test_streams(void **state)
{
	uint8_t buffer[256];

	(void)state;
	fill_records(buffer, sizeof(buffer));
	for (size_t i = 0; i < COUNT(streams); i++) {
		struct chunk chunks[4];

		print_message("%s\n", streams[i].what);
		for (size_t k = 0; k < streams[i].n_chunks; k++)
			chunks[k] = (struct chunk){
				.idx = streams[i].chunks[k].idx,
				.offset = streams[i].chunks[k].offset,
				.bytes = buffer + streams[i].chunks[k].from,
				.size = streams[i].chunks[k].size,
			};
		struct text t = stream_of(chunks, streams[i].n_chunks);
		struct capture *c = open_image(&t);
		const struct diag *d = find_diag(capture_diags(c), "earlier snapshot");

		check_pieces(c, streams[i].pieces, streams[i].n_pieces, streams[i].n_streams);
		assert_int_equal(d == NULL ? 0 : d->bytes, streams[i].n_seen);
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&t);
	}
}

/* The recorder rounds sizes up to 8; the next offset does not count what it added. */
static void test_chunk_padding(void **state)
{
	uint8_t first[104], second[92];

	(void)state;
	memset(first, 0xaa, sizeof(first));
	memset(second, 0xaa, sizeof(second));
	for (size_t padding = 0; padding <= 8; padding++) {
		const struct chunk chunks[] = {
			{ 0, 0, first, sizeof(first) },
			{ 0, sizeof(first) - padding, second, sizeof(second) },
		};
		struct text t;
		struct capture *c;

		memset(first + sizeof(first) - padding, 0, padding);
		t = stream_of(chunks, 2);
		c = open_image(&t);
		if (padding < 8)
			check_pieces(
				c,
				(const struct wanted_piece[]){ { 0, 0, sizeof(first) - padding, 0 },
							       { 1, 0, sizeof(second), 0 } },
				2, 1);
		else
			assert_int_equal(count_streams(c), 2);
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&t);
	}
}

/* A large chunk is split where records of 64 bytes are visible on both sides. */
static void test_large_chunks(void **state)
{
	enum { MIB = 1 << 20, SIZE = 2 * MIB + MIB / 4 };
	uint8_t *bytes = mem_alloc(SIZE, 1);
	static const struct {
		uint64_t offset;
		size_t damaged_from, damaged_to;
		uint64_t splits[2];
		size_t n_splits;
	} cases[] = {
		{ 0, 0, 0, { MIB, 2 * MIB }, 2 },
		{ 64, 0, 0, { MIB, 2 * MIB }, 2 },
		/* Splits are at multiples of 64 in the buffer, not in the chunk. */
		{ 32, 0, SIZE, { 0 }, 0 },
		/* Eight records on each side must be sound. */
		{ 0, MIB, MIB + 1, { MIB + 9 * 64, 2 * MIB + 9 * 64 }, 2 },
		/* Nothing near: the next try is 1 MiB on. */
		{ 0, MIB - 64, MIB + MIB / 8, { 2 * MIB }, 1 },
		{ 0, 0, SIZE, { 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct chunk chunk = { 0, cases[i].offset, bytes, SIZE };
		size_t n = cases[i].n_splits;

		fill_records(bytes, SIZE);
		memset(bytes + cases[i].damaged_from, 0xaa,
		       cases[i].damaged_to - cases[i].damaged_from);
		if (cases[i].damaged_to == cases[i].damaged_from + 1)
			bytes[cases[i].damaged_from + 55] = 0;
		struct text t = stream_of(&chunk, 1);
		struct capture *c = open_image(&t);

		assert_int_equal(capture_n_units(c), n + 1);
		for (size_t k = 0; k <= n; k++) {
			const struct aux_piece *p = &c->pieces.items[k];

			assert_int_equal(p->from, k == 0 ? 0 : cases[i].splits[k - 1]);
			assert_int_equal(p->to, k == n ? SIZE : cases[i].splits[k]);
		}
		capture_free(c);
		text_release(&t);
	}
	free(bytes);
}

/* What looks like a record to split behind: it begins with a PC and ends with a timestamp. */
static const struct {
	const char *what;
	size_t timestamp_at;
	uint8_t first, last;
	bool is_record;
} looks[] = {
	{ "a timestamp at the end", 55, 0xb0, 7, true },
	{ "a timestamp that ends with zeros", 55, 0xb0, 0, true },
	{ "padding behind the timestamp", 30, 0xb0, 0, true },
	{ "other bytes behind the timestamp", 30, 0xb0, 7, false },
	{ "no timestamp", 64, 0xb0, 0, false },
	{ "no PC at the start", 55, 0xb2, 7, false },
};

static void test_what_a_split_wants(void **state)
{
	enum { MIB = 1 << 20, SIZE = MIB + MIB / 4 };
	uint8_t *bytes = mem_alloc(SIZE, 1);

	(void)state;
	for (size_t i = 0; i < COUNT(looks); i++) {
		struct chunk chunk = { 0, 0, bytes, SIZE };
		size_t at = looks[i].timestamp_at;

		for (size_t r = 0; r < SIZE; r += RECORD_SIZE) {
			memset(bytes + r, 0, RECORD_SIZE);
			bytes[r] = looks[i].first;
			if (at < RECORD_SIZE)
				bytes[r + at] = 0x71;
			bytes[r + RECORD_SIZE - 1] = looks[i].last;
		}
		struct text t = stream_of(&chunk, 1);
		struct capture *c = open_image(&t);
		uint64_t split = aux_chunk_split(capture_chunk(c, 0), MIB);

		if (split != (looks[i].is_record ? MIB : SIZE))
			fail_msg("%s: %d", looks[i].what, (int)split);
		capture_free(c);
		text_release(&t);
	}
	free(bytes);
}

/* The parts of each buffer; a record of buffer 5 goes on behind buffer 6, and samples stand before buffer 4. */
static const struct {
	uint32_t idx;
	uint64_t offset;
	size_t size, unit;
} parts[] = {
	{ 1, 0, 100 << 10, 0 },
	{ 2, 0, 100 << 10, 0 },
	{ 3, 0, 100 << 10, 1 },
	{ 4, 0, 100 << 10, 3 },
	{ 5, 0, (100 << 10) - 10, 4 },
	{ 6, 0, 100 << 10, 5 },
	{ 5, (100 << 10) - 10, 64 + 10, 4 },
	{ 6, 100 << 10, 64, 5 },
};

/* Parts that follow each other in the file are one unit, up to 256 KiB, but not where others are in between. */
static void test_joined(void **state)
{
	enum { SAMPLES = 2, N_UNITS = 6 };
	static const struct attr attr = { .size = ATTR_SIZE_MIN, .sample_type = BIT(SAMPLE_IP) };
	uint8_t *bytes = mem_alloc(101 << 10, 1);
	struct text t = { 0 };

	(void)state;
	fill_records(bytes, 101 << 10);
	put_stream_header(&t);
	put_attr(&t, &attr, NULL, 0);
	put_record(&t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 4, 11, 1 }, 3);
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct record_auxtrace a = {
			.size = parts[i].size,
			.offset = parts[i].offset,
			.idx = parts[i].idx,
		};

		if (parts[i].idx == 4)
			put_record(&t, RECORD_SAMPLE, 2, (uint64_t[]){ 0 }, 1);
		put_auxtrace(&t, &a, bytes + a.offset, a.size);
	}
	struct capture *c = open_image(&t);

	assert_int_equal(capture_n_units(c), N_UNITS);
	for (size_t u = 0, seen = 0; u < N_UNITS; u++) {
		const struct unit *unit = &c->units.items[u];
		const struct aux_piece *pieces = &c->pieces.items[unit->first_piece];

		assert_int_equal(unit->kind, u == SAMPLES ? BATCH_SAMPLES : BATCH_SPE);
		for (size_t i = 0; i < unit->n_pieces; i++, seen++)
			assert_int_equal(parts[pieces[i].chunk].unit, u);
		if (u + 1 == N_UNITS)
			assert_int_equal(seen, COUNT(parts));
	}
	capture_free(c);
	text_release(&t);
	free(bytes);
}

/* Runs of samples are cut at about 1 MiB, and where trace data stands between them. */
static void test_runs(void **state)
{
	static const struct attr attr = { .size = ATTR_SIZE_MIN, .sample_type = BIT(SAMPLE_IP) };
	const uint64_t padding[] = { 0, 0, 0 };
	struct text t = { 0 };

	(void)state;
	put_stream_header(&t);
	put_attr(&t, &attr, NULL, 0);
	put_record(&t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 4, 11, 1 }, 3);
	for (size_t i = 0; i < 100000; i++) {
		put_record(&t, RECORD_SAMPLE, 2, padding, 1);
		if (i == 99000)
			put_auxtrace(&t, &(struct record_auxtrace){ .size = 1 }, "\1", 1);
		if (i == 500)
			put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
	}
	struct capture *c = open_image(&t);
	const struct unit *units = c->units.items;

	assert_int_equal(capture_n_units(c), 4);
	assert_int_equal(units[0].to - units[0].from, (1 << 20) + 8);
	assert_int_equal(units[1].from, units[0].to);
	assert_int_equal(units[2].kind, BATCH_SPE);
	assert_int_equal(units[3].from, units[1].to + 48 + 1);
	assert_int_equal(units[3].to, t.n);
	capture_free(c);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_ends),   cmocka_unit_test(test_clean_beginnings),
		cmocka_unit_test(test_many_records), cmocka_unit_test(test_padding_is_bounded),
		cmocka_unit_test(test_streams),	     cmocka_unit_test(test_chunk_padding),
		cmocka_unit_test(test_large_chunks), cmocka_unit_test(test_what_a_split_wants),
		cmocka_unit_test(test_runs),	     cmocka_unit_test(test_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
