/* SPDX-License-Identifier: Apache-2.0 */
/* Which time is sliced: that of records and samples, and how many slices there are. */
#include "scan/time_slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "scan/scan.h"
#include "spe/packet.h"

enum { FIRST_NS = START_NS + 500, LAST_NS = START_NS + 1500 };

/* A thread that is named long after the last sample. */
static void name_late(struct writer *w)
{
	const struct record_comm comm = { .pid = ALPHA, .tid = ALPHA, .comm = "late" };
	const struct sample_id id = { .has = HAS_TID | HAS_TIME,
				      .pid = ALPHA,
				      .tid = ALPHA,
				      .time_ns = UINT64_C(2000000000000) };

	writer_comm(w, &comm, &id);
}

static void open_samples(uint64_t first_ns, uint64_t last_ns, struct session *s)
{
	struct sample samples[2] = {
		sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0),
		sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0),
	};

	samples[0].time_ns = first_ns;
	samples[1].time_ns = last_ns;
	open_fixture(
		&(struct contents){ .samples = samples, .n_samples = 2, .write_more = name_late },
		1, s);
}

static void slices_are_of_what_was_sampled(void **state)
{
	static const struct {
		uint64_t first_ns, last_ns;
		uint32_t n;
		int rc;
	} cases[] = {
		{ FIRST_NS, LAST_NS, 10, 0 },
		{ FIRST_NS, LAST_NS, SLICES_MAX + 1, -1 },
		{ FIRST_NS, FIRST_NS, 10, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;
		struct err err;

		print_message("%zu\n", i);
		open_samples(cases[i].first_ns, cases[i].last_ns, &s);
		assert_true(capture_totals(s.capture)->last_ns > 1000 * LAST_NS);
		assert_int_equal(scan_choose_slices(&s, cases[i].n, false, &err), cases[i].rc);
		if (cases[i].rc == 0) {
			assert_int_equal(s.slices.first_ns, FIRST_NS);
			assert_int_equal(s.slices.width_ns, (LAST_NS - FIRST_NS) / cases[i].n + 1);
			assert_int_equal(slices_start_ns(&s.slices, 0),
					 FIRST_NS - capture_totals(s.capture)->first_ns);
		}
		close_fixture(&s);
	}
}

/* Counts records by slice. */
struct slice_counts {
	const struct session *session;
	uint64_t n[SLICES_MAX];
};

static void *slice_counts_new(const struct session *s, const void *options)
{
	struct slice_counts *c = mem_zalloc(1, sizeof(*c));

	(void)options;
	c->session = s;
	return c;
}

static void slice_counts_consume(void *partial, const struct batch *b)
{
	struct slice_counts *c = partial;

	for (size_t row = 0; row < b->n; row++)
		if (b->has[row] & HAS_TIME)
			c->n[slices_find(&c->session->slices, b->time_ns[row])]++;
}

static void slice_counts_merge(void *into, const void *from, const struct id_map *map)
{
	struct slice_counts *to = into;
	const struct slice_counts *part = from;

	(void)map;
	for (size_t i = 0; i < SLICES_MAX; i++)
		to->n[i] += part->n[i];
}

static unsigned n_restarts;

static void slice_counts_restart(const void *options)
{
	assert_ptr_equal(options, &n_restarts);
	n_restarts++;
}

static const struct analysis_class slice_counts_class = {
	.new = slice_counts_new,
	.free = free,
	.consume = slice_counts_consume,
	.restart = slice_counts_restart,
	.merge = slice_counts_merge,
};

enum { N_RECORDS = 6000, N_SLICES = 10 };

/*
 * Records of two CPUs, one each 10 ns. `early` and `late`: these two, far from the ends of their buffers, are before
 * and after all others. Each third is a load, every other one of a thread.
 */
static void make_records(bool early, bool late, struct spe_record *out)
{
	for (size_t i = 0; i < N_RECORDS; i++) {
		uint64_t at = START_NS + 10 * (100 + i % (N_RECORDS / 2));

		if (early && i == N_RECORDS / 4)
			at = START_NS + 10;
		if (late && i == N_RECORDS * 3 / 4)
			at = START_NS + 10 * N_RECORDS;
		out[i] = spe_of(TEXT_START, i % 2 == 0 ? ALPHA : BETA,
				i % 3 == 0 ? SPE_OP_LDST : SPE_OP_OTHER, 0, 10, at);
		if (i % 3 == 0) {
			out[i].has |= HAS_VA;
			out[i].va = 0x10000 + i * 8;
		}
	}
}

static const struct spe_record *records_made; /* what expect_slices() compares with */

static void expect_slices(const struct session *s, const struct slice_counts *c, bool only_loads)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0, n[N_SLICES] = { 0 };

	for (size_t i = 0; i < N_RECORDS; i++) {
		uint64_t at = records_made[i].ticks;

		first_ns = at < first_ns ? at : first_ns;
		last_ns = at > last_ns ? at : last_ns;
	}
	assert_int_equal(s->slices.first_ns, first_ns);
	assert_int_equal(s->slices.width_ns, (last_ns - first_ns) / N_SLICES + 1);
	assert_false(s->slices.is_provisional);
	for (size_t i = 0; i < N_RECORDS; i++)
		if (!only_loads || records_made[i].op_class == SPE_OP_LDST)
			n[(records_made[i].ticks - first_ns) / s->slices.width_ns]++;
	assert_memory_equal(c->n, n, sizeof(n));
}

/* One scan where the first and the last time are at the ends of the buffers, one more where they are not. */
static void slices_are_exact_after_a_scan(void **state)
{
	static const struct {
		bool early, late, by_address;
		const char *select;
		struct scan_wish wish;
		unsigned n_scans;
	} cases[] = {
		{ .n_scans = 1 },
		{ .early = true, .n_scans = 2 },
		{ .late = true, .n_scans = 2 },
		{ .early = true, .late = true, .n_scans = 2 },
		{ .wish.only_memory = true, .n_scans = 1 },
		{ .early = true, .wish.only_memory = true, .n_scans = 2 },
		{ .select = "op=load", .n_scans = 1 },
		{ .late = true, .select = "op=load", .n_scans = 2 },
		{ .by_address = true, .n_scans = 2 }, /* the decoder drops records */
	};
	struct spe_record *records = mem_alloc(N_RECORDS, sizeof(*records));

	(void)state;
	records_made = records;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		size_t k = i / 2;
		struct analysis counts = { .class = &slice_counts_class, .options = &n_restarts };
		struct scan_wish wish = cases[k].wish;
		struct address_filter addresses;
		struct select *select = NULL;
		struct session s;
		struct err err;

		print_message("%zu\n", i);
		make_records(cases[k].early, cases[k].late, records);
		open_fixture(&(struct contents){ .records = records, .n_records = N_RECORDS },
			     i % 2 == 0 ? 1 : 4, &s);
		assert_int_equal(scan_choose_slices(&s, N_SLICES, false, &err), 0);
		assert_int_equal(s.n_scans, 0);
		address_filter_init(&addresses, 64, N_RECORDS);
		for (size_t r = 0; r < N_RECORDS; r++)
			address_filter_add(&addresses, records[r].va);
		wish.addresses = cases[k].by_address ? &addresses : NULL;
		if (cases[k].select != NULL)
			assert_int_equal(select_compile(&s, cases[k].select, &select, &err), 0);
		n_restarts = 0;
		scan_part(&s, select, &wish, &counts, 1);
		assert_int_equal(s.n_scans, cases[k].n_scans);
		assert_int_equal(n_restarts, cases[k].by_address ? 0 : cases[k].n_scans - 1);
		expect_slices(&s, counts.result,
			      wish.only_memory || select != NULL || wish.addresses != NULL);
		counts.class->free(counts.result);
		address_filter_release(&addresses);
		select_free(select);
		close_fixture(&s);
	}
	free(records);
}

/* No option and no key of time: none; the key alone: as many as are usual. */
static void slices_are_chosen(void **state)
{
	static const struct {
		uint32_t n;
		bool by_time;
		uint32_t expected;
	} cases[] = {
		{ 0, false, 0 }, { 0, true, SLICES_DEFAULT }, { 7, false, 7 }, { 7, true, 7 }
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;
		struct err err;

		open_samples(FIRST_NS, LAST_NS, &s);
		assert_int_equal(scan_choose_slices(&s, cases[i].n, cases[i].by_time, &err), 0);
		assert_int_equal(s.slices.n, cases[i].expected);
		close_fixture(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_of_what_was_sampled),
		cmocka_unit_test(slices_are_exact_after_a_scan),
		cmocka_unit_test(slices_are_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
