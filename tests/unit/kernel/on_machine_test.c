/* SPDX-License-Identifier: Apache-2.0 */
/* Counting kernels on a machine that is made up: no event takes turns with another one. */
#include "kernel/validation/on_machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"

enum { CYCLES_CODE = 0x11, REFUSED_CODE = 0x22, TYPE = 8, RUNS_MAX = 16, COUNTERS = 3 };

/* A PMU that has three counters beside that of cycles. */
struct made_pmu {
	int n_open, leader;
	uint64_t codes[32];
	bool was_full; /* a group took more than there is */
	unsigned n_groups;
};

static int made_open(void *context, const struct event_request *request)
{
	struct made_pmu *pmu = context;
	int n_counters = 0;

	if (request->attr->config == REFUSED_CODE)
		return -ENOENT;
	if (request->group_fd == EVENT_NO_GROUP) {
		pmu->n_groups++;
		pmu->n_open = 0;
	}
	pmu->codes[pmu->n_open] = request->attr->config;
	for (int i = 0; i <= pmu->n_open; i++)
		n_counters += pmu->codes[i] != CYCLES_CODE;
	pmu->was_full |= n_counters > COUNTERS;
	return 100 + pmu->n_open++;
}

static int made_close(void *context, int fd)
{
	(void)context;
	(void)fd;
	return 0;
}

static int made_control(void *context, int fd, enum kernel_request request, uint64_t argument)
{
	(void)context;
	(void)fd;
	(void)request;
	(void)argument;
	return 0;
}

/* Each event counts its code, of which counting nothing counts the same: nothing is left. */
static int64_t made_read(void *context, int fd, void *buffer, size_t size)
{
	const struct made_pmu *pmu = context;
	uint64_t words[3 + 32] = { (uint64_t)pmu->n_open, 1000, 1000 };
	size_t n = (3 + (size_t)pmu->n_open) * sizeof(words[0]);

	(void)fd;
	for (int i = 0; i < pmu->n_open; i++)
		words[3 + i] = pmu->codes[i];
	memcpy(buffer, words, n < size ? n : size);
	return (int64_t)n;
}

static void groups_fit_the_counters(void **state)
{
	static const char *const events[] = {
		"INST_RETIRED", "LD_SPEC",  "CPU_CYCLES", "ST_SPEC",	   "DP_SPEC",
		"ASE_SPEC",	"VFP_SPEC", "BR_RETIRED", "NO_SUCH_EVENT", "BR_MIS_PRED_RETIRED"
	};
	struct made_pmu made = { 0 };
	const struct kernel kernel = {
		.context = &made,
		.open = made_open,
		.close = made_close,
		.control = made_control,
		.read = made_read,
	};
	struct pmu core = {
		.name = "armv8_pmuv3_0", .type = TYPE, .is_core = true, .is_arm = true
	};
	struct kernel_setting setting = { .what = microbenchmark_find("constant-branch") };
	struct kernel_count counts[2 * COUNT(events)];
	struct on_machine machine = { .kernel = &kernel, .core = &core, .n_counters = COUNTERS };
	const struct measurer m = on_machine_measurer(&machine);
	struct catalog *catalog = NULL;
	struct cpu_pmu *facts = NULL;
	struct pmus pmus = { 0 };
	struct err err;

	(void)state;
	setting.what = microbenchmark_find("random-branch");
	microbenchmark_set_usual(setting.what, setting.values);
	setting.values[ITERATIONS] = 10;
	assert_int_equal(catalog_open(NULL, &catalog, &err), 0);
	assert_int_equal(
		cpu_pmu_open(catalog, catalog_cpu_find(catalog, "neoverse-n1"), 0, &facts, &err),
		0);
	machine.facts = facts;
	machine.pmus = &pmus;
	if (microbenchmark_is_here(setting.what)) {
		assert_int_equal(
			m.count(m.context, &setting, events, COUNT(events), 2, counts, &err), 0);
		assert_false(made.was_full);
		/* 7 events on 3 counters are 3 groups; for nothing, and for each of two runs */
		assert_int_equal(made.n_groups, 9);
		for (size_t i = 0; i < 2 * COUNT(events); i++) {
			bool is_refused = i % COUNT(events) >= COUNT(events) - 2;

			assert_int_equal(counts[i].is_counted, !is_refused);
			assert_true(counts[i].count == 0);
		}
		assert_true(m.ghz(m.context) > 0);
	}
	cpu_pmu_free(facts);
	catalog_free(catalog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_fit_the_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
