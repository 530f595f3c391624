/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no analysis of a capture can be faster than on this machine. Each experiment does a part of the job and nothing else:
 *
 *	map       maps the file and touches each page once
 *	read      adds up its bytes
 *	pass      opens it and makes the first pass, which finds the pieces to decode
 *	decode    decodes all records to batches
 *	place     decodes, and looks each record up in a table of places, to add two sums there: what hot and mem need at least
 *	line      decodes loads and stores, and looks each up in a table of cache lines: what c2c needs at least
 *	shared    what c2c cannot do without (bench/limits-shared.c)
 *	diff      what diff cannot do without, for one of its captures (bench/limits-diff.c)
 *	decode-2, place-2, line-2, shared-2    the same by two threads, each with tables of its own, which nobody joins but for `shared`
 *	diff-2    two captures at once, each by a thread
 *
 *	limits CAPTURE [REPEATS]	(3)
 *
 * Each row is the least of the repeats, of each time for itself: seconds of CPU time, seconds by the clock, GB of the file in
 * a second of CPU time. Tables have the right size from the start, and rows are fetched ahead.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "limits.h"

enum { PAGE_BYTES = 4096 };

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct cost now(void)
{
	return (struct cost){ seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC) };
}

void take_least(struct cost *least, struct cost start, bool is_first)
{
	struct cost end = now();
	double cpu = end.cpu - start.cpu, wall = end.wall - start.wall;

	least->cpu = is_first || cpu < least->cpu ? cpu : least->cpu;
	least->wall = is_first || wall < least->wall ? wall : least->wall;
}

void print_limit(const char *name, struct cost cost, uint64_t size)
{
	printf("%-8s %8.4f s %8.4f s %8.2f GB/s\n", name, cost.cpu, cost.wall,
	       (double)size / cost.cpu / 1e9);
}

static const uint64_t *map_file(const char *path, int flags, size_t *out_size)
{
	int file = open(path, O_RDONLY);
	const uint64_t *words = MAP_FAILED;
	struct stat st;

	if (file >= 0 && fstat(file, &st) == 0) {
		*out_size = (size_t)st.st_size;
		words = mmap(NULL, *out_size, PROT_READ, MAP_PRIVATE | flags, file, 0);
	}
	if (file >= 0)
		close(file);
	return words == MAP_FAILED ? NULL : words;
}

static int limit_of_mapping(const char *path, int repeats)
{
	struct cost least = { 0 };
	volatile uint64_t sink = 0;
	size_t size = 0;

	for (int i = 0; i < repeats; i++) {
		struct cost start = now();
		const uint64_t *words = map_file(path, 0, &size);
		uint64_t sum = 0;

		if (words == NULL)
			return -1;
		for (size_t k = 0; k < size / sizeof(*words); k += PAGE_BYTES / sizeof(*words))
			sum += words[k];
		sink = sum;
		munmap((void *)(uintptr_t)words, size);
		take_least(&least, start, i == 0);
	}
	(void)sink;
	print_limit("map", least, size);
	return 0;
}

/* All bytes are added up, as the compiler must not leave any out. */
static int limit_of_reading(const char *path, int repeats)
{
	struct cost least = { 0 };
	volatile uint64_t sink = 0;
	size_t size = 0;
	const uint64_t *words = map_file(path, MAP_POPULATE, &size);

	if (words == NULL)
		return -1;
	for (int i = 0; i < repeats; i++) {
		struct cost start = now();
		uint64_t sum = 0;

		for (size_t k = 0; k < size / sizeof(*words); k++)
			sum += words[k];
		sink = sum;
		take_least(&least, start, i == 0);
	}
	(void)sink;
	munmap((void *)(uintptr_t)words, size);
	print_limit("read", least, size);
	return 0;
}

static int limit_of_first_pass(const char *path, int repeats)
{
	struct cost least = { 0 };
	struct err err = { 0 };
	uint64_t size = 0;

	for (int i = 0; i < repeats; i++) {
		struct cost start = now();
		struct capture *c = NULL;

		if (capture_open(path, &c, &err) < 0 || capture_scan(c, NULL, NULL, &err) < 0) {
			fprintf(stderr, "limits: %s\n", err.text);
			return -1;
		}
		size = capture_size(c);
		capture_free(c);
		take_least(&least, start, i == 0);
	}
	print_limit("pass", least, size);
	return 0;
}

/* What is looked up for a record: nothing, its place, or the line of its data. */
enum lookup { LOOK_UP_NOTHING, LOOK_UP_PLACE, LOOK_UP_LINE };

void table_init(struct table *t, size_t n_slots)
{
	*t = (struct table){ mem_zalloc(n_slots, sizeof(*t->slots)), n_slots - 1, 0 };
}

/* To a table of twice the size. */
static void table_grow(struct table *t)
{
	struct table old = *t;

	table_init(t, 2 * (old.mask + 1));
	for (size_t i = 0; i <= old.mask; i++)
		if (old.slots[i].n != 0)
			table_add(t, old.slots[i].key, 0);
	free(old.slots);
}

static uint64_t key_of(const struct batch *b, size_t row, enum lookup lookup)
{
	return lookup == LOOK_UP_PLACE ? b->pc[row] : b->va[row] >> LINE_LOG;
}

static void look_up(struct table *t, const struct batch *b, enum lookup lookup)
{
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;

		for (size_t row = from; row < to; row++)
			prefetch_to_write(&t->slots[first_slot(key_of(b, row, lookup), t->mask)]);
		for (size_t row = from; row < to; row++)
			if (lookup == LOOK_UP_PLACE || b->has[row] & HAS_VA)
				table_add(t, key_of(b, row, lookup),
					  b->has[row] & HAS_TOTAL ? b->total[row] : 1);
	}
}

/* What threads share: each takes the next unit. */
struct job {
	const struct capture *capture;
	enum lookup lookup;
	size_t n_slots; /* 0: tables grow, as the number of keys is not known yet */
	_Atomic size_t next_unit;
	_Atomic uint64_t n_rows;
	_Atomic size_t n_keys; /* of the thread that has most */
};

static void look_up_all(void *context, unsigned thread)
{
	struct job *job = context;
	struct unit_reader *r = unit_reader_new(job->capture);
	struct batch *batch = batch_new();
	struct table t = { 0 };
	uint64_t n_rows = 0;
	size_t unit;

	(void)thread;
	if (job->lookup != LOOK_UP_NOTHING)
		table_init(&t, job->n_slots > 0 ? job->n_slots : 2 * BATCH_ROWS);
	unit_reader_want_spe(r, (struct spe_wanted){ .only_memory = job->lookup == LOOK_UP_LINE });
	if (job->lookup == LOOK_UP_NOTHING) /* which is beside `export`, too */
		unit_reader_want_branches(r);
	while ((unit = atomic_fetch_add(&job->next_unit, 1)) < capture_n_units(job->capture)) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch)) {
			n_rows += batch->n;
			if (job->lookup == LOOK_UP_NOTHING)
				continue;
			look_up(&t, batch, job->lookup);
			if (job->n_slots == 0 && 2 * t.n + 2 * BATCH_ROWS > t.mask)
				table_grow(&t);
		}
	}
	job->n_keys = t.n > job->n_keys ? t.n : job->n_keys;
	job->n_rows += n_rows;
	free(t.slots);
	batch_free(batch);
	unit_reader_free(r);
}

struct thread {
	pthread_t id;
	void (*work)(void *context, unsigned thread);
	void *context;
	unsigned number;
};

static void *run_thread(void *of)
{
	const struct thread *t = of;

	t->work(t->context, t->number);
	return NULL;
}

void run_threads(unsigned n, void (*work)(void *context, unsigned thread), void *context)
{
	struct thread threads[MOST_THREADS];

	for (unsigned i = 1; i < n; i++) {
		threads[i] = (struct thread){ .work = work, .context = context, .number = i };
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]) != 0)
			abort();
	}
	work(context, 0);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i].id, NULL);
}

static void run_job(struct job *job, unsigned n_threads)
{
	job->next_unit = 0;
	job->n_rows = 0;
	run_threads(n_threads, look_up_all, job);
}

size_t slots_for(size_t n_keys)
{
	size_t n = 2 * BATCH_ROWS;

	while (n < 2 * n_keys)
		n *= 2;
	return n;
}

static uint64_t limits_of_decoding(const struct capture *c, int repeats)
{
	static const char *const names[][MOST_THREADS] = { { "decode", "decode-2" },
							   { "place", "place-2" },
							   { "line", "line-2" } };
	uint64_t n_rows = 0;

	for (enum lookup lookup = LOOK_UP_NOTHING; lookup <= LOOK_UP_LINE; lookup++) {
		struct job job = { .capture = c, .lookup = lookup };

		if (lookup != LOOK_UP_NOTHING)
			run_job(&job, 1);
		job.n_slots = slots_for(job.n_keys);
		for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads++) {
			struct cost least = { 0 };

			for (int i = 0; i < repeats; i++) {
				struct cost start = now();

				run_job(&job, n_threads);
				take_least(&least, start, i == 0);
			}
			print_limit(names[lookup][n_threads - 1], least, capture_size(c));
		}
		if (lookup == LOOK_UP_NOTHING)
			n_rows = job.n_rows;
		else
			printf("%s %zu\n", lookup == LOOK_UP_PLACE ? "places" : "lines",
			       job.n_keys);
	}
	return n_rows;
}

static int limits_of(const char *path, int repeats)
{
	struct err err = { 0 };
	struct capture *c = NULL;
	struct timeline *timeline = timeline_new();
	uint64_t n_records;
	int rc = -1;

	if (limit_of_mapping(path, repeats) < 0 || limit_of_reading(path, repeats) < 0) {
		fprintf(stderr, "limits: %s cannot be mapped\n", path);
		goto out;
	}
	if (limit_of_first_pass(path, repeats) < 0)
		goto out;
	if (capture_open(path, &c, &err) < 0 ||
	    capture_scan(c, timeline_visit, timeline, &err) < 0) {
		fprintf(stderr, "limits: %s\n", err.text);
		goto out;
	}
	timeline_freeze(timeline, capture_info(c), capture_strings(c));
	n_records = limits_of_decoding(c, repeats);
	limits_of_sharing(c, timeline, n_records, repeats);
	limits_of_diff(c, timeline, n_records, repeats);
	printf("records  %llu\n", (unsigned long long)n_records);
	rc = 0;
out:
	capture_free(c);
	timeline_free(timeline);
	return rc;
}

int main(int argc, char **argv)
{
	int repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;

	if (argc < 2 || repeats < 1) {
		fprintf(stderr, "usage: limits CAPTURE [REPEATS]\n");
		return 2;
	}
	return limits_of(argv[1], repeats) < 0;
}
