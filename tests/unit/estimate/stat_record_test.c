/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of perf stat record: sums, scaling, units, intervals; and cut at each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "capture/format/record.h"
#include "capture/writer/writer.h"
#include "estimate/stat_record.h"

enum { CLOCK, CYCLES, MISSES, N_EVENTS };
enum { CLOCK_ID = 10, CYCLES_ID = 20, MISSES_ID = 30 };
enum { ALL = UINT32_MAX };
enum aggregation { BY_CPU, OVER_ALL, BY_CORE };

/* Where the capture of a test is. */
struct place {
	char folder[32];
	char path[64];
};

static struct place place_new(void)
{
	struct place p = { .folder = "/tmp/cyclops-XXXXXX" };

	assert_non_null(mkdtemp(p.folder));
	snprintf(p.path, sizeof(p.path), "%s/stat.data", p.folder);
	return p;
}

static void place_remove(const struct place *p)
{
	unlink(p->path);
	rmdir(p->folder);
}

static void write_words(struct writer *w, uint32_t type, const uint64_t *words, size_t n)
{
	writer_record(w, type, 0, words, n * sizeof(*words));
}

static void write_stat(struct writer *w, uint64_t id, uint32_t cpu, uint64_t value,
		       uint64_t enabled_ns, uint64_t running_ns)
{
	write_words(w, RECORD_STAT, (const uint64_t[]){ id, cpu, value, enabled_ns, running_ns },
		    5);
}

/* Two intervals of two CPUs: the clock in units of its own, cycles for half of the time, misses never. */
static void write_file(const char *path, enum aggregation aggregation, bool has_intervals)
{
	struct writer_event events[N_EVENTS] = {
		[CLOCK] = { .name = "task-clock",
			    .ids = (const uint64_t[]){ CLOCK_ID, CLOCK_ID + 1 },
			    .n_ids = 2 },
		[CYCLES] = { .name = "cycles:u",
			     .ids = (const uint64_t[]){ CYCLES_ID, CYCLES_ID + 1 },
			     .n_ids = 2 },
		[MISSES] = { .name = "cache-misses",
			     .ids = (const uint64_t[]){ MISSES_ID },
			     .n_ids = 1 },
	};
	const double scale = 1e-6;
	uint64_t update[3] = { 1, CLOCK_ID };
	struct writer *w;
	struct err err;

	events[CYCLES].attr.flags = 1ull << ATTR_EXCLUDE_KERNEL;
	assert_int_equal(writer_open(path, events, N_EVENTS, &w, &err), 0);
	write_words(w, RECORD_EVENT_UPDATE,
		    (const uint64_t[]){ 0, CLOCK_ID, 0x6365736d /* msec */ }, 3);
	memcpy(&update[2], &scale, sizeof(scale));
	write_words(w, RECORD_EVENT_UPDATE, update, 3);
	write_words(w, RECORD_STAT_CONFIG,
		    (const uint64_t[]){ 3, 0, aggregation, 1, has_intervals ? 60 : 0, 2, 1 }, 7);
	for (uint64_t cpu = 0; cpu < 2; cpu++) {
		write_stat(w, CLOCK_ID + cpu, (uint32_t)cpu, 1000 + cpu, 1000, 1000);
		write_stat(w, CYCLES_ID + cpu, (uint32_t)cpu, 100 * (cpu + 1), 1000, 500);
	}
	write_words(w, RECORD_STAT_ROUND, (const uint64_t[]){ 0, 7000 }, 2);
	for (uint64_t cpu = 0; has_intervals && cpu < 2; cpu++)
		write_stat(w, CYCLES_ID + cpu, (uint32_t)cpu, 150 * (cpu + 1), 2000, 1500);
	if (has_intervals) {
		write_words(w, RECORD_STAT_ROUND, (const uint64_t[]){ 0, 9000 }, 2);
		write_stat(w, CYCLES_ID, 0, 151, 2001, 1501); /* behind the last interval */
	}
	assert_int_equal(writer_close(w, &err), 0);
}

static void test_counts(void **state)
{
	static const struct {
		enum aggregation aggregation;
		bool has_intervals;
		struct count counts[6];
		size_t n;
	} cases[] = {
		{ OVER_ALL,
		  false,
		  { { .event = "task-clock", .unit = "ns", .value = 2001, .cpu = COUNT_ANY },
		    { .event = "cycles:u", .value = 600, .cpu = COUNT_ANY, .is_user_only = true },
		    { .event = "cache-misses", .cpu = COUNT_ANY, .state = COUNT_NOT_SUPPORTED } },
		  3 },
		{ BY_CORE,
		  false,
		  { { .event = "task-clock", .unit = "ns", .value = 1000, .cpu = 0 },
		    { .event = "cycles:u", .value = 200, .cpu = 0, .is_user_only = true },
		    { .event = "task-clock", .unit = "ns", .value = 1001, .cpu = 1 },
		    { .event = "cycles:u", .value = 400, .cpu = 1, .is_user_only = true },
		    { .event = "cache-misses", .cpu = COUNT_ANY, .state = COUNT_NOT_SUPPORTED } },
		  5 },
		{ OVER_ALL,
		  true,
		  { { .event = "task-clock", .unit = "ns", .value = 2001, .cpu = COUNT_ANY },
		    { .event = "cycles:u", .value = 600, .cpu = COUNT_ANY, .is_user_only = true },
		    { .event = "cycles:u",
		      .value = 150,
		      .cpu = COUNT_ANY,
		      .interval = 1,
		      .is_user_only = true },
		    { .event = "cache-misses", .cpu = COUNT_ANY, .state = COUNT_NOT_SUPPORTED } },
		  4 },
	};
	struct place p = place_new();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts counts = { 0 };
		struct mapped file = { 0 };
		struct err err;

		write_file(p.path, cases[i].aggregation, cases[i].has_intervals);
		assert_int_equal(mapped_open(&file, p.path, &err), 0);
		assert_int_equal(counts_read(file.bytes, file.size, p.path, &counts, &err), 0);
		assert_int_equal(counts.items.n, cases[i].n);
		assert_int_equal(counts.intervals.n, cases[i].has_intervals ? 2 : 0);
		assert_int_equal(counts.elapsed_ns, cases[i].has_intervals ? 9000 : 7000);
		for (size_t k = 0; k < cases[i].n; k++) {
			const struct count *found = &counts.items.items[k],
					   *wanted = &cases[i].counts[k];

			assert_string_equal(found->event, wanted->event);
			assert_string_equal(found->unit != NULL ? found->unit : "",
					    wanted->unit != NULL ? wanted->unit : "");
			assert_float_equal(found->value, wanted->value, 1e-6);
			assert_int_equal(found->cpu, wanted->cpu);
			assert_int_equal(found->interval, wanted->interval);
			assert_int_equal(found->state, wanted->state);
			assert_int_equal(found->is_user_only, wanted->is_user_only);
		}
		counts_release(&counts);
		mapped_release(&file);
	}
	place_remove(&p);
}

static void test_cut(void **state)
{
	struct mapped file = { 0 };
	struct err err;
	size_t n_read = 0;
	struct place p = place_new();

	(void)state;
	write_file(p.path, BY_CPU, true);
	assert_int_equal(mapped_open(&file, p.path, &err), 0);
	for (size_t size = 0; size < file.size; size++) {
		uint8_t *bytes = mem_alloc(size + 1, 1);
		struct counts counts = { 0 };

		memcpy(bytes, file.bytes, size);
		n_read += counts_read(bytes, size, p.path, &counts, &err) == 0;
		counts_release(&counts);
		free(bytes);
	}
	assert_true(n_read > 0);
	mapped_release(&file);
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
