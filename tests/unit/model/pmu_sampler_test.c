/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the PMU that samples are taken with: periods, skids, turns; what the command tells of
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/pmu_sampler.h"
#include "model/sampled_events.h"
#include "small.h"

static const char cpu[] = "neoverse-n1";

static void options_are_read(void **state)
{
	static const struct {
		const char *text, *name;
		uint64_t code, period;
		uint32_t skid;
		bool is_precise;
	} good[] = {
		{ "cpu_cycles:10007", "CPU_CYCLES", 0x11, 10007, 1, false },
		{ "cycles:1", "CPU_CYCLES", 0x11, 1, 1, false },
		{ "INST_RETIRED:997:precise", "INST_RETIRED", 8, 997, 0, true },
		{ "r8:997:skid=0", "INST_RETIRED", 8, 997, 0, false },
		{ "br_mis_pred:5:skid=512", "BR_MIS_PRED", 0x10, 5, 512, false },
	};
	static const struct {
		const char *text, *said;
	} wrong[] = {
		{ "", "wanted EVENT:PERIOD" },
		{ "cpu_cycles", "wanted EVENT:PERIOD" },
		{ ":5", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:0", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:-1", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:1x", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:99999999999999999999", "wanted EVENT:PERIOD" },
		{ "cpu_cycles:1:", "precise, or skid=N" },
		{ "cpu_cycles:1:skid=", "precise, or skid=N" },
		{ "cpu_cycles:1:skid=513", "precise, or skid=N" },
		{ "cpu_cycles:1:precise:skid=1", "precise, or skid=N" },
		{ "cpu_cycle:1", "no event 'cpu_cycle'" },
		{ "exc_taken:1", "does not count EXC_TAKEN" },
	};
	struct pmu_sampling s = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		const struct sample_event *e;

		if (sampled_event_read(good[i].text, cpu, &s, &err) < 0)
			fail_msg("%s: %s", good[i].text, err.text);
		e = &s.events.items[i];
		assert_string_equal(e->event->name, good[i].name);
		assert_int_equal(e->code, good[i].code);
		assert_int_equal(e->period, good[i].period);
		assert_int_equal(e->skid, good[i].skid);
		assert_int_equal(e->is_precise, good[i].is_precise);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		if (sampled_event_read(wrong[i].text, cpu, &s, &err) == 0)
			fail_msg("'%s' was taken", wrong[i].text);
		if (strstr(err.text, wrong[i].said) == NULL)
			fail_msg("'%s': said '%s'", wrong[i].text, err.text);
	}
	while (s.events.n < PMU_EVENTS_MOST)
		assert_int_equal(sampled_event_read("cycles:7", cpu, &s, &err), 0);
	assert_int_equal(sampled_event_read("cycles:7", cpu, &s, &err), -1);
	vec_release(&s.events);
}

static void branch_stacks_are_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t depth, filter; /* 0: wrong */
	} cases[] = {
		{ "", 32, BRANCHES_ANY },
		{ "8", 8, BRANCHES_ANY },
		{ "64,any", 64, 0 },
		{ "1,ret", 1, BRANCHES_RETURN },
		{ "call", 32, BRANCHES_CALL },
		{ "0", 0, 0 },
		{ "65", 0, 0 },
		{ "8,", 0, 0 },
		{ "8,x", 0, 0 },
		{ "8ret", 0, 0 },
		{ ",ret", 0, 0 },
		{ "-1", 0, 0 },
		{ "99999999999999999999", 0, 0 },
	};
	struct branch_recording b;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc = branch_recording_read(cases[i].text, &b, &err);

		if (rc != (cases[i].depth > 0 ? 0 : -1))
			fail_msg("'%s': %d", cases[i].text, rc);
		if (rc < 0)
			continue;
		assert_int_equal(b.depth, cases[i].depth);
		assert_int_equal(b.filter, cases[i].filter);
	}
}

/* What the plugin gets, whole and cut at each byte. */
static void settings_are_read(void **state)
{
	static const char text[] = "L1D_CACHE:4:1009:3:0";
	struct sample_event e;
	struct err err;

	(void)state;
	assert_int_equal(sample_event_read(text, &e, &err), 0);
	assert_string_equal(e.event->name, "L1D_CACHE");
	assert_int_equal(e.period, 1009);
	assert_int_equal(e.skid, 3);
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char cut[sizeof(text)] = { 0 };

		memcpy(cut, text, n);
		assert_int_equal(sample_event_read(cut, &e, &err), -1);
	}
	assert_int_equal(sample_event_read("L1D_CACHE:4:0:3:0", &e, &err), -1);
	assert_int_equal(sample_event_read("L1D_CACHE:4:1:3:2", &e, &err), -1);
	assert_int_equal(sample_event_read("L1D_CACHE:4:1:3:1:", &e, &err), -1);
	assert_int_equal(sample_event_read("NOTHING:4:1:3:1", &e, &err), -1);
}

enum { SHARED = 3 };

/* Cycles, which have a counter, and three events for two others. */
struct rig {
	struct params params;
	struct pmu_sampling sampling;
	struct pmu_sampler s;
};

static void rig_init(struct rig *rig, uint32_t n_counters, uint64_t period)
{
	static const char *const names[] = { "CPU_CYCLES", "INST_RETIRED", "L1D_CACHE",
					     "STALL_BACKEND" };

	*rig = (struct rig){ .params = small_params(), .sampling.n_counters = n_counters };
	for (size_t i = 0; i < COUNT(names); i++)
		*vec_add(&rig->sampling.events) = (struct sample_event){
			.event = modelled_event_find(names[i]),
			.period = period,
			.skid = (uint32_t)i,
			.is_precise = i == 2,
		};
	pmu_sampler_init(&rig->s, &rig->sampling, &rig->params, 5);
}

static void rig_release(struct rig *rig)
{
	pmu_sampler_release(&rig->s);
	vec_release(&rig->sampling.events);
}

/* Interrupts come each period, the first within it, also several at once. */
static void periods_are_kept(void **state)
{
	static const uint64_t steps[] = { 1, 3, 99, 100, 101, 250, 1000 };
	struct rig rig;
	uint64_t total = 0;

	(void)state;
	rig_init(&rig, 0, 100);
	for (size_t i = 0; i < 700; i++) {
		const struct pmu_count count = { .n = steps[i % COUNT(steps)], .number = i };
		size_t n;

		pmu_sampler_count(&rig.s, 1, &count);
		total += count.n;
		n = rig.s.interrupts.n;
		assert_true(n == total / 100 || n == total / 100 + 1);
		assert_true(n == 0 || rig.s.interrupts.items[n - 1].number <= i + 1);
		assert_int_equal(rig.s.counters[1].value, total);
	}
	for (size_t i = 1; i < rig.s.interrupts.n; i++)
		assert_int_equal(
			rig.s.interrupts.items[i].value - rig.s.interrupts.items[i - 1].value, 100);
	rig_release(&rig);
}

/*
 * Random periods: the numbers of samples in pieces of equal length have a Poisson distribution, whose
 * variance is its mean. Limits are those of five standard errors.
 */
static void periods_can_be_random(void **state)
{
	enum { PIECES = 4000, MEAN = 25, PERIOD = 1009 };
	struct rig rig;
	double sum = 0, squares = 0, mean, variance;

	(void)state;
	rig_init(&rig, 0, PERIOD);
	rig.params.random_periods = 1;
	for (size_t i = 0; i < PIECES; i++) {
		double n;

		pmu_sampler_count(&rig.s, 1, &(struct pmu_count){ .n = MEAN * PERIOD });
		n = (double)rig.s.interrupts.n;
		rig.s.interrupts.n = 0;
		sum += n;
		squares += n * n;
	}
	mean = sum / PIECES;
	variance = squares / PIECES - mean * mean;
	assert_true(mean > MEAN - 0.4 && mean < MEAN + 0.4);
	assert_true(variance > MEAN * 0.885 && variance < MEAN * 1.115);
	rig_release(&rig);
}

/* By instructions, none for precise events, by cycles if the machine says so. */
static void interrupts_are_late(void **state)
{
	const struct pmu_count once = { .n = 1, .number = 40, .cycle = 1000 };
	const struct pmu_count stall = { .n = 10, .number = 40, .cycle = 1000, .is_time = true };
	struct rig rig;

	(void)state;
	rig_init(&rig, 0, 1);
	for (uint32_t i = 0; i < 4; i++)
		pmu_sampler_count(&rig.s, i, &once);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(rig.s.interrupts.items[i].number, i == 2 ? 40 : 40 + i);
	rig.s.interrupts.n = 0;
	rig.params.skid_cycles = 7;
	pmu_sampler_count(&rig.s, 1, &once);
	pmu_sampler_count(&rig.s, 2, &once);
	pmu_sampler_count(&rig.s, 3, &stall);
	assert_int_equal(rig.s.interrupts.items[0].number, UINT64_MAX);
	assert_int_equal(rig.s.interrupts.items[0].cycle, 1007);
	assert_int_equal(rig.s.interrupts.items[1].number, 40);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(rig.s.interrupts.items[2 + i].cycle, 1008 + i);
	rig_release(&rig);
}

/* Each of three events has two of three turns; idle time is divided as well. */
static void counters_are_multiplexed(void **state)
{
	struct rig rig;
	uint64_t turn, sum = 0;

	(void)state;
	rig_init(&rig, 2, 1000000);
	turn = (uint64_t)rig.params.mux_interval_us * rig.params.core_mhz;
	for (uint64_t cycle = 1; cycle <= 9 * turn; cycle++) {
		for (uint32_t i = 0; i < 4; i++)
			pmu_sampler_count(&rig.s, i, &(struct pmu_count){ .n = 1 });
		pmu_sampler_rotate(&rig.s, cycle);
	}
	pmu_sampler_idle(&rig.s, 21 * turn + turn / 2);
	assert_int_equal(rig.s.counters[0].value, 9 * turn);
	assert_int_equal(pmu_sampler_running(&rig.s, 0, 21 * turn + turn / 2),
			 21 * turn + turn / 2);
	for (uint32_t i = 1; i <= SHARED; i++) {
		uint64_t running = pmu_sampler_running(&rig.s, i, 21 * turn + turn / 2);

		assert_int_equal(rig.s.counters[i].value, 6 * turn);
		assert_true(running == 14 * turn || running == 14 * turn + turn / 2);
		sum += running;
	}
	assert_int_equal(sum, 2 * (21 * turn + turn / 2));
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_read),
		cmocka_unit_test(branch_stacks_are_read),
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(periods_are_kept),
		cmocka_unit_test(periods_can_be_random),
		cmocka_unit_test(interrupts_are_late),
		cmocka_unit_test(counters_are_multiplexed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
