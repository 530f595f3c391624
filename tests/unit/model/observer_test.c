/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction a count belongs to, and which one a sample is of: a run worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/observer.h"
#include "small.h"

/* The second instruction is a load that the window waits for, then the fetch is late. */
static const struct step {
	uint64_t dispatch, end, frontend, backend;
} steps[] = {
	{ 10, 20, 0, 0 },    { 11, 120, 0, 0 },	 { 12, 121, 0, 0 },  { 100, 122, 0, 87 },
	{ 131, 135, 30, 0 }, { 132, 200, 0, 0 }, { 133, 201, 0, 0 },
};

static const struct {
	uint64_t cycles, frontend, backend;
} wanted[] = {
	{ 20, 0, 7 }, { 100, 19, 80 }, { 1, 1, 0 }, { 1, 1, 0 },
	{ 13, 9, 0 }, { 65, 0, 0 },    { 1, 0, 0 },
};

struct taken {
	uint64_t pc, value, enabled;
};

static void keep(void *context, const struct pmu_sample *sample)
{
	VEC_OF(struct taken) *all = context;

	*vec_add(all) = (struct taken){ sample->pc, sample->value, sample->enabled };
}

enum { PC = 0x1000 };

static void run_steps(struct observer *o, struct truth *t)
{
	struct counts counts = { 0 };
	uint64_t before = 0;

	for (size_t i = 0; i < COUNT(steps); i++) {
		const struct insn in = { .pc = PC + 4 * i };
		struct observation seen = {
			.insn = &in,
			.next_pc = in.pc + 4,
			.dispatch = steps[i].dispatch,
			.end = steps[i].end,
			.counts = &counts,
		};

		if (t != NULL)
			seen.index = truth_instruction(t, &in, &(struct truth_execution){ 0 });
		counts.n[COUNT_INST_RETIRED]++;
		counts.n[COUNT_STALL_FRONTEND] += steps[i].frontend;
		counts.n[COUNT_STALL_BACKEND] += steps[i].backend;
		counts.n[COUNT_CPU_CYCLES] += steps[i].end - before;
		before = steps[i].end;
		observer_see(o, &seen);
	}
	counts.n[COUNT_L1D_CACHE_INVAL] += 5;
	observer_end(o, &counts);
}

/* Cycles without dispatch are those of the instruction that retires next. */
static void counts_are_attributed(void **state)
{
	const struct params params = small_params();
	const struct pmu_sampling none = { 0 };
	struct truth *t = truth_new();
	struct observer *o = observer_new(t, &none, &params, 0);

	(void)state;
	run_steps(o, t);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const uint64_t *n = t->insns.items[i].counts.n;

		assert_int_equal(n[COUNT_INST_RETIRED], 1);
		assert_int_equal(n[COUNT_CPU_CYCLES], wanted[i].cycles);
		assert_int_equal(n[COUNT_STALL_FRONTEND], wanted[i].frontend);
		assert_int_equal(n[COUNT_STALL_BACKEND], wanted[i].backend);
		assert_int_equal(n[COUNT_L1D_CACHE_INVAL], i == COUNT(wanted) - 1 ? 5 : 0);
	}
	observer_free(o);
	truth_free(t);
}

/* Which instructions are sampled, by number; each event overflows with each count. */
static void instructions_are_sampled(void **state)
{
	static const struct {
		const char *event;
		uint32_t skid, skid_cycles;
		size_t n;
		uint64_t sampled[8];
	} cases[] = {
		{ "INST_RETIRED", 0, 0, 7, { 0, 1, 2, 3, 4, 5, 6 } },
		{ "INST_RETIRED", 2, 0, 5, { 2, 3, 4, 5, 6 } },
		/* 50 cycles later the load has not retired; then what takes long is the sixth */
		{ "INST_RETIRED", 0, 50, 5, { 2, 6, 6, 6, 6 } },
		/* the last one would be behind the end */
		{ "STALL_FRONTEND", 0, 70, 29, { 6, 6, 6, 6, 6, 6, 6, 6 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sample_event event = { .event = modelled_event_find(cases[i].event),
					      .period = 1,
					      .skid = cases[i].skid };
		struct params params = small_params();
		struct pmu_sampling sampling = { 0 };
		VEC_OF(struct taken) samples = { 0 };
		struct observer *o;

		params.skid_cycles = cases[i].skid_cycles;
		*vec_add(&sampling.events) = event;
		o = observer_new(NULL, &sampling, &params, 0);
		o->on_sample = keep;
		observer_switch(o, &samples, true);
		run_steps(o, NULL);
		assert_int_equal(samples.n, cases[i].n);
		for (size_t k = 0; k < COUNT(cases[i].sampled) && k < samples.n; k++) {
			assert_int_equal(samples.items[k].pc, PC + 4 * cases[i].sampled[k]);
			assert_true(k == 0 || samples.items[k].value > samples.items[k - 1].value);
			assert_true(k == 0 ||
				    samples.items[k].enabled >= samples.items[k - 1].enabled);
		}
		vec_release(&samples);
		vec_release(&sampling.events);
		observer_free(o);
	}
}

/* Counters of cycles alone take a short cut, which gives the same samples. */
static void cycles_alone_are_counted_the_same(void **state)
{
	const struct params params = small_params();
	struct sample_event event = { .event = modelled_event_find("CPU_CYCLES"), .period = 7 };
	struct pmu_sampling sampling = { 0 };
	VEC_OF(struct taken) all[2] = { { 0 } };

	(void)state;
	*vec_add(&sampling.events) = event;
	for (size_t k = 0; k < COUNT(all); k++) {
		struct truth *t = k == 0 ? truth_new() : NULL;
		struct observer *o = observer_new(t, &sampling, &params, 3);

		o->on_sample = keep;
		observer_switch(o, &all[k], true);
		run_steps(o, t);
		observer_free(o);
		if (t != NULL)
			truth_free(t);
	}
	assert_true(all[0].n >= 20);
	assert_int_equal(all[0].n, all[1].n);
	assert_memory_equal(all[0].items, all[1].items, all[0].n * sizeof(*all[0].items));
	for (size_t k = 0; k < COUNT(all); k++)
		vec_release(&all[k]);
	vec_release(&sampling.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_attributed),
		cmocka_unit_test(cycles_alone_are_counted_the_same),
		cmocka_unit_test(instructions_are_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
