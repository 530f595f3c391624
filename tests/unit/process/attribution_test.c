/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/random.h"
#include "fixture.h"
#include "process/attribution.h"
#include "process/place_cache.h"

#define K 0xffff800008000000

enum {
	U = 0x10000,
	EL0 = 0,
	EL1 = 1,
	EL2 = 2,
	EL3 = 3,
	NOBODY = -1,
	NOTHING = -1, /* no module; the place is the address itself */
};

/*
 * Process 7 with threads 7 and 70 runs /bin/a; process 8 is forked at 100, executes /bin/b at
 * 200. Thread 70 runs on cpu 1 from 50 to 60, then nobody knows; from 300 on it is one of process 8.
 */
static void make_timeline(struct fixture *f)
{
	fixture_init(f);
	feed_kernel(f, 0, K, 0x100000, K, "[kernel.kallsyms]_text");
	feed_map(f, 0, 7, U, 0x1000, 0, "/bin/a");
	feed_fork(f, 20, 7, 70, 7, 7);
	feed_switch(f, 50, 1, false, 7, 70);
	feed_switch(f, 60, 1, true, 7, 70);
	feed_fork(f, 100, 8, 8, 7, 7);
	feed_exec(f, 200, 8, "b");
	feed_map(f, 201, 8, U, 0x1000, 0, "/bin/b");
	feed_fork(f, 300, 8, 70, 8, 8);
	fixture_freeze(f);
}

/* What comes out of a row. */
struct expected_row {
	int64_t tid, pid;
	const char *path; /* "" for none */
	int64_t offset;
};

static void check_row(const struct fixture *f, const struct batch *b, size_t row,
		      const struct expected_row *e)
{
	const struct modules *modules = timeline_modules(f->timeline);
	struct place place = place_numbers_get(f->places, b->place[row]);
	const struct module *m = modules_get(modules, place.module);

	assert_int_equal((b->has[row] & HAS_TID) != 0, e->tid != NOBODY);
	if (e->tid != NOBODY)
		assert_int_equal(b->tid[row], e->tid);
	assert_int_equal((b->has[row] & HAS_PROCESS) != 0, e->pid != NOBODY);
	if (e->pid != NOBODY) {
		assert_true(b->has[row] & HAS_PID);
		assert_int_equal(b->pid[row], e->pid);
		assert_int_equal(timeline_process(f->timeline, b->process[row])->pid, e->pid);
	} else {
		assert_int_equal(b->process[row], 0);
	}
	assert_string_equal(strings_get(modules->strings, m->path), e->path);
	assert_int_equal((b->has[row] & HAS_PLACE) != 0, e->path[0] != '\0');
	assert_int_equal(place.offset, e->offset == NOTHING ? b->pc[row] : (uint64_t)e->offset);
}

static const struct {
	const char *what;
	uint32_t has;
	uint32_t context, cpu, tid;
	uint64_t time_ns;
	uint8_t level;
	uint64_t pc;
	struct expected_row expected;
} spe_rows[] = {
#define ALL (HAS_PC | HAS_TIME)
	{ "context", ALL | HAS_CONTEXT, 70, 0, 0, 40, EL0, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "context beats switch and buffer",
	  ALL | HAS_CONTEXT | HAS_CPU | HAS_TID,
	  7,
	  1,
	  99,
	  55,
	  EL0,
	  U + 4,
	  { 7, 7, "/bin/a", 4 } },
	{ "inherited", ALL | HAS_CONTEXT, 8, 0, 0, 150, EL0, U + 4, { 8, 8, "/bin/a", 4 } },
	{ "executed", ALL | HAS_CONTEXT, 8, 0, 0, 201, EL0, U + 4, { 8, 8, "/bin/b", 4 } },
	{ "between", ALL | HAS_CONTEXT, 8, 0, 0, 200, EL0, U + 4, { 8, 8, "", NOTHING } },
	{ "idle", ALL | HAS_CONTEXT, 0, 0, 0, 40, EL1, K + 8, { 0, 0, "[kernel.kallsyms]", -2 } },
	{ "context 0 in user code is none",
	  ALL | HAS_CONTEXT | HAS_TID,
	  0,
	  0,
	  70,
	  40,
	  EL0,
	  U + 4,
	  { 70, 7, "/bin/a", 4 } },
	{ "unknown context",
	  ALL | HAS_CONTEXT,
	  999,
	  0,
	  0,
	  40,
	  EL0,
	  U + 4,
	  { 999, NOBODY, "", NOTHING } },
	{ "unknown context, known buffer",
	  ALL | HAS_CONTEXT | HAS_TID,
	  999,
	  0,
	  70,
	  40,
	  EL0,
	  U + 4,
	  { 70, 7, "/bin/a", 4 } },
	{ "unknown context in the kernel",
	  ALL | HAS_CONTEXT,
	  999,
	  0,
	  0,
	  40,
	  EL2,
	  K + 8,
	  { 999, NOBODY, "[kernel.kallsyms]", -2 } },
	/* each directly behind one of the same context */
	{ "used by a process",
	  ALL | HAS_CONTEXT,
	  70,
	  0,
	  0,
	  40,
	  EL0,
	  U + 4,
	  { 70, 7, "/bin/a", 4 } },
	{ "by another one", ALL | HAS_CONTEXT, 70, 0, 0, 310, EL0, U + 4, { 70, 8, "/bin/b", 4 } },
	{ "by it again", ALL | HAS_CONTEXT, 70, 0, 0, 311, EL0, U + 4, { 70, 8, "/bin/b", 4 } },
	{ "by the first one", ALL | HAS_CONTEXT, 70, 0, 0, 41, EL0, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "by the last one, without a time",
	  HAS_PC | HAS_CONTEXT,
	  70,
	  0,
	  0,
	  0,
	  EL0,
	  U + 4,
	  { 70, 8, "/bin/b", 4 } },
	{ "switch", ALL | HAS_CPU, 0, 1, 0, 55, EL0, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "switch beats buffer",
	  ALL | HAS_CPU | HAS_TID,
	  0,
	  1,
	  7,
	  55,
	  EL0,
	  U + 4,
	  { 70, 7, "/bin/a", 4 } },
	{ "switched away",
	  ALL | HAS_CPU,
	  0,
	  1,
	  0,
	  60,
	  EL0,
	  U + 4,
	  { NOBODY, NOBODY, "", NOTHING } },
	{ "before the switch",
	  ALL | HAS_CPU,
	  0,
	  1,
	  0,
	  49,
	  EL0,
	  U + 4,
	  { NOBODY, NOBODY, "", NOTHING } },
	{ "switch without time",
	  HAS_PC | HAS_CPU,
	  0,
	  1,
	  0,
	  55,
	  EL0,
	  U + 4,
	  { NOBODY, NOBODY, "", NOTHING } },
	{ "buffer", ALL | HAS_TID, 0, 0, 70, 40, EL0, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "no time: the end", HAS_PC | HAS_TID, 0, 0, 8, 0, EL0, U + 4, { 8, 8, "/bin/b", 4 } },
	{ "nobody", ALL, 0, 0, 0, 40, EL0, U + 4, { NOBODY, NOBODY, "", NOTHING } },
	{ "firmware", ALL | HAS_TID, 0, 0, 7, 40, EL3, U + 4, { 7, 7, "", NOTHING } },
	{ "user address in the kernel",
	  ALL | HAS_TID,
	  0,
	  0,
	  7,
	  40,
	  EL1,
	  U + 4,
	  { 7, 7, "", NOTHING } },
	{ "nothing there", ALL | HAS_TID, 0, 0, 7, 40, EL0, 0x999000, { 7, 7, "", NOTHING } },
#undef ALL
};

static void fill_spe(struct batch *b)
{
	batch_reset(b, BATCH_SPE);
	for (size_t i = 0; i < COUNT(spe_rows); i++) {
		b->has[i] = spe_rows[i].has;
		b->context[i] = spe_rows[i].context;
		b->cpu[i] = spe_rows[i].cpu;
		b->tid[i] = spe_rows[i].tid;
		b->time_ns[i] = spe_rows[i].time_ns;
		b->level[i] = spe_rows[i].level;
		b->pc[i] = spe_rows[i].pc;
	}
	b->n = COUNT(spe_rows);
}

static void test_spe(void **state)
{
	struct batch *b = batch_new();
	const struct attribution_totals *n;
	struct attribution *a;
	struct fixture f;

	(void)state;
	make_timeline(&f);
	a = attribution_new(f.timeline, f.places);
	/* The second time the answers come from memory. */
	for (unsigned round = 0; round < 2; round++) {
		fill_spe(b);
		attribution_apply(a, b);
		for (size_t i = 0; i < COUNT(spe_rows); i++) {
			struct expected_row e = spe_rows[i].expected;

			if (e.offset == -2)
				e.offset = (int64_t)spe_rows[i].pc; /* kernel: the address */
			check_row(&f, b, i, &e);
		}
	}
	n = attribution_totals(a);
	assert_int_equal(n->n_rows, 2 * COUNT(spe_rows));
	assert_int_equal(n->n_by_context, 2 * 13);
	assert_int_equal(n->n_by_switch, 2 * 2);
	assert_int_equal(n->n_by_buffer, 2 * 7);
	assert_int_equal(n->n_by_record, 0);
	assert_int_equal(n->n_without_tid, 2 * 4);
	assert_int_equal(n->n_without_process, 2 * 6);
	assert_int_equal(n->n_without_place, 2 * 9);
	assert_int_equal(n->n_without_time, 2 * 3);
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

static const struct {
	const char *what;
	uint32_t has;
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
	uint8_t mode;
	uint64_t pc;
	struct expected_row expected;
} sample_rows[] = {
#define ALL (HAS_PC | HAS_TIME | HAS_PID | HAS_TID)
	{ "user", ALL, 7, 70, 0, 40, 2, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "kernel", ALL, 7, 70, 0, 40, 1, K + 8, { 70, 7, "[kernel.kallsyms]", -2 } },
	{ "hypervisor", ALL, 7, 70, 0, 40, 3, U + 4, { 70, 7, "", NOTHING } },
	{ "guest", ALL, 7, 70, 0, 40, 5, U + 4, { 70, 7, "", NOTHING } },
	{ "no mode, by address", ALL, 7, 70, 0, 40, 0, K + 8, { 70, 7, "[kernel.kallsyms]", -2 } },
	{ "no mode, by address", ALL, 7, 70, 0, 40, 0, U + 4, { 70, 7, "/bin/a", 4 } },
	{ "the recorded pid counts", ALL, 8, 70, 0, 300, 2, U + 4, { 70, 8, "/bin/b", 4 } },
	{ "unknown process", ALL, 99, 99, 0, 40, 2, U + 4, { 99, NOBODY, "", NOTHING } },
	{ "not recorded: switch",
	  HAS_PC | HAS_TIME | HAS_CPU,
	  0,
	  0,
	  1,
	  55,
	  2,
	  U + 4,
	  { 70, 7, "/bin/a", 4 } },
	{ "not recorded",
	  HAS_PC | HAS_TIME,
	  0,
	  0,
	  0,
	  55,
	  2,
	  U + 4,
	  { NOBODY, NOBODY, "", NOTHING } },
	{ "no address", HAS_TIME | HAS_PID | HAS_TID, 7, 7, 0, 40, 2, 0, { 7, 7, "", 0 } },
#undef ALL
};

static void fill_samples(struct batch *b)
{
	batch_reset(b, BATCH_SAMPLES);
	for (size_t i = 0; i < COUNT(sample_rows); i++) {
		b->has[i] = sample_rows[i].has;
		b->pid[i] = sample_rows[i].pid;
		b->tid[i] = sample_rows[i].tid;
		b->cpu[i] = sample_rows[i].cpu;
		b->time_ns[i] = sample_rows[i].time_ns;
		b->mode[i] = sample_rows[i].mode;
		b->pc[i] = sample_rows[i].pc;
	}
	b->n = COUNT(sample_rows);
}

static void test_samples(void **state)
{
	struct batch *b = batch_new();
	struct attribution *a;
	struct fixture f;

	(void)state;
	make_timeline(&f);
	a = attribution_new(f.timeline, f.places);
	fill_samples(b);
	attribution_apply(a, b);
	for (size_t i = 0; i < COUNT(sample_rows); i++) {
		struct expected_row e = sample_rows[i].expected;

		if (e.offset == -2)
			e.offset = (int64_t)sample_rows[i].pc;
		check_row(&f, b, i, &e);
		assert_int_equal(b->frame[i], 0);
	}
	assert_int_equal(attribution_totals(a)->n_by_record, 9);
	assert_int_equal(attribution_totals(a)->n_by_switch, 1);
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

/* Without any times, samples are looked up by position, and SPE records at the end. */
static void test_by_position(void **state)
{
	static const struct {
		enum batch_kind kind;
		uint64_t position;
		const char *path;
	} cases[] = {
		{ BATCH_SAMPLES, 15, "/bin/shell" },
		{ BATCH_SAMPLES, 35, "/bin/ls" },
		{ BATCH_SPE, 15, "/bin/ls" },
	};
	struct batch *b = batch_new();
	struct attribution *a;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.is_timeless = true;
	feed_map(&f, 10, 7, U, 0x1000, 0, "/bin/shell");
	feed_exec(&f, 20, 7, "ls");
	feed_map(&f, 30, 7, U, 0x1000, 0, "/bin/ls");
	fixture_freeze(&f);
	a = attribution_new(f.timeline, f.places);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct expected_row e = { 7, 7, cases[i].path, 4 };

		batch_reset(b, cases[i].kind);
		b->n = 1;
		b->has[0] = HAS_PC | HAS_TID;
		b->tid[0] = 7;
		b->pc[0] = U + 4;
		b->mode[0] = 2;
		b->level[0] = EL0;
		b->position[0] = cases[i].position;
		attribution_apply(a, b);
		check_row(&f, b, 0, &e);
	}
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

static void test_frames(void **state)
{
	static const uint64_t words[] = {
		(uint64_t)-512, U + 4, U + 0x11, /* row 0 */
		(uint64_t)-512,			 /* row 1: nothing of it was recorded */
	};
	struct batch *b = batch_new();
	struct attribution *a;
	struct fixture f;
	const uint64_t *inner, *outer;

	(void)state;
	make_timeline(&f);
	a = attribution_new(f.timeline, f.places);
	batch_reset(b, BATCH_SAMPLES);
	vec_reserve(&b->words, COUNT(words));
	for (b->words.n = 0; b->words.n < COUNT(words); b->words.n++)
		b->words.items[b->words.n] = words[b->words.n];
	for (size_t row = 0; row < 2; row++) {
		b->has[row] = HAS_PC | HAS_TIME | HAS_PID | HAS_TID | HAS_STACK;
		b->pid[row] = b->tid[row] = 7;
		b->time_ns[row] = 40;
		b->mode[row] = 2;
		b->pc[row] = U + 4;
	}
	b->stack[0] = (struct batch_slice){ 0, 3 };
	b->stack[1] = (struct batch_slice){ 3, 1 };
	b->n = 2;
	attribution_apply(a, b);
	inner = tuples_get(attribution_frames(a), b->frame[0]);
	assert_int_equal(inner[1], b->place[0]);
	outer = tuples_get(attribution_frames(a), (uint32_t)inner[0]);
	assert_int_equal(outer[0], 0);
	assert_int_equal(place_numbers_get(f.places, (uint32_t)outer[1]).offset, 0x10);
	assert_int_not_equal(b->frame[1], 0);
	assert_int_equal(tuples_get(attribution_frames(a), b->frame[1])[0], 0);
	assert_int_equal(tuples_get(attribution_frames(a), b->frame[1])[1], b->place[1]);
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

/* The place of an address of row 0's process, or of the kernel. */
static uint32_t place_of(struct place_cache *cache, const struct batch *b, uint64_t address)
{
	return place_cache_find(cache, attribution_whose_address(b, 0, address), address,
				attribution_row_time(false, b, 0));
}

static void test_other_addresses(void **state)
{
	struct batch *b = batch_new();
	struct place_cache cache;
	struct attribution *a;
	struct fixture f;

	(void)state;
	make_timeline(&f);
	a = attribution_new(f.timeline, f.places);
	place_cache_init(&cache, f.timeline, f.places);
	fill_spe(b);
	attribution_apply(a, b);
	/* Row 0 is process 7's. */
	assert_int_equal(place_of(&cache, b, U + 4), b->place[0]);
	assert_int_equal(place_numbers_get(f.places, place_of(&cache, b, U + 0x40)).offset, 0x40);
	assert_int_equal(place_numbers_get(f.places, place_of(&cache, b, K + 0x40)).offset,
			 K + 0x40);
	assert_int_not_equal(place_numbers_get(f.places, place_of(&cache, b, K + 0x40)).module.v,
			     0);
	assert_int_equal(place_numbers_get(f.places, place_of(&cache, b, 0x5000)).module.v, 0);
	assert_int_equal(place_numbers_get(f.places, place_of(&cache, b, 0x5000)).offset, 0x5000);
	assert_int_equal(place_of(&cache, b, 0), 0);
	place_cache_release(&cache);
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

/* More addresses than any cache holds, twice: every answer stays what it was. */
static void test_many_addresses(void **state)
{
	enum { N = 300000 };
	uint32_t *first = mem_alloc(N, sizeof(*first));
	struct batch *b = batch_new();
	struct place_cache cache;
	struct attribution *a;
	struct fixture f;

	(void)state;
	make_timeline(&f);
	a = attribution_new(f.timeline, f.places);
	place_cache_init(&cache, f.timeline, f.places);
	fill_spe(b);
	attribution_apply(a, b);
	for (uint32_t i = 0; i < N; i++)
		first[i] = place_of(&cache, b, (uint64_t)i * 4);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(place_of(&cache, b, (uint64_t)i * 4), first[i]);
	/* And of the rows: the kernel, /bin/b, two addresses of nothing. */
	assert_int_equal(place_numbers_n(f.places), N + 4);
	place_cache_release(&cache);
	attribution_free(a);
	batch_free(b);
	free(first);
	fixture_release(&f);
}

/* Mappings side by side, which records are of in turn, do not push each other out of the cache. */
static void test_neighbours(void **state)
{
	enum { N = 8, TIMES = 100 };
	struct place_cache cache;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	for (uint32_t i = 0; i < N; i++)
		feed_map(&f, 0, 7, U + i * PLACE_PAGE, PLACE_PAGE, i * PLACE_PAGE * 2,
			 i % 2 == 0 ? "/bin/a" : "/bin/b");
	fixture_freeze(&f);
	place_cache_init(&cache, f.timeline, f.places);
	cache.seed = 1; /* with which no two have the same slot */
	for (uint32_t i = 0; i < N * TIMES; i++) {
		uint32_t process = timeline_process_of_pid(f.timeline, 7, 10), at = i % N;
		uint64_t address = U + at * PLACE_PAGE + i / N * PLACE_CODE_SIZE;
		uint32_t place = place_cache_find(&cache, process, address, 10);

		assert_int_equal(place_numbers_get(f.places, place).offset,
				 at * PLACE_PAGE * 2 + i / N * PLACE_CODE_SIZE);
	}
	assert_int_equal(cache.n_misses, N);
	place_cache_release(&cache);
	fixture_release(&f);
}

/* Rows of a batch at addresses in and around `n_bytes` from U on, at times before and after 100. */
static void fill_addresses(struct batch *b, uint64_t n_bytes, uint64_t *random)
{
	batch_reset(b, BATCH_SPE);
	for (b->n = 0; b->n < BATCH_ROWS; b->n++) {
		uint64_t address = U + random_below(random, n_bytes);

		b->has[b->n] = HAS_PC | HAS_TIME | HAS_PID | HAS_TID;
		b->pid[b->n] = b->tid[b->n] = 7;
		b->time_ns[b->n] = 50 + random_below(random, 100);
		b->pc[b->n] = address & (random_below(random, 8) > 0 ? ~(uint64_t)3 : ~(uint64_t)0);
		b->level[b->n] = EL0;
	}
}

/* Each row has the place that the timeline knows: where mappings are side by side, overlap, begin inside of pages, and change. */
static void test_places_of_rows(void **state)
{
	enum { N = 12, STEP = 0x1800, N_BATCHES = 4 };
	struct batch *b = batch_new();
	struct attribution *a;
	struct fixture f;
	uint64_t random = 1;
	uint32_t process;

	(void)state;
	fixture_init(&f);
	for (uint32_t i = 0; i < N; i++)
		feed_map(&f, i % 4 == 0 ? 100 : 0, 7, U + i * STEP, STEP + i % 3 * 0x800,
			 i * STEP * 2 + i % 5 * 0x40, i % 2 == 0 ? "/bin/a" : "/bin/b");
	fixture_freeze(&f);
	a = attribution_new(f.timeline, f.places);
	process = timeline_process_of_pid(f.timeline, 7, 50);
	for (int i = 0; i < N_BATCHES; i++) {
		fill_addresses(b, N * STEP * 2, &random);
		attribution_apply(a, b);
		for (size_t row = 0; row < b->n; row++) {
			struct place place = place_numbers_get(f.places, b->place[row]);
			struct place wanted = timeline_place(f.timeline, process, false, b->pc[row],
							     b->time_ns[row])
						      .place;

			assert_int_equal(place.module.v, wanted.module.v);
			assert_int_equal(place.offset, wanted.offset);
		}
	}
	assert_true(place_numbers_n(f.places) > 2048); /* of several chunks */
	attribution_free(a);
	batch_free(b);
	fixture_release(&f);
}

enum { N_WORKERS = 4, N_JOBS = 16 };

struct shared {
	const struct timeline *timeline;
	const struct place_numbers *places;
	struct attribution *workers[N_WORKERS];
	uint64_t offsets[N_JOBS][COUNT(spe_rows)];
};

static void attribute_job(void *context, size_t job, unsigned worker)
{
	struct shared *s = context;
	struct batch *b = batch_new();

	fill_spe(b);
	attribution_apply(s->workers[worker], b);
	for (size_t i = 0; i < b->n; i++)
		s->offsets[job][i] = place_numbers_get(s->places, b->place[i]).offset;
	batch_free(b);
}

/* A frozen timeline is everybody's at once. */
static void test_many_workers(void **state)
{
	struct pool *pool = pool_new(N_WORKERS);
	struct shared *s = mem_zalloc(1, sizeof(*s));
	struct fixture f;

	(void)state;
	make_timeline(&f);
	s->places = f.places;
	for (size_t i = 0; i < N_WORKERS; i++)
		s->workers[i] = attribution_new(f.timeline, f.places);
	pool_run(pool, N_JOBS, attribute_job, s);
	for (size_t job = 1; job < N_JOBS; job++)
		assert_memory_equal(s->offsets[job], s->offsets[0], sizeof(s->offsets[0]));
	for (size_t i = 0; i < N_WORKERS; i++)
		attribution_free(s->workers[i]);
	pool_free(pool);
	free(s);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spe),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_by_position),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_other_addresses),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_places_of_rows),
		cmocka_unit_test(test_many_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
