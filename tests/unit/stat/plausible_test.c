/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts that cannot be, counts that tell nothing, and counts of another CPU: each is noticed, and
 * nothing is concluded from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "metrics/inside.h"
#include "metrics/metric_words.h"
#include "stat/types.h"
#include "../cpu/embedded_catalog.h"

static struct cpu_pmu *open_pmu(const struct catalog *catalog, const struct cpu *cpu)
{
	struct cpu_pmu *pmu = NULL;
	struct err err;

	if (cpu_pmu_open(catalog, cpu, 0, &pmu, &err) < 0)
		fail_msg("%s", err.text);
	return pmu;
}

/* "CPU_CYCLES 1e9 STALL_BACKEND 2e9" */
static void add_counts(struct counts *c, const char *text)
{
	char event[64];
	double value;
	int n;

	for (; sscanf(text, "%63s %lf%n", event, &value, &n) == 2; text += n)
		counts_add(c, event)->value = value;
}

/* All that the findings say: claims, evidence, remedies, notes. */
static void all_words(const struct table *t, struct text *out)
{
	static const char *const columns[] = { "claim", "evidence", "try", "next" };

	for (size_t row = 0; row < table_n_rows(t); row++)
		for (size_t k = 0; k < COUNT(columns); k++) {
			const struct cell *cell =
				table_cell(t, row, (size_t)table_column(t, columns[k]));

			text_format(out, "%s\n", cell->type == CELL_TEXT ? cell->text : "");
		}
	for (size_t i = 0; i < t->notes.n; i++)
		text_format(out, "%s\n", t->notes.items[i]);
	text_char(out, '\0');
}

struct case_of_counts {
	const char *cpu, *source, *counts;
	size_t n_findings;
	const char *says, *says_not;
};

static void check_case(const struct catalog *catalog, const struct case_of_counts *each)
{
	struct cpu_pmu *pmu = open_pmu(catalog, catalog_cpu_find(catalog, each->cpu));
	const struct stat_options options = { 0 };
	struct counts c = { .source = each->source };
	struct stat_answer answer;
	struct text said = { 0 };
	struct err err = { 0 };

	add_counts(&c, each->counts);
	assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
	all_words(&answer.findings, &said);
	if (answer.found.list.n != each->n_findings || strstr(said.bytes, each->says) == NULL ||
	    (each->says_not != NULL && strstr(said.bytes, each->says_not) != NULL))
		fail_msg("%s, %s: '%s'", each->cpu, each->counts, said.bytes);
	text_release(&said);
	stat_answer_release(&answer);
	counts_release(&c);
	cpu_pmu_free(pmu);
}

#define NOTHING "No bottleneck found"

static void concludes_nothing_from_what_cannot_be(void **state)
{
	static const struct case_of_counts cases[] = {
		/* The Raspberry Pi's own measurement: cycles divided by 64. */
		{ "arm1176", NULL, "CPU_CYCLES 181984943 INSTR_EXEC 1190897822", 0,
		  "impossible on an ARM1176JZF-S: IPC 6.54, at most 1.25 is possible", NOTHING },
		{ "arm1176", NULL, "CPU_CYCLES 181984943 INSTR_EXEC 1190897822", 0,
		  "multiply cycles by 64", NULL },
		{ "neoverse-n1", NULL, "CPU_CYCLES 1e9 INST_RETIRED 4.5e9", 0,
		  "IPC 4.50, at most 4 is possible", NOTHING },
		{ "neoverse-n1", NULL,
		  "CPU_CYCLES 1e9 STALL_BACKEND 2e9 STALL_FRONTEND 1e7 INST_RETIRED 9e8", 0,
		  "STALL_BACKEND is 2.00 times CPU_CYCLES, at most 1", NOTHING },
		{ "neoverse-n1", NULL, "CPU_CYCLES 1e9 STALL_BACKEND 7e8 STALL_FRONTEND 4.9e8", 0,
		  "add up to 119.0 %", NOTHING },
		/* Slots of a Neoverse N2: 119 % together; STALL_SLOT of its r0p0. */
		{ "neoverse-n2", NULL,
		  "CPU_CYCLES 1e9 STALL_SLOT 2.5e9 STALL_SLOT_FRONTEND 1.225e9 STALL_SLOT_BACKEND "
		  "2.225e9 OP_RETIRED 2.3e9 OP_SPEC 2.4e9 BR_MIS_PRED 1e6",
		  0, "add up to 119.0 %", NOTHING },
		{ "neoverse-n2", NULL,
		  "CPU_CYCLES 1e9 STALL_SLOT 5.97e9 STALL_SLOT_FRONTEND 2e9 STALL_SLOT_BACKEND "
		  "3.97e9 OP_RETIRED 9e8 OP_SPEC 1e9 BR_MIS_PRED 1e6",
		  0, "another revision", NOTHING },
		{ "neoverse-n1", NULL,
		  "CPU_CYCLES 1e9 STALL_BACKEND 1e8 STALL_FRONTEND 5e7 INST_RETIRED 9e8 INST_SPEC "
		  "3.15e9",
		  0, "INST_SPEC is 3.50 times INST_RETIRED", NOTHING },
		{ "neoverse-n1", NULL, "CPU_CYCLES 1e9 INST_RETIRED 9e8 INST_SPEC 6e8", 0,
		  "INST_SPEC is 0.67 times INST_RETIRED, at least 1", NOTHING },
		{ "neoverse-n1", NULL,
		  "CPU_CYCLES 1e9 INST_RETIRED 9e8 L1D_CACHE 1e7 L1D_CACHE_REFILL 9e7", 0,
		  "L1D_CACHE_REFILL is 9.00 times L1D_CACHE", "refills per 1000" },
		{ "neoverse-n1", NULL,
		  "CPU_CYCLES 1e9 INST_RETIRED 9e8 BR_RETIRED 1e7 BR_MIS_PRED_RETIRED 3e7", 0,
		  "BR_MIS_PRED_RETIRED is 3.00 times BR_RETIRED", "per 1000 instructions" },
		{ "neoverse-v1", NULL,
		  "CPU_CYCLES 1e9 STALL_SLOT 3.2e9 STALL_SLOT_FRONTEND 1.2e9 STALL_SLOT_BACKEND "
		  "2e9 "
		  "OP_RETIRED 1.7e9 OP_SPEC 1.8e9 BR_MIS_PRED 1e6",
		  0, "at 8 slots in a cycle. Wrong --cpu", NOTHING },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		check_case(*state, &cases[i]);
}

/* Cycles of whole CPUs, which wait in WFI for most of the time: they tell no time. */
static void knows_cpus_that_wait(void **state)
{
	static const struct {
		const char *what;
		int cpu; /* COUNT_ANY: of the program */
		bool is_user_only;
		double cycles, stalls;
		const char *says, *says_not;
	} cases[] = {
		{ "an idle machine", 0, false, 5e7, 1e7, "CPU_CYCLES counted 0.05 per ns",
		  "are impossible" },
		{ "the time of all CPUs", COUNT_ANY, false, 4e8, 1e8,
		  "CPU_CYCLES counted 0.05 per ns", "are impossible" },
		{ "a busy machine", 0, false, 2.5e9, 1e9, "not known without", "WFI" },
		{ "a program in the kernel", COUNT_ANY, true, 5e7, 1e7, "not known without",
		  "WFI" },
		{ "other counters go on", 0, false, 2.5e9, 2.8e9, "WFI", NOTHING },
		{ "a program has no such excuse", COUNT_ANY, false, 2.5e9, 2.8e9, "Wrong --cpu",
		  "WFI" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const events[] = { "CPU_CYCLES", "STALL_BACKEND" };
		const double values[] = { cases[i].cycles, cases[i].stalls };
		struct cpu_pmu *pmu = open_pmu(*state, catalog_cpu_find(*state, "neoverse-n1"));
		const struct stat_options options = { 0 };
		struct counts c = { 0 };
		struct stat_answer answer;
		struct text said = { 0 };
		struct err err = { 0 };

		for (size_t k = 0; k < COUNT(events); k++) {
			struct count *count = counts_add(&c, events[k]);

			count->value = values[k];
			count->cpu = cases[i].cpu;
			count->is_user_only = cases[i].is_user_only;
			count->enabled_ns = count->running_ns = 1000000000;
		}
		if (strcmp(cases[i].what, "the time of all CPUs") == 0) {
			struct count *count = counts_add(&c, "cpu-clock");

			count->value = 8e9;
			count->unit = "ns";
		}
		assert_int_equal(stat_answer_make(pmu, &c, &options, &answer, &err), 0);
		all_words(&answer.findings, &said);
		if (strstr(said.bytes, cases[i].says) == NULL ||
		    strstr(said.bytes, cases[i].says_not) != NULL)
			fail_msg("%s: '%s'", cases[i].what, said.bytes);
		text_release(&said);
		stat_answer_release(&answer);
		counts_release(&c);
		cpu_pmu_free(pmu);
	}
}

static void says_what_to_count(void **state)
{
	static const struct case_of_counts cases[] = {
		{ "neoverse-n1", "perf stat -x",
		  "CPU_CYCLES 1e9 STALL_BACKEND 0 STALL_FRONTEND 0 INST_RETIRED 9e8", 0,
		  "does not count STALL_FRONTEND, STALL_BACKEND", NOTHING },
		{ "neoverse-n1", "perf stat -x", "CPU_CYCLES 1e9 INST_RETIRED 9e8", 0,
		  "not known without STALL_FRONTEND, STALL_BACKEND. Count: perf stat -e "
		  "r8,r11,r23,r24,",
		  NOTHING },
		{ "neoverse-n1", "cyclops stat", "CPU_CYCLES 1e9 INST_RETIRED 9e8", 0,
		  "Count: cyclops stat -- COMMAND", NOTHING },
		{ "linux-generic", "perf stat", "cpu-clock 1e7", 0,
		  "no event of the CPU was counted. Count: perf stat -e instructions,cycles,"
		  "stalled-cycles-frontend,",
		  NOTHING },
		/* No stalls, but misses: both are said. */
		{ "neoverse-n1", "perf stat -x",
		  "CPU_CYCLES 1e9 INST_RETIRED 6.8e8 L1D_CACHE_REFILL 3.468e7 L1D_CACHE 3e8", 1,
		  "without STALL_FRONTEND, STALL_BACKEND", NOTHING },
		{ "cortex-a72", "perf stat -x", "CPU_CYCLES 1e9 INST_RETIRED 6.8e8", 0,
		  "Cortex-A72 has no stall events", NOTHING },
		/* It stalls, and what tells why is not counted. */
		{ "neoverse-n1", "perf stat -x",
		  "CPU_CYCLES 1e9 STALL_BACKEND 6e8 STALL_FRONTEND 3e7 INST_RETIRED 5e8", 1,
		  "is not known: no data cache events were counted\n\nperf stat -e "
		  "r8,r11,",
		  NOTHING },
		/* Both roots are low, and nothing below them is known. */
		{ "neoverse-n1", "perf stat -x",
		  "CPU_CYCLES 1e9 STALL_BACKEND 9.6e7 STALL_FRONTEND 3e7 INST_RETIRED 2.5e9", 0,
		  "is incomplete without BR_MIS_PRED_RETIRED, ITLB_WALK,", NOTHING },
		{ "neoverse-n1", "perf stat -x",
		  "CPU_CYCLES 1e9 STALL_BACKEND 9.6e7 STALL_FRONTEND 3e7 INST_RETIRED 2.5e9 "
		  "BR_MIS_PRED_RETIRED 1e6 ITLB_WALK 1e3 L1I_CACHE_REFILL 1e5 L2D_CACHE_REFILL 1e5 "
		  "LL_CACHE_MISS_RD 1e4 DTLB_WALK 1e3 L1D_CACHE_REFILL 1e6 LD_SPEC 5e8 INST_SPEC "
		  "2.6e9",
		  0, NOTHING, "cannot" },
		/* Each root above its threshold is one of the findings. */
		{ "neoverse-n2", NULL,
		  "CPU_CYCLES 1e9 STALL_SLOT 3.225e9 STALL_SLOT_FRONTEND 1.225e9 "
		  "STALL_SLOT_BACKEND "
		  "2e9 OP_RETIRED 1.7e9 OP_SPEC 1.775e9 BR_MIS_PRED 1e6",
		  2, "24.4 % of slots are Frontend Bound", NOTHING },
		{ "neoverse-n2", NULL, "CPU_CYCLES 1e9 L3D_CACHE_WAYS 1e6 rffe 1", 0,
		  "These events do not exist on a Neoverse N2: L3D_CACHE_WAYS, rffe", NOTHING },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		check_case(*state, &cases[i]);
}

/* What the generator makes of a run: shares, and events for each instruction. */
struct run {
	uint64_t state; /* of the random numbers */
	double cycles, slots, front, back, waste;
	double instructions;
};

static double random_share(struct run *r)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (double)(r->state >> 40) / (double)(1 << 24);
}

/* Events that come to a part of others, by the beginning of their names; the first that fits. */
static const struct rule {
	const char *event;
	char of; /* cycles, instructions, front, back, empty slots, … of slots */
	double least, most;
} rules[] = {
	{ "STALL_SLOT_FRONTEND", 'F', 1, 1 },
	{ "STALL_SLOT_BACKEND", 'B', 1, 1 },
	{ "STALL_SLOT", 'E', 1, 1 },
	{ "STALL_FRONTEND_MEMBOUND", 'f', 0.4, 0.6 },
	{ "STALL_FRONTEND_CPUBOUND", 'f', 0.3, 0.4 },
	{ "STALL_FRONTEND_", 'f', 0.02, 0.08 },
	{ "STALL_BACKEND_MEMBOUND", 'b', 0.4, 0.6 },
	{ "STALL_BACKEND_CPUBOUND", 'b', 0.3, 0.4 },
	/* parts of parts */
	{ "STALL_BACKEND_BUSY_CME_", 'b', 0.001, 0.01 },
	{ "STALL_BACKEND_BUSY_CMEBOUND", 'b', 0.001, 0.01 },
	{ "STALL_BACKEND_MEM_CME_", 'b', 0.001, 0.01 },
	{ "STALL_BACKEND_MEM_CPU_HZ", 'b', 0.001, 0.01 },
	{ "STALL_BACKEND_ILOCK_FROM_CME_", 'b', 0.001, 0.002 },
	{ "STALL_BACKEND_ILOCK_TO_CME_", 'b', 0.001, 0.002 },
	{ "STALL_BACKEND_ILOCK_", 'b', 0.005, 0.01 },
	{ "STALL_BACKEND_", 'b', 0.02, 0.08 },
	{ "STALL_FRONTEND", 'f', 1, 1 },
	{ "STALL_BACKEND", 'b', 1, 1 },
	{ "STALL", 'e', 1, 1 },
	{ "IBUF_STALL", 'f', 1, 1 },
	{ "DDEP_STALL", 'b', 0.5, 0.5 },
	{ "LSU_FULL_STALL", 'b', 0.5, 0.5 },
	{ "OP_RETIRED", 'R', 1, 1 },
	{ "OP_SPEC", 'S', 1, 1 },
	{ "INST_SPEC", 's', 1, 1 },
	{ "IMP_WFX", 'i', 0, 0 },
	{ "IMP_STALL_FRONTEND_", 'f', 0.005, 0.01 },
	{ "IMP_STALL_BACKEND_", 'b', 0.005, 0.01 },
	{ "LDST_SPEC", 's', 0.3, 0.4 },
	{ "SVE_PRED_SPEC", 'i', 0.01, 0.02 },
	{ "SSVE_INST_SPEC", 'i', 0.01, 0.02 },
	{ "SME_", 'i', 0.00001, 0.0001 },
	{ "DP_SPEC", 's', 0.3, 0.5 },
	{ "LD_SPEC", 's', 0.1, 0.3 },
	{ "BR_IMMED_SPEC", 's', 0.05, 0.1 },
	{ "BR_RETIRED", 'i', 0.1, 0.2 },
	{ "BR_EXEC", 'i', 0.1, 0.2 },
	{ "BR_PRED", 'i', 0.1, 0.2 },
	{ "BR_MIS", 'i', 0.0005, 0.02 },
	{ "L1D_CACHE_REFILL", 'i', 0.001, 0.05 },
	{ "L1I_CACHE_REFILL", 'i', 0.0001, 0.03 },
	{ "L1D_CACHE", 'i', 0.3, 0.5 },
	{ "DCACHE_CACHED_ACCESS", 'i', 0.1, 0.3 },
	{ "L1I_CACHE", 'i', 0.2, 0.3 },
	{ "L1D_TLB_REFILL", 'i', 0.0001, 0.01 },
	{ "L1D_TLB", 'i', 0.3, 0.5 },
	{ "L1I_TLB_REFILL", 'i', 0.0001, 0.001 },
	{ "L1I_TLB", 'i', 0.2, 0.3 },
	{ "L2D_TLB_REFILL", 'i', 0.0001, 0.0005 },
	{ "L2D_TLB", 'i', 0.001, 0.01 },
	{ "L2D_CACHE_REFILL", 'i', 0.0001, 0.01 },
	{ "L2D_CACHE", 'i', 0.03, 0.06 },
	{ "LL_CACHE_MISS_RD", 'i', 0.0001, 0.003 },
	{ "LL_CACHE", 'i', 0.01, 0.02 },
	{ "L3D_CACHE_REFILL", 'i', 0.0001, 0.003 },
	{ "L3D_CACHE", 'i', 0.01, 0.02 },
	{ "", 'i', 0.0001, 0.0005 },
};

static double amount_of(const struct run *r, char of)
{
	double empty = (r->front + r->back) * r->cycles, full = r->cycles - empty;

	switch (of) {
	case 'i':
		return r->instructions;
	case 's':
		return r->instructions / (1 - r->waste);
	case 'f':
		return r->front * r->cycles;
	case 'b':
		return r->back * r->cycles;
	case 'e':
		return empty;
	case 'F':
		return r->slots * r->front * r->cycles;
	case 'B':
		return r->slots * r->back * r->cycles;
	case 'E':
		return r->slots * empty;
	case 'S':
		return r->slots * full;
	default:
		return r->slots * full * (1 - r->waste);
	}
}

static double value_for(struct run *r, const struct cpu_pmu *pmu, const struct cpu_event *event)
{
	const struct rule *rule = rules;
	double share;

	if (event == pmu->cycles)
		return r->cycles;
	if (event == pmu->instructions)
		return r->instructions;
	while (strncmp(rule->event, event->name, strlen(rule->event)) != 0)
		rule++;
	share = rule->least + (rule->most - rule->least) * random_share(r);
	/* each misprediction stalls the front end for some cycles */
	if (strcmp(rule->event, "BR_MIS") == 0)
		return fmin(share * r->instructions, r->front * r->cycles / 12);
	return share * amount_of(r, rule->of);
}

/* All events of the metrics of that CPU, by their names or by their numbers. */
static void make_run(const struct cpu_pmu *pmu, uint64_t seed, bool by_number, struct counts *out)
{
	struct run r = { .state = seed, .cycles = 1e9 };

	for (int i = 0; i < 4; i++)
		random_share(&r);
	r.slots = pmu->slots > 0 ? pmu->slots : 4;
	r.front = 0.01 + 0.4 * random_share(&r);
	r.back = 0.01 + 0.5 * random_share(&r);
	r.waste = 0.05 * random_share(&r);
	r.instructions = 0.9 * fmin(cpu_most_ipc(pmu), r.slots) * (1 - r.front - r.back) * r.cycles;
	out->slots = pmu->slots > 0 ? pmu->slots : 4;
	for (size_t i = 0; i < pmu->n_events; i++) {
		const struct cpu_event *event = &pmu->events[i];
		bool is_used = event == pmu->cycles || event == pmu->instructions;
		char name[64];

		for (size_t m = 0; m < pmu->n_metrics && !is_used; m++)
			for (size_t k = 0; k < pmu->metrics[m].events.n && !is_used; k++)
				is_used = pmu->metrics[m].events.items[k] == event;
		if (!is_used)
			continue;
		if (by_number)
			snprintf(name, sizeof(name), "r%llx", (unsigned long long)event->code);
		else
			snprintf(name, sizeof(name), "%s", event->name);
		counts_add(out, name)->value = floor(value_for(&r, pmu, event));
	}
}

/* The side that the root of a tree is about: "frontend_" of frontend_bound. */
static size_t side_length(const char *name)
{
	return strcspn(name, "_") + 1;
}

/*
 * Is the metric above its threshold, or of a root that says the same a root of the same side? A rate
 * that comes to the same is true, whatever its penalty on another CPU.
 */
static bool is_true_of(const struct stat *s, const struct finding *f)
{
	bool is_root = metric_whole(f->metric)[0] != '\0';

	for (size_t i = 0; i < s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &s->pmu->metrics[i];
		const char *said = f->metric->name;
		bool is_same = is_root ? strncmp(m->name, said, side_length(said)) == 0
				       : strcmp(m->name, said) == 0;

		if (is_same && (stat_is_above(s, m) ||
				(!is_root && fabs(s->values[i].value / f->value - 1) < 0.01)))
			return true;
	}
	return false;
}

static bool has_silence(const struct findings *found, enum silence_kind kind)
{
	for (size_t i = 0; i < found->silences.n; i++)
		if (found->silences.items[i].kind == kind)
			return true;
	return false;
}

enum outcome { NOTICED, HARMLESS, WRONG };

/* Nothing is said of the wrong CPU that is not so of the right one. */
static enum outcome judge(const struct stat *right, const struct findings *wrong)
{
	bool is_any_true = false;

	for (size_t i = 0; i < right->pmu->n_metrics; i++)
		is_any_true |= stat_is_above(right, &right->pmu->metrics[i]);
	if (has_silence(wrong, SILENCE_IMPLAUSIBLE))
		return NOTICED;
	if (has_silence(wrong, SILENCE_NO_METRIC) && is_any_true)
		return WRONG;
	for (size_t i = 0; i < wrong->list.n; i++) {
		const struct finding *f = wrong->list.items[i];

		if (f->metric != NULL && !is_true_of(right, f))
			return WRONG;
	}
	return HARMLESS;
}

static bool is_subject(const struct cpu_pmu *pmu)
{
	return pmu->is_arm && !pmu->is_generic && !pmu->is_architectural && pmu->cycles != NULL &&
	       pmu->instructions != NULL && strcmp(cpu_id(pmu->cpu), CPU_ANY_ARM) != 0;
}

/* An answer, and the counts that it borrows from. */
struct reading {
	struct counts counts;
	struct stat_answer answer;
};

/* Reads the counts of one CPU as those of another. */
static void read_as(const struct cpu_pmu *of, const struct cpu_pmu *as, uint64_t seed,
		    struct reading *out)
{
	const struct stat_options options = { 0 };
	struct err err = { 0 };

	*out = (struct reading){ 0 };
	make_run(of, seed, seed % 2, &out->counts);
	assert_int_equal(stat_answer_make(as, &out->counts, &options, &out->answer, &err), 0);
}

static void reading_release(struct reading *r)
{
	stat_answer_release(&r->answer);
	counts_release(&r->counts);
}

/* The right CPU must believe its counts: else the wrong one would notice for nothing. */
static enum outcome try_wrong_cpu(const struct cpu_pmu *of, const struct cpu_pmu *as, uint64_t seed)
{
	const struct stat_options options = { 0 };
	struct reading right, wrong;
	struct stat truth;
	struct text said = { 0 };
	enum outcome outcome;

	read_as(of, of, seed, &right);
	all_words(&right.answer.findings, &said);
	if (has_silence(&right.answer.found, SILENCE_IMPLAUSIBLE))
		fail_msg("%s, seed %llu: '%s'", cpu_id(of->cpu), (unsigned long long)seed,
			 said.bytes);
	read_as(of, as, seed, &wrong);
	stat_init(&truth, of, &right.counts, &options);
	outcome = judge(&truth, &wrong.answer.found);
	stat_release(&truth);
	if (outcome == WRONG) {
		text_release(&said);
		all_words(&wrong.answer.findings, &said);
		print_message("%s as %s, seed %llu: '%s'\n", cpu_id(of->cpu), cpu_id(as->cpu),
			      (unsigned long long)seed, said.bytes);
	}
	text_release(&said);
	reading_release(&right);
	reading_release(&wrong);
	return outcome;
}

enum { N_WRONG = 200 };

static void notices_the_wrong_cpu(void **state)
{
	const struct catalog *catalog = *state;
	size_t n = 0, n_outcomes[WRONG + 1] = { 0 };
	size_t n_cpus = catalog_n_cpus(catalog);
	struct cpu_pmu **pmus = mem_zalloc(n_cpus, sizeof(*pmus));

	for (size_t i = 0; i < n_cpus; i++)
		pmus[i] = open_pmu(catalog, catalog_cpu_at(catalog, i));
	for (uint64_t seed = 1; n < N_WRONG; seed++) {
		struct run r = { .state = seed * 7919 };
		size_t a, b;

		random_share(&r);
		a = (size_t)(random_share(&r) * (double)n_cpus);
		b = (size_t)(random_share(&r) * (double)n_cpus);
		if (a != b && is_subject(pmus[a]) && is_subject(pmus[b])) {
			n_outcomes[try_wrong_cpu(pmus[a], pmus[b], seed)]++;
			n++;
		}
	}
	for (size_t i = 0; i < n_cpus; i++)
		cpu_pmu_free(pmus[i]);
	free(pmus);
	print_message("%zu noticed, %zu harmless, %zu wrong\n", n_outcomes[NOTICED],
		      n_outcomes[HARMLESS], n_outcomes[WRONG]);
	assert_int_equal(n_outcomes[WRONG], 0);
	assert_true(n_outcomes[NOTICED] >= N_WRONG / 4); /* the generator makes what differs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(concludes_nothing_from_what_cannot_be),
		cmocka_unit_test(knows_cpus_that_wait),
		cmocka_unit_test(says_what_to_count),
		cmocka_unit_test(notices_the_wrong_cpu),
	};

	return cmocka_run_group_tests(tests, open_embedded, close_catalog);
}
