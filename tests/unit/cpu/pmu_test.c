/* SPDX-License-Identifier: Apache-2.0 */
/* Events, metrics and the top-down method of every CPU of the catalog. */
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
#include "cpu/internal.h"
#include "cpu/pmu.h"
#include "embedded_catalog.h"

static struct cpu_pmu *open_pmu(const struct catalog *catalog, const char *name, uint64_t midr)
{
	const struct cpu *cpu = catalog_cpu_find(catalog, name);
	struct cpu_pmu *pmu = NULL;
	struct err err = { 0 };

	assert_non_null(cpu);
	if (cpu_pmu_open(catalog, cpu, midr, &pmu, &err) < 0)
		fail_msg("%s", err.text);
	return pmu;
}

/* Counts that no formula divides by zero: large, and different from each other. */
static bool some_value(void *context, size_t name, double *out)
{
	(void)context;
	*out = 1e6 * (double)(name + 1) + 17;
	return true;
}

static bool no_value(void *context, size_t name, double *out)
{
	(void)context, (void)name, (void)out;
	return false;
}

static bool zero(void *context, size_t name, double *out)
{
	(void)context, (void)name;
	*out = 0;
	return true;
}

static void check_metric(const struct cpu_pmu *pmu, const struct cpu_metric *m)
{
	double value = NAN;

	assert_true(m->formula.n_names > 0);
	assert_int_equal(m->events.n + m->needs_slots, m->formula.n_names);
	if (!formula_evaluate(&m->formula, some_value, NULL, &value))
		fail_msg("%s: %s: no value", cpu_id(pmu->cpu), m->name);
	assert_true(isfinite(value));
	assert_false(formula_evaluate(&m->formula, no_value, NULL, &value));
	if (formula_evaluate(&m->formula, zero, NULL, &value))
		assert_true(isfinite(value));
	assert_true(m->scale > 0);
	assert_true(m->label[0] != '\0' && m->unit[0] != '\0');
}

static void every_metric_of_every_cpu(void **state)
{
	const struct catalog *catalog = *state;
	size_t n_metrics = 0, n_with = 0;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_at(catalog, i);
		struct cpu_pmu *pmu = open_pmu(catalog, cpu_id(cpu), 0);

		for (size_t j = 0; j < pmu->n_metrics; j++)
			check_metric(pmu, &pmu->metrics[j]);
		n_metrics += pmu->n_metrics;
		n_with += pmu->n_metrics > 0;
		cpu_pmu_free(pmu);
	}
	assert_true(n_with >= 49);
	assert_true(n_metrics >= 1866);
}

/* A CPU with unknown events has those of any PMUv3, and a flag that says so. */
static void architectural_events(void **state)
{
	static const struct {
		const char *cpu;
		bool is_architectural;
	} cases[] = {
		{ "ampereone-ac4", true },   { "cortex-a725", true },	 { "cortex-x925", true },
		{ "hisilicon-hip12", true }, { "cortex-a720ae", false }, { "neoverse-n1", false },
		{ "generic-pmuv3", false },  { "arm1176", false },	 { "linux-generic", false },
		{ "x86-amd-zen4", false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cpu_pmu *pmu = open_pmu(*state, cases[i].cpu, 0);

		assert_int_equal(pmu->is_architectural, cases[i].is_architectural);
		assert_true(pmu->n_events > 0 && pmu->n_metrics > 0);
		if (cases[i].is_architectural) {
			assert_non_null(cpu_event_find(pmu, "STALL_SLOT_BACKEND"));
			assert_true(pmu->topdown.roots.n == 4);
			assert_non_null(pmu->cycles);
			assert_non_null(pmu->instructions);
		}
		cpu_pmu_free(pmu);
	}
}

/* What the core holds of code: its own, that of most Arm cores, or nothing. */
static void sizes_for_code(void **state)
{
	static const struct {
		const char *cpu;
		unsigned l1i_lines, itlb_entries, dtlb_entries, l2tlb_entries;
	} cases[] = {
		{ "neoverse-n1", 1024, 48, 48, 1280 },
		{ "cortex-a72", 768, 48 },
		{ "neoverse-n3", 1024, 48 },
		{ "cortex-x925", 1024, 48 },
		{ "arm1176", 0, 0 },
		{ "linux-generic", 0, 0 },
		{ "x86-intel-skylake", 0, 0 },
		{ "neoverse-v1", 1024, 48, 40, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cpu_pmu *pmu = open_pmu(*state, cases[i].cpu, 0);

		assert_int_equal(pmu->l1i_lines, cases[i].l1i_lines);
		assert_int_equal(pmu->itlb_entries, cases[i].itlb_entries);
		assert_int_equal(pmu->dtlb_entries, cases[i].dtlb_entries);
		assert_int_equal(pmu->l2tlb_entries, cases[i].l2tlb_entries);
		cpu_pmu_free(pmu);
	}
}

/* Of each CPU the short form has the same penalties, sizes and widths. */
static void short_form(void **state)
{
	const struct catalog *catalog = *state;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_at(catalog, i);
		struct cpu_pmu *all = open_pmu(catalog, cpu_id(cpu), 0), *costs = NULL;
		struct err err = { 0 };

		assert_int_equal(cpu_costs_open(catalog, cpu, &costs, &err), 0);
		assert_int_equal(costs->n_penalties, all->n_penalties);
		for (size_t k = 0; k < all->n_penalties; k++) {
			const struct cpu_penalty *a = &all->penalties[k], *b = &costs->penalties[k];

			assert_string_equal(a->issue, b->issue);
			assert_string_equal(a->event->name, b->event->name);
			assert_true(a->cycles == b->cycles);
			assert_int_equal(a->side, b->side);
		}
		assert_true(cpu_most_ipc(costs) == cpu_most_ipc(all));
		assert_int_equal(costs->reorder_entries, all->reorder_entries);
		assert_int_equal(costs->outstanding_lines, all->outstanding_lines);
		assert_int_equal(costs->l1i_lines, all->l1i_lines);
		assert_int_equal(costs->itlb_entries, all->itlb_entries);
		assert_int_equal(costs->n_metrics, 0);
		cpu_pmu_free(costs);
		cpu_pmu_free(all);
	}
}

static void penalties(void **state)
{
	static const struct {
		const char *cpu, *event, *issue;
		double cycles; /* 0: none */
		enum cpu_side side;
		bool is_estimate, is_upper_bound;
	} cases[] = {
		{ "arm1176", "MAIN_TLB_MISS", "main_tlb_miss", 116 - 56, SIDE_BACKEND, false,
		  false },
		{ "arm1176", "DCACHE_MISS", "l1d_miss", 56 - 3, SIDE_BACKEND, false, false },
		{ "arm1176", "IBUF_STALL", "ibuf_stall", 1, SIDE_FRONTEND, false, false },
		{ "arm1176", "BR_EXEC", NULL, 0, 0, false, false },
		{ "neoverse-n1", "BR_MIS_PRED_RETIRED", "mispredict", 11, SIDE_BAD_SPECULATION,
		  false, false },
		{ "neoverse-n1", "BR_MIS_PRED", "mispredict", 11, SIDE_BAD_SPECULATION, false,
		  true },
		{ "neoverse-n1", "L1D_CACHE_REFILL", "l1d_miss", 7, SIDE_BACKEND, false, true },
		{ "neoverse-n1", "ITLB_WALK", "itlb_walk", 30, SIDE_FRONTEND, true, false },
		/* Its own prediction, the rest as any PMUv3. */
		{ "cortex-a53", "BR_MIS_PRED", "mispredict", 9, SIDE_BAD_SPECULATION, false, true },
		{ "cortex-a53", "L1D_CACHE_REFILL", "l1d_miss", 7, SIDE_BACKEND, true, true },
		{ "cortex-x925", "DTLB_WALK", "dtlb_walk", 30, SIDE_BACKEND, true, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cpu_pmu *pmu = open_pmu(*state, cases[i].cpu, 0);
		const struct cpu_penalty *p =
			cpu_penalty_of(pmu, cpu_event_find(pmu, cases[i].event));

		assert_int_equal(p != NULL, cases[i].cycles > 0);
		assert_true(cpu_penalty_cycles(pmu, "no such issue") == 0);
		if (p != NULL) {
			assert_string_equal(p->issue, cases[i].issue);
			assert_true(cpu_penalty_cycles(pmu, p->issue) == cases[i].cycles);
			assert_true(p->cycles == cases[i].cycles);
			assert_int_equal(p->side, cases[i].side);
			assert_int_equal(p->is_estimate, cases[i].is_estimate);
			assert_int_equal(p->is_upper_bound, cases[i].is_upper_bound);
		}
		cpu_pmu_free(pmu);
	}
}

static void every_tree(void **state)
{
	const struct catalog *catalog = *state;
	size_t n_trees = 0;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_at(catalog, i);
		struct cpu_pmu *pmu = open_pmu(catalog, cpu_id(cpu), 0);
		const struct cpu_topdown *t = &pmu->topdown;

		n_trees += t->roots.n > 0;
		assert_int_equal(t->roots.n > 0, t->n_nodes > 0);
		for (size_t j = 0; j < t->roots.n; j++)
			assert_non_null(cpu_node_of(pmu, t->roots.items[j]));
		cpu_pmu_free(pmu);
	}
	assert_int_equal(n_trees, 52);
}

static void knows_a_cpu(void **state)
{
	struct cpu_pmu *n1 = open_pmu(*state, "neoverse-n1", 0);
	const struct cpu_event *refill = cpu_event_find(n1, "l1d_cache_refill");
	const struct cpu_metric *mpki = cpu_metric_find(n1, "l1d_cache_mpki");

	assert_non_null(refill);
	assert_int_equal(refill->code, 0x03);
	assert_string_equal(refill->class, "l1d");
	assert_ptr_equal(cpu_event_of_code(n1, 0x03), refill);
	assert_null(cpu_event_of_code(n1, 0xffff));
	assert_int_equal(cpu_event_find(n1, "INST_RETIRED")->stage, EVENT_STAGE_RETIRED);
	assert_int_equal(cpu_event_find(n1, "LD_SPEC")->stage, EVENT_STAGE_SPECULATIVE);
	assert_non_null(mpki);
	assert_int_equal(mpki->scale, 1000);
	assert_int_equal(mpki->better, BETTER_LOWER);
	assert_int_equal(mpki->events.n, 2);
	assert_int_equal(mpki->samples.n, 1);
	assert_ptr_equal(mpki->samples.items[0], refill);
	assert_int_equal(n1->n_programmable, 6);
	assert_ptr_equal(n1->cycles, cpu_event_find(n1, "CPU_CYCLES"));
	assert_ptr_equal(n1->instructions, cpu_event_find(n1, "INST_RETIRED"));
	assert_true(cpu_event_is_free(n1, n1->cycles));
	assert_false(cpu_event_is_free(n1, n1->instructions));
	assert_non_null(cpu_group_find(n1, "L1D_Cache_Effectiveness"));
	assert_null(cpu_metric_find(n1, "frontend_bound"));
	assert_string_equal(cpu_metric_find(n1, "spe_filter_ratio")->formula.text,
			    "SAMPLE_FILTRATE / SAMPLE_FEED");
	assert_int_equal(cpu_group_find(n1, "SPE_Sampling")->metrics.n, 3);
	cpu_pmu_free(n1);
}

static void chooses_formulas_by_revision(void **state)
{
	static const struct {
		uint64_t midr;
		bool is_other;
	} cases[] = {
		{ 0x410fd490, true },  { 0x410fd492, true }, { 0x410fd493, false },
		{ 0x411fd490, false }, { 0x6d0fd490, true }, { 0, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cpu_pmu *n2 = open_pmu(*state, "neoverse-n2", cases[i].midr);
		const struct cpu_metric *retiring = cpu_metric_find(n2, "retiring");

		assert_int_equal(n2->is_other_revision, cases[i].is_other);
		assert_int_equal(strstr(retiring->formula.text, "STALL_SLOT - CPU_CYCLES") != NULL,
				 cases[i].is_other);
		cpu_pmu_free(n2);
	}
}

static void shares_facts_of_the_same_core(void **state)
{
	struct cpu_pmu *a720ae = open_pmu(*state, "cortex-a720ae", 0);
	struct cpu_pmu *a720 = open_pmu(*state, "cortex-a720", 0);

	assert_true(a720ae->n_events > 0);
	assert_int_equal(a720ae->n_events, a720->n_events);
	assert_int_equal(a720ae->n_metrics - a720ae->n_spe_ratios,
			 a720->n_metrics - a720->n_spe_ratios);
	assert_string_equal(cpu_id(a720ae->cpu), "cortex-a720ae");
	cpu_pmu_free(a720ae);
	cpu_pmu_free(a720);
}

/* Opens the embedded catalog with a file of this text on top, and one CPU of it. */
static int open_with(const char *text, const char *name, struct catalog **catalog,
		     struct cpu_pmu **out, struct err *err)
{
	char path[] = "/tmp/pmu_test.XXXXXX";
	int fd = mkstemp(path);
	const struct cpu *cpu;
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = catalog_open(path, catalog, err);
	unlink(path);
	if (rc < 0)
		return -1;
	cpu = catalog_cpu_find(*catalog, name);
	return cpu == NULL ? -1 : cpu_pmu_open(*catalog, cpu, 0, out, err);
}

static void takes_a_file_on_top(void **state)
{
	static const char text[] =
		"{\"schema\":1,\"cpus\":["
		"{\"id\":\"neoverse-n1\",\"thresholds\":{\"branch_mpki\":3}},"
		"{\"id\":\"mine\",\"name\":\"My core\",\"slots\":7,\"events\":["
		"{\"name\":\"CPU_CYCLES\",\"code\":\"0x11\"},{\"name\":\"X\",\"code\":\"0x99\"}],"
		"\"metrics\":[{\"name\":\"x_rate\",\"expr\":\"X / CPU_CYCLES\"}]}]}";
	struct catalog *catalog = NULL;
	struct cpu_pmu *pmu = NULL, *n1;
	struct err err = { 0 };

	(void)state;
	if (open_with(text, "mine", &catalog, &pmu, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pmu->n_metrics, 1);
	assert_int_equal(pmu->slots, 7);
	assert_string_equal(pmu->metrics[0].label, "x_rate");
	n1 = open_pmu(catalog, "neoverse-n1", 0);
	assert_true(cpu_threshold_find(n1, "branch_mpki")->value == 3);
	assert_true(cpu_threshold_find(n1, "BRANCH_MPKI_SPEC")->value == 10);
	assert_true(cpu_threshold_find(pmu, "branch_mpki")->value == 10);
	assert_int_equal(n1->n_metrics, 47 + 3);
	cpu_pmu_free(n1);
	cpu_pmu_free(pmu);
	catalog_free(catalog);
}

/* A file changes the defaults; thresholds of a CPU come before them. */
static void puts_thresholds_together(void **state)
{
	static const struct {
		const char *name;
		double n1, mine; /* 0: there is none */
	} cases[] = {
		{ "branch_mpki", 3, 7 }, { "retiring", 70.5, 70 }, { "tie", 5, 6 },
		{ "Own", 1, 0 },	 { "spare", 2, 2 },	   { "part", 10, 10 },
		{ "none", 0, 0 },
	};
	static const char text[] =
		"{\"schema\":1,\"cpus\":[{\"id\":\"neoverse-n1\",\"thresholds\":"
		"{\"Branch_MPKI\":{\"value\":3,\"source\":\"me\"},\"retiring\":70.5,"
		"\"tie\":5,\"own\":1}},{\"id\":\"mine\",\"name\":\"My core\"}],"
		"\"thresholds\":{\"branch_mpki\":7,\"tie\":{\"value\":6},\"spare\":2}}";
	struct catalog *catalog = NULL;
	struct cpu_pmu *pmus[2] = { 0 };
	struct err err = { 0 };

	(void)state;
	if (open_with(text, "mine", &catalog, &pmus[1], &err) < 0)
		fail_msg("%s", err.text);
	pmus[0] = open_pmu(catalog, "neoverse-n1", 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (size_t k = 0; k < COUNT(pmus); k++) {
			double wanted = k == 0 ? cases[i].n1 : cases[i].mine;
			const struct cpu_threshold *found =
				cpu_threshold_find(pmus[k], cases[i].name);

			assert_int_equal(found != NULL, wanted != 0);
			if (found != NULL)
				assert_true(found->value == wanted);
		}
	}
	assert_string_equal(pmus[0]->thresholds.items[0].name, "frontend_bound");
	assert_int_equal(pmus[0]->thresholds.n, pmus[1]->thresholds.n + 1);
	cpu_pmu_free(pmus[0]);
	cpu_pmu_free(pmus[1]);
	catalog_free(catalog);
}

/* The form of Arm's files, with a tree of two stages. */
static const char telemetry[] =
	"{\"_type\":\"PMU_Specification\",\"document\":{},\"product_configuration\":{"
	"\"product_name\":\"%s\",\"part_num\":\"%s\",\"implementer\":\"0x41\","
	"\"major_revision\":1,\"minor_revision\":0,\"num_slots\":6},"
	"\"events\":{\"CPU_CYCLES\":{\"code\":\"0x0011\",\"title\":\"Cycle\",\"impdef\":false},"
	"\"STALL_SLOT\":{\"code\":\"0x003F\",\"title\":\"Stall\"},"
	"\"X_SPEC\":{\"code\":\"0x0123\",\"impdef\":true}},"
	"\"metrics\":{\"bound\":{\"title\":\"Bound\",\"units\":\"percent of slots\","
	"\"formula\":\"((STALL_SLOT / (CPU_CYCLES * 6)) * 100)\",\"sample_events\":[\"X_SPEC\"]},"
	"\"x_mpki\":{\"title\":\"X\",\"units\":\"MPKI\",\"formula\":\"X_SPEC / CPU_CYCLES * "
	"1000\"}},"
	"\"groups\":{\"function\":{},\"metrics\":{"
	"\"Top\":{\"title\":\"Top level\",\"metrics\":[\"bound\"]},"
	"\"Rest\":{\"title\":\"The rest\",\"metrics\":[\"x_mpki\"]}}},"
	"\"methodologies\":{\"topdown_methodology\":{\"title\":\"T\",\"metric_grouping\":{"
	"\"stage_1\":[\"Top\"],\"stage_2\":[\"Rest\"]},\"decision_tree\":{"
	"\"root_nodes\":[\"bound\"],\"metrics\":[{\"name\":\"bound\",\"group\":\"Top\","
	"\"next_items\":[\"Rest\",\"x_mpki\"],\"sample_events\":[\"STALL_SLOT\"]}]}}}}";

static void takes_files_of_arm(void **state)
{
	static const struct {
		const char *name, *part, *id, *cpu_name;
		uint64_t midr;
	} cases[] = {
		{ "Neoverse N1", "0xd0c", "neoverse-n1", "Neoverse N1", 0x413fd0c1 },
		{ "Neoverse Z9 (new)", "0xeee", "neoverse-z9--new-", "Neoverse Z9 (new)",
		  0x410feee0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct catalog *catalog = NULL;
		struct cpu_pmu *pmu = NULL;
		struct err err = { 0 };
		char text[2048];

		snprintf(text, sizeof(text), telemetry, cases[i].name, cases[i].part);
		if (open_with(text, cases[i].id, &catalog, &pmu, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(cpu_name(pmu->cpu), cases[i].cpu_name);
		assert_ptr_equal(catalog_cpu_of_midr(catalog, cases[i].midr), pmu->cpu);
		assert_int_equal(pmu->n_events, 3);
		assert_int_equal(pmu->slots, 6);
		assert_int_equal(cpu_event_find(pmu, "X_SPEC")->code, 0x123);
		assert_true(cpu_event_find(pmu, "X_SPEC")->is_impdef);
		assert_int_equal(cpu_event_find(pmu, "X_SPEC")->stage, EVENT_STAGE_SPECULATIVE);
		assert_int_equal(cpu_metric_find(pmu, "bound")->scale, 100);
		assert_int_equal(cpu_metric_find(pmu, "bound")->better, BETTER_LOWER);
		assert_int_equal(cpu_metric_find(pmu, "x_mpki")->scale, 1000);
		assert_int_equal(pmu->topdown.roots.n, 1);
		assert_int_equal(pmu->topdown.nodes[0].next_groups.n, 1);
		assert_int_equal(pmu->topdown.nodes[0].next_metrics.n, 1);
		assert_string_equal(pmu->topdown.nodes[0].next_groups.items[0]->label, "The rest");
		cpu_pmu_free(pmu);
		catalog_free(catalog);
	}
}

/* Ends the texts, lists and objects that are open behind the first `size` bytes. */
static void close_what_is_open(char *text, size_t size)
{
	char open[32];
	size_t n_open = 0;
	bool is_text = false;

	for (size_t i = 0; i < size; i++) {
		is_text ^= text[i] == '"';
		if (!is_text && (text[i] == '{' || text[i] == '['))
			open[n_open++] = text[i] == '{' ? '}' : ']';
		else if (!is_text && (text[i] == '}' || text[i] == ']'))
			n_open--;
	}
	if (is_text)
		text[size++] = '"';
	while (n_open > 0)
		text[size++] = open[--n_open];
	text[size] = '\0';
}

/* Cut at each byte, as it is and with what is open closed: much of that is JSON without its last parts. */
static void takes_or_refuses_each_cut(void **state)
{
	struct catalog *unchanged = NULL;
	struct err unread = { 0 };
	size_t n_opened = 0;
	char whole[2048];

	(void)state;
	snprintf(whole, sizeof(whole), telemetry, "Neoverse Z9", "0xeee");
	assert_int_equal(catalog_open(NULL, &unchanged, &unread), 0);
	for (size_t size = 0; size < strlen(whole); size++) {
		char text[sizeof(whole)];
		struct catalog *catalog = NULL;
		struct cpu_pmu *pmu = NULL;
		struct err err = { 0 };

		memcpy(text, whole, size);
		text[size] = '\0';
		assert_int_equal(catalog_read(unchanged, text, size, "cut", &unread), -1);
		close_what_is_open(text, size);
		n_opened += open_with(text, "neoverse-z9", &catalog, &pmu, &err) == 0;
		cpu_pmu_free(pmu);
		catalog_free(catalog);
	}
	assert_null(catalog_cpu_find(unchanged, "neoverse-z9"));
	catalog_free(unchanged);
	assert_in_range(n_opened, 10, strlen(whole) / 2);
}

static void says_what_is_wrong_in_a_file(void **state)
{
	static const struct {
		const char *cpu; /* members besides id and name */
		const char *says;
	} cases[] = {
		{ "\"events\":[{\"name\":\"A\"}]", "events[0]: code: missing" },
		{ "\"events\":[{\"name\":\"A\",\"code\":\"0x1g\"}]", "code: found \"0x1g\"" },
		{ "\"metrics\":[{\"name\":\"m\",\"expr\":\"A / B\"}]",
		  "metric 'm': expr: there is no event 'A'" },
		{ "\"metrics\":[{\"name\":\"m\",\"expr\":\"1 /\"}]", "ends where a value" },
		{ "\"metrics\":[{\"name\":\"m\"}]", "expr: missing" },
		{ "\"groups\":[{\"name\":\"g\",\"metrics\":[\"m\"]}]", "there is no metric 'm'" },
		{ "\"topdown\":{\"roots\":[\"m\"]}", "topdown: roots: there is no metric 'm'" },
		{ "\"topdown\":[]", "topdown: found []" },
		{ "\"thresholds\":[]", "thresholds: found [], wanted an object of names" },
		{ "\"thresholds\":{\"ipc\":\"1\"}",
		  "thresholds: ipc: found \"1\", wanted a number" },
		{ "\"thresholds\":{\"ipc\":{}}", "thresholds: ipc: found {}, wanted a number" },
		{ "\"penalties\":[{\"event\":\"A\"}]", "penalties[0]: issue: missing" },
		{ "\"penalties\":[{\"event\":\"A\",\"issue\":\"a\",\"source\":\"s\",\"kind\":\"x\"}"
		  "]",
		  "kind: found \"x\", wanted frontend" },
		{ "\"penalties\":[{\"event\":\"A\",\"issue\":\"a\",\"source\":\"s\","
		  "\"kind\":\"frontend\",\"cycles\":-1}]",
		  "cycles: found -1, wanted a number above 0" },
		{ "\"kernel_events\":{\"cycles\":1}", "kernel_events: found 1, wanted names" },
		{ "\"topdown\":{\"stage_1\":[7]}", "stage_1: found 7, wanted names" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct catalog *catalog = NULL;
		struct cpu_pmu *pmu = NULL;
		struct err err = { 0 };
		char text[512];

		snprintf(text, sizeof(text), "{\"schema\":1,\"id\":\"mine\",\"name\":\"Mine\",%s}",
			 cases[i].cpu);
		assert_int_equal(open_with(text, "mine", &catalog, &pmu, &err), -1);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
		catalog_free(catalog);
	}
}

/* The index says what reading the whole files does; not where another file may have changed them. */
static void counts_of_the_index(void **state)
{
	const struct catalog *catalog = *state;
	struct catalog *changed = NULL;
	struct cpu_pmu *pmu = NULL;
	struct err err;

	for (size_t i = 0; i < catalog_n_cpus(catalog); i++) {
		const struct cpu *cpu = catalog_cpu_at(catalog, i);
		const struct cpu_counts *known = cpu_counts_known(catalog, cpu);
		struct cpu_counts counts;

		assert_int_equal(cpu_pmu_open(catalog, cpu, 0, &pmu, &err), 0);
		counts = cpu_pmu_counts(pmu);
		assert_non_null(known);
		assert_int_equal(known->n_events, counts.n_events);
		assert_int_equal(known->n_metrics, counts.n_metrics);
		assert_int_equal(known->n_programmable, counts.n_programmable);
		assert_int_equal(known->slots, counts.slots);
		assert_int_equal(known->is_architectural, counts.is_architectural);
		assert_string_equal(known->unit, counts.unit);
		cpu_pmu_free(pmu);
	}
	assert_int_equal(open_with("{\"schema\":1,\"id\":\"neoverse-n1\",\"slots\":3}",
				   "neoverse-n1", &changed, &pmu, &err),
			 0);
	assert_null(cpu_counts_known(changed, catalog_cpu_of_id(changed, "neoverse-n1")));
	assert_int_equal(cpu_pmu_counts(pmu).slots, 3);
	cpu_pmu_free(pmu);
	catalog_free(changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_the_index),
		cmocka_unit_test(every_metric_of_every_cpu),
		cmocka_unit_test(architectural_events),
		cmocka_unit_test(sizes_for_code),
		cmocka_unit_test(penalties),
		cmocka_unit_test(short_form),
		cmocka_unit_test(every_tree),
		cmocka_unit_test(knows_a_cpu),
		cmocka_unit_test(chooses_formulas_by_revision),
		cmocka_unit_test(shares_facts_of_the_same_core),
		cmocka_unit_test(takes_a_file_on_top),
		cmocka_unit_test(puts_thresholds_together),
		cmocka_unit_test(takes_files_of_arm),
		cmocka_unit_test(takes_or_refuses_each_cut),
		cmocka_unit_test(says_what_is_wrong_in_a_file),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}
