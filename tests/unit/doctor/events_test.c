/* SPDX-License-Identifier: Apache-2.0 */
/* Events checked against a kernel that is not there: what it counts is known. */
#include "doctor/events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pmu/tree.h"
#include "base/alloc.h"

enum {
	CPU_CYCLES = 0x11,
	INST_RETIRED = 0x08,
	LD_SPEC = 0x70,
	BR_RETIRED = 0x21,
	MEM_ACCESS = 0x13
};

/* What the made-up kernel counts in a run of 1 000 000 steps: all else is 0. */
static const struct {
	uint64_t event, count;
	int error;	/* of opening */
	bool is_shared; /* with others: half of the time */
} counted[] = {
	{ .event = CPU_CYCLES, .count = 4000000 / 64 }, /* behind a divider */
	{ .event = INST_RETIRED, .count = 3000040 },
	{ .event = LD_SPEC, .error = -ENOENT },
	{ .event = BR_RETIRED, .count = 1000020, .is_shared = true },
};

enum { OPEN_MAX = 8 };

struct fake {
	uint64_t events[OPEN_MAX]; /* of the group that is open */
	bool has_run[0x100];	   /* the empty run, by event: it comes first */
	int n_open;
	bool is_user_only;
};

static int fake_open(void *context, const struct event_request *request)
{
	struct fake *f = context;

	f->is_user_only = request->attr->flags >> ATTR_EXCLUDE_KERNEL & 1;
	for (size_t i = 0; i < COUNT(counted); i++)
		if (counted[i].event == request->attr->config && counted[i].error < 0)
			return counted[i].error;
	assert_true(f->n_open < OPEN_MAX);
	f->events[f->n_open++] = request->attr->config;
	return 3;
}

static int fake_close(void *context, int fd)
{
	(void)fd;
	((struct fake *)context)->n_open--;
	return 0;
}

static int fake_control(void *context, int fd, enum kernel_request request, uint64_t argument)
{
	(void)context, (void)fd, (void)request, (void)argument;
	return 0;
}

/* All events of the group, its times before them. */
static int64_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	struct fake *f = context;
	uint64_t words[3 + OPEN_MAX] = { (uint64_t)f->n_open, 1000, 1000 };
	size_t n = (3 + (size_t)f->n_open) * sizeof(words[0]);

	(void)fd;
	for (int at = 0; at < f->n_open; at++)
		for (size_t i = 0; i < COUNT(counted); i++) {
			if (counted[i].event != f->events[at])
				continue;
			words[3 + at] = f->has_run[counted[i].event] ? counted[i].count : 20;
			f->has_run[counted[i].event] = true;
			if (counted[i].is_shared)
				words[2] = 500;
		}
	assert_true(size >= n);
	memcpy(buffer, words, n);
	return (int64_t)n;
}

static const char *text_at(const struct table *t, const char *event, const char *column)
{
	for (size_t row = 0; row < table_n_rows(t); row++)
		if (strcmp(table_cell(t, row, 0)->text, event) == 0)
			return table_cell(t, row, (size_t)table_column(t, column))->text;
	return NULL;
}

static void events_are_judged(void **state)
{
	static const struct {
		const char *event, *verdict;
	} cases[] = {
		{ "CPU_CYCLES", "off" }, /* 0.0625 of a cycle for each load */
		{ "INST_RETIRED", "ok" },     { "MEM_ACCESS", "reads 0" },
		{ "LD_SPEC", "not counted" }, { "BR_RETIRED", "not counted" },
		{ "SW_INCR", "no kernel" },   { "L1D_CACHE_REFILL", "reads 0" },
	};
	struct fake fake = { 0 };
	const struct kernel kernel = { .context = &fake,
				       .open = fake_open,
				       .close = fake_close,
				       .control = fake_control,
				       .read = fake_read };
	struct doctor_counter counter = { .kernel = &kernel };
	struct event_checks found = { 0 };
	struct catalog *catalog;
	struct cpu_pmu *facts;
	struct pmus pmus = { 0 };
	struct table table;
	struct tree tree;
	struct err err;

	(void)state;
	tree_make(&tree, tree_neoverse_n1);
	pmus_read(&pmus, tree.root);
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	assert_int_equal(
		cpu_pmu_open(catalog, catalog_cpu_find(catalog, "neoverse-n1"), 0, &facts, &err),
		0);
	counter.pmus = &pmus;
	counter.core = pmus_core(&pmus, 0);
	counter.facts = facts;
	assert_int_equal(doctor_events(&counter,
				       "cpu_cycles,instructions,MEM_ACCESS,LD_SPEC,BR_RETIRED,"
				       "SW_INCR,cache-misses",
				       &table, &found, &err),
			 0);
	assert_true(fake.is_user_only);
	assert_int_equal(fake.n_open, 0);
	assert_int_equal(table_n_rows(&table), COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(text_at(&table, cases[i].event, "verdict"), cases[i].verdict);
	assert_int_equal(found.list.n, 4); /* what was counted */
	assert_int_equal(event_checks_find(&found, "CPU_CYCLES")->verdict, EVENT_IS_OFF);
	assert_true(event_checks_find(&found, "CPU_CYCLES")->factor < 0.1);
	assert_int_equal(event_checks_find(&found, "mem_access")->verdict, EVENT_READS_0);
	assert_null(event_checks_find(&found, "LD_SPEC"));
	table_release(&table);
	event_checks_release(&found);

	assert_int_equal(doctor_events(&counter, "CPU_CYCLE", &table, &found, &err), -1);
	assert_non_null(strstr(err.text, "did you mean CPU_CYCLES?"));
	table_release(&table);
	event_checks_release(&found);
	cpu_pmu_free(facts);
	catalog_free(catalog);
	pmus_release(&pmus);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
