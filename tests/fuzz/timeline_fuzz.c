/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side-band records as they stand in a capture, with thread, time and cpu at their end. What
 * the timeline answers must agree with itself, and a batch of rows must survive it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/strings.h"
#include "process/attribution.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
	HEADER_SIZE = 8,
	SAMPLE_TYPE = 1 << 1 | 1 << 2 | 1 << 7, /* TID, TIME, CPU */
};

static const struct attr attr = {
	.sample_type = SAMPLE_TYPE,
	.flags = (uint64_t)1 << ATTR_SAMPLE_ID_ALL,
};

/* The next record, false at the end. Sizes too small are taken for the smallest. */
static bool next_record(struct cursor *c, const uint8_t *start, struct record *out)
{
	*out = (struct record){ .position = (uint64_t)(c->pos - start) };
	out->type = cur_u32(c);
	out->misc = cur_u16(c);
	out->size = cur_u16(c);
	if (out->size < HEADER_SIZE)
		out->size = HEADER_SIZE;
	out->body = cur_split(c, out->size - HEADER_SIZE);
	return cur_ok(c);
}

static bool same_place(struct placed a, struct placed b)
{
	return a.place.module.v == b.place.module.v && a.place.offset == b.place.offset &&
	       a.from_ns == b.from_ns && a.to_ns == b.to_ns;
}

static void ask(const struct timeline *t, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	uint32_t process = timeline_process_of_pid(t, pid, time_ns);

	for (unsigned is_kernel = 0; is_kernel < 2; is_kernel++) {
		struct placed p = timeline_place(t, process, is_kernel, address, time_ns);

		if (p.from_ns > time_ns || p.to_ns <= time_ns ||
		    !same_place(p, timeline_place(t, process, is_kernel, address, p.from_ns)) ||
		    !same_place(p, timeline_place(t, process, is_kernel, address, p.to_ns - 1)))
			abort();
	}
	timeline_comm(t, pid, time_ns);
	timeline_process_of_tid(t, pid, time_ns);
}

/* A row that could have been recorded when the record was. */
static void add_row(struct batch *b, uint32_t pid, uint64_t address, const struct sample_id *id)
{
	size_t row = b->n++;

	b->has[row] = HAS_PC | HAS_STACK | (id->has & (HAS_TID | HAS_CPU | HAS_TIME));
	b->pc[row] = address;
	b->tid[row] = id->tid;
	b->cpu[row] = id->cpu;
	b->time_ns[row] = id->time_ns;
	b->mode[row] = (uint8_t)pid;
	b->stack[row] = (struct batch_slice){ .first = 0, .n = (uint32_t)b->words.n };
	*vec_add(&b->words) = address;
}

static void ask_about_records(const struct timeline *t, const uint8_t *bytes, size_t size)
{
	struct place_numbers *places = place_numbers_new();
	struct attribution *a = attribution_new(t, places);
	struct cursor c = cur_of(bytes, size);
	struct batch *b = batch_new();
	struct record r;

	batch_reset(b, BATCH_SAMPLES);
	while (next_record(&c, bytes, &r) && !batch_is_full(b)) {
		struct sample_id id = sample_id_read(&r, &attr);
		uint32_t pid = cur_u32(&r.body);
		uint64_t address;

		cur_skip(&r.body, 4);
		address = cur_u64(&r.body);
		if (id.time_ns != UINT64_MAX)
			ask(t, pid, address, id.time_ns);
		add_row(b, pid, address, &id);
	}
	attribution_apply(a, b);
	batch_free(b);
	attribution_free(a);
	place_numbers_free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct timeline *t = timeline_new();
	struct cursor c = cur_of(bytes, size);
	const struct info info = { 0 };
	struct strings strings;
	struct record r;

	strings_init(&strings);
	while (next_record(&c, bytes, &r)) {
		struct sample_id id = sample_id_read(&r, &attr);

		timeline_visit(t, &r, &id);
	}
	timeline_freeze(t, &info, &strings, NULL);
	ask_about_records(t, bytes, size);
	timeline_free(t);
	strings_release(&strings);
	return 0;
}
