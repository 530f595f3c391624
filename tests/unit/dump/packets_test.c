/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps in parts, by several workers, equal the dump of the whole. */
#include "dump/packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../session/fixture.h"
#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "spe/packet.h"

enum {
	N_RECORDS = 20000,     /* some parts for each CPU */
	NO_RECORD = 700 << 10, /* bytes without a record, more than a part may have */
	CPU_EVENT = 12, /* an event bit that Neoverse N1 has a name for, and the architecture not */
	BAD_PACKET = 2,
	MAX_HEADER = 64,
};

static struct spe_record *make_records(void)
{
	struct spe_record *out = mem_alloc(N_RECORDS, sizeof(*out));

	for (size_t i = 0; i < N_RECORDS; i++)
		out[i] = spe_of(FIRST + 4 * (i % 64), ALPHA, SPE_OP_OTHER,
				UINT64_C(1) << SPE_EV_RETIRED, (uint16_t)(1 + i % 1000),
				START_NS + i);
	return out;
}

static void write_bad_bytes(struct writer *w)
{
	uint8_t *bytes = mem_alloc(NO_RECORD, 1);

	memset(bytes, BAD_PACKET, NO_RECORD);
	writer_auxtrace(w, &(struct record_auxtrace){ .size = NO_RECORD, .idx = 2, .cpu = 2 },
			bytes);
	free(bytes);
}

/* What the sink got, and when it says that it wants no more. */
struct taken {
	struct text text;
	size_t n_pieces, most, limit; /* 0: no limit */
};

static int take(void *context, const struct text *text)
{
	struct taken *t = context;

	t->n_pieces++;
	t->most = text->n > t->most ? text->n : t->most;
	text_add(&t->text, text->bytes, text->n);
	return t->limit > 0 && t->n_pieces >= t->limit ? -1 : 0;
}

/* The same without parts and workers. */
static void dump_whole(const struct capture *capture, struct text *out)
{
	for (size_t i = 0; i < capture_n_chunks(capture); i++) {
		const struct aux_chunk *c = capture_chunk(capture, i);
		char header[MAX_HEADER];

		snprintf(header, sizeof(header), ".\n. ... ARM SPE data: size %#llx bytes\n",
			 (unsigned long long)c->size);
		text_str(out, header);
		spe_dump(c->bytes, c->size, c->position, SPE_WORDING_FULL, NULL, out);
	}
}

static void parts_make_the_whole(void **state)
{
	struct spe_record *records = make_records();

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct session s;
		struct text whole = { 0 };
		struct taken taken = { 0 };

		open_fixture(&(struct contents){ .records = records,
						 .n_records = N_RECORDS,
						 .write_more = write_bad_bytes },
			     n_workers, &s);
		assert_int_equal(capture_n_chunks(s.capture), 3);
		dump_whole(s.capture, &whole);
		assert_int_equal(
			packets_dump(s.capture, NULL, s.pool, SPE_WORDING_FULL, take, &taken), 0);
		assert_int_equal(taken.text.n, whole.n);
		assert_memory_equal(taken.text.bytes, whole.bytes, whole.n);
		/* In pieces: the whole is never in memory at once. */
		assert_true(taken.n_pieces > 6);
		assert_true(taken.most < whole.n / 4);
		text_release(&taken.text);
		text_release(&whole);
		close_damaged_fixture(&s);
	}
	free(records);
}

/* A sink that fails is not called again, whether between parts or within a large one. */
static void a_sink_stops_the_dump(void **state)
{
	struct spe_record *records = make_records();
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = records,
					 .n_records = N_RECORDS,
					 .write_more = write_bad_bytes },
		     2, &s);
	for (size_t limit = 1; limit <= 9; limit++) {
		struct taken taken = { .limit = limit };

		assert_int_equal(
			packets_dump(s.capture, NULL, s.pool, SPE_WORDING_FULL, take, &taken), -1);
		assert_int_equal(taken.n_pieces, limit);
		text_release(&taken.text);
	}
	close_damaged_fixture(&s);
	free(records);
}

/* With a catalog, the CPU's own event bits have names. */
static void events_have_names_of_the_cpu(void **state)
{
	const struct spe_record record =
		spe_of(FIRST, ALPHA, SPE_OP_OTHER, UINT64_C(1) << CPU_EVENT, 1, START_NS);
	struct session s;

	(void)state;
	open_fixture(&(struct contents){ .records = &record, .n_records = 1 }, 1, &s);
	for (int has_catalog = 0; has_catalog <= 1; has_catalog++) {
		struct taken taken = { 0 };

		assert_int_equal(packets_dump(s.capture, has_catalog ? s.catalog : NULL, s.pool,
					      SPE_WORDING_FULL, take, &taken),
				 0);
		assert_true(text_has(&taken.text, "EV "));
		assert_int_equal(text_has(&taken.text, "LATE-PREFETCH"), has_catalog);
		text_release(&taken.text);
	}
	close_fixture(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_make_the_whole),
		cmocka_unit_test(a_sink_stops_the_dump),
		cmocka_unit_test(events_have_names_of_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
