/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/record.h"
#include "capture/format/sample.h"
#include "image.h"

static struct record record_of(const struct text *t, size_t begin)
{
	const uint8_t *at = (const uint8_t *)t->bytes + begin;

	return (struct record){
		.type = load_u32(at),
		.misc = load_u16(at + 4),
		.size = load_u16(at + 6),
		.position = begin,
		.body = cur_of(at + 8, load_u16(at + 6) - 8u),
	};
}

/* Bodies as the kernel writes them, and how many bytes of them are needed. */
static void put_mmap2(struct text *t)
{
	put_u32(t, 10);
	put_u32(t, 11);
	put_u64s(t, (uint64_t[]){ 0x400000, 0x1000, 0x2000 }, 3);
	put_u32(t, 8);
	put_u32(t, 1);
	put_u64s(t, (uint64_t[]){ 77, 78 }, 2);
	put_u32(t, 5);
	put_u32(t, 2);
	put_padded(t, "/bin/true");
}

static void test_mmap2(void **state)
{
	struct text t = { 0 };
	struct record_mmap m;
	struct err err;
	size_t begin = record_begin(&t, RECORD_MMAP2, MISC_MMAP_DATA | 2);

	(void)state;
	put_mmap2(&t);
	record_end(&t, begin);
	struct record r = record_of(&t, begin);

	assert_int_equal(record_mmap_read(&r, &m, &err), 0);
	assert_int_equal(m.pid, 10);
	assert_int_equal(m.tid, 11);
	assert_int_equal(m.start, 0x400000);
	assert_int_equal(m.length, 0x1000);
	assert_int_equal(m.page_offset, 0x2000);
	assert_int_equal(m.major, 8);
	assert_int_equal(m.minor, 1);
	assert_int_equal(m.inode, 77);
	assert_int_equal(m.inode_generation, 78);
	assert_int_equal(m.protection, 5);
	assert_int_equal(m.flags, 2);
	assert_true(m.is_data);
	assert_string_equal(m.path, "/bin/true");
	text_release(&t);
}

static void test_mmap2_build_id(void **state)
{
	struct text t = { 0 };
	struct record_mmap m;
	struct err err;
	size_t begin = record_begin(&t, RECORD_MMAP2, MISC_MMAP_BUILD_ID);

	(void)state;
	put_mmap2(&t);
	record_end(&t, begin);
	t.bytes[begin + 8 + 32] = 20; /* size, then three bytes, then the id */
	for (char i = 0; i < 20; i++)
		t.bytes[begin + 8 + 36 + (size_t)i] = (char)(0x40 + i);
	struct record r = record_of(&t, begin);

	assert_int_equal(record_mmap_read(&r, &m, &err), 0);
	assert_int_equal(m.build_id.size, 20);
	assert_int_equal(m.build_id.bytes[0], 0x40);
	assert_int_equal(m.build_id.bytes[19], 0x53);
	assert_int_equal(m.inode, 0);
	assert_false(m.is_data);
	t.bytes[begin + 8 + 32] = 21;
	assert_int_equal(record_mmap_read(&r, &m, &err), 0);
	assert_int_equal(m.build_id.size, BUILD_ID_MAX);
	text_release(&t);
}

/* One reader behind a common face, so that all can be cut short in one loop. */
static int read_any(const struct record *r, struct err *err)
{
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_switch sw;
		struct record_aux aux;
		struct record_auxtrace auxtrace;
		struct record_ksymbol ksymbol;
		struct record_time_conv time_conv;
		struct record_lost lost;
	} out;

	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return record_mmap_read(r, &out.mmap, err);
	case RECORD_COMM:
		return record_comm_read(r, &out.comm, err);
	case RECORD_FORK:
	case RECORD_EXIT:
		return record_task_read(r, &out.task, err);
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		return record_switch_read(r, &out.sw, err);
	case RECORD_AUX:
		return record_aux_read(r, &out.aux, err);
	case RECORD_AUXTRACE:
		return record_auxtrace_read(r, &out.auxtrace, err);
	case RECORD_KSYMBOL:
		return record_ksymbol_read(r, &out.ksymbol, err);
	case RECORD_TIME_CONV:
		return record_time_conv_read(r, &out.time_conv, err);
	default:
		return record_lost_read(r, &out.lost, err);
	}
}

/* A body is readable from `needed` bytes on, and not before. */
static const struct {
	uint32_t type;
	size_t needed;
} sizes[] = {
	{ RECORD_MMAP, 8 + 24 + 1 },   { RECORD_MMAP2, 8 + 24 + 24 + 8 + 1 },
	{ RECORD_COMM, 8 + 1 },	       { RECORD_FORK, 24 },
	{ RECORD_EXIT, 24 },	       { RECORD_SWITCH, 0 },
	{ RECORD_SWITCH_CPU_WIDE, 8 }, { RECORD_AUX, 24 },
	{ RECORD_AUXTRACE, 36 },       { RECORD_KSYMBOL, 16 + 1 },
	{ RECORD_TIME_CONV, 24 },      { RECORD_LOST, 16 },
	{ RECORD_LOST_SAMPLES, 8 },
};

static void test_every_length(void **state)
{
	uint8_t body[128] = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		body[8] = sizes[i].type == RECORD_TIME_CONV; /* its mult may not be 0 */
		for (size_t n = 0; n <= sizeof(body); n++) {
			struct record r = {
				.type = sizes[i].type,
				.size = n + 8,
				.position = 0x1234,
				.body = cur_of(body, n),
			};
			int wanted = n >= sizes[i].needed ? 0 : -1;

			err = (struct err){ 0 };
			if (read_any(&r, &err) != wanted)
				fail_msg("%s of %zu bytes", record_type_name(r.type), n);
			if (wanted < 0)
				assert_int_equal(err.at, 0x1234);
		}
	}
}

static void test_strings_without_end(void **state)
{
	uint8_t body[80];
	struct err err;

	(void)state;
	memset(body, 'x', sizeof(body));
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct record r = { .type = sizes[i].type, .body = cur_of(body, sizeof(body)) };
		bool has_string = r.type == RECORD_MMAP || r.type == RECORD_MMAP2 ||
				  r.type == RECORD_COMM || r.type == RECORD_KSYMBOL;

		if (has_string)
			assert_int_equal(read_any(&r, &err), -1);
	}
}

static void test_fields(void **state)
{
	const uint64_t words[] = { 0x0000000200000001, 0x0000000400000003, 5, 6, 7, 8 };
	struct record r = { .misc = MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT,
			    .body = cur_of(words, sizeof(words)) };
	struct record_task task;
	struct record_switch sw;
	struct record_aux aux;
	struct record_auxtrace auxtrace;
	struct record_lost lost;
	struct err err;

	(void)state;
	r.type = RECORD_FORK;
	assert_int_equal(record_task_read(&r, &task, &err), 0);
	assert_int_equal(task.pid, 1);
	assert_int_equal(task.ppid, 2);
	assert_int_equal(task.tid, 3);
	assert_int_equal(task.ptid, 4);
	assert_int_equal(task.time_ns, 5);
	r.type = RECORD_SWITCH_CPU_WIDE;
	assert_int_equal(record_switch_read(&r, &sw, &err), 0);
	assert_true(sw.is_out && sw.is_preempted && sw.has_other);
	assert_int_equal(sw.other_pid, 1);
	assert_int_equal(sw.other_tid, 2);
	r.type = RECORD_AUX;
	assert_int_equal(record_aux_read(&r, &aux, &err), 0);
	assert_int_equal(aux.size, 0x0000000400000003);
	assert_int_equal(aux.flags, 5);
	r.type = RECORD_AUXTRACE;
	assert_int_equal(record_auxtrace_read(&r, &auxtrace, &err), 0);
	assert_int_equal(auxtrace.reference, 5);
	assert_int_equal(auxtrace.idx, 6);
	assert_int_equal(auxtrace.tid, 0);
	assert_int_equal(auxtrace.cpu, 7);
	r.type = RECORD_LOST;
	assert_int_equal(record_lost_read(&r, &lost, &err), 0);
	assert_int_equal(lost.n, 0x0000000400000003);
	r.type = RECORD_LOST_SAMPLES;
	assert_int_equal(record_lost_read(&r, &lost, &err), 0);
	assert_int_equal(lost.n, 0x0000000200000001);
}

/* More than can be lost is damage, whatever was lost before. */
static void losses_have_a_limit(void **state)
{
	static const struct {
		uint64_t n;
		int rc;
	} cases[] = {
		{ 0, 0 },
		{ RECORD_LOST_MOST, 0 },
		{ RECORD_LOST_MOST + 1, -1 },
		{ UINT64_MAX, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const uint64_t words[] = { 7, cases[i].n };
		struct record r = { .type = RECORD_LOST, .body = cur_of(words, sizeof(words)) };
		struct record_lost lost = { .n = 5 };
		struct err err;

		assert_int_equal(record_lost_read(&r, &lost, &err), cases[i].rc);
		assert_int_equal(lost.n, cases[i].rc == 0 ? cases[i].n : 5);
		r.type = RECORD_LOST_SAMPLES;
		r.body = cur_of(&words[1], sizeof(words[1]));
		assert_int_equal(record_lost_read(&r, &lost, &err), cases[i].rc);
	}
}

#define TRAILER_TID BIT(SAMPLE_TID)
#define TRAILER_ALL                                                                                \
	(BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) | BIT(SAMPLE_ID) | BIT(SAMPLE_STREAM_ID) |             \
	 BIT(SAMPLE_CPU) | BIT(SAMPLE_IDENTIFIER))

/* The trailer is read from the end: words 1 … 6 are there, the last ones are meant. */
static const struct {
	uint64_t sample_type;
	struct sample_id wanted;
} trailers[] = {
	{ 0, { 0 } },
	{ BIT(SAMPLE_IP) | BIT(SAMPLE_PERIOD), { 0 } },
	{ TRAILER_TID, { .has = HAS_PID | HAS_TID, .pid = 6, .tid = 60 } },
	{ BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU),
	  { .has = HAS_TIME | HAS_CPU, .time_ns = 5 + (50ull << 32), .cpu = 6 } },
	{ BIT(SAMPLE_ID) | BIT(SAMPLE_STREAM_ID),
	  { .id = 5 + (50ull << 32), .stream_id = 6 + (60ull << 32) } },
	{ TRAILER_ALL,
	  { .has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
	    .pid = 1,
	    .tid = 10,
	    .time_ns = 2 + (20ull << 32),
	    .id = 6 + (60ull << 32),
	    .stream_id = 4 + (40ull << 32),
	    .cpu = 5 } },
};

static void test_sample_id(void **state)
{
	uint64_t words[6];
	struct record r = { .type = RECORD_COMM, .body = cur_of(words, sizeof(words)) };

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		words[i] = (i + 1) | (10 * (i + 1)) << 32;
	for (size_t i = 0; i < COUNT(trailers); i++) {
		struct attr attr = { .sample_type = trailers[i].sample_type,
				     .flags = BIT(ATTR_SAMPLE_ID_ALL) };
		struct sample_id id = sample_id_read(&r, &attr);

		assert_memory_equal(&id, &trailers[i].wanted, sizeof(id));
	}
}

static void test_no_sample_id(void **state)
{
	const struct sample_id none = { 0 };
	uint64_t words[6] = { 1, 2, 3, 4, 5, 6 };
	struct attr attr = { .sample_type = TRAILER_ALL };
	struct record r = { .type = RECORD_COMM, .body = cur_of(words, sizeof(words)) };
	struct sample_id id = sample_id_read(&r, &attr);

	(void)state;
	assert_memory_equal(&id, &none, sizeof(id));
	attr.flags = BIT(ATTR_SAMPLE_ID_ALL);
	r.type = RECORD_AUXTRACE; /* perf's own records have none */
	id = sample_id_read(&r, &attr);
	assert_memory_equal(&id, &none, sizeof(id));
	r.type = RECORD_COMM;
	for (size_t n = 0; n < sizeof(words); n++) {
		r.body = cur_of(words, n);
		id = sample_id_read(&r, &attr);
		assert_memory_equal(&id, &none, sizeof(id));
	}
}

/* A real TIME_CONV record and two of its times. */
static const struct record_time_conv conv = {
	.shift = 0x15,
	.mult = 0x1800000,
	.zero = 0xfffffb4c4b94ff9c,
	.cycles = 0x644f0ec5c7,
	.mask = 0x1ffffffffffffff,
	.has_short = true,
};

static const struct {
	uint64_t ticks, time_ns;
} times[] = {
	{ 0x644f0ec5c7, 4605168 },
	{ 0x645406569c, 1004605164 },
	{ 0x644f0ec5c8, 4605180 },
};

static void test_time(void **state)
{
	struct record_time_conv plain = conv;

	(void)state;
	plain.has_short = false;
	for (size_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(time_from_ticks(&conv, times[i].ticks), times[i].time_ns);
		assert_int_equal(time_from_ticks(&plain, times[i].ticks), times[i].time_ns);
		assert_int_equal(time_to_ticks(&conv, times[i].time_ns), times[i].ticks);
	}
	/* Counters that are narrower than 57 bits: the mask brings the upper bits back. */
	assert_int_equal(time_from_ticks(&conv, 0x644f0ec5c7 | 1ull << 60), 4605168);
}

static void test_time_conv_is_checked(void **state)
{
	static const struct {
		uint64_t shift, mult;
		int wanted;
	} cases[] = { { 63, 1, 0 }, { 64, 1, -1 }, { UINT64_MAX, 1, -1 }, { 21, 0, -1 } };
	struct record_time_conv out;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t words[] = { cases[i].shift, cases[i].mult, 5, 6, 7, 0x0100 };
		struct record r = { .type = RECORD_TIME_CONV,
				    .body = cur_of(words, sizeof(words)) };

		assert_int_equal(record_time_conv_read(&r, &out, &err), cases[i].wanted);
		if (cases[i].wanted == 0)
			assert_true(out.has_short && out.cycles == 6 && out.mask == 7);
	}
}

static void test_type_names(void **state)
{
	(void)state;
	assert_string_equal(record_type_name(RECORD_MMAP), "MMAP");
	assert_string_equal(record_type_name(RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
	assert_string_equal(record_type_name(RECORD_SCHEDSTAT_DOMAIN), "SCHEDSTAT_DOMAIN");
	assert_int_equal(RECORD_SCHEDSTAT_DOMAIN, 86);
	assert_int_equal(RECORD_TIME_CONV, 79);
	assert_null(record_type_name(0));
	assert_null(record_type_name(23));
	assert_null(record_type_name(N_RECORD_TYPES));
	assert_null(record_type_name(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap2),	     cmocka_unit_test(test_mmap2_build_id),
		cmocka_unit_test(test_every_length), cmocka_unit_test(test_strings_without_end),
		cmocka_unit_test(test_fields),	     cmocka_unit_test(losses_have_a_limit),
		cmocka_unit_test(test_sample_id),    cmocka_unit_test(test_no_sample_id),
		cmocka_unit_test(test_time),	     cmocka_unit_test(test_time_conv_is_checked),
		cmocka_unit_test(test_type_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
