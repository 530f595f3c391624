/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "image.h"

/* An event whose records carry (tid, time, cpu, identifier). */
static const struct attr event = {
	.size = ATTR_SIZE_MIN,
	.type = ATTR_TYPE_SOFTWARE,
	.sample_period = 1000,
	.sample_type = BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_IP) | BIT(SAMPLE_TID) |
		       BIT(SAMPLE_TIME) | BIT(SAMPLE_CPU),
	.flags = BIT(ATTR_SAMPLE_ID_ALL) | BIT(ATTR_EXCLUDE_GUEST),
};

enum { EVENT_ID = 70, PID_TID_0 = 0 };

static void put_sample(struct text *t, uint64_t ip, uint64_t time_ns)
{
	put_record(t, RECORD_SAMPLE, 2, (uint64_t[]){ EVENT_ID, ip, PID_TID_0, time_ns, 0 }, 5);
}

/* A side-band record: its body and the trailer. */
static void put_side_band(struct text *t, uint32_t type, const uint64_t *words, size_t n,
			  uint64_t time_ns)
{
	size_t begin = record_begin(t, type, 0);

	put_u64s(t, words, n);
	put_u64s(t, (uint64_t[]){ 5 | 6ull << 32, time_ns, 3, EVENT_ID }, 4);
	record_end(t, begin);
}

/* Some of everything. */
static void put_records(struct text *t)
{
	put_side_band(t, RECORD_COMM, (uint64_t[]){ 1, 0x6f6c6c6568 }, 2, 0);
	put_sample(t, 0x400000, 50);
	put_side_band(t, RECORD_LOST, (uint64_t[]){ EVENT_ID, 12 }, 2, 60);
	put_side_band(t, RECORD_LOST_SAMPLES, (uint64_t[]){ 3 }, 1, 61);
	put_side_band(t, RECORD_THROTTLE, (uint64_t[]){ 62, EVENT_ID, EVENT_ID }, 3, 62);
	put_side_band(t, RECORD_AUX, (uint64_t[]){ 0, 64, AUX_TRUNCATED | AUX_COLLISION }, 3, 63);
	put_side_band(t, RECORD_AUX, (uint64_t[]){ 64, 64, AUX_PARTIAL }, 3, 64);
	put_record(t, RECORD_AUXTRACE_INFO, 0, (uint64_t[]){ 4, 11, 1 }, 3);
	put_auxtrace(t, &(struct record_auxtrace){ .size = 11, .cpu = 2 }, "trace data!", 11);
	put_sample(t, 0x400004, 40);
	put_record(t, RECORD_FINISHED_ROUND, 0, NULL, 0);
}

static void put_string_section(struct text *t, const char *text)
{
	put_u32(t, 8);
	text_add(t, text, strlen(text));
	put_zeros(t, 8 - strlen(text));
}

/* A whole file, with two features. */
static struct text file_image(void)
{
	struct text t = { 0 };
	size_t table;

	put_file_header(&t, &event, (uint64_t[]){ EVENT_ID }, 1);
	patch_u64(&t, IMAGE_FEATURES_AT, BIT(FEATURE_HOSTNAME) | BIT(FEATURE_ARCH));
	put_records(&t);
	end_data(&t);
	table = t.n;
	put_u64s(&t, (uint64_t[]){ table + 32, 12, table + 44, 12 }, 4);
	put_string_section(&t, "host");
	put_string_section(&t, "arch");
	return t;
}

static struct text stream_image(void)
{
	struct text t = { 0 };

	put_stream_header(&t);
	put_attr(&t, &event, (uint64_t[]){ EVENT_ID }, 1);
	put_records(&t);
	return t;
}

/* What a visitor was called with. */
struct seen {
	size_t n, n_samples;
	uint32_t types[32];
	struct sample_id ids[32];
};

static void see(void *context, const struct record *r, const struct sample_id *id)
{
	struct seen *seen = context;

	assert_true(seen->n < COUNT(seen->types));
	seen->types[seen->n] = r->type;
	seen->ids[seen->n++] = *id;
	seen->n_samples += r->type == RECORD_SAMPLE;
}

static void check_totals(const struct capture *c)
{
	const struct capture_totals *t = capture_totals(c);

	assert_int_equal(t->n_samples, 2);
	assert_int_equal(t->by_type[RECORD_SAMPLE], 2);
	assert_int_equal(t->by_type[RECORD_AUX], 2);
	assert_int_equal(t->n_lost_events, 12);
	assert_int_equal(t->n_lost_samples, 3);
	assert_int_equal(capture_lost(t), 15); /* with a time: the kernel's own record, no total */
	assert_int_equal(t->n_throttled, 1);
	assert_int_equal(t->n_aux, 2);
	assert_int_equal(t->n_aux_truncated, 1);
	assert_int_equal(t->n_aux_collision, 1);
	assert_int_equal(t->n_aux_partial, 1);
	assert_int_equal(t->n_auxtrace, 1);
	assert_int_equal(t->aux_bytes, 11);
	assert_int_equal(t->first_ns, 40);
	assert_int_equal(t->last_ns, 64);
	assert_int_equal(find_diag(capture_diags(c), "(LOST)")->n, 12);
	assert_int_equal(find_diag(capture_diags(c), "TRUNCATED")->level, DIAG_LOSS);
	assert_int_equal(diags_bytes(capture_diags(c), DIAG_NOTE), 0);
	assert_int_equal(capture_n_chunks(c), 1);
	assert_int_equal(capture_chunk(c, 0)->size, 11);
	assert_memory_equal(capture_chunk(c, 0)->bytes, "trace data!", 11);
}

static void check_visits(const struct seen *all, const struct seen *walked)
{
	assert_int_equal(all->n_samples, 0);
	assert_int_equal(walked->n, all->n + 2);
	assert_int_equal(walked->n_samples, 2);
	for (size_t i = 0; i < walked->n; i++) {
		const struct sample_id *id = &walked->ids[i];

		if (walked->types[i] != RECORD_LOST)
			continue;
		assert_int_equal(id->has, HAS_PID | HAS_TID | HAS_TIME | HAS_CPU);
		assert_int_equal(id->pid, 5);
		assert_int_equal(id->tid, 6);
		assert_int_equal(id->time_ns, 60);
		assert_int_equal(id->cpu, 3);
		assert_int_equal(id->id, EVENT_ID);
	}
	for (size_t i = 0; i < walked->n; i++)
		if (walked->types[i] == RECORD_SAMPLE)
			assert_true(walked->ids[i].time_ns == 40 || walked->ids[i].time_ns == 50);
}

static void test_file_and_stream(void **state)
{
	struct text images[] = { file_image(), stream_image() };

	(void)state;
	for (size_t i = 0; i < COUNT(images); i++) {
		struct seen all = { 0 }, walked = { 0 };
		struct capture *c = NULL;
		struct err err = { 0 };

		assert_int_equal(capture_open_bytes("x", images[i].bytes, images[i].n, &c, &err),
				 0);
		assert_int_equal(capture_scan(c, see, &all, &err), 0);
		capture_walk(c, see, &walked);
		check_totals(c);
		check_visits(&all, &walked);
		assert_all_accounted_for(c);
		assert_int_equal(capture_is_pipe(c), i == 1);
		assert_int_equal(capture_n_events(c), 1);
		assert_string_equal(capture_event_name(c, 0), "cpu-clock");
		assert_int_equal(capture_event_of_id(c, EVENT_ID), 0);
		assert_int_equal(capture_event_of_id(c, EVENT_ID + 1), -1);
		assert_string_equal(strings_get(capture_strings(c), capture_info(c)->hostname),
				    i == 0 ? "host" : "");
		capture_free(c);
		text_release(&images[i]);
	}
}

/* Opens and reads everything; all bytes must be accounted for. */
static bool try_bytes(const uint8_t *bytes, size_t n)
{
	struct seen seen = { 0 };
	struct capture *c = NULL;
	struct err err = { 0 };

	if (capture_open_bytes("x", bytes, n, &c, &err) < 0)
		return false;
	if (capture_scan(c, NULL, NULL, &err) < 0) {
		capture_free(c);
		return false;
	}
	assert_all_accounted_for(c);
	capture_walk(c, see, &seen);
	capture_free(c);
	return true;
}

static void test_cut_at_each_byte(void **state)
{
	struct text images[] = { file_image(), stream_image() };

	(void)state;
	for (size_t i = 0; i < COUNT(images); i++) {
		size_t n_read = 0;

		for (size_t n = 0; n <= images[i].n; n++) {
			uint8_t *copy = mem_alloc(n, 1); /* a sanitizer sees where it ends */

			memcpy(copy, images[i].bytes, n);
			n_read += try_bytes(copy, n);
			free(copy);
		}
		/* From the first whole record on, everything yields something. */
		assert_true(n_read > images[i].n / 2);
		text_release(&images[i]);
	}
}

static void test_each_byte_changed(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	struct text images[] = { file_image(), stream_image() };

	(void)state;
	for (size_t i = 0; i < COUNT(images); i++) {
		uint8_t *copy = mem_alloc(images[i].n, 1);

		memcpy(copy, images[i].bytes, images[i].n);
		for (size_t at = 0; at < images[i].n; at++) {
			for (size_t k = 0; k < COUNT(changes); k++) {
				copy[at] ^= changes[k];
				(void)try_bytes(copy, images[i].n);
				copy[at] ^= changes[k];
			}
		}
		free(copy);
		text_release(&images[i]);
	}
}

/* A file whose data section is cut says how much is missing. */
static void test_cut_file_says_so(void **state)
{
	struct text t = file_image();
	struct capture *c;
	uint64_t data = load_u64((const uint8_t *)t.bytes + IMAGE_DATA_SIZE_AT - 8);
	uint64_t whole = load_u64((const uint8_t *)t.bytes + IMAGE_DATA_SIZE_AT);
	char says[96];

	(void)state;
	snprintf(says, sizeof(says), "take %d bytes, 100 of them are there", (int)whole);
	t.n = data + 100;
	c = open_image(&t);
	assert_non_null(find_diag(capture_diags(c), says));
	assert_int_equal(find_diag(capture_diags(c), "last record is cut")->level, DIAG_DAMAGE);
	assert_int_equal(capture_totals(c)->missing_bytes, whole - 100);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

/* In a stream, the size of the last record's data is known. */
static void test_cut_stream_says_so(void **state)
{
	const struct record_auxtrace auxtrace = { .size = 100 };
	struct text t = { 0 };
	struct capture *c;

	(void)state;
	put_stream_header(&t);
	put_auxtrace(&t, &auxtrace, (const char[60]){ 0 }, 60);
	c = open_image(&t);
	assert_non_null(find_diag(capture_diags(c), "40 bytes of it are not there"));
	assert_int_equal(capture_totals(c)->missing_bytes, 40);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

static void put_old_string(struct text *t, uint32_t type, const char *words)
{
	size_t begin = record_begin(t, type, 0);

	put_u32(t, 64);
	text_add(t, words, strlen(words));
	put_zeros(t, 64 - strlen(words));
	record_end(t, begin);
}

/* Features as records of types that mean something else today: one is as an AUXTRACE. */
static void test_old_features(void **state)
{
	struct text t = { 0 };
	struct capture *c;
	const struct info *info;

	(void)state;
	put_stream_header(&t);
	put_old_string(&t, 69, "a host");
	put_old_string(&t, 71, "3.3.0-4");
	put_old_string(&t, 75, "GenuineIntel,6,45,7");
	put_record(&t, 73, 0, (uint64_t[]){ 32 | 16ull << 32 }, 1);
	put_attr(&t, &event, (uint64_t[]){ EVENT_ID }, 1);
	put_record(&t, RECORD_ID_INDEX, 0, (uint64_t[]){ 0 }, 1);
	put_sample(&t, 0x400000, 50);
	c = open_image(&t);
	info = capture_info(c);
	assert_string_equal(strings_get(capture_strings(c), info->hostname), "a host");
	assert_string_equal(strings_get(capture_strings(c), info->perf_version), "3.3.0-4");
	assert_string_equal(strings_get(capture_strings(c), info->cpuid), "GenuineIntel,6,45,7");
	assert_int_equal(info->n_cpus_available, 32);
	assert_int_equal(capture_totals(c)->n_samples, 1);
	assert_int_equal(capture_totals(c)->n_auxtrace, 0);
	assert_int_equal(capture_diags(c)->list.n, 0);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

/* What follows two good records of a stream or file, and how it is read. */
static const struct {
	bool is_file;
	const char *tail;
	size_t size;
	enum diag_level level;
	const char *says;
	size_t n_behind; /* more bytes, which are another finding's */
} tails[] = {
	{ false, "\t\0\0\0\2\0\60\0half", 12, DIAG_LOSS, "stream ends inside a record" },
	{ true, "\t\0\0\0\2\0\60\0half", 12, DIAG_DAMAGE, "last record is cut off" },
	{ false, "\t\0\0\0\2\0\0\0zero size, then more", 28, DIAG_DAMAGE,
	  "smaller than its header" },
	{ true, "\t\0\0\0\2\0\7\0", 8, DIAG_DAMAGE, "smaller than its header" },
	{ false, "[ perf record: Captured and wrote 0.1 MB ]\n", 43, DIAG_NOTE, "text behind" },
	{ false, "\xff\xfe\xfd\xfc\0\0\60\0garbage", 15, DIAG_DAMAGE, "no record" },
	{ false, "\127\0\0\0\0\0\20\0newer!!!", 16, DIAG_NOTE, "type that is not known" },
	{ true, "\127\0\0\0\0\0\20\0newer!!!", 16, DIAG_NOTE, "type that is not known" },
	{ true, "F\0\0\0\0\0\20\0\4\0\0\0\0\0\0\0", 16, DIAG_DAMAGE, "AUXTRACE_INFO" },
	{ true, "G\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0", 16, DIAG_DAMAGE, "AUXTRACE record that" },
	{ true, "G\0\0\0\0\0\20\0\4\0\0\0\0\0\0\0data", 16, DIAG_DAMAGE, "AUXTRACE record that",
	  4 },
	{ true, "\2\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0", 16, DIAG_DAMAGE, "LOST record that" },
	{ false, "@\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0", 16, DIAG_DAMAGE, "too small for an event" },
};

static void test_tails(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tails); i++) {
		struct text t = { 0 };

		if (tails[i].is_file)
			put_file_header(&t, &event, NULL, 0);
		else
			put_stream_header(&t);
		put_record(&t, RECORD_FINISHED_INIT, 0, NULL, 0);
		put_record(&t, RECORD_FINISHED_ROUND, 0, NULL, 0);
		uint64_t at = t.n;
		text_add(&t, tails[i].tail, tails[i].size + tails[i].n_behind);
		if (tails[i].is_file)
			end_data(&t);
		struct capture *c = open_image(&t);
		const struct diag *d = find_diag(capture_diags(c), tails[i].says);

		if (d == NULL || d->level != tails[i].level || d->first != at ||
		    d->bytes != tails[i].size)
			fail_msg("row %zu", i);
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&t);
	}
}

/* The recorder was killed: no data size, and perhaps no features. */
static void test_unfinished_file(void **state)
{
	struct text t = file_image();

	(void)state;
	patch_u64(&t, IMAGE_DATA_SIZE_AT, 0);
	struct capture *c = open_image(&t);
	const struct diag *d = find_diag(capture_diags(c), "did not finish");

	assert_int_equal(capture_totals(c)->n_samples, 2);
	assert_int_equal(d->level, DIAG_LOSS);
	assert_int_equal(d->bytes, 4 * 8 + 2 * 12); /* the features */
	assert_int_equal(capture_info(c)->features, 0);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

static void test_empty_capture(void **state)
{
	struct text t = { 0 };
	struct capture *c;

	(void)state;
	put_stream_header(&t);
	c = open_image(&t);
	assert_int_equal(capture_totals(c)->n_records, 0);
	assert_int_equal(capture_n_units(c), 0);
	capture_free(c);
	text_release(&t);
}

/* Records that cannot be there at all, and sections outside the file. */
static void test_nothing_readable(void **state)
{
	struct text t = file_image();
	struct capture *c = NULL;
	struct err err = { 0 };

	(void)state;
	patch_u64(&t, IMAGE_DATA_SIZE_AT - 8, t.n + 1);
	assert_int_equal(capture_open_bytes("x", t.bytes, t.n, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "in front of the records"));
	capture_free(c);
	text_release(&t);
	put_stream_header(&t);
	put_zeros(&t, 100);
	assert_int_equal(capture_open_bytes("x", t.bytes, t.n, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "no record could be read"));
	capture_free(c);
	text_release(&t);
}

static void test_features_outside(void **state)
{
	struct text t = file_image();
	size_t table = t.n - 4 * 8 - 2 * 12;

	(void)state;
	patch_u64(&t, table + 8, 1000); /* longer than the file */
	struct capture *c = open_image(&t);

	assert_int_equal(find_diag(capture_diags(c), "feature 3 lies outside")->bytes, 24);
	assert_string_equal(strings_get(capture_strings(c), capture_info(c)->arch), "arch");
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

/* Samples are read all the same: the event has the room of its entry. */
static void test_event_of_wrong_size(void **state)
{
	static const char sizes[] = { 0x01, 0x3f, 0x48, 0x7f };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct text t = file_image();

		t.bytes[104 + 8 + 4] = sizes[i]; /* behind the header and an id */
		struct capture *c = open_image(&t);

		assert_int_equal(find_diag(capture_diags(c), "says a wrong size")->level,
				 DIAG_DAMAGE);
		assert_int_equal(capture_totals(c)->n_samples, 2);
		assert_null(find_diag(capture_diags(c), "layout"));
		assert_all_accounted_for(c);
		capture_free(c);
		text_release(&t);
	}
}

/* In a stream, features, names and build-ids are records. */
static void test_stream_describes_itself(void **state)
{
	struct text t = { 0 };
	size_t begin;

	(void)state;
	put_stream_header(&t);
	put_attr(&t, &event, (uint64_t[]){ 1 }, 1);
	put_attr(&t, &event, (uint64_t[]){ 2 }, 1);
	begin = record_begin(&t, RECORD_EVENT_UPDATE, 0);
	put_u64s(&t, (uint64_t[]){ 2, 2 }, 2); /* a name for id 2 */
	put_padded(&t, "my/event/");
	record_end(&t, begin);
	begin = record_begin(&t, RECORD_HEADER_FEATURE, 0);
	put_word(&t, FEATURE_HOSTNAME);
	put_string_section(&t, "host");
	record_end(&t, begin);
	put_record(&t, RECORD_HEADER_FEATURE, 0, (uint64_t[]){ 32 }, 1); /* the end of the list */
	begin = record_begin(&t, RECORD_BUILD_ID, 2);
	put_u32(&t, 7);
	put_u64s(&t, (uint64_t[]){ 1, 2, 3 }, 3);
	text_str(&t, "/bin/x");
	put_zeros(&t, 2);
	record_end(&t, begin);
	struct capture *c = open_image(&t);
	const struct info *info = capture_info(c);

	assert_string_equal(capture_event_name(c, 0), "cpu-clock");
	assert_string_equal(capture_event_name(c, 1), "my/event/");
	assert_string_equal(strings_get(capture_strings(c), info->hostname), "host");
	assert_int_equal(info->build_ids.n, 1);
	assert_string_equal(strings_get(capture_strings(c), info->build_ids.items[0].path),
			    "/bin/x");
	assert_int_equal(info->build_ids.items[0].id.bytes[0], 1);
	assert_all_accounted_for(c);
	capture_free(c);
	text_release(&t);
}

static void write_file(const char *folder, const char *name, const struct text *t)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(t->bytes, 1, t->n, file), t->n);
	assert_int_equal(fclose(file), 0);
}

static void remove_files(const char *folder, const char *const *names, size_t n)
{
	char path[128];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(remove(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

/* One file with a header, and files with nothing but records, taken by number. */
static void test_directory(void **state)
{
	static const char *const names[] = { "data", "data.2", "data.10", "data.x" };
	char folder[] = "/tmp/cyclops-test-XXXXXX";
	struct text files[4] = { file_image() };
	struct capture *c = NULL;
	struct err err = { 0 };
	struct seen seen = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	put_side_band(&files[1], RECORD_COMM, (uint64_t[]){ 1, 2 }, 2, 70);
	put_sample(&files[1], 2, 71);
	put_sample(&files[2], 10, 72);
	text_str(&files[2], "cut");
	text_str(&files[3], "not one of them");
	for (size_t i = 0; i < COUNT(names); i++)
		write_file(folder, names[i], &files[i]);
	assert_int_equal(capture_open(folder, &c, &err), 0);
	assert_int_equal(capture_scan(c, NULL, NULL, &err), 0);
	assert_int_equal(capture_size(c), files[0].n + files[1].n + files[2].n);
	assert_int_equal(capture_totals(c)->n_samples, 4);
	assert_int_equal(capture_totals(c)->last_ns, 72);
	assert_int_equal(find_diag(capture_diags(c), "stream ends inside")->first,
			 capture_size(c) - 3);
	assert_all_accounted_for(c);
	capture_walk(c, see, &seen);
	assert_int_equal(seen.ids[seen.n - 1].time_ns, 72);
	assert_int_equal(seen.ids[seen.n - 2].time_ns, 71);
	capture_free(c);
	remove_files(folder, names, COUNT(names));
	for (size_t i = 0; i < COUNT(files); i++)
		text_release(&files[i]);
}

static void test_missing_file(void **state)
{
	struct capture *c = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(capture_open("/nonexistent/perf.data", &c, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_and_stream),
		cmocka_unit_test(test_cut_at_each_byte),
		cmocka_unit_test(test_each_byte_changed),
		cmocka_unit_test(test_cut_file_says_so),
		cmocka_unit_test(test_cut_stream_says_so),
		cmocka_unit_test(test_old_features),
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_unfinished_file),
		cmocka_unit_test(test_empty_capture),
		cmocka_unit_test(test_nothing_readable),
		cmocka_unit_test(test_features_outside),
		cmocka_unit_test(test_event_of_wrong_size),
		cmocka_unit_test(test_stream_describes_itself),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
