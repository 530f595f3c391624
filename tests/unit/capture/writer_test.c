/* SPDX-License-Identifier: Apache-2.0 */
/* Files the writer wrote, as the reader sees them. What perf sees: tests/e2e/writer_perf.py. */
#include "capture/writer/writer.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/emit.h"
#include "writer_fixture.h"

static const char *text_of(const struct capture *c, struct str_id id)
{
	return strings_get(capture_strings(c), id);
}

static void write_features(struct writer *w)
{
	static const char *const args[] = { "cyclops", "record", "a b" }, *const lists[] = {
		"0-1"
	};
	static const struct cpu_place places[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	static const uint64_t blocks[] = { 1, 2 };

	writer_feature_string(w, FEATURE_HOSTNAME, "first");
	writer_feature_string(w, FEATURE_HOSTNAME, "host"); /* replaces */
	writer_feature_string(w, FEATURE_CPUID, "0x00000000413fd0c1");
	writer_feature_u64(w, FEATURE_TOTAL_MEM, 12345);
	writer_n_cpus(w, 2, 1);
	writer_command_line(w, COUNT(args), args);
	writer_sample_time(w, 10, 20);
	writer_clock_data(w, 4, 5, 6);
	writer_build_id(w, &(struct build_id){ 20, { 1, 2 } }, "/bin/a", 7, 2);
	writer_build_id(w, &(struct build_id){ 8, { 3, 4 } }, "/bin/b", -1, 2);
	writer_pmus(w, &(struct writer_pmu){ 10, "arm_spe_0" }, 1);
	writer_cpu_topology(w, &(struct writer_cpu_topology){ lists, lists, lists, 1, 1, 1, places,
							      COUNT(places) });
	writer_numa_topology(w, &(struct writer_numa_node){ 3, 100, 50, "0-1" }, 1);
	writer_memory_topology(w, 4096, &(struct writer_memory_node){ 3, blocks, 65 }, 1);
	writer_caches(w, &(struct writer_cache){ 1, 64, 256, 4, "Data", "64K", "0" }, 1);
}

static void features_come_back(void **state)
{
	char *path = temporary_path();
	struct writer *w = opened(path);
	const struct info *info;
	struct capture *c;

	(void)state;
	write_features(w);
	writer_spe_info_v1(w, 10, true);
	writer_auxtrace(w, &(struct record_auxtrace){ .size = 8 }, "12345678");
	c = closed_and_scanned(w, path, NULL, NULL);
	info = capture_info(c);
	assert_string_equal(text_of(c, info->hostname), "host");
	assert_int_equal(info_midr(info, capture_strings(c)), 0x413fd0c1);
	assert_int_equal(info->total_memory_kb, 12345);
	assert_int_equal(info->n_cpus_available, 2);
	assert_int_equal(info->n_cpus_online, 1);
	assert_string_equal(text_of(c, info->command_line), "cyclops record 'a b'");
	assert_int_equal(info->first_sample_ns, 10);
	assert_int_equal(info->last_sample_ns, 20);
	assert_int_equal(info->clock_id, 4);
	assert_int_equal(info->clock_time_ns, 5);
	assert_int_equal(info->wall_clock_ns, 6);
	assert_int_equal(info->build_ids.n, 2);
	assert_int_equal(info->build_ids.items[1].id.size, 8);
	assert_int_equal(info->build_ids.items[1].id.bytes[1], 4);
	assert_int_equal(info->build_ids.items[0].pid, 7);
	assert_string_equal(text_of(c, info->build_ids.items[1].path), "/bin/b");
	assert_int_equal(info->pmus.items[0].type, 10);
	assert_int_equal(info->cpu_places.n, 2);
	assert_int_equal(info->cpu_places.items[1].die, 6);
	assert_int_equal(info->numa_nodes.items[0].free_kb, 50);
	assert_int_equal(info->memory_block_bytes, 4096);
	assert_int_equal(info->memory_nodes.items[0].blocks.n, 2);
	assert_int_equal(info->memory_nodes.items[0].blocks.items[1], 2);
	assert_int_equal(info->caches.items[0].line_bytes, 64);
	assert_int_equal(info->event_descs.n, 2);
	assert_true(info->features >> FEATURE_AUXTRACE & 1);
	assert_string_equal(capture_event_name(c, 0), "arm_spe_0/x/");
	assert_string_equal(capture_event_name(c, 1), "cycles:HG");
	assert_int_equal(capture_event_of_id(c, 21), 1);
	assert_int_equal(capture_event(c, 0)->attr.size, ATTR_SIZE_PERF);
	assert_int_equal(capture_event(c, 0)->ids.n, 2);
	capture_free(c);
	discard(path);
}

static void attrs_share_one_size(void **state)
{
	static const struct {
		uint32_t sizes[2], written; /* 0: refused */
	} cases[] = {
		{ { 0, 0 }, 128 },    { { 64, 64 }, 64 }, { { 64, 0 }, 128 }, { { 136, 0 }, 136 },
		{ { 64, 144 }, 144 }, { { 60, 0 }, 0 },	  { { 0, 152 }, 0 },  { { 65, 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct writer_event events[] = { two_events[0], two_events[1] };
		char *path = temporary_path();
		struct writer *w = NULL;
		struct capture *c;
		struct err err;
		int rc;

		events[0].attr.size = cases[i].sizes[0];
		events[1].attr.size = cases[i].sizes[1];
		events[1].attr.config4 = 9;
		rc = writer_open(path, events, 2, &w, &err);
		assert_int_equal(rc, cases[i].written > 0 ? 0 : -1);
		if (rc == 0) {
			c = closed_and_scanned(w, path, NULL, NULL);
			for (size_t k = 0; k < 2; k++)
				assert_int_equal(capture_event(c, k)->attr.size, cases[i].written);
			assert_int_equal(capture_event(c, 1)->attr.config4,
					 cases[i].written == 144 ? 9 : 0);
			capture_free(c);
		} else {
			assert_int_equal(err.code, ERR_USAGE);
		}
		discard(path);
	}
}

/* A capture without records must not look like one that was not finished. */
static void an_empty_capture_is_sound(void **state)
{
	char *path = temporary_path();
	struct capture *c = closed_and_scanned(opened(path), path, NULL, NULL);

	(void)state;
	assert_int_equal(capture_totals(c)->n_records, 1);
	assert_int_equal(capture_totals(c)->by_type[RECORD_FINISHED_ROUND], 1);
	assert_int_equal(capture_info(c)->event_descs.n, 2);
	capture_free(c);
	discard(path);
}

static void whole_rings_go_in_as_they_are(void **state)
{
	enum { N = 200000 };
	static const uint8_t record[] = { RECORD_LOST_SAMPLES, 0, 0, 0, 0, 0, 48, 0, 9, [47] = 0 };
	uint8_t *ring = mem_alloc(N, sizeof(record));
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct capture *c;

	(void)state;
	for (size_t i = 0; i < N; i++)
		memcpy(ring + i * sizeof(record), record, sizeof(record));
	writer_records(w, ring, 3 * sizeof(record));
	writer_records(w, ring, N * sizeof(record)); /* more than the buffer */
	writer_records(w, ring, 0);
	c = closed_and_scanned(w, path, NULL, NULL);
	assert_int_equal(capture_totals(c)->by_type[RECORD_LOST_SAMPLES], N + 3);
	free(ring);
	capture_free(c);
	discard(path);
}

/* Fills a file with records of many sizes, trace data among them. Returns how many. */
static size_t write_many(struct writer *w)
{
	enum { N = 30000, LARGE = 5 << 20 };
	uint8_t *bytes = mem_zalloc(LARGE, 1);
	size_t n = 1;

	writer_spe_info_v1(w, 10, true);
	for (size_t i = 0; i < N; i++, n++) {
		struct record_auxtrace chunk = { .offset = i << 30, .size = i % 1000 };

		if (i == N / 2)
			chunk.size = LARGE;
		if (i % 3 == 0 || i == N / 2)
			writer_auxtrace(w, &chunk, bytes);
		else
			writer_itrace_start(w, 1, 2, NULL);
	}
	free(bytes);
	return n;
}

/* The header is kept up to date: a program that is killed leaves a file that can be read. */
static void an_unfinished_file_can_be_read(void **state)
{
	char *path = temporary_path();
	struct writer *w = opened(path);
	size_t n = write_many(w);
	struct capture *c = scanned(path, NULL, NULL);

	(void)state;
	assert_int_equal(diags_bytes(capture_diags(c), DIAG_NOTE), 0);
	assert_in_range(capture_totals(c)->n_records, n / 2, n - 1);
	assert_in_range(capture_size(c), writer_size(w) - (4 << 20), writer_size(w));
	capture_free(c);
	writer_abandon(w);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

/* As on a full disk: no file may grow beyond `limit`. */
static void limit_files(rlim_t limit)
{
	struct rlimit limits;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limits), 0);
	limits.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limits), 0);
}

static void a_full_disk_leaves_a_sound_file(void **state)
{
	enum { FEATURES_MAX = 8192 }; /* with a place for each of the chunks */
	static const struct {
		size_t limit;
		bool is_within_large; /* the 5 MiB of trace data in the middle find no room */
	} cases[] = {
		{ 2000, false },   { 4096, false },   { 100001, false },  { 3000000, false },
		{ 4194304, true }, { 8000003, true }, { 9000005, false }, { 11000000, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *path = temporary_path();
		struct writer *w = opened(path);
		struct err err = { .code = ERR_NONE };
		struct capture *c;
		size_t n, room;
		int rc;

		limit_files(cases[i].limit);
		n = write_many(w);
		rc = writer_close(w, &err);
		limit_files(RLIM_INFINITY);
		assert_int_equal(rc, -1);
		assert_int_equal(err.code, ERR_IO);
		assert_non_null(strstr(err.text, path));
		c = scanned(path, NULL, NULL);
		assert_int_equal(diags_bytes(capture_diags(c), DIAG_NOTE), 0);
		assert_in_range(capture_totals(c)->n_records, 1, n - 1);
		assert_in_range(capture_size(c), 1, cases[i].limit);
		/* All that fits beside the features is kept. */
		room = cases[i].limit < FEATURES_MAX ? cases[i].limit : FEATURES_MAX;
		if (!cases[i].is_within_large)
			assert_in_range(capture_size(c), cases[i].limit - room, cases[i].limit);
		capture_free(c);
		discard(path);
	}
}

/* Many records at once, as a recorder takes them from a ring, which splits one of them. */
static void a_full_disk_keeps_whole_records_of_rings(void **state)
{
	enum { SIZE = 40, N = 10000, SPLIT = 1001 * SIZE + 16, LIMIT = 300001 };
	char *path = temporary_path();
	struct writer *w = opened(path);
	uint8_t *ring = mem_zalloc(N, SIZE);
	struct capture *c;
	uint64_t start;
	struct err err;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		store_u32(ring + i * SIZE, RECORD_ITRACE_START);
		store_u16(ring + i * SIZE + 6, SIZE);
	}
	writer_itrace_start(w, 1, 2, NULL);
	start = writer_size(w);
	limit_files(LIMIT);
	writer_ring(w, ring, SPLIT, ring + SPLIT, N * SIZE - SPLIT);
	limit_files(RLIM_INFINITY);
	assert_true(writer_has_failed(w));
	assert_int_equal(writer_size(w), start + (LIMIT - start) / SIZE * SIZE);
	assert_int_equal(writer_close(w, &err), -1);
	c = scanned(path, NULL, NULL);
	assert_int_equal(diags_bytes(capture_diags(c), DIAG_NOTE), 0);
	assert_int_equal(capture_totals(c)->n_records, 1 + (LIMIT - start) / SIZE);
	capture_free(c);
	free(ring);
	discard(path);
}

static void errors_are_kept(void **state)
{
	char *path = temporary_path();
	struct writer *w = opened(path);
	uint8_t *body = mem_zalloc(1, 65536);
	struct capture *c;
	struct err err;

	(void)state;
	assert_int_equal(writer_open("/nonexistent/file", two_events, 2, &w, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	writer_record(w, RECORD_COMM, 0, body, 65527);
	assert_false(writer_has_failed(w));
	writer_record(w, RECORD_COMM, 0, body, 65528);
	assert_true(writer_has_failed(w));
	writer_record(w, RECORD_COMM, 0, body, 8);
	assert_int_equal(writer_close(w, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	c = scanned(path, NULL, NULL);
	assert_int_equal(capture_totals(c)->n_records, 1);
	capture_free(c);
	free(body);
	discard(path);
}

static void only_the_owner_may_read(void **state)
{
	char *path = temporary_path();
	struct stat st;
	struct err err;

	(void)state;
	unlink(path);
	assert_int_equal(writer_close(opened(path), &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	writer_abandon(NULL);
	discard(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_come_back),
		cmocka_unit_test(attrs_share_one_size),
		cmocka_unit_test(an_empty_capture_is_sound),
		cmocka_unit_test(whole_rings_go_in_as_they_are),
		cmocka_unit_test(an_unfinished_file_can_be_read),
		cmocka_unit_test(a_full_disk_leaves_a_sound_file),
		cmocka_unit_test(a_full_disk_keeps_whole_records_of_rings),
		cmocka_unit_test(errors_are_kept),
		cmocka_unit_test(only_the_owner_may_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
