/* SPDX-License-Identifier: Apache-2.0 */
/* Captures whose switches are spelled out: who ran when, and what others waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/writer/writer.h"
#include "running/running.h"
#include "scan/scan.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { PID = 100, KERNEL_THREAD = 2, JIT = 0x700000, USER_MODE = 2 };

static const char jit_map[] = "700000 100 wait_for_lock\n700100 100 sleep_long\n";

/* What is written, in this order. */
enum what { SAMPLE, OUT, PREEMPTED, IN, FORK, LISTED, EXIT };

struct happening {
	uint64_t time_ns;
	uint32_t tid;
	enum what what;
	uint64_t ip;	/* of a sample */
	uint32_t other; /* OUT, IN: SWITCH_CPU_WIDE with this thread; 0: SWITCH */
};

struct opened {
	struct session session;
	char directory[32];
};

static void write_happening(struct writer *w, const struct happening *h)
{
	const struct sample_id id = {
		.has = HAS_PID | HAS_TID | HAS_TIME | HAS_CPU,
		.pid = h->tid == KERNEL_THREAD ? KERNEL_THREAD : PID,
		.tid = h->tid,
		.time_ns = h->time_ns,
		.id = 1,
	};
	const struct record_switch change = {
		.is_out = h->what == OUT || h->what == PREEMPTED,
		.is_preempted = h->what == PREEMPTED,
		.has_other = h->other != 0,
		.other_pid = h->other == KERNEL_THREAD ? KERNEL_THREAD : PID,
		.other_tid = h->other,
	};
	const struct record_task task = {
		.pid = PID,
		.ppid = PID,
		.tid = h->tid,
		.ptid = PID,
		.time_ns = h->time_ns,
		.lists_maps = h->what == LISTED,
	};
	const struct sample sample = {
		.id = 1, .ip = h->ip, .pid = PID, .tid = h->tid, .time_ns = h->time_ns, .period = 1
	};

	switch (h->what) {
	case SAMPLE:
		writer_sample(w, 0, USER_MODE, &sample);
		break;
	case FORK:
	case LISTED:
	case EXIT:
		writer_task(w, h->what == EXIT ? RECORD_EXIT : RECORD_FORK, &task, &id);
		break;
	default:
		writer_switch(w, &change, &id);
	}
}

/* Events are context switches, or cycles. */
static void open_made(const struct happening *list, size_t n, bool has_switch_event,
		      struct opened *out)
{
	static const uint64_t ids[] = { 1 };
	struct writer_event event = { .ids = ids, .n_ids = 1, .name = "event" };
	struct session_options options = { .n_workers = 2 };
	const struct record_comm comm = { .pid = PID, .tid = PID, .is_exec = true, .comm = "made" };
	const struct record_comm kernel = { .pid = KERNEL_THREAD,
					    .tid = KERNEL_THREAD,
					    .comm = "kthreadd" };
	const struct record_mmap map = { .pid = PID,
					 .tid = PID,
					 .start = JIT,
					 .length = 0x1000,
					 .protection = 5,
					 .path = "//anon" };
	char path[64], map_path[64];
	struct err err = { 0 };
	struct writer *w = NULL;
	FILE *file;

	event.attr.type = has_switch_event ? ATTR_TYPE_SOFTWARE : ATTR_TYPE_HARDWARE;
	event.attr.config = has_switch_event ? 3 : 0;
	event.attr.flags = BIT(ATTR_SAMPLE_ID_ALL);
	event.attr.sample_period = 1;
	event.attr.sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
				 BIT(SAMPLE_CPU) | BIT(SAMPLE_PERIOD) | BIT(SAMPLE_IDENTIFIER);
	strcpy(out->directory, "/tmp/cyclops-running-XXXXXX");
	assert_non_null(mkdtemp(out->directory));
	snprintf(map_path, sizeof(map_path), "%s/perf-100.map", out->directory);
	file = fopen(map_path, "w");
	assert_non_null(file);
	assert_true(fputs(jit_map, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(path, sizeof(path), "%s/perf.data", out->directory);
	assert_int_equal(writer_open(path, &event, 1, &w, &err), 0);
	writer_comm(w, &kernel, NULL);
	writer_comm(w, &comm, NULL);
	writer_mmap2(w, &map, USER_MODE, NULL);
	for (size_t i = 0; i < n; i++)
		write_happening(w, &list[i]);
	assert_int_equal(writer_close(w, &err), 0);
	options.path = path;
	options.symbols.jit_map_dir = out->directory;
	if (session_open(&out->session, &options, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
}

static void close_made(struct opened *o)
{
	char path[64];

	session_release(&o->session);
	snprintf(path, sizeof(path), "%s/perf-100.map", o->directory);
	unlink(path);
	rmdir(o->directory);
}

static void assert_times(const struct running *r, const uint64_t *ns, size_t n)
{
	for (size_t i = 0; i < n || i < r->ns.n; i++) {
		uint64_t is = i < r->ns.n ? r->ns.items[i] : 0, wanted = i < n ? ns[i] : 0;

		if (is != wanted)
			fail_msg("%zu threads: %llu ns, wanted %llu", i, (unsigned long long)is,
				 (unsigned long long)wanted);
	}
}

/* Waits of a row, by what it waits for and where. */
static uint64_t waited(const struct running_tables *t, const char *cause, const char *function,
		       const char *column)
{
	const struct table *w = &t->waiting;
	int by_cause = table_column(w, "reason"), by_function = table_column(w, "function");

	for (size_t row = 0; row < table_n_rows(w); row++) {
		const struct cell *where = table_cell(w, row, (size_t)by_function);

		if (strcmp(table_cell(w, row, (size_t)by_cause)->text, cause) == 0 &&
		    (function == NULL
			     ? where->type == CELL_NONE
			     : where->type == CELL_TEXT && strcmp(where->text, function) == 0))
			return table_cell(w, row, (size_t)table_column(w, column))->count;
	}
	return 0;
}

static void answer(struct opened *o, const uint64_t *ns, size_t n, struct running_tables *out)
{
	struct running *r = running_new(&o->session);
	struct analysis places = { .class = &wait_places_class, .options = r };

	assert_non_null(r);
	assert_times(r, ns, n);
	scan(&o->session, NULL, &places, 1);
	running_tables_make(r, places.result, 0, out);
	wait_places_class.free(places.result);
	running_free(r);
}

/*
 * 1000     1100     1200     1300     1400     1500     1600
 * 100 runs ........ blocked in wait_for_lock  runs ..........
 *     101: forked, runs from 1150, preempted 1300 to 1350, exits at 1500
 */
static const struct happening two[] = {
	{ 1000, 100, SAMPLE, JIT + 0x110, 0 },
	{ 1100, 101, FORK, 0, 0 },
	{ 1150, 101, IN, 0, 0 },
	{ 1190, 100, SAMPLE, JIT + 4, 0 },
	{ 1200, 100, OUT, 0, 0 },
	{ 1300, 101, PREEMPTED, 0, 0 },
	{ 1350, 101, IN, 0, 0 },
	{ 1400, 100, IN, 0, 0 },
	{ 1500, 101, EXIT, 0, 0 },
	{ 1510, 101, OUT, 0, 0 },
	{ 1600, 100, SAMPLE, JIT + 0x110, 0 },
};
static const uint64_t two_ns[] = {
	50,		      /* none: 1300-1350 */
	150 + 100 + 50 + 100, /* one: 1000-1150, 1200-1300, 1350-1400, 1500-1600 */
	50 + 100,	      /* both: 1150-1200, 1400-1500 */
};

static void two_threads(void **state)
{
	struct running_tables t = { 0 };
	struct opened o;

	(void)state;
	for (int has_event = 0; has_event < 2; has_event++) {
		open_made(two, COUNT(two), has_event, &o);
		answer(&o, two_ns, COUNT(two_ns), &t);
		assert_int_equal(waited(&t, "blocked", "wait_for_lock", "time_ns"), 200);
		assert_int_equal(waited(&t, "blocked", "wait_for_lock", "waits"), 1);
		/* new, then preempted; none of its samples */
		assert_int_equal(waited(&t, "runnable", NULL, "time_ns"), 50 + 50);
		assert_int_equal(waited(&t, "runnable", NULL, "longest_ns"), 50);
		assert_string_equal(t.blocked_in, "wait_for_lock");
		assert_true(fabs(t.blocked_share - 200.0 / 300) < 1e-12);
		running_tables_release(&t);
		close_made(&o);
	}
}

/*
 * Switches of CPUs come in pairs that say the same. Threads of the kernel do not count. A thread that is
 * never switched, but sampled, ran all of the time.
 */
static void pairs_and_others(void **state)
{
	static const struct happening list[] = {
		{ 1000, 102, SAMPLE, JIT, 0 },	      { 1000, 100, SAMPLE, JIT + 0x100, 0 },
		{ 1100, 100, OUT, 0, KERNEL_THREAD }, { 1101, KERNEL_THREAD, IN, 0, 100 },
		{ 1300, KERNEL_THREAD, OUT, 0, 100 }, { 1301, 100, IN, 0, KERNEL_THREAD },
		{ 1400, 102, SAMPLE, JIT, 0 },
	};
	static const uint64_t ns[] = { 0, 200, 200 };
	struct running_tables t = { 0 };
	struct opened o;

	(void)state;
	open_made(list, COUNT(list), false, &o);
	answer(&o, ns, COUNT(ns), &t);
	assert_int_equal(waited(&t, "blocked", "sleep_long", "time_ns"), 200);
	assert_int_equal(table_n_rows(&t.waiting), 1);
	running_tables_release(&t);
	close_made(&o);
}

/* Code without names is told by its file: in the sentence, and in a column that people see. */
static void blocked_in_code_without_names(void **state)
{
	static const struct happening list[] = {
		{ 1000, 100, SAMPLE, JIT + 0x800, 0 },
		{ 1100, 100, OUT, 0, 0 },
		{ 1300, 100, IN, 0, 0 },
		{ 1400, 100, SAMPLE, JIT + 0x800, 0 },
	};
	static const uint64_t ns[] = { 200, 200 };
	struct running_tables t = { 0 };
	struct opened o;
	size_t module;
	char wanted[64];

	(void)state;
	open_made(list, COUNT(list), true, &o);
	answer(&o, ns, COUNT(ns), &t);
	assert_int_equal(waited(&t, "blocked", "[unknown]", "time_ns"), 200);
	module = (size_t)table_column(&t.waiting, "module");
	assert_int_equal(t.waiting.columns[module].flags & COLUMN_MACHINE_ONLY, 0);
	snprintf(wanted, sizeof(wanted), "code in %s", table_cell(&t.waiting, 0, module)->text);
	assert_string_equal(t.blocked_in, wanted);
	assert_string_not_equal(wanted, "code in [unknown]");
	running_tables_release(&t);
	close_made(&o);
}

/*
 * 1000     1100     1200     1300     1400     1500     1600
 * 100 runs .............................................
 * 101 runs: its first record is its end; what is left of its exit is no run time of it
 * 102 runs; out and in at one time is no wait
 * 103 was there before: what lists its maps is no fork
 */
static void begins_and_ends(void **state)
{
	static const struct happening list[] = {
		{ 1000, 100, SAMPLE, JIT + 0x110, 0 },
		{ 1150, 103, LISTED, 0, 0 },
		{ 1200, 101, EXIT, 0, 0 },
		{ 1210, 101, PREEMPTED, 0, 0 },
		{ 1250, 101, IN, 0, 0 },
		{ 1300, 101, OUT, 0, 0 },
		{ 1400, 102, OUT, 0, 0 },
		{ 1400, 102, IN, 0, 0 },
		{ 1500, 103, OUT, 0, 0 },
		{ 1600, 100, SAMPLE, JIT + 0x110, 0 },
	};
	static const uint64_t ns[] = { 0, 0, 100, 300, 200 };
	struct running_tables t = { 0 };
	struct opened o;

	(void)state;
	open_made(list, COUNT(list), false, &o);
	answer(&o, ns, COUNT(ns), &t);
	assert_int_equal(waited(&t, "blocked", NULL, "waits"), 1); /* of 103 */
	assert_int_equal(waited(&t, "blocked", NULL, "time_ns"), 100);
	assert_int_equal(waited(&t, "runnable", NULL, "waits"), 0);
	running_tables_release(&t);
	close_made(&o);
}

/* Slices of the time with enough records; the last one is shorter, and the last record is in it. */
static void slices_of_the_time(void **state)
{
	static const struct {
		uint64_t time_ns;
		uint32_t tid;
	} records[] = { { 999, 100 }, { 1000, 100 }, { 1150, 101 }, { 1160, 100 }, { 1600, 100 } };
	static const uint64_t ns[] = { 6 * 70, 70 + 40, 70 };
	struct slices_options options;
	struct batch *b = mem_zalloc(1, sizeof(*b));
	struct running_slices *seen;
	struct running *r;
	struct opened o;

	(void)state;
	open_made(two, COUNT(two), false, &o);
	o.session.first_ns = 1000;
	o.session.last_ns = 1600;
	/* of two threads: ten slices of 20 records each, or 200 at most */
	assert_false(running_slices_choose(&o.session, 399, &options));
	assert_true(running_slices_choose(&o.session, 400, &options));
	assert_int_equal(options.slice_ns, 60);
	assert_true(running_slices_choose(&o.session, 1000000, &options));
	assert_int_equal(options.slice_ns, 3);

	options.slice_ns = 70;
	b->kind = BATCH_SPE;
	for (; b->n < COUNT(records); b->n++) {
		b->has[b->n] = HAS_TID | HAS_TIME;
		b->tid[b->n] = records[b->n].tid;
		b->time_ns[b->n] = records[b->n].time_ns;
	}
	seen = running_slices_class.new(&o.session, &options);
	running_slices_class.consume(seen, b);
	r = running_of_slices(&o.session, seen);
	assert_times(r, ns, COUNT(ns));
	running_free(r);
	running_slices_class.free(seen);
	free(b);
	close_made(&o);
}

static void without_switches(void **state)
{
	static const struct happening list[] = { { 1000, 100, SAMPLE, JIT, 0 } };
	struct opened o;

	(void)state;
	open_made(list, COUNT(list), false, &o);
	assert_null(running_new(&o.session));
	close_made(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads),
		cmocka_unit_test(blocked_in_code_without_names),
		cmocka_unit_test(pairs_and_others),
		cmocka_unit_test(begins_and_ends),
		cmocka_unit_test(slices_of_the_time),
		cmocka_unit_test(without_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
