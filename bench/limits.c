/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no analysis of a capture can be faster than on this machine. Each experiment does a part of the job and nothing else:
 *
 *	map       maps the file and touches each page once
 *	read      adds up its bytes
 *	pass      opens it and makes the first pass, which finds the pieces to decode
 *	decode    decodes all records to batches
 *	place     decodes, and looks each record up in a table of places, to add two sums there: what report needs at least
 *	hot, hot-numbers    what hot cannot do without (bench/limits-hot.c)
 *	line      decodes loads and stores, and looks each up in a table of cache lines: what c2c needs at least
 *	shared    what c2c cannot do without (bench/limits-shared.c)
 *	diff      what diff cannot do without, for one of its captures (bench/limits-diff.c)
 *	decode-2, place-2, hot-2, line-2, shared-2    the same by two threads, each with tables of its own, which nobody joins but
 *	          for `hot` and `shared`
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

/* What a record is looked up by. */
enum key { KEY_PLACE, KEY_PAGE, KEY_LINE, N_KEYS };

/* What is done with a record, as bits: 1 << enum key, … */
enum { DO_NOTHING = 0, DO_MEMORY = 1 << N_KEYS, DO_ALL = (1 << (N_KEYS + 1)) - 1 };

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

static uint64_t key_of(const struct batch *b, size_t row, enum key key)
{
	switch (key) {
	case KEY_PAGE:
		return b->va[row] / PAGE_BYTES;
	case KEY_LINE:
		return b->va[row] >> LINE_LOG;
	default:
		return b->pc[row];
	}
}

static void look_up(struct table *t, const struct batch *b, enum key key)
{
	for (size_t from = 0; from < b->n; from += ROWS_AT_ONCE) {
		size_t to = b->n - from < ROWS_AT_ONCE ? b->n : from + ROWS_AT_ONCE;

		for (size_t row = from; row < to; row++)
			prefetch_to_write(&t->slots[first_slot(key_of(b, row, key), t->mask)]);
		for (size_t row = from; row < to; row++)
			if (key == KEY_PLACE || b->has[row] & HAS_VA)
				table_add(t, key_of(b, row, key),
					  b->has[row] & HAS_TOTAL ? b->total[row] : 1);
	}
}

/* How many keys there are: of the thread that has most. */
struct sizes {
	_Atomic size_t of_keys[N_KEYS], of_memory;
};

/* What threads share: each takes the next unit. */
struct job {
	const struct capture *capture;
	unsigned what;
	const struct sizes *sizes; /* NULL: tables grow, as they are not known yet */
	struct sizes found;
	_Atomic size_t next_unit;
	_Atomic uint64_t n_rows;
};

/* What a thread has. */
struct sums {
	struct table tables[N_KEYS];
	struct memory_sums *memory;
};

static void sums_init(struct sums *s, const struct job *job)
{
	for (enum key key = 0; key < N_KEYS; key++)
		if (job->what >> key & 1)
			table_init(&s->tables[key],
				   slots_for(job->sizes != NULL ? job->sizes->of_keys[key] : 0));
	if (job->what & DO_MEMORY)
		s->memory =
			memory_sums_new(slots_for(job->sizes != NULL ? job->sizes->of_memory : 0));
}

static void sums_add(struct sums *s, const struct job *job, const struct batch *b)
{
	for (enum key key = 0; key < N_KEYS; key++) {
		struct table *t = &s->tables[key];

		if (!(job->what >> key & 1))
			continue;
		look_up(t, b, key);
		if (job->sizes == NULL && 2 * t->n + 2 * BATCH_ROWS > t->mask)
			table_grow(t);
	}
	if (!(job->what & DO_MEMORY))
		return;
	memory_sums_add(s->memory, b);
	if (job->sizes == NULL)
		memory_sums_reach(s->memory, BATCH_ROWS);
}

static void take_most(_Atomic size_t *most, size_t n)
{
	*most = n > *most ? n : *most;
}

static void sums_release(struct sums *s, struct job *job)
{
	for (enum key key = 0; key < N_KEYS; key++) {
		take_most(&job->found.of_keys[key], s->tables[key].n);
		free(s->tables[key].slots);
	}
	if (s->memory != NULL)
		take_most(&job->found.of_memory, memory_sums_n(s->memory));
	memory_sums_free(s->memory);
}

/* Places of all records are wanted, all else of loads and stores alone. */
static struct spe_wanted wanted_by(unsigned what)
{
	return (struct spe_wanted){
		.only_memory = what != DO_NOTHING && !(what >> KEY_PLACE & 1),
		.without_addresses = what == DO_MEMORY,
	};
}

static void look_up_all(void *context, unsigned thread)
{
	struct job *job = context;
	struct unit_reader *r = unit_reader_new(job->capture);
	struct batch *batch = batch_new();
	struct sums sums = { 0 };
	uint64_t n_rows = 0;
	size_t unit;

	(void)thread;
	sums_init(&sums, job);
	unit_reader_want_spe(r, wanted_by(job->what));
	if (job->what == DO_NOTHING) /* which is beside `export`, too */
		unit_reader_want_branches(r);
	while ((unit = atomic_fetch_add(&job->next_unit, 1)) < capture_n_units(job->capture)) {
		unit_reader_start(r, unit);
		while (unit_reader_next(r, batch)) {
			n_rows += batch->n;
			sums_add(&sums, job, batch);
		}
	}
	if (sums.memory != NULL)
		memory_sums_finish(sums.memory);
	job->n_rows += n_rows;
	sums_release(&sums, job);
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

/* What each experiment does, and of what there is a number then. */
static const struct {
	const char *names[MOST_THREADS];
	unsigned what;
	const char *counted;
} experiments[] = {
	{ { "decode", "decode-2" }, DO_NOTHING, NULL },
	{ { "place", "place-2" }, 1 << KEY_PLACE, "places" },
	{ { "memory", "memory-2" }, DO_MEMORY, "places by kind and data source" },
	{ { "page", "page-2" }, 1 << KEY_PAGE, "pages" },
	{ { "line", "line-2" }, 1 << KEY_LINE, "lines" },
	{ { "report", "report-2" }, DO_ALL, NULL },
};

static size_t n_counted(const struct sizes *sizes)
{
	size_t n = sizes->of_memory;

	for (enum key key = 0; key < N_KEYS; key++)
		n += sizes->of_keys[key];
	return n;
}

static uint64_t limits_of_decoding(const struct capture *c, int repeats)
{
	uint64_t n_rows = 0;

	for (size_t e = 0; e < COUNT(experiments); e++) {
		struct job first = { .capture = c, .what = experiments[e].what };
		struct job job = { .capture = c, .what = first.what, .sizes = &first.found };

		if (first.what != DO_NOTHING)
			run_job(&first, 1);
		for (unsigned n_threads = 1; n_threads <= MOST_THREADS; n_threads++) {
			struct cost least = { 0 };

			for (int i = 0; i < repeats; i++) {
				struct cost start = now();

				run_job(&job, n_threads);
				take_least(&least, start, i == 0);
			}
			print_limit(experiments[e].names[n_threads - 1], least, capture_size(c));
		}
		n_rows = job.n_rows > n_rows ? job.n_rows : n_rows;
		if (experiments[e].counted != NULL)
			printf("%s %zu\n", experiments[e].counted, n_counted(&first.found));
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
	timeline_freeze(timeline, capture_info(c), capture_strings(c), NULL);
	n_records = limits_of_decoding(c, repeats);
	limits_of_hot(c, timeline, repeats);
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
