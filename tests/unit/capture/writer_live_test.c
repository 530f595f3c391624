/* SPDX-License-Identifier: Apache-2.0 */
/* The writer as recorders use it: rings, compression, files that can be read at any time. */
#include "capture/writer/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "capture/writer/emit.h"
#include "capture/writer/writer_inside.h"
#include "writer_fixture.h"

enum { RING_BYTES = 1 << 16, EXIT_BYTES = 8 + 24 + 32, LEVEL = 3, LARGE = 5 << 20 };

/* Bytes of a ring with EXIT records of threads 0, 1, 2 …, and where the reader stands. */
struct ring_source {
	uint8_t *bytes;
	size_t at;
	uint32_t next;
};

static void put_exit(uint8_t *out, uint32_t tid)
{
	memset(out, 0, EXIT_BYTES);
	store_u32(out, RECORD_EXIT);
	store_u16(out + 6, EXIT_BYTES);
	store_u32(out + 8, 1);
	store_u32(out + 16, tid);
	store_u64(out + EXIT_BYTES - 8, 11); /* the id of event 0 */
}

/* Writes n records as the ring has them: those that wrap are in two pieces. */
static void write_round(struct writer *w, struct ring_source *s, size_t n)
{
	size_t from = s->at, size = n * EXIT_BYTES;
	size_t first = size < RING_BYTES - from ? size : RING_BYTES - from;

	for (size_t i = 0; i < n; i++) {
		uint8_t record[EXIT_BYTES];

		put_exit(record, s->next++);
		for (size_t k = 0; k < EXIT_BYTES; k++)
			s->bytes[(from + i * EXIT_BYTES + k) % RING_BYTES] = record[k];
	}
	s->at = (from + size) % RING_BYTES;
	writer_ring(w, s->bytes + from, first, s->bytes, size - first);
}

struct seen {
	uint32_t n;
	bool is_in_order;
};

static void look_at_exit(void *context, const struct record *r, const struct sample_id *id)
{
	struct seen *seen = context;
	struct record_task task;
	struct err err;

	(void)id;
	if (r->type != RECORD_EXIT)
		return;
	assert_int_equal(record_task_read(r, &task, &err), 0);
	seen->is_in_order = seen->is_in_order && task.tid == seen->n;
	seen->n++;
}

/* Returns how many. */
static uint32_t write_exits(struct writer *w, size_t rounds)
{
	struct ring_source s = { .bytes = mem_zalloc(RING_BYTES, 1), .at = 24 };

	for (size_t i = 0; i < rounds; i++)
		write_round(w, &s, i * 37 % 1000);
	free(s.bytes);
	return s.next;
}

static void rings_come_back(void **state)
{
	(void)state;
	for (int level = 0; level <= LEVEL; level += LEVEL) {
		char *path = temporary_path();
		struct writer *w = opened(path);
		struct seen seen = { .is_in_order = true };
		struct capture *c;
		struct err err;
		uint64_t size;
		uint32_t n;

		if (level > 0)
			assert_int_equal(writer_compress(w, level, &err), 0);
		n = write_exits(w, 60);
		size = writer_size(w);
		c = closed_and_scanned(w, path, look_at_exit, &seen);
		assert_true(seen.is_in_order);
		assert_int_equal(seen.n, n);
		assert_int_equal(capture_totals(c)->by_type[RECORD_COMPRESSED] > 0, level > 0);
		assert_int_equal(capture_info(c)->compression_level, level);
		if (level > 0)
			assert_true(size < (uint64_t)n * EXIT_BYTES / 4);
		capture_free(c);
		discard(path);
	}
}

static void levels_are_checked(void **state)
{
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct err err;

	(void)state;
	assert_int_equal(writer_compress(w, 0, &err), -1);
	assert_int_equal(writer_compress(w, 23, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(writer_compress(w, 22, &err), 0);
	writer_abandon(w);
	free(path);
}

/* The file is complete at each checkpoint, and readable between them. */
static void the_file_is_sound_at_any_time(void **state)
{
	char *path = temporary_path();
	struct writer *w = opened(path);
	uint32_t n = 1;

	(void)state;
	writer_checkpoint(w); /* nothing in it yet */
	writer_spe_info_v1(w, 10, true);
	writer_feature_string(w, FEATURE_HOSTNAME, "host");
	for (int i = 0; i < 12; i++) {
		struct seen seen = { .is_in_order = true };
		struct capture *c;

		writer_itrace_start(w, 1, 2, NULL);
		writer_feature_u64(w, FEATURE_TOTAL_MEM, (uint64_t)i);
		n++;
		if (i % 3 == 2) {
			uint8_t *large = mem_zalloc(LARGE, 1); /* goes past the buffer */
			struct record_auxtrace chunk = { .size = LARGE,
							 .offset = (uint64_t)i * LARGE };

			writer_auxtrace(w, &chunk, large);
			free(large);
			n++;
			c = scanned(path, look_at_exit, &seen);
			assert_int_equal(capture_info(c)->features, 0);
			capture_free(c);
		}
		writer_checkpoint(w);
		c = scanned(path, NULL, NULL);
		assert_int_equal(capture_totals(c)->n_records, n);
		assert_int_equal(capture_info(c)->total_memory_kb, i);
		assert_int_equal(capture_info(c)->event_descs.n, 2);
		capture_free(c);
	}
	writer_abandon(w);
	free(path);
}

/* The description, then records that were compressed. */
static void look_at_description(void *context, const struct record *r, const struct sample_id *id)
{
	static const uint32_t wanted[] = {
		FEATURE_COMPRESSED, 0, 0, 1, LEVEL, 0, COMPRESSOR_STEP, 0,
	};
	struct seen *seen = context;
	struct cursor body = r->body;

	(void)id;
	assert_int_equal(r->was_compressed, seen->n > 0);
	assert_int_equal(r->type, seen->n > 0 ? RECORD_EXIT : RECORD_HEADER_FEATURE);
	if (seen->n++ > 0)
		return;
	assert_int_equal(cur_left(&body), sizeof(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_int_equal(cur_u32(&body), wanted[i]);
}

/* Between two checkpoints there are no features, without which perf reads no compressed records. */
static void compression_is_described_before_it_begins(void **state)
{
	struct ring_source s = { .bytes = mem_zalloc(RING_BYTES, 1) };
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct seen seen = { 0 };
	struct capture *c;
	struct err err;

	(void)state;
	assert_int_equal(writer_compress(w, LEVEL, &err), 0);
	write_round(w, &s, 3);
	writer_flush(w);
	c = scanned(path, look_at_description, &seen);
	assert_int_equal(capture_info(c)->features, 0);
	assert_int_equal(seen.n, 4);
	capture_free(c);
	writer_abandon(w);
	free(path);
	free(s.bytes);
}

/* Writes records, features behind some of them, then more records; the process then ends. */
static void begin_file(const char *path)
{
	const struct record_auxtrace chunk = { .size = 24 };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct writer *w = opened(path);

		writer_spe_info_v1(w, 10, true);
		writer_auxtrace(w, &chunk, "0123456789abcdef01234567");
		writer_itrace_start(w, 1, 2, NULL);
		writer_checkpoint(w);
		writer_itrace_start(w, 1, 3, NULL);
		writer_flush(w);
		writer_itrace_start(w, 1, 4, NULL); /* is lost */
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A second writer continues the file; its index has the trace data of the first. */
static void a_file_is_gone_on_with(void **state)
{
	const struct record_auxtrace chunk = { .size = 8, .offset = 24 };
	char *path = temporary_path();
	struct capture *c;
	struct writer *w;
	struct err err;

	(void)state;
	begin_file(path);
	assert_int_equal(writer_resume(path, two_events, 2, &w, &err), 0);
	writer_auxtrace(w, &chunk, "01234567");
	writer_feature_string(w, FEATURE_HOSTNAME, "host");
	c = closed_and_scanned(w, path, NULL, NULL);
	assert_int_equal(capture_totals(c)->n_records, 5);
	assert_int_equal(capture_totals(c)->by_type[RECORD_AUXTRACE], 2);
	assert_int_equal(capture_info(c)->event_descs.n, 2);
	capture_free(c);
	discard(path);
}

/* A truncated file is continued behind its last whole record. */
static void a_cut_file_is_gone_on_with(void **state)
{
	(void)state;
	for (unsigned cut = 1; cut < 200; cut += 7) {
		char *path = temporary_path();
		struct stat info;
		struct capture *c;
		struct writer *w;
		struct err err;

		begin_file(path);
		assert_int_equal(stat(path, &info), 0);
		assert_int_equal(truncate(path, info.st_size - cut), 0);
		assert_int_equal(writer_resume(path, two_events, 2, &w, &err), 0);
		writer_itrace_start(w, 1, 5, NULL);
		c = closed_and_scanned(w, path, NULL, NULL);
		assert_in_range(capture_totals(c)->n_records, 2, 5);
		capture_free(c);
		discard(path);
	}
}

static void another_file_is_refused(void **state)
{
	char *path = temporary_path();
	struct writer *w;
	struct err err;

	(void)state;
	begin_file(path);
	assert_int_equal(writer_resume(path, two_events, 1, &w, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_int_equal(truncate(path, 60), 0);
	assert_int_equal(writer_resume(path, two_events, 2, &w, &err), -1);
	discard(path);
	assert_int_equal(writer_resume("/nonexistent/x", two_events, 2, &w, &err), -1);
}

struct kinds {
	struct record_mmap kernel;
	char path[64];
	struct record_task fork;
	unsigned n_namespaces;
};

static void look_at_kinds(void *context, const struct record *r, const struct sample_id *id)
{
	struct kinds *kinds = context;
	struct err err;

	(void)id;
	if (r->type == RECORD_MMAP) {
		assert_int_equal(record_mmap_read(r, &kinds->kernel, &err), 0);
		strcpy(kinds->path, kinds->kernel.path);
	} else if (r->type == RECORD_FORK) {
		assert_int_equal(record_task_read(r, &kinds->fork, &err), 0);
	} else if (r->type == RECORD_NAMESPACES) {
		assert_int_equal(r->size, 8 + 16 + N_NAMESPACES * 16 + 32);
		kinds->n_namespaces++;
	}
}

static void made_up_records_come_back(void **state)
{
	const struct record_mmap map = { .pid = UINT32_MAX,
					 .start = 0x1000,
					 .length = 64,
					 .page_offset = 0x1000,
					 .path = "[k]_text" };
	const struct record_task fork = { .pid = 5, .tid = 6, .lists_maps = true };
	char *path = temporary_path();
	struct writer *w = opened(path);
	struct kinds kinds = { 0 };
	const struct info *info;
	struct capture *c;

	(void)state;
	writer_mmap(w, &map, 1, NULL);
	writer_task(w, RECORD_FORK, &fork, NULL);
	writer_namespaces(w, &(struct record_namespaces){ .pid = 5, .tid = 6 }, NULL);
	writer_groups(w, &(struct writer_group){ "g", 0, 2 }, 1);
	writer_pmu_capabilities(w, "cpu", &(struct writer_capability){ "slots", "4" }, 1);
	writer_pmu_capabilities(w, "armv8", &(struct writer_capability){ "slots", "8" }, 1);
	c = closed_and_scanned(w, path, look_at_kinds, &kinds);
	info = capture_info(c);
	assert_int_equal(kinds.kernel.pid, UINT32_MAX);
	assert_int_equal(kinds.kernel.start, 0x1000);
	assert_string_equal(kinds.path, "[k]_text");
	assert_true(kinds.fork.lists_maps);
	assert_int_equal(kinds.n_namespaces, 1);
	assert_int_equal(info->groups.items[0].n_members, 2);
	assert_int_equal(info->capabilities.n, 2);
	capture_free(c);
	discard(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_come_back),
		cmocka_unit_test(levels_are_checked),
		cmocka_unit_test(compression_is_described_before_it_begins),
		cmocka_unit_test(the_file_is_sound_at_any_time),
		cmocka_unit_test(a_file_is_gone_on_with),
		cmocka_unit_test(a_cut_file_is_gone_on_with),
		cmocka_unit_test(another_file_is_refused),
		cmocka_unit_test(made_up_records_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
