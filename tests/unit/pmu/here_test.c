/* SPDX-License-Identifier: Apache-2.0 */
/* What made-up machines can count. */
#include "pmu/here.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tree.h"

#define MIDR(cpu) "/sys/devices/system/cpu/cpu" #cpu "/regs/identification/midr_el1"

static const struct {
	const struct tree_file *machine;
	const char *midr_0, *midr_4; /* NULL: not told */
	const char *asked;	     /* NULL: what is there */
	bool is_allowed;
	const char *cpu; /* NULL: not known */
	bool is_this_machine, says_why_not;
	struct {
		const char *event;
		int answer;
	} events[4];
} cases[] = {
	{ tree_neoverse_n1,
	  "0x413fd0c1",
	  NULL,
	  NULL,
	  true,
	  "neoverse-n1",
	  true,
	  false,
	  { { "CPU_CYCLES", HERE_YES },
	    { "L1D_CACHE", HERE_YES },
	    { "L2D_CACHE", HERE_NO },
	    { "LD_SPEC", HERE_NOT_KNOWN } } },
	{ tree_neoverse_n1,
	  "0x413fd0c1",
	  NULL,
	  "neoverse-n1",
	  false,
	  "neoverse-n1",
	  true,
	  true,
	  { { "CPU_CYCLES", HERE_NO } } },
	{ tree_neoverse_n1,
	  "0x413fd0c1",
	  NULL,
	  "cortex-a72",
	  true,
	  "neoverse-n1",
	  false,
	  false,
	  { { NULL, 0 } } },
	{ tree_big_little,
	  "0x410fd034",
	  "0x410fd083",
	  "cortex-a72",
	  true,
	  "cortex-a72",
	  true,
	  false,
	  { { "INST_SPEC", HERE_YES }, { "L1D_CACHE", HERE_NO } } },
	{ tree_big_little,
	  "0x410fd034",
	  "0x410fd083",
	  NULL,
	  true,
	  "cortex-a53",
	  true,
	  false,
	  { { "CPU_CYCLES", HERE_YES }, { "INST_RETIRED", HERE_NO } } },
	{ tree_without_pmu,
	  "0x413fd0c1",
	  NULL,
	  NULL,
	  false,
	  "neoverse-n1",
	  true,
	  true,
	  { { "CPU_CYCLES", HERE_NO }, { "LD_SPEC", HERE_NO } } },
	{ tree_without_pmu, NULL, NULL, NULL, false, NULL, true, true, { { NULL, 0 } } },
};

static void check_events(struct here *h, const struct catalog *catalog, size_t n)
{
	struct cpu_pmu *pmu = NULL;
	struct err err;

	assert_int_equal(cpu_pmu_open(catalog, h->cpu, 0, &pmu, &err), 0);
	for (size_t i = 0; i < COUNT(cases[n].events) && cases[n].events[i].event != NULL; i++) {
		const struct cpu_event *event = cpu_event_find(pmu, cases[n].events[i].event);

		assert_non_null(event);
		if (here_can_count(h, event) != cases[n].events[i].answer)
			fail_msg("case %zu: %s: %d", n, event->name, here_can_count(h, event));
	}
	cpu_pmu_free(pmu);
}

static void says_what_can_be_counted(void **state)
{
	struct catalog *catalog = NULL;
	struct err err;

	(void)state;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree tree;
		struct here here;

		tree_make(&tree, cases[i].machine);
		if (cases[i].midr_0 != NULL)
			tree_add(&tree, MIDR(0), cases[i].midr_0);
		if (cases[i].midr_4 != NULL)
			tree_add(&tree, MIDR(4), cases[i].midr_4);
		here_init(&here, tree.root, catalog,
			  cases[i].asked == NULL ? NULL : catalog_cpu_find(catalog, cases[i].asked),
			  cases[i].is_allowed);
		assert_int_equal(here.is_this_machine, cases[i].is_this_machine);
		assert_int_equal(here_why_not(&here) != NULL, cases[i].says_why_not);
		assert_int_equal(here.cpu != NULL, cases[i].cpu != NULL);
		if (here.cpu != NULL) {
			assert_string_equal(cpu_id(here.cpu), cases[i].cpu);
			check_events(&here, catalog, i);
		}
		here_release(&here);
		tree_remove(&tree);
	}
	catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_can_be_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
