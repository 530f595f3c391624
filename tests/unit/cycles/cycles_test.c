/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle accounting of captures whose samples and read values are spelled out. */
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
#include "counting/event_checks.h"
#include "cycles/cycles.h"
#include "cycles/events.h"
#include "estimate/mux.h"
#include "cycles/tree/account.h"
#include "session/session.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { PID = 100, TEXT = 0x400000, JIT = 0x700000, USER_MODE = 2, MOST_EVENTS = 8 };

static const char jit_map[] = "700000 100 hot\n700100 100 cold\n";

/* An event of a capture. */
struct made_event {
	uint32_t type;
	uint64_t config, flags;
	bool is_follower; /* read by the leader in front of it; it never samples */
};

struct made_sample {
	unsigned event;
	uint32_t cpu;
	uint64_t ip, period;
	uint64_t enabled, running; /* read values; 0, 0: none */
	uint64_t value, follower;  /* what leader and follower have counted */
};

struct made {
	const struct made_event *events;
	size_t n_events;
	const struct made_sample *samples;
	size_t n_samples;
	bool has_reads, is_group;
	const char *cpuid, *os_release;
};

/* The kernel's counters of each event: one on each CPU. */
static const uint64_t ids[MOST_EVENTS][2] = { { 1, 11 }, { 2, 12 }, { 3, 13 }, { 4, 14 },
					      { 5, 15 }, { 6, 16 }, { 7, 17 }, { 8, 18 } };

static struct writer *open_made(const char *path, const struct made *m)
{
	struct writer_event events[MOST_EVENTS] = { 0 };
	struct writer *w = NULL;
	struct err err;

	for (size_t i = 0; i < m->n_events; i++) {
		events[i] = (struct writer_event){ .ids = ids[i], .n_ids = 2, .name = "event" };
		events[i].attr.type = m->events[i].type;
		events[i].attr.config = m->events[i].config;
		events[i].attr.flags = m->events[i].flags | BIT(ATTR_SAMPLE_ID_ALL);
		events[i].attr.sample_period = m->events[i].is_follower ? 0 : 1000;
		events[i].attr.sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
					     BIT(SAMPLE_CPU) | BIT(SAMPLE_PERIOD) |
					     BIT(SAMPLE_IDENTIFIER);
		if (!m->has_reads)
			continue;
		events[i].attr.sample_type |= BIT(SAMPLE_READ);
		events[i].attr.read_format =
			BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING) | BIT(READ_ID);
		if (m->is_group)
			events[i].attr.read_format |= BIT(READ_GROUP);
	}
	assert_int_equal(writer_open(path, events, m->n_events, &w, &err), 0);
	return w;
}

static void write_sample(struct writer *w, const struct made *m, const struct made_sample *s,
			 uint64_t time_ns)
{
	const uint64_t single[] = { s->value, s->enabled, s->running, ids[s->event][s->cpu] };
	const uint64_t group[] = { 2,
				   s->enabled,
				   s->running,
				   s->value,
				   ids[s->event][s->cpu],
				   s->follower,
				   ids[s->event + 1][s->cpu] };
	struct sample out = {
		.id = ids[s->event][s->cpu],
		.ip = s->ip,
		.pid = PID,
		.tid = PID,
		.cpu = s->cpu,
		.time_ns = time_ns,
		.period = s->period,
	};

	if (m->has_reads && m->is_group)
		out.read = (struct sample_words){ (const uint8_t *)group, COUNT(group) };
	else if (m->has_reads)
		out.read = (struct sample_words){ (const uint8_t *)single, COUNT(single) };
	writer_sample(w, s->event, USER_MODE, &out);
}

/* A capture, opened; `directory` is to be freed by close_made(). */
struct opened {
	struct session session;
	char directory[32];
};

static void open_session(const struct made *m, unsigned n_workers, struct opened *out)
{
	struct session_options options = { .n_workers = n_workers };
	const struct record_comm comm = { .pid = PID, .tid = PID, .is_exec = true, .comm = "made" };
	const struct record_mmap map = {
		.pid = PID,
		.tid = PID,
		.start = JIT,
		.length = 0x1000,
		.protection = 5,
		.path = "//anon",
	};
	char path[64], map_path[64];
	struct err err = { 0 };
	struct writer *w;
	FILE *file;

	strcpy(out->directory, "/tmp/cyclops-cycles-XXXXXX");
	assert_non_null(mkdtemp(out->directory));
	snprintf(map_path, sizeof(map_path), "%s/perf-100.map", out->directory);
	file = fopen(map_path, "w");
	assert_non_null(file);
	assert_true(fputs(jit_map, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(path, sizeof(path), "%s/perf.data", out->directory);
	w = open_made(path, m);
	writer_feature_string(w, FEATURE_ARCH, m->cpuid[0] == '0' ? "aarch64" : "x86_64");
	writer_feature_string(w, FEATURE_CPUID, m->cpuid);
	if (m->os_release != NULL)
		writer_feature_string(w, FEATURE_OSRELEASE, m->os_release);
	writer_comm(w, &comm, NULL);
	writer_mmap2(w, &map, USER_MODE, NULL);
	for (size_t i = 0; i < m->n_samples; i++)
		write_sample(w, m, &m->samples[i], 1000 + i);
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

#define N1 "0x00000000410fd0c1"

/* Cells of the long table, by function and node. */
static const struct cell *cell_of(const struct table *t, const char *function, const char *node,
				  const char *column)
{
	int key = table_column(t, "function"), name = table_column(t, "node");
	int at = table_column(t, column);

	assert_true(at >= 0);
	for (size_t row = 0; row < table_n_rows(t); row++)
		if ((function == NULL ||
		     strcmp(table_cell(t, row, (size_t)key)->text, function) == 0) &&
		    strcmp(table_cell(t, row, (size_t)name)->text, node) == 0)
			return table_cell(t, row, (size_t)at);
	fail_msg("no row %s %s", function == NULL ? "" : function, node);
	return NULL;
}

static double number_of(const struct table *t, const char *function, const char *node,
			const char *column)
{
	const struct cell *cell = cell_of(t, function, node, column);

	assert_int_equal(cell->type, CELL_NUMBER);
	return cell->number;
}

/* Accounts captures by these keys; those behind the first are added to it. */
static int account_all(struct opened *o, size_t n, const char *keys, struct cycle_tables *out,
		       struct err *err)
{
	struct cycle_template *tree = NULL;
	struct cycle_request request = { 0 };
	struct cycle_objects objects;
	struct keys by;
	double penalties[CYCLE_MOST_NODES];
	int rc = 0;

	*out = (struct cycle_tables){ 0 };
	assert_int_equal(cycle_template_of_capture(&o->session, &tree, err), 0);
	for (size_t i = 0; i < tree->n_nodes; i++)
		penalties[i] = cycle_node_penalty(tree, (int)i, 0);
	assert_int_equal(keys_parse(keys, &by, err), 0);
	request.penalties = penalties;
	cycle_objects_init(&objects, tree, &by, false);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = cycle_objects_add(&objects, &o[i].session, NULL, err);
	if (rc == 0)
		rc = cycles_make(&objects, &request, out, err);
	for (size_t row = 0; row < table_n_rows(&out->cycles); row++)
		for (size_t i = 0; i < out->cycles.n_columns; i++) {
			/* texts of keys live as long as the objects */
			struct cell *cell =
				(struct cell *)(uintptr_t)table_cell(&out->cycles, row, i);

			if (cell->type == CELL_TEXT)
				*cell = table_text_cell(&out->cycles, cell->text);
		}
	cycle_objects_release(&objects);
	cycle_template_free(tree);
	return rc;
}

static int account(struct opened *o, const char *keys, struct cycle_tables *out, struct err *err)
{
	return account_all(o, 1, keys, out, err);
}

/* cycles (generic), STALL_BACKEND and L1D_CACHE_REFILL_RD (raw), a clock, which is in no tree. */
static const struct made_event few[] = {
	{ ATTR_TYPE_HARDWARE, 0, 0, false },
	{ ATTR_TYPE_RAW, 0x24, 0, false },
	{ ATTR_TYPE_RAW, 0x42, 0, false },
	{ ATTR_TYPE_SOFTWARE, 0, 0, false },
};

static void without_reads(void **state)
{
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 0, 0, 0, 0 },	 { 0, 0, JIT + 4, 3000, 0, 0, 0, 0 },
		{ 0, 1, JIT + 0x100, 1000, 0, 0, 0, 0 }, { 1, 0, JIT, 500, 0, 0, 0, 0 },
		{ 2, 0, JIT, 100, 0, 0, 0, 0 },		 { 2, 1, JIT, 300, 0, 0, 0, 0 },
		{ 3, 1, JIT, 77, 0, 0, 0, 0 },
	};
	const struct made made = { few, COUNT(few), samples, COUNT(samples), false, false, N1 };

	(void)state;
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct cycle_tables t;
		struct opened o;
		struct err err = { 0 };

		open_session(&made, n_workers, &o);
		if (account(&o, "function", &t, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(number_of(&t.cycles, "hot", "CPU_CYCLES", "cycles") == 4000);
		assert_true(number_of(&t.cycles, "cold", "CPU_CYCLES", "cycles") == 1000);
		assert_true(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "cycles") == 2800);
		assert_true(fabs(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "cycles_se") -
				 7 * sqrt(100 * 100 + 300 * 300)) < 1e-9);
		assert_true(number_of(&t.cycles, "hot", "load_latency", "share") == 500.0 / 4000);
		assert_true(number_of(&t.cycles, "hot", "load_latency", "cycles") == 2800);
		assert_true(number_of(&t.cycles, "hot", "load_latency", "capped_cycles") == 500);
		assert_true(number_of(&t.cycles, "hot", "load_latency", "overlap") == 5.6);
		assert_string_equal(cell_of(&t.cycles, "hot", "DTLB_WALK", "state")->text,
				    "not collected");
		assert_int_equal(cell_of(&t.cycles, "hot", "DTLB_WALK", "cycles")->type, CELL_NONE);
		assert_string_equal(cell_of(&t.cycles, "hot", "instruction_latency", "state")->text,
				    "gap");
		assert_int_equal(cell_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "mux")->mark,
				 MARK_UNCERTAIN);
		assert_string_equal(cell_of(&t.cycles, "hot", "event", "kind")->text, "extra");
		assert_true(number_of(&t.cycles, "hot", "event", "events") == 77);
		/* the event was collected, so a function without samples has none */
		assert_true(number_of(&t.cycles, "cold", "L1D_CACHE_REFILL_RD", "cycles") == 0);
		cycle_tables_release(&t);
		close_made(&o);
	}
}

/* How much of the time events were counted is not known: nor are their costs, and what they sum up to. */
static void costs_without_reads(void **state)
{
	struct made_sample samples[24];
	const struct made made = { few, COUNT(few), samples, COUNT(samples), false, false, N1 };
	struct cycle_tables t;
	struct opened o;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		samples[i] = (struct made_sample){ .event = i % 2, .ip = JIT, .period = 1000 };
	open_session(&made, 1, &o);
	assert_int_equal(account(&o, "function", &t, &err), 0);
	assert_int_equal(cell_of(&t.cycles, "hot", "CPU_CYCLES", "share")->mark, MARK_UNCERTAIN);
	assert_int_equal(cell_of(&t.cycles, "hot", "STALL_BACKEND", "share")->mark, MARK_UNCERTAIN);
	cycle_tables_release(&t);
	close_made(&o);
}

/* Factors are of the time between read values on each CPU, not the last ratio. */
static void multiplexed(void **state)
{
	static const struct made_event one[] = { { ATTR_TYPE_RAW, 0x11, 0, false },
						 { ATTR_TYPE_RAW, 0x42, 0, false } };
	static const struct made_sample samples[] = {
		/* cycles: always counted */
		{ 0, 0, JIT, 1000, 100, 100, 1, 0 },
		{ 0, 0, JIT, 1000, 900, 900, 2, 0 },
		/* misses on cpu 0: half of the time between the reads, 500 of 900 in the end */
		{ 1, 0, JIT, 10, 100, 100, 1, 0 },
		{ 1, 0, JIT, 10, 900, 500, 2, 0 },
		/* on cpu 1: a quarter, and 1100 of 5000 in the end */
		{ 1, 1, JIT, 10, 1000, 100, 3, 0 },
		{ 1, 1, JIT, 10, 5000, 1100, 4, 0 },
	};
	const struct made made = { one, COUNT(one), samples, COUNT(samples), true, false, N1 };
	struct opened o;
	struct mux *m;
	struct cycle_tables t;
	struct err err = { 0 };

	(void)state;
	open_session(&made, 2, &o);
	m = mux_new(&o.session);
	assert_true(mux_is_known(m, 1));
	assert_true(mux_factor(m, 0, 0) == 1);
	assert_true(mux_factor(m, 1, 0) == 2);
	assert_true(mux_factor(m, 1, 1) == 4);
	assert_true(mux_factor(m, 1, UINT32_MAX) == 4800.0 / 1400);
	assert_true(mux_differs_by_cpu(m));
	mux_free(m);
	if (account(&o, "function", &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(number_of(&t.cycles, "hot", "CPU_CYCLES", "cycles") == 2000);
	assert_true(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "events") ==
		    20 * 2 + 20 * 4);
	assert_true(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "mux") == 3);
	assert_int_equal(cell_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "mux")->mark, MARK_EXACT);
	cycle_tables_release(&t);
	close_made(&o);
}

/* {cycles,misses}:S: what the follower counted since the sample before is at the leader's place. */
static void followers(void **state)
{
	static const struct made_event group[] = { { ATTR_TYPE_RAW, 0x11, 0, false },
						   { ATTR_TYPE_RAW, 0x42, 0, true } };
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 100, 50, 1000, 7 },
		{ 0, 0, JIT + 0x100, 1000, 200, 100, 2000, 27 },
		{ 0, 0, JIT, 1000, 300, 150, 3000, 30 },
	};
	const struct made made = { group, COUNT(group), samples, COUNT(samples), true, true, N1 };
	struct cycle_tables t;
	struct opened o;
	struct err err = { 0 };

	(void)state;
	open_session(&made, 1, &o);
	if (account(&o, "function", &t, &err) < 0)
		fail_msg("%s", err.text);
	/* counted in half of the time */
	assert_true(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "events") == 2 * (7 + 3));
	assert_true(number_of(&t.cycles, "cold", "L1D_CACHE_REFILL_RD", "events") == 2 * 20);
	assert_true(number_of(&t.cycles, "hot", "CPU_CYCLES", "events") == 2 * 2000);
	assert_string_equal(cell_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "state")->text,
			    "skids");
	assert_string_equal(cell_of(&t.cycles, "hot", "CPU_CYCLES", "state")->text, "measured");
	cycle_tables_release(&t);
	close_made(&o);
}

/* What a counter is programmed with decides, not its name, nor the modes that it counts. */
static void matching(void **state)
{
	static const struct {
		const char *cpuid;
		struct made_event event;
		const char *node; /* NULL: none */
	} cases[] = {
		{ N1, { ATTR_TYPE_HARDWARE, 0, 0, false }, "CPU_CYCLES" },
		{ N1, { ATTR_TYPE_HARDWARE, 5, 0, false }, "BR_MIS_PRED" },
		{ N1, { ATTR_TYPE_RAW, 0x22, 0, false }, "BR_MIS_PRED_RETIRED" },
		{ N1, { ATTR_TYPE_RAW, 0x7fff, 0, false }, NULL },
		{ N1, { ATTR_TYPE_SOFTWARE, 0x11, 0, false }, NULL },
		{ N1, { 77, 0x11, 0, false }, NULL }, /* a PMU that the capture does not name */
		{ "GenuineIntel,6,44,2",
		  { ATTR_TYPE_HARDWARE, 0, 0, false },
		  "unhalted_core_cycles" },
		{ "GenuineIntel,6,44,2",
		  { ATTR_TYPE_RAW, 0x1d301c2, 0, false },
		  "uops_retired:stall_cycles" },
		{ "GenuineIntel,6,44,2",
		  { ATTR_TYPE_RAW, 0x5301c2, 0, false },
		  "uops_retired:any" },
		{ "GenuineIntel,6,44,2",
		  { ATTR_TYPE_RAW, 0x1530260, 0, false },
		  "offcore_requests_outstanding:demand_read_code:c=1" },
		{ "GenuineIntel,6,44,2", { ATTR_TYPE_HARDWARE, 9, 0, false }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct made made = {
			&cases[i].event, 1, NULL, 0, false, false, cases[i].cpuid
		};
		struct cycle_template *tree = NULL;
		struct cycle_events events;
		struct opened o;
		struct err err = { 0 };
		int node;

		open_session(&made, 1, &o);
		assert_int_equal(
			cycle_template_of_cpu(o.session.cpu != NULL ? cpu_id(o.session.cpu) : "",
					      cases[i].cpuid, &tree, &err),
			0);
		assert_int_equal(cycle_events_match(&o.session, tree, &events, &err), 0);
		node = events.nodes[0];
		if (cases[i].node == NULL
			    ? node != NO_NODE
			    : node == NO_NODE || strcmp(tree->nodes[node].name, cases[i].node) != 0)
			fail_msg("case %zu: %s", i,
				 node == NO_NODE ? "none" : tree->nodes[node].name);
		cycle_events_release(&events);
		cycle_template_free(tree);
		close_made(&o);
	}
}

/* Two events of one node: those of user and kernel code add up, others would count twice. */
static void same_node(void **state)
{
	static const struct made_event events[] = {
		{ ATTR_TYPE_RAW, 0x11, BIT(ATTR_EXCLUDE_KERNEL), false },
		{ ATTR_TYPE_RAW, 0x11, BIT(ATTR_EXCLUDE_USER), false },
		{ ATTR_TYPE_HARDWARE, 0, 0, false },
	};
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 0, 0, 0, 0 },
		{ 1, 0, JIT, 200, 0, 0, 0, 0 },
		{ 2, 0, JIT, 1200, 0, 0, 0, 0 },
	};
	const struct made made = {
		events, COUNT(events), samples, COUNT(samples), false, false, N1
	};
	struct cycle_tables t;
	struct opened o;
	struct err err = { 0 };

	(void)state;
	open_session(&made, 1, &o);
	assert_int_equal(account(&o, "function", &t, &err), 0);
	assert_true(number_of(&t.cycles, "hot", "CPU_CYCLES", "cycles") == 1200);
	assert_true(number_of(&t.cycles, "hot", "event", "events") == 1200);
	cycle_tables_release(&t);
	close_made(&o);
}

/* Saves what loops of known counts showed of an event, in a state folder of its own. */
static void remember_check(const char *folder, const char *event, enum event_verdict verdict,
			   const char *release)
{
	struct event_checks checks = { 0 };
	struct err err;

	setenv("XDG_STATE_HOME", folder, 1);
	event_checks_add(&checks, event, verdict, 1);
	if (event_checks_save(event_checks_key_of(&checks.memory, 0x410fd0c1, NULL, release),
			      &checks, &err) < 0)
		fail_msg("%s", err.text);
	event_checks_release(&checks);
}

/* An event without samples that reads 0 on the machine of the capture is no zero. */
static void not_counted_here(void **state)
{
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 0, 0, 0, 0 },
		{ 1, 0, JIT, 200, 0, 0, 0, 0 },
	};
	static const struct {
		const char *event, *recorded_on;
		enum event_verdict verdict;
		const char *wanted_state;
	} cases[] = {
		{ "L1D_CACHE_REFILL_RD", "6.1.0-arm64", EVENT_READS_0, "not counted here" },
		{ "L1D_CACHE_REFILL_RD", "6.1.0-arm64", EVENT_OK, "measured" },
		{ "L1D_CACHE_REFILL_RD", "6.2.0-arm64", EVENT_READS_0, "measured" },
		{ "L1D_CACHE_REFILL_RD", NULL, EVENT_READS_0, "measured" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char folder[] = "/tmp/cyclops-checks-XXXXXX", path[64];
		const struct made made = {
			few,   COUNT(few), samples, COUNT(samples),
			false, false,	   N1,	    cases[i].recorded_on,
		};
		struct cycle_tables t;
		struct opened o;
		struct err err = { 0 };

		assert_non_null(mkdtemp(folder));
		remember_check(folder, cases[i].event, cases[i].verdict, "6.1.0-arm64");
		/* one with samples counts after all, whatever was found */
		remember_check(folder, "STALL_BACKEND", EVENT_READS_0, "6.1.0-arm64");
		open_session(&made, 1, &o);
		assert_int_equal(account(&o, "function", &t, &err), 0);
		assert_string_equal(cell_of(&t.cycles, "hot", cases[i].event, "state")->text,
				    cases[i].wanted_state);
		assert_string_equal(cell_of(&t.cycles, "hot", "STALL_BACKEND", "state")->text,
				    "measured");
		cycle_tables_release(&t);
		close_made(&o);
		snprintf(path, sizeof(path), "%s/cyclops/events.json", folder);
		unlink(path);
		snprintf(path, sizeof(path), "%s/cyclops", folder);
		rmdir(path);
		rmdir(folder);
	}
}

static void nothing_to_account(void **state)
{
	static const struct made_event clock[] = { { ATTR_TYPE_SOFTWARE, 0, 0, false } };
	static const struct made_sample samples[] = { { 0, 0, JIT, 1000, 0, 0, 0, 0 } };
	const struct made made = { clock, 1, samples, 1, false, false, N1 };
	struct cycle_tables t;
	struct opened o;
	struct err err = { 0 };

	(void)state;
	open_session(&made, 1, &o);
	assert_int_equal(account(&o, "function", &t, &err), -1);
	assert_int_equal(err.code, ERR_NO_DATA);
	assert_non_null(strstr(err.text, "found event"));
	cycle_tables_release(&t);
	close_made(&o);
}

/* At instructions differences are not shown; by two keys each has its columns. */
static void fine_rows(void **state)
{
	static const struct made_event events[] = { { ATTR_TYPE_RAW, 0x11, 0, false },
						    { ATTR_TYPE_RAW, 0x23, 0, false },
						    { ATTR_TYPE_RAW, 0x22, 0, false } };
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 0, 0, 0, 0 },
		{ 1, 0, JIT, 300, 0, 0, 0, 0 },
		{ 2, 0, JIT, 10, 0, 0, 0, 0 },
	};
	const struct made made = {
		events, COUNT(events), samples, COUNT(samples), false, false, N1
	};
	struct cycle_tables t;
	struct opened o;
	struct err err = { 0 };

	(void)state;
	open_session(&made, 1, &o);
	assert_int_equal(account(&o, "process,instruction", &t, &err), 0);
	assert_true(table_column(&t.cycles, "pid") >= 0);
	assert_string_equal(cell_of(&t.cycles, NULL, "instruction_starvation", "state")->text,
			    "too fine");
	assert_true(number_of(&t.cycles, NULL, "front_end", "cycles") == 300);
	cycle_tables_release(&t);
	assert_int_equal(account(&o, "function", &t, &err), 0);
	assert_true(number_of(&t.cycles, NULL, "instruction_starvation", "cycles") == 190);
	cycle_tables_release(&t);
	close_made(&o);
}

/* Two captures: what their samples represent adds up, also of an event that only one of them has. */
static void two_captures(void **state)
{
	static const struct made_event one[] = { { ATTR_TYPE_RAW, 0x11, 0, false },
						 { ATTR_TYPE_RAW, 0x42, 0, false } };
	static const struct made_event other[] = { { ATTR_TYPE_RAW, 0x24, 0, false },
						   { ATTR_TYPE_SOFTWARE, 0, 0, false },
						   { ATTR_TYPE_RAW, 0x11, 0, false } };
	static const struct made_sample samples[] = {
		{ 0, 0, JIT, 1000, 0, 0, 0, 0 },
		{ 1, 0, JIT, 10, 0, 0, 0, 0 },
	};
	static const struct made_sample others[] = {
		{ 0, 0, JIT, 300, 0, 0, 0, 0 },
		{ 1, 0, JIT, 77, 0, 0, 0, 0 },
		{ 2, 0, JIT, 500, 0, 0, 0, 0 },
		{ 2, 0, JIT + 0x100, 200, 0, 0, 0, 0 },
	};
	const struct made first = { one, COUNT(one), samples, COUNT(samples), false, false, N1 };
	const struct made second = { other, COUNT(other), others, COUNT(others), false, false, N1 };
	struct opened o[2];
	struct cycle_tables t;
	struct err err = { 0 };

	(void)state;
	for (int order = 0; order < 2; order++) {
		open_session(order == 0 ? &first : &second, 1, &o[0]);
		open_session(order == 0 ? &second : &first, 1, &o[1]);
		if (account_all(o, 2, "function", &t, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(number_of(&t.cycles, "hot", "CPU_CYCLES", "cycles") == 1500);
		assert_true(number_of(&t.cycles, "cold", "CPU_CYCLES", "cycles") == 200);
		assert_true(number_of(&t.cycles, "hot", "STALL_BACKEND", "cycles") == 300);
		assert_true(number_of(&t.cycles, "cold", "STALL_BACKEND", "cycles") == 0);
		assert_true(number_of(&t.cycles, "hot", "L1D_CACHE_REFILL_RD", "cycles") == 70);
		assert_true(number_of(&t.cycles, "hot", "event", "events") == 77);
		cycle_tables_release(&t);
		close_made(&o[0]);
		close_made(&o[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_reads),      cmocka_unit_test(costs_without_reads),
		cmocka_unit_test(multiplexed),	      cmocka_unit_test(followers),
		cmocka_unit_test(matching),	      cmocka_unit_test(same_node),
		cmocka_unit_test(nothing_to_account), cmocka_unit_test(fine_rows),
		cmocka_unit_test(two_captures),	      cmocka_unit_test(not_counted_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
