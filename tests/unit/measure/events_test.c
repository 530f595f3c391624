/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "../pmu/tree.h"

enum { N1 = 0x413fd0c1 };

#define DEVICES "/sys/bus/event_source/devices"

static const struct tree_file n1[] = {
	{ DEVICES "/armv8_pmuv3_0/type", "8" },
	{ DEVICES "/armv8_pmuv3_0/cpus", "0-3,8" },
	{ DEVICES "/armv8_pmuv3_0/format/event", "config:0-15" },
	{ DEVICES "/armv8_pmuv3_0/format/rdpmc", "config1:1" },
	{ DEVICES "/armv8_pmuv3_0/events/made_up", "event=0x1234" },
	{ DEVICES "/armv8_pmuv3_0/events/too_wide", "event=0x12345" },
	{ "/sys/devices/system/cpu/cpu8/regs/identification/midr_el1", "0x00000000413fd0c1" },
	{ DEVICES "/software/type", "1" },
	{ NULL },
};

static const struct tree_file x86[] = {
	{ DEVICES "/cpu/type", "4" },
	{ DEVICES "/cpu/format/event", "config:0-7" },
	{ DEVICES "/cpu/format/umask", "config:8-15" },
	{ DEVICES "/cpu/events/mem-loads", "event=0xcd,umask=0x1" },
	{ NULL },
};

/* A list, and the events that it becomes, behind the elapsed time. */
struct expected {
	const char *text;
	const char *names; /* with a | between sets; "!" and why it is refused */
	uint32_t type;	   /* of the last event */
	uint64_t config, flags;
	const char *why; /* of the last event; NULL: it is known */
};

static void join_names(const struct measure_events *events, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 1; i < events->n; i++) {
		const char *between = i == 1						 ? ""
				      : events->items[i].set != events->items[i - 1].set ? "|"
											 : ",";
		n += (size_t)snprintf(out + n, size - n, "%s%s", between, events->items[i].name);
	}
}

static void check(const struct expected *list, size_t n, const struct measure_pmu *pmu,
		  const char *root)
{
	for (size_t i = 0; i < n; i++) {
		const struct expected *e = &list[i];
		struct measure_events events;
		struct err err = { .text = "" };
		const struct measure_event *last;
		char names[1024];

		if (measure_events_parse(&events, e->text, pmu, root, &err) < 0) {
			if (e->names[0] != '!' || strstr(err.text, e->names + 1) == NULL)
				fail_msg("'%s': %s", e->text, err.text);
			continue;
		}
		join_names(&events, names, sizeof(names));
		if (strcmp(names, e->names) != 0)
			fail_msg("'%s': %s", e->text, names);
		last = &events.items[events.n - 1];
		if (e->why != NULL) {
			assert_int_equal(last->state, MEASURE_NOT_SUPPORTED);
			assert_non_null(strstr(last->why, e->why));
			continue;
		}
		assert_int_equal(last->state, MEASURE_COUNTED);
		if (last->attr.type != e->type || last->attr.config != e->config ||
		    last->attr.flags != e->flags)
			fail_msg("'%s': type %u, config %#llx, flags %#llx", e->text,
				 last->attr.type, (unsigned long long)last->attr.config,
				 (unsigned long long)last->attr.flags);
	}
}

static void test_neoverse_n1(void **state)
{
	enum {
		USER = 1 << ATTR_EXCLUDE_KERNEL | 1 << ATTR_EXCLUDE_HV,
		KERNEL = 1 << ATTR_EXCLUDE_USER
	};
	static const struct expected cases[] = {
		{ "instructions", "cycles,instructions", 0, 1 },
		{ "cycles,instructions", "cycles,instructions", 0, 1 },
		{ "instructions,cycles", "instructions,cycles", 0, 0 },
		{ "CPU_CYCLES,INST_RETIRED", "CPU_CYCLES,INST_RETIRED", 8, 8 },
		{ "r11,L1D_CACHE_REFILL", "r11,L1D_CACHE_REFILL", 8, 3 },
		{ "l1d_cache_refill", "cycles,l1d_cache_refill", 8, 3 },
		{ "made_up", "cycles,made_up", 8, 0x1234 },
		{ "MADE_UP", "cycles,MADE_UP", 8, 0x1234 },
		{ "too_wide", "cycles,too_wide", .why = "no event 'too_wide' here" },
		{ "r1f", "cycles,r1f", 8, 0x1f },
		{ "LLC-load-misses", "cycles,LLC-load-misses", 3, 0x10002 },
		{ "page-faults", "cycles,page-faults", 1, 2 },
		{ "page-faults,duration_time", "cycles,page-faults", 1, 2 },
		{ "INST_RETIRED:u", "cycles,INST_RETIRED", 8, 8, USER },
		{ "INST_RETIRED:k", "cycles,INST_RETIRED", 8, 8, KERNEL },
		{ "INST_RETIRED:uk", "cycles,INST_RETIRED", 8, 8, 0 },
		/* cycles of the user alone are not those of each set */
		{ "cycles:u", "cycles,cycles", 0, 0, USER },
		{ "{faults,r8},{cs}", "cycles,faults,r8|cycles,cs", 1, 3 },
		{ "{r8},{r3},{r11}", "cycles,r8|cycles,r3|r11", 8, 0x11 },
		{ "r8,{r3}", "cycles,r8|cycles,r3", 8, 3 },
		{ "nonsense", "cycles,nonsense", .why = "no event 'nonsense' here" },
		{ "x/y", "cycles,x/y", .why = "no event 'x/y' here" },
		{ "../type", "cycles,../type", .why = "no event '../type' here" },
		{ "", "!a name is missing" },
		{ "r8,", "!a name is missing" },
		{ "r8,,r3", "!a name is missing" },
		{ "r8:x", "!a modifier is u, k or uk" },
		{ "r8:", "!a modifier is u, k or uk" },
		{ "{r8", "!a brace at the wrong place" },
		{ "r8}", "!a brace at the wrong place" },
		{ "{{r8}}", "!a name is missing" },
		{ "{r8}x", "!a brace at the wrong place" },
		{ "{r8},r3", "!behind a set only another set" },
		{ "r8\n", "!a character that no name has" },
		{ "{a},{a},{a},{a},{a},{a},{a},{a},{a}", "!more than 8 sets" },
		{ "r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,"
		  "rc,"
		  "rd,re,rf,r1,r2,r3",
		  "!more than 31" },
	};
	struct measure_pmu pmu;
	struct tree tree;

	(void)state;
	tree_make(&tree, n1);
	measure_pmu_read(&pmu, tree.root, 8);
	assert_string_equal(pmu.name, "armv8_pmuv3_0");
	assert_int_equal(pmu.type, 8);
	assert_int_equal(pmu.midr, N1);
	assert_true(pmu.is_arm && pmu.has_user_reads && !pmu.is_mixed);
	check(cases, COUNT(cases), &pmu, tree.root);
	/* a CPU that the PMU does not have */
	measure_pmu_read(&pmu, tree.root, 5);
	assert_string_equal(pmu.name, "");
	tree_remove(&tree);
}

static void test_x86(void **state)
{
	static const struct expected cases[] = {
		{ "mem-loads", "cycles,mem-loads", 4, 0x1cd },
		{ "r1cd", "cycles,r1cd", 4, 0x1cd },
		{ "CPU_CYCLES", "CPU_CYCLES", .why = "no event 'CPU_CYCLES' here" },
	};
	struct measure_pmu pmu;
	struct tree tree;

	(void)state;
	tree_make(&tree, x86);
	measure_pmu_read(&pmu, tree.root, 0);
	assert_string_equal(pmu.name, "cpu");
	assert_false(pmu.is_arm || pmu.has_user_reads);
	check(cases, COUNT(cases), &pmu, tree.root);
	tree_remove(&tree);
}

static void test_without_pmu(void **state)
{
	static const struct expected cases[] = {
		{ "page-faults", "cycles,page-faults", 1, 2 },
		{ "r11", "cycles,r11", ATTR_TYPE_RAW, 0x11 },
		{ "L1D_CACHE", "cycles,L1D_CACHE", .why = "no PMU to have it" },
	};
	struct measure_pmu pmu;
	struct tree tree;

	(void)state;
	tree_make(&tree, tree_without_pmu);
	measure_pmu_read(&pmu, tree.root, 0);
	check(cases, COUNT(cases), &pmu, tree.root);
	tree_remove(&tree);
}

/* Events are counted on the PMU of the core that the program runs on. */
static void test_mixed_cores(void **state)
{
	struct measure_events events;
	struct measure_pmu pmu;
	struct tree tree;
	struct err err;

	(void)state;
	tree_make(&tree, tree_big_little);
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		measure_pmu_read(&pmu, tree.root, cpu);
		if (pmu.name[0] == '\0')
			continue;
		assert_true(pmu.is_mixed);
		assert_int_equal(measure_events_parse(&events, "cycles,r8", &pmu, tree.root, &err),
				 0);
		assert_int_equal(events.items[1].attr.config >> 32, pmu.type);
		assert_int_equal(events.items[2].attr.type, pmu.type);
	}
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neoverse_n1),
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_without_pmu),
		cmocka_unit_test(test_mixed_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
