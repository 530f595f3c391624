/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/event_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tree.h"

enum { USER_ONLY = 1 << ATTR_EXCLUDE_KERNEL | 1 << ATTR_EXCLUDE_HV };

/* What the catalog would know. */
static bool find(const void *context, const struct pmu *pmu, const char *name, uint64_t *code)
{
	(void)context;
	if (strcasecmp(name, "L1D_CACHE_REFILL") != 0 || strcmp(pmu->name, "armv8_cortex_a53") == 0)
		return false;
	*code = 3;
	return true;
}

static const struct event_finder finder = { .find = find };

struct expected {
	const char *text;
	size_t n; /* events; 0: refused, and … */
	const char *message;
	/* of the first event */
	uint32_t type;
	uint64_t config, config1, flags;
	const char *pmu;
};

static void check(struct pmus *pmus, const struct expected *e)
{
	struct event_specs specs = { 0 };
	struct err err = { .text = "" };
	int rc = event_specs_parse(&specs, e->text, pmus, &finder, &err);

	if (e->n == 0) {
		if (rc == 0)
			fail_msg("'%s' is taken", e->text);
		if (strstr(err.text, e->message) == NULL)
			fail_msg("'%s': %s", e->text, err.text);
	} else {
		const struct event_spec *first = specs.list.items;

		if (rc < 0)
			fail_msg("'%s': %s", e->text, err.text);
		assert_int_equal(specs.list.n, e->n);
		assert_int_equal(first->attr.type, e->type);
		assert_int_equal(first->attr.config, e->config);
		assert_int_equal(first->attr.config1, e->config1);
		assert_int_equal(first->attr.flags, e->flags);
		if (e->pmu != NULL)
			assert_string_equal(first->pmu->name, e->pmu);
		else
			assert_null(first->pmu);
	}
	event_specs_release(&specs);
}

static void check_all(const struct tree_file *files, const struct expected *cases, size_t n)
{
	struct tree tree;
	struct pmus pmus = { 0 };

	tree_make(&tree, files);
	pmus_read(&pmus, tree.root);
	for (size_t i = 0; i < n; i++)
		check(&pmus, &cases[i]);
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void events_of_a_server(void **state)
{
	static const char core[] = "armv8_pmuv3_0";
	static const struct expected cases[] = {
		{ "page-faults", 1, NULL, 1, 2 },
		{ "cs", 1, NULL, 1, 3 },
		{ "task-clock:u", 1, NULL, 1, 1, 0, USER_ONLY },
		{ "cycles", 1, NULL, 0, 0, 0, 0, core },
		{ "LLC-load-misses", 1, NULL, 3, 0x10002, 0, 0, core },
		{ "L1-dcache-stores", 1, NULL, 3, 0x100, 0, 0, core },
		{ "L1D_CACHE_REFILL", 1, NULL, 8, 3, 0, 0, core },
		{ "l1d_cache_refill:u", 1, NULL, 8, 3, 0, USER_ONLY, core },
		{ "CPU_CYCLES:k", 1, NULL, 8, 0x11, 0,
		  1 << ATTR_EXCLUDE_USER | 1 << ATTR_EXCLUDE_HV, core },
		{ "r11", 1, NULL, 8, 0x11, 0, 0, core },
		{ "r8011:uk", 1, NULL, 8, 0x8011, 0, 1 << ATTR_EXCLUDE_HV, core },
		{ "armv8_pmuv3_0/event=0x11,long/", 1, NULL, 8, 0x11, 1, 0, core },
		{ "armv8_pmuv3_0/event=17,long=1/u", 1, NULL, 8, 0x11, 1, USER_ONLY, core },
		{ "armv8_pmuv3_0/cpu_cycles/", 1, NULL, 8, 0x11, 0, 0, core },
		{ "armv8_pmuv3_0/long,cpu_cycles/:u", 1, NULL, 8, 0x11, 1, USER_ONLY, core },
		{ "armv8_pmuv3_0/event=0x12,cpu_cycles/", 1, NULL, 8, 0x12, 0, 0, core },
		{ "armv8_pmuv3_0/config=0x1234567,config1=0x2/", 1, NULL, 8, 0x1234567, 2, 0,
		  core },
		{ "armv8_pmuv3_0//", 1, NULL, 8, 0, 0, 0, core },
		{ "arm_spe_0/load_filter/", 1, NULL, 9, 1ull << 33, 0, 0, "arm_spe_0" },
		{ "arm_cmn_0/hnf_cache_miss/", 1, NULL, 10, 0x10005, 0, 0, "arm_cmn_0" },
		{ "arm_cmn/dtc_cycles/", 2, NULL, 10, 3, 0, 0, "arm_cmn_0" },
		{ "dtc_cycles", 2, NULL, 10, 3, 0, 0, "arm_cmn_0" },
		{ "arm_cmn_0/watch,nodeid=0x10003/", 1, NULL, 10, 7, 1ull << 32 | 3, 0,
		  "arm_cmn_0" },
		{ "sched:sched_switch", 1, NULL, 2, 316 },
		{ "sched:sched_switch:k", 1, NULL, 2, 316, 0,
		  1 << ATTR_EXCLUDE_USER | 1 << ATTR_EXCLUDE_HV },
		{ "cycles:pp", 1, NULL, 0, 0, 0, 2 << ATTR_PRECISE_IP, core },
		{ "cycles:H", 1, NULL, 0, 0, 0, 1 << ATTR_EXCLUDE_GUEST, core },
		{ "cycles,faults", 2, NULL, 0, 0, 0, 0, core },
		{ "{cycles,armv8_pmuv3_0/event=1,long/},r3", 3, NULL, 0, 0, 0, 0, core },
		{ "{cycles,r1}:u", 2, NULL, 0, 0, 0, USER_ONLY, core },

		{ "", 0, "the name of an event is missing" },
		{ ",", 0, "the name of an event is missing" },
		{ "cycles,", 0, "the name of an event is missing" },
		{ "{cycles", 0, "a '}' is missing" },
		{ "{}", 0, "the name of an event is missing" },
		{ "cycles}", 0, "a brace at the wrong place" },
		{ "{{cycles}}", 0, "the name of an event is missing" },
		{ "{cycles}r1", 0, "a comma is missing behind the group" },
		{ "cycle", 0, "did you mean 'cycles'?" },
		{ "pagefaults", 0, "did you mean 'page-faults'?" },
		{ "inst_retird", 0, "did you mean 'inst_retired'?" },
		{ "cycles:x", 0, "there is no event 'cycles:x'" },
		{ "armv8_pmuv3_0/r11/x", 0, "no term or event 'r11'" },
		{ "armv8_pmuv3_0/event=1/x", 0, "no modifier 'x'; there are" },
		{ "armv8_pmuv3_0/event=0x10000/", 0, "the largest possible is 65535" },
		{ "armv8_pmuv3_0/event=eleven/", 0, "'eleven' of event is not a number" },
		{ "armv8_pmuv3_0/event=-1/", 0, "is not a number" },
		{ "armv8_pmuv3_0/event=18446744073709551616/", 0, "is not a number" },
		{ "armv8_pmuv3_0/cpu_cycle/", 0, "did you mean 'cpu_cycles'?" },
		{ "armv8_pmuv3_0/sparkle/", 0,
		  "its terms are config, config1, config2, config3, config4, "
		  "period, event, long" },
		{ "armv8_pmuv3_0/event=1", 0, "a '/' is missing" },
		{ "armv8_pmuv3_0/event=1,/", 1, NULL, 8, 1, 0, 0, core },
		{ "armv8_pmuv3_0/,event=1/", 0, "an empty term" },
		{ "arm_cmn_0/watch/", 0, "needs nodeid=" },
		{ "watch", 0, "needs nodeid=" },
		{ "gpu/busy/", 0, "no PMU 'gpu'; it has arm_cmn_0, arm_cmn_1, arm_spe_0" },
		{ "r", 0, "there is no event 'r'" },
		{ "rxyz", 0, "there is no event 'rxyz'" },
		{ "r0x11", 0, "there is no event 'r0x11'" },
		{ "r12345678901234567", 0, "there is no event" },
		{ "sched:nothing", 0,
		  "there is no tracepoint 'sched:nothing': /sys/kernel/tracing" },
		{ "../../etc:passwd", 0, "no PMU '..'" },
		{ "cycles:pppp", 0, "more than three p" },
	};

	(void)state;
	check_all(tree_neoverse_n1, cases, COUNT(cases));
}

static void mixed_cores_count_on_each_kind(void **state)
{
	static const struct expected cases[] = {
		{ "cycles", 2, NULL, 0, 8ull << 32, 0, 0, "armv8_cortex_a53" },
		{ "LLC-loads:u", 2, NULL, 3, 8ull << 32 | 2, 0, USER_ONLY, "armv8_cortex_a53" },
		{ "CPU_CYCLES", 2, NULL, 8, 0x11, 0, 0, "armv8_cortex_a53" },
		{ "inst_spec", 1, NULL, 9, 0x1b, 0, 0, "armv8_cortex_a72" },
		{ "L1D_CACHE_REFILL", 1, NULL, 9, 3, 0, 0, "armv8_cortex_a72" },
		{ "r11", 2, NULL, 8, 0x11, 0, 0, "armv8_cortex_a53" },
		{ "page-faults", 1, NULL, 1, 2 },
	};

	(void)state;
	check_all(tree_big_little, cases, COUNT(cases));
}

static void without_a_pmu_the_kernel_decides(void **state)
{
	static const struct expected cases[] = {
		{ "cycles", 1, NULL, 0, 0 },
		{ "r11", 1, NULL, 4, 0x11 },
		{ "faults", 1, NULL, 1, 2 },
		{ "CPU_CYCLES", 0, "there is no event 'CPU_CYCLES' here, and no PMU" },
		{ "sched:sched_switch", 0, "the tracing file system is not mounted" },
	};

	(void)state;
	check_all(tree_without_pmu, cases, COUNT(cases));
}

static void braces_make_groups(void **state)
{
	struct tree tree;
	struct pmus pmus = { 0 };
	struct event_specs specs = { 0 };
	struct err err;

	(void)state;
	tree_make(&tree, tree_neoverse_n1);
	pmus_read(&pmus, tree.root);
	assert_int_equal(event_specs_parse(&specs, "cs,{r1,r2},r3,{r4:D,r5}:k", &pmus, NULL, &err),
			 0);
	assert_int_equal(specs.list.n, 6);
	for (size_t i = 0; i < specs.list.n; i++) {
		static const uint32_t groups[] = { 0, 1, 1, 0, 2, 2 };

		assert_int_equal(specs.list.items[i].group, groups[i]);
		assert_int_equal(specs.list.items[i].is_pinned, i == 4);
		assert_int_equal(specs.list.items[i].has_privilege, i >= 4);
	}
	event_specs_release(&specs);
	pmus_release(&pmus);
	tree_remove(&tree);
}

static void lists_cut_short_are_read_or_refused(void **state)
{
	static const char whole[] = "{cycles:u,armv8_pmuv3_0/event=0x11,long/k}:H,arm_cmn_0/watch,"
				    "nodeid=3/,sched:sched_switch,LLC-load-misses,r1f";
	struct tree tree;
	struct pmus pmus = { 0 };

	(void)state;
	tree_make(&tree, tree_neoverse_n1);
	pmus_read(&pmus, tree.root);
	for (size_t n = 0; n < sizeof(whole); n++) {
		struct event_specs specs = { 0 };
		struct err err = { .text = "" };
		char cut[sizeof(whole)];

		memcpy(cut, whole, n);
		cut[n] = '\0';
		if (event_specs_parse(&specs, cut, &pmus, &finder, &err) < 0)
			assert_true(err.text[0] != '\0');
		else
			assert_true(specs.list.n > 0);
		event_specs_release(&specs);
	}
	pmus_release(&pmus);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_a_server),
		cmocka_unit_test(mixed_cores_count_on_each_kind),
		cmocka_unit_test(without_a_pmu_the_kernel_decides),
		cmocka_unit_test(braces_make_groups),
		cmocka_unit_test(lists_cut_short_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
