/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/describe.h"
#include "image.h"

enum { PMU = 11, ETM = 12, MAGIC_HALF = 0x10101010, ARM_SPE = 4 };

static const struct attr attrs[] = {
	{ .type = ATTR_TYPE_SOFTWARE, .size = ATTR_SIZE_MIN },
	{ .type = PMU, .size = ATTR_SIZE_MIN },
};

/* A stream with two events, the second being SPE, and this AUXTRACE_INFO. */
static struct text stream_with(const uint64_t *words, size_t n)
{
	struct text t = { 0 };

	put_stream_header(&t);
	for (size_t i = 0; i < COUNT(attrs); i++)
		put_attr(&t, &attrs[i], (uint64_t[]){ i + 1 }, 1);
	put_record(&t, RECORD_AUXTRACE_INFO, 0, words, n);
	return t;
}

static void put_chunk(struct text *t, uint32_t cpu)
{
	put_auxtrace(t, &(struct record_auxtrace){ .size = 1, .cpu = cpu }, "\1", 1);
}

static void put_string_feature(struct text *t, unsigned feature, const char *text)
{
	size_t begin = record_begin(t, RECORD_HEADER_FEATURE, 0);

	put_word(t, feature);
	put_u32(t, 64);
	text_add(t, text, strlen(text));
	put_zeros(t, 64 - strlen(text));
	record_end(t, begin);
}

static void test_version_1(void **state)
{
	(void)state;
	for (uint64_t per_cpu = 0; per_cpu < 2; per_cpu++) {
		struct text t = stream_with((uint64_t[]){ ARM_SPE, PMU, per_cpu }, 3);

		put_string_feature(&t, FEATURE_CPUID, "0x00000000410fd0c0");
		struct capture *c = open_image(&t);
		const struct spe_info *spe = capture_spe(c);

		assert_true(spe->is_present);
		assert_int_equal(spe->version, 1);
		assert_int_equal(spe->pmu_type, PMU);
		assert_int_equal(spe->is_per_thread, per_cpu == 0);
		assert_int_equal(spe->event, 1);
		assert_int_equal(spe->cpus.n, 0);
		assert_false(spe->has_time);
		assert_false(spe->is_modelled);
		assert_int_equal(capture_midr(c, 0), 0x410fd0c0);
		assert_int_equal(capture_midr(c, UINT32_MAX), 0x410fd0c0);
		capture_free(c);
		text_release(&t);
	}
}

#define MAGIC ((uint64_t)MAGIC_HALF << 32 | MAGIC_HALF)

/* Two CPUs as old and new recorders write them, one after the other. */
static const uint64_t version_2[] = {
	ARM_SPE, 2,    4,     PMU, 2, MAGIC, 0,		 3,    0xa1,
	PMU,	 4096, MAGIC, 5,   4, 0xa2,  UINT64_MAX, 1024, 0x123,
};

static void test_version_2(void **state)
{
	struct text t = stream_with(version_2, COUNT(version_2));

	(void)state;
	put_chunk(&t, UINT32_MAX);
	struct capture *c = open_image(&t);
	const struct spe_info *spe = capture_spe(c);

	assert_int_equal(spe->version, 2);
	assert_int_equal(spe->pmu_type, PMU);
	assert_int_equal(spe->event, 1);
	assert_true(spe->is_per_thread);
	assert_int_equal(spe->cpus.n, 2);
	assert_int_equal(spe->cpus.items[0].cpu, 0);
	assert_int_equal(spe->cpus.items[0].midr, 0xa1);
	assert_int_equal(spe->cpus.items[0].pmu_type, PMU);
	assert_int_equal(spe->cpus.items[0].min_interval, 4096);
	assert_int_equal(spe->cpus.items[0].event_filter, 0);
	assert_int_equal(spe->cpus.items[1].cpu, 5);
	assert_int_equal(spe->cpus.items[1].pmu_type, UINT32_MAX);
	assert_int_equal(spe->cpus.items[1].event_filter, 0x123);
	assert_int_equal(capture_midr(c, 0), 0xa1);
	assert_int_equal(capture_midr(c, 5), 0xa2);
	assert_int_equal(capture_midr(c, 1), 0);	  /* not there, and they differ */
	assert_int_equal(capture_midr(c, UINT32_MAX), 0); /* unknown, and they differ */
	capture_free(c);
	text_release(&t);
}

struct described {
	struct capture *capture;
	struct text text;
};

static void describe_info(void *context, const struct record *r, const struct sample_id *id)
{
	struct described *d = context;

	if (r->type == RECORD_AUXTRACE_INFO)
		record_describe(d->capture, r, id, &d->text);
}

/* What `dump` says of it. */
static void test_described(void **state)
{
	static const struct {
		uint64_t words[COUNT(version_2)];
		size_t n;
		const char *says;
	} cases[] = {
		{ { ARM_SPE, PMU, 1 }, 3, "type=4 version=1 pmu=11" },
		{ { ARM_SPE, PMU, 0 }, 3, "type=4 version=1 pmu=11 per_thread" },
		{ { 3, 1, 2, 3 }, 4, "type=3" },
		{ { ARM_SPE, 2, 4, PMU, 1, MAGIC, 5, 4, 0xa2, UINT64_MAX, 1024, 0x123 },
		  12,
		  "type=4 version=2 pmu=11 cpu=5 midr=0xa2 pmu=-1 min_interval=1024 "
		  "event_filter=0x123" },
		{ { ARM_SPE, 2, 4, PMU, 1, MAGIC, 0, 3, 0xa1 },
		  9,
		  "version=2 pmu=11 (ends inside its CPUs)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text t = stream_with(cases[i].words, cases[i].n);
		struct described d = { .capture = open_image(&t) };

		capture_walk(d.capture, describe_info, &d);
		text_char(&d.text, '\0');
		if (strstr(d.text.bytes, cases[i].says) == NULL)
			fail_msg("%s, wanted %s", d.text.bytes, cases[i].says);
		capture_free(d.capture);
		text_release(&d.text);
		text_release(&t);
	}
}

static void test_common_midr(void **state)
{
	uint64_t words[COUNT(version_2)];

	(void)state;
	memcpy(words, version_2, sizeof(words));
	words[14] = words[8];
	struct text t = stream_with(words, COUNT(words));

	put_chunk(&t, 0);
	put_chunk(&t, UINT32_MAX);
	struct capture *c = open_image(&t);

	assert_int_equal(capture_midr(c, UINT32_MAX), 0xa1);
	assert_false(capture_spe(c)->is_per_thread);
	capture_free(c);
	text_release(&t);
}

/* Cut anywhere: what came before is kept, nothing is read behind the end. */
static void test_version_2_cut(void **state)
{
	(void)state;
	for (size_t n = 1; n < COUNT(version_2); n++) {
		struct text t = stream_with(version_2, n);
		struct capture *c = open_image(&t);
		bool is_damaged = find_diag(capture_diags(c), "AUXTRACE_INFO") != NULL;

		/* Two words are all that version 1 has. */
		assert_int_equal(is_damaged, n != 3);
		assert_true(capture_spe(c)->cpus.n <= 1);
		assert_true(capture_spe(c)->is_present);
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&t);
	}
}

static void test_other_trace(void **state)
{
	struct text t = stream_with((uint64_t[]){ 1, PMU, 1 }, 3);

	(void)state;
	put_chunk(&t, 0);
	struct capture *c = open_image(&t);

	assert_false(capture_spe(c)->is_present);
	assert_int_equal(capture_spe(c)->event, -1);
	assert_int_equal(capture_n_units(c), 0);
	assert_int_equal(find_diag(capture_diags(c), "not decoded: trace data of Intel PT")->bytes,
			 1);
	assert_int_equal(diags_bytes(capture_diags(c), DIAG_LOSS), 0);
	assert_int_equal(capture_other_trace_bytes(c), 1);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

static void put_pmu_mappings(struct text *t)
{
	static const struct {
		uint32_t type;
		const char *name;
	} pmus[] = { { PMU, "arm_spe_0" }, { ETM, "cs_etm" } };
	size_t begin = record_begin(t, RECORD_HEADER_FEATURE, 0);

	put_word(t, FEATURE_PMU_MAPPINGS);
	put_u32(t, COUNT(pmus));
	for (size_t i = 0; i < COUNT(pmus); i++) {
		put_u32(t, pmus[i].type);
		put_u32(t, 64);
		text_add(t, pmus[i].name, strlen(pmus[i].name));
		put_zeros(t, 64 - strlen(pmus[i].name));
	}
	record_end(t, begin);
}

/* A PC and a timestamp, and what is none of SPE's packets. */
static const uint8_t spe_bytes[] = { 0xb0, 0x10, 0, 0, 0, 0, 0, 0, 0x20, 0x71, 1, 0,
				     0,	   0,	 0, 0, 0, 0, 0, 0, 0,	 0,    0, 0 },
		     etm_bytes[] = { 0x00, 0x00, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff };

static void put_buffer(struct text *t, uint32_t idx, uint32_t cpu, bool looks_like_spe)
{
	const uint8_t *bytes = looks_like_spe ? spe_bytes : etm_bytes;
	size_t size = looks_like_spe ? sizeof(spe_bytes) : sizeof(etm_bytes);

	put_auxtrace(t, &(struct record_auxtrace){ .size = size, .idx = idx, .cpu = cpu }, bytes,
		     size);
}

/* Two kinds in one capture: the index of events decides, else the bytes. */
static void test_two_kinds(void **state)
{
	static const struct {
		bool with_index, with_second_info;
		bool first_looks_like_spe, second_looks_like_spe;
		size_t n_spe;
		uint64_t n_other_bytes;
	} cases[] = {
		/* buffer 0 is of SPE by the index, buffer 1 is not, whatever it looks like */
		{ true, true, true, false, 1, sizeof(etm_bytes) },
		{ true, true, true, true, 1, sizeof(spe_bytes) },
		{ true, false, true, false, 1, sizeof(etm_bytes) },
		/* no index: by the bytes */
		{ false, true, true, false, 1, sizeof(etm_bytes) },
		{ false, true, false, true, 1, sizeof(etm_bytes) },
		{ false, false, true, true, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct attr etm = { .type = ETM, .size = ATTR_SIZE_MIN };
		struct text t = { 0 };
		struct text names = { 0 };

		put_stream_header(&t);
		put_attr(&t, &attrs[1], (uint64_t[]){ 2 }, 1);
		put_attr(&t, &etm, (uint64_t[]){ 3 }, 1);
		put_pmu_mappings(&t);
		put_record(&t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ ARM_SPE, PMU, 1 }, 3);
		if (cases[i].with_second_info)
			put_record(&t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 3, 0, 0, 0 }, 4);
		if (cases[i].with_index)
			put_record(&t, RECORD_ID_INDEX, 0,
				   (uint64_t[]){ 2, 2, 0, 0, 0, 3, 1, 0, 0 }, 9);
		put_buffer(&t, 0, 0, cases[i].first_looks_like_spe);
		put_buffer(&t, 1, 0, cases[i].second_looks_like_spe);
		struct capture *c = open_image(&t);

		assert_true(capture_spe(c)->is_present);
		assert_int_equal(capture_n_chunks(c), cases[i].n_spe);
		assert_int_equal(count_streams(c), cases[i].n_spe);
		assert_int_equal(capture_other_trace_bytes(c), cases[i].n_other_bytes);
		capture_other_trace_names(c, &names);
		text_char(&names, '\0');
		assert_string_equal(names.bytes, cases[i].n_other_bytes > 0 ? "CoreSight ETM" : "");
		assert_false(capture_is_other_trace(c, 0));
		assert_true(capture_is_other_trace(c, 1));
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&names);
		text_release(&t);
	}
}

/* Buffers with one number, as of a recorder that does not count them, are those of their CPUs. */
static void test_one_number(void **state)
{
	struct text t = stream_with((uint64_t[]){ ARM_SPE, PMU, 1 }, 3);

	(void)state;
	put_buffer(&t, 0, 0, true);
	put_buffer(&t, 0, 1, true);
	struct capture *c = open_image(&t);

	assert_int_equal(count_streams(c), 2);
	assert_null(find_diag(capture_diags(c), "earlier snapshot"));
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

static void test_modelled(void **state)
{
	static const struct {
		unsigned feature;
		const char *text;
		bool wanted;
	} cases[] = {
		{ FEATURE_CPUDESC, "modelled Neoverse N1 (cyclops)", true },
		{ FEATURE_HOSTNAME, "modelled", true },
		{ FEATURE_CPUDESC, "Neoverse-N1", false },
		{ FEATURE_OSRELEASE, "modelled", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text t = stream_with((uint64_t[]){ ARM_SPE, PMU, 1 }, 3);

		put_string_feature(&t, cases[i].feature, cases[i].text);
		struct capture *c = open_image(&t);

		assert_int_equal(capture_spe(c)->is_modelled, cases[i].wanted);
		capture_free(c);
		text_release(&t);
	}
}

static void test_time(void **state)
{
	struct text t = stream_with((uint64_t[]){ ARM_SPE, PMU, 1 }, 3);

	(void)state;
	put_record(&t, RECORD_TIME_CONV, 0, (uint64_t[]){ 1, 6, 1000 }, 3);
	struct capture *c = open_image(&t);

	assert_true(capture_spe(c)->has_time);
	assert_int_equal(time_from_ticks(&capture_spe(c)->time, 10), 1030);
	capture_free(c);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_1),     cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_described),     cmocka_unit_test(test_common_midr),
		cmocka_unit_test(test_version_2_cut), cmocka_unit_test(test_other_trace),
		cmocka_unit_test(test_two_kinds),     cmocka_unit_test(test_one_number),
		cmocka_unit_test(test_modelled),      cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
