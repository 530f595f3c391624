/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers a scan has: of a small capture one, unless it is said how many. And what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "capture/writer/writer.h"
#include "scan/scan.h"
#include "spe/packet.h"

/* Records of 64 bytes: 1 and 3 MB, on two CPUs. */
enum { FEW_RECORDS = 1 << 14, MANY_RECORDS = 3 << 14 };

/* Buffers of 14 to 10 000 records: units of which a job has many, and some that are one each. */
enum { BUFFERS = 100, LONG_BUFFER = 10 };

/* Of the last scan: one for each worker. */
static unsigned n_partials;

/* What it has seen. */
struct partial {
	uint64_t n_rows;
};

static void *partial_new(const struct session *s, const void *options)
{
	(void)s;
	(void)options;
	n_partials++;
	return mem_zalloc(1, sizeof(struct partial));
}

static void partial_consume(void *partial, const struct batch *b)
{
	((struct partial *)partial)->n_rows += b->n;
}

static void partial_merge(void *into, const void *from, const struct id_map *map)
{
	(void)map;
	((struct partial *)into)->n_rows += ((const struct partial *)from)->n_rows;
}

static const struct analysis_class counting = {
	.new = partial_new,
	.free = free,
	.consume = partial_consume,
	.merge = partial_merge,
};

/* Opens a capture of `n_records` for `n_workers`; returns how many scanned it. */
static unsigned scanners_of(size_t n_records, unsigned n_workers, unsigned *out_pool_size)
{
	struct spe_record *records = mem_alloc(n_records, sizeof(*records));
	struct analysis analysis = { .class = &counting };
	struct session s;

	for (size_t i = 0; i < n_records; i++)
		records[i] = spe_of(TEXT_START + i % 1024 * 4, ALPHA, SPE_OP_OTHER,
				    1u << SPE_EV_RETIRED, 20, START_NS + i);
	open_fixture(&(struct contents){ .records = records, .n_records = n_records }, n_workers,
		     &s);
	n_partials = 0;
	scan(&s, NULL, &analysis, 1);
	assert_int_equal(((struct partial *)analysis.result)->n_rows, n_records);
	*out_pool_size = pool_size(s.pool);
	free(analysis.result);
	close_fixture(&s);
	free(records);
	return n_partials;
}

static void a_small_capture_has_one(void **state)
{
	unsigned size;

	(void)state;
	assert_int_equal(scanners_of(FEW_RECORDS, 0, &size), 1);
	assert_int_equal(scanners_of(MANY_RECORDS, 0, &size), size);
}

static void as_many_as_was_said(void **state)
{
	unsigned size;

	(void)state;
	assert_int_equal(scanners_of(FEW_RECORDS, 3, &size), 3);
	assert_int_equal(size, 3);
	assert_int_equal(scanners_of(MANY_RECORDS, 1, &size), 1);
}

static size_t records_of_buffer(uint32_t buffer)
{
	return buffer % LONG_BUFFER == 0 ? 10000 : 4 + 10 * (size_t)buffer;
}

static void write_buffers(struct writer *w)
{
	for (uint32_t i = 0; i < BUFFERS; i++) {
		size_t n = records_of_buffer(i), size = 0;
		uint8_t *bytes = mem_alloc(n, SPE_RECORD_MAX);
		struct record_auxtrace header = { .idx = 2 + i, .cpu = i % 2, .tid = UINT32_MAX };

		for (size_t k = 0; k < n; k++) {
			struct spe_record r = spe_of(TEXT_START + k % 1024 * 4, ALPHA, SPE_OP_OTHER,
						     1u << SPE_EV_RETIRED, 20, START_NS + k);

			size += spe_encode(&r, &spe_layout_n1, bytes + size);
		}
		header.size = size;
		writer_auxtrace(w, &header, bytes);
		free(bytes);
	}
}

/* Whoever takes them, and however many at a time. */
static void each_unit_is_scanned_once(void **state)
{
	struct contents contents = { .write_more = write_buffers };
	uint64_t n_records = 0;

	(void)state;
	for (uint32_t i = 0; i < BUFFERS; i++)
		n_records += records_of_buffer(i);
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct analysis analysis = { .class = &counting };
		struct session s;

		open_fixture(&contents, n_workers, &s);
		assert_true(capture_n_units(s.capture) >= BUFFERS / LONG_BUFFER);
		scan(&s, NULL, &analysis, 1);
		assert_int_equal(((struct partial *)analysis.result)->n_rows, n_records);
		free(analysis.result);
		close_fixture(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_capture_has_one),
		cmocka_unit_test(as_many_as_was_said),
		cmocka_unit_test(each_unit_is_scanned_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
