/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last time, looked for at the ends of the buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "base/alloc.h"
#include "capture/capture.h"
#include "capture/writer/writer.h"
#include "spe/packet.h"

enum { MANY = 6000, FIRST_NS = START_NS + 1000, STEP_NS = 10 };

/* A third buffer of two chunks: a record, and then an earlier one. */
static void write_chunks(struct writer *w)
{
	static const uint64_t times[] = { FIRST_NS + 50, START_NS + 7 };

	for (size_t i = 0; i < COUNT(times); i++) {
		struct spe_record record = spe_of(TEXT_START, ALPHA, SPE_OP_OTHER, 0, 10, times[i]);
		uint8_t bytes[SPE_RECORD_MAX];
		struct record_auxtrace header = {
			.idx = 2,
			.cpu = 2,
			.tid = UINT32_MAX,
			.size = spe_encode(&record, &spe_layout_n1, bytes),
		};

		header.offset = i * header.size;
		writer_auxtrace(w, &header, bytes);
	}
}

static void ends_have_times(void **state)
{
	static const struct {
		size_t n_records;
		uint64_t samples[2];  /* their times; 0: no sample */
		uint64_t moved[2][2]; /* records that have another time */
		bool no_times, has_chunks;
		uint64_t first_ns, last_ns; /* 0, 0: none is found */
	} cases[] = {
		{ 0 },
		{ .n_records = 2, .no_times = true },
		{ .samples = { 5000, 4000 }, .first_ns = 4000, .last_ns = 5000 },
		{ 4, .first_ns = FIRST_NS, .last_ns = FIRST_NS + 3 * STEP_NS },
		{ 4, { 1100, 0 }, .first_ns = 1100, .last_ns = FIRST_NS + 3 * STEP_NS },
		{ 4, { 0, 9000 }, .first_ns = FIRST_NS, .last_ns = 9000 },
		{ MANY, .first_ns = FIRST_NS, .last_ns = FIRST_NS + (MANY - 1) * STEP_NS },
		/* near the ends; among the first of one buffer and the last of the other */
		{ MANY, .moved = { { 20, 1500 }, { MANY - 20, 90000 } }, .first_ns = 1500,
		  .last_ns = 90000 },
		{ MANY, .moved = { { MANY / 2 + 3, 1500 }, { MANY / 2 - 3, 90000 } },
		  .first_ns = 1500, .last_ns = 90000 },
		/* in the middle, which is not looked at */
		{ MANY, .moved = { { MANY / 4 + 300, 1500 }, { MANY / 2 + 300, 90000 } },
		  .first_ns = FIRST_NS, .last_ns = 90000 },
		{ 4, .has_chunks = true, .first_ns = START_NS + 7, .last_ns = FIRST_NS + 50 },
	};
	struct spe_record *records = mem_alloc(MANY, sizeof(*records));

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sample samples[2];
		struct contents contents = { .records = records,
					     .n_records = cases[i].n_records,
					     .samples = samples,
					     .write_more =
						     cases[i].has_chunks ? write_chunks : NULL };
		uint64_t first_ns, last_ns;
		struct session s;

		print_message("%zu\n", i);
		for (size_t r = 0; r < contents.n_records; r++) {
			records[r] = spe_of(TEXT_START, ALPHA, SPE_OP_OTHER, 0, 10,
					    FIRST_NS + r * STEP_NS);
			records[r].has &= ~(cases[i].no_times ? (uint32_t)HAS_TICKS : 0);
			for (size_t k = 0; k < 2; k++)
				if (cases[i].moved[k][1] != 0 && cases[i].moved[k][0] == r)
					records[r].ticks = cases[i].moved[k][1];
		}
		for (size_t k = 0; k < 2; k++) {
			if (cases[i].samples[k] == 0)
				continue;
			samples[contents.n_samples] =
				sample_of(EVENT_CYCLES, TEXT_START, ALPHA, 1, NULL, 0);
			samples[contents.n_samples++].time_ns = cases[i].samples[k];
		}
		open_fixture(&contents, 1, &s);
		assert_int_equal(capture_end_times(s.capture, &first_ns, &last_ns),
				 cases[i].last_ns != 0);
		if (cases[i].last_ns != 0) {
			assert_int_equal(first_ns, cases[i].first_ns);
			assert_int_equal(last_ns, cases[i].last_ns);
		}
		close_fixture(&s);
	}
	free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_have_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
