/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "embedded_catalog.h"

static void splits(void **state)
{
	static const struct {
		const char *text, *pmu, *event;
		bool is_user_only, is_kernel_only;
	} cases[] = {
		{ "cycles", "", "cycles", false, false },
		{ "cycles:u", "", "cycles", true, false },
		{ "cycles:k", "", "cycles", false, true },
		{ "cycles:uk", "", "cycles", false, false },
		{ "cycles:uppp", "", "cycles", true, false },
		{ "sched:sched_switch", "", "sched:sched_switch", false, false },
		{ "armv8_pmuv3_0/l1d_cache/", "armv8_pmuv3_0", "l1d_cache", false, false },
		{ "armv8_pmuv3_0/l1d_cache/u", "armv8_pmuv3_0", "l1d_cache", true, false },
		{ "cpu/event=0x3c,umask=0x0/k", "cpu", "event=0x3c,umask=0x0", false, true },
		{ "/", "", "/", false, false },
		{ "a/b", "", "a/b", false, false },
		{ "//", "", "", false, false },
		{ ":u", "", "", true, false },
		{ "", "", "", false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct event_name name;

		event_name_split(cases[i].text, &name);
		assert_string_equal(name.pmu, cases[i].pmu);
		assert_string_equal(name.event, cases[i].event);
		assert_int_equal(name.is_user_only, cases[i].is_user_only);
		assert_int_equal(name.is_kernel_only, cases[i].is_kernel_only);
	}
}

static void finds_events(void **state)
{
	static const struct {
		const char *cpu, *text, *event; /* NULL: none */
	} cases[] = {
		{ "neoverse-n1", "CPU_CYCLES", "CPU_CYCLES" },
		{ "neoverse-n1", "cpu_cycles:u", "CPU_CYCLES" },
		{ "neoverse-n1", "cycles", "CPU_CYCLES" },
		{ "neoverse-n1", "instructions:u", "INST_RETIRED" },
		{ "neoverse-n1", "cache-misses", "L1D_CACHE_REFILL" },
		{ "neoverse-n1", "L1-dcache-load-misses", "L1D_CACHE_REFILL" },
		{ "neoverse-n1", "LLC-load-misses", "LL_CACHE_MISS_RD" },
		{ "neoverse-n1", "branch-misses", "BR_MIS_PRED" },
		{ "neoverse-n1", "branches", NULL },
		{ "neoverse-n1", "armv8_pmuv3_0/l1d_cache/", "L1D_CACHE" },
		{ "neoverse-n1", "armv8_pmuv3_0/event=0x3/u", "L1D_CACHE_REFILL" },
		{ "neoverse-n1", "armv8_pmuv3_0/config=0x11/", "CPU_CYCLES" },
		{ "neoverse-n1", "r11", "CPU_CYCLES" },
		{ "neoverse-n1", "r0011:u", "CPU_CYCLES" },
		{ "neoverse-n1", "r0x3", "L1D_CACHE_REFILL" },
		{ "neoverse-n1", "rfffff", NULL },
		{ "neoverse-n1", "r", NULL },
		{ "neoverse-n1", "arm_cmn_0/cycles/", NULL },
		{ "neoverse-n1", "armv8_pmuv3_0/event=0x3,long=1/", NULL },
		{ "neoverse-n1", "task-clock", NULL },
		{ "neoverse-n1", "", NULL },
		{ "cortex-a72", "stalled-cycles-backend", NULL },
		/* Each kind of PMU has its own meaning of the kernel's words. */
		{ "arm1176", "cycles", "CPU_CYCLES" },
		{ "arm1176", "instructions", "INSTR_EXEC" },
		{ "arm1176", "branch-misses", "BR_MISPREDICT" },
		{ "arm1176", "branches", "BR_EXEC" },
		{ "arm1176", "dTLB-load-misses", "DTLB_MISS" },
		{ "arm1176", "dTLB-store-misses:u", "DTLB_MISS" },
		{ "arm1176", "iTLB-load-misses", "ITLB_MISS" },
		{ "arm1176", "L1-dcache-load-misses", "DCACHE_MISS" },
		{ "arm1176", "L1-icache-load-misses", "ICACHE_MISS" },
		{ "arm1176", "stalled-cycles-backend", "LSU_FULL_STALL" },
		{ "arm1176", "cache-misses", NULL },
		{ "cortex-a5", "L1-icache-prefetches", "PREFETCH_LINEFILL" },
		{ "cortex-a5", "LLC-loads", NULL },
		{ "cortex-a7", "branches", "PC_WRITE_RETIRED" },
		{ "cortex-a7", "LLC-stores", "L2D_CACHE" },
		{ "cortex-a7", "bus-cycles", "BUS_CYCLES" },
		{ "cortex-a7", "stalled-cycles-frontend", NULL },
		{ "cortex-a8", "stalled-cycles-frontend", "STALL_ISIDE" },
		{ "cortex-a8", "LLC-load-misses", "L2D_CACHE_REFILL" },
		{ "cortex-a8", "r43", "L2D_CACHE" },
		{ "cortex-a9", "instructions", "INST_RENAME" },
		{ "cortex-a9", "stalled-cycles-backend", "STALL_DISPATCH" },
		{ "cortex-a9", "L1-icache-loads", NULL },
		{ "cortex-a15", "branches", "PC_WRITE_SPEC" },
		{ "cortex-a15", "L1-dcache-stores", "L1D_CACHE_WR" },
		{ "cortex-a15", "dTLB-store-misses", "L1D_TLB_REFILL_WR" },
		{ "cortex-a17", "dTLB-prefetch-misses", "PF_TLB_REFILL" },
		{ "cortex-a53", "node-loads", "BUS_ACCESS_RD" },
		{ "cortex-a53", "L1-dcache-prefetch-misses", "PREFETCH_LINEFILL" },
		{ "cortex-a72", "L1-dcache-loads", "L1D_CACHE" },
		{ "cortex-a72", "L1-dcache-store-misses", "L1D_CACHE_REFILL_WR" },
		{ "neoverse-n1", "L1-dcache-stores", NULL },
		{ "cortex-x925", "branch-misses", "BR_MIS_PRED" },
		{ "ampereone-ac4", "dTLB-loads", "L1D_TLB" },
		{ "linux-generic", "cycles", "CYCLES" },
		{ "linux-generic", "branch-misses:u", "BRANCH_MISSES" },
		{ "linux-generic", "L1-dcache-load-misses", "L1_DCACHE_LOAD_MISSES" },
		{ "linux-generic", "cpu_core/instructions/", "INSTRUCTIONS" },
		{ "linux-generic", "r11", NULL },
		{ "linux-generic", "inst_retired", NULL },
		{ "x86-intel-skylake", "cycles", "CPU_CLK_UNHALTED" },
		{ "x86-intel-skylake", "cpu/event=0x9c,umask=0x1/", "IDQ_UOPS_NOT_DELIVERED" },
		{ "x86-intel-skylake", "cpu/event=0x3c/", "CPU_CLK_UNHALTED" },
		{ "x86-intel-skylake", "stalled-cycles-backend", NULL },
		{ "x86-amd-zen4", "branches", "EX_RET_BRN" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct catalog *catalog = *state;
		const struct cpu_event *event;
		struct cpu_pmu *pmu;
		struct err err;

		if (cpu_pmu_open(catalog, catalog_cpu_find(catalog, cases[i].cpu), 0, &pmu, &err) <
		    0)
			fail_msg("%s", err.text);
		event = cpu_event_of_name(pmu, cases[i].text);
		if ((event == NULL) != (cases[i].event == NULL))
			fail_msg("%s: %s: %s", cases[i].cpu, cases[i].text,
				 event == NULL ? "not found" : event->name);
		if (event != NULL)
			assert_string_equal(event->name, cases[i].event);
		cpu_pmu_free(pmu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits),
		cmocka_unit_test(finds_events),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}
