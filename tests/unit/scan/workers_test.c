/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers a scan has: of a small capture one, unless it is said how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "scan/scan.h"
#include "spe/packet.h"

/* Records of 64 bytes: 1 and 3 MB, on two CPUs. */
enum { FEW_RECORDS = 1 << 14, MANY_RECORDS = 3 << 14 };

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_capture_has_one),
		cmocka_unit_test(as_many_as_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
