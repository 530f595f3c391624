/* SPDX-License-Identifier: Apache-2.0 */
/* The core's timing, worked out by hand for the machine of small.h. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "batch/batch.h"
#include "model/core.h"
#include "small.h"
#include "spe/packet.h"

enum { PC = 0x10000, MAX_RECORDS = 4096 };

static const uint32_t add_x0 = 0x8b020020;	       /* add x0, x1, x2 */
static const uint32_t add_x0_x0 = 0x8b020000;	       /* add x0, x0, x2 */
static const uint32_t multiply_x0_x0 = 0x1b027c00;     /* mul w0, w0, w2: three cycles */
static const uint32_t multiply_x3_x3 = 0x1b037c63;     /* mul w3, w3, w3 */
static const uint32_t load_x0 = 0xf9400020;	       /* ldr x0, [x1] */
static const uint32_t load_x0_x0 = 0xf9400000;	       /* ldr x0, [x0] */
static const uint32_t store_x3 = 0xf9000083;	       /* str x3, [x4] */
static const uint32_t divide_x0 = 0x1ac20820;	       /* udiv w0, w1, w2 */
static const uint32_t store_x3_forward = 0xf8008483;   /* str x3, [x4], #8 */
static const uint32_t load_x5 = 0xf9400085;	       /* ldr x5, [x4] */
static const uint32_t swap_x5 = 0xf8208085;	       /* swp x0, x5, [x4] */
static const uint32_t swap_acquire_x5 = 0xf8a08085;    /* swpa x0, x5, [x4] */
static const uint32_t store_release_x3 = 0xc89ffc83;   /* stlr x3, [x4] */
static const uint32_t acquire_x5 = 0xc8dffc85;	       /* ldar x5, [x4] */
static const uint32_t weak_acquire_x5 = 0xf8bfc085;    /* ldapr x5, [x4] */
static const uint32_t store_exclusive_x3 = 0xc8067c83; /* stxr w6, x3, [x4] */
static const uint32_t branch_if_x0 = 0xb5000000;       /* cbnz x0, . */

/* A machine that samples every instruction it can, and keeps what it reports. */
struct rig {
	struct params params;
	struct sampling sampling;
	struct counts counts[4];
	struct memory memory;
	struct frames frames;
	struct core core;
	uint64_t pc;
	struct spe_record records[MAX_RECORDS];
	uint64_t cycles[MAX_RECORDS];
	size_t n;
};

static void keep(void *context, struct spe_record *record, uint64_t cycle)
{
	struct rig *rig = context;

	assert_true(rig->n < MAX_RECORDS);
	rig->cycles[rig->n] = cycle;
	rig->records[rig->n++] = *record;
}

static void rig_init(struct rig *rig)
{
	*rig = (struct rig){ .params = small_params(), .pc = PC, .sampling = { .interval = 1 } };
	memory_init(&rig->memory, &rig->params, rig->counts);
	frames_init(&rig->frames, &rig->params);
	core_init(&rig->core, 0, &rig->memory, &rig->frames, &rig->counts[0], &rig->sampling, 0);
	rig->core.on_record = keep;
	core_switch(&rig->core, rig, 7, 0);
}

static void rig_release(struct rig *rig)
{
	core_release(&rig->core);
	frames_release(&rig->frames);
	memory_release(&rig->memory);
}

/*
 * Executes one word, and says when it was dispatched, issued and finished. Samples would
 * collide: the last one is taken to be over.
 */
struct times {
	uint64_t dispatch, issue, finish;
};

static struct times execute(struct rig *rig, uint32_t word, uint64_t va, uint64_t next)
{
	struct insn in = insn_decode(rig->pc, word);
	struct core *c = &rig->core;
	struct times t;

	c->sampler.busy_until = 0;
	core_begin(c, &in);
	if (va != 0)
		core_access(c, va, 8);
	t = (struct times){ c->now.dispatch, c->now.issue, c->now.finish };
	rig->pc = next != 0 ? next : rig->pc + 4;
	core_end(c, rig->pc);
	return t;
}

/* Makes a line and its page known, so that the next access is a hit of the first level. */
static void warm(struct rig *rig, uint64_t va)
{
	execute(rig, load_x5, va, 0);
	core_wait_until(&rig->core, core_cycle(&rig->core) + 100000);
}

/*
 * A second-level hit of the TLB takes five cycles more. A hit of the L1D waits for all of them; a
 * miss is known three cycles after issue whatever the address is, and waits for the other two.
 */
static void translation_overlaps_with_the_first_level(void **state)
{
	const uint64_t a = 0x10000, b = 0x11040, c = 0x12040;
	struct rig rig;
	struct times t;

	(void)state;
	rig_init(&rig);
	warm(&rig, a);
	warm(&rig, b);
	warm(&rig, c); /* a leaves the first level of the TLB */
	t = execute(&rig, load_x5, a, 0);
	assert_int_equal(t.finish - t.issue, 5 + 4);
	core_wait_until(&rig.core, core_cycle(&rig.core) + 100000);
	t = execute(&rig, load_x5, b + LINE_BYTES, 0);
	assert_int_equal(t.finish - t.issue, 5 - 3 + 1000 + 5);
	core_wait_until(&rig.core, core_cycle(&rig.core) + 100000);
	t = execute(&rig, load_x5, b + 2 * LINE_BYTES, 0);
	assert_int_equal(t.finish - t.issue, 1000 + 5);
	rig_release(&rig);
}

static void dispatch_is_two_a_cycle(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	core_wait_until(&rig.core, 1000);
	for (uint64_t i = 0; i < 100; i++) {
		struct times t = execute(&rig, add_x0, 0, 0);

		assert_int_equal(t.dispatch, 1000 + i / 2);
		assert_int_equal(t.issue, t.dispatch + 2);
		assert_int_equal(t.finish, t.issue + 1);
	}
	assert_int_equal(rig.counts[0].n[COUNT_STALL_BACKEND], 0);
	assert_int_equal(rig.counts[0].n[COUNT_INST_RETIRED], 100);
	rig_release(&rig);
}

static void chains_wait_for_their_sources(void **state)
{
	struct rig rig;
	uint64_t issue = 0;

	(void)state;
	rig_init(&rig);
	core_wait_until(&rig.core, 1000);
	for (uint64_t i = 0; i < 50; i++) {
		struct times t = execute(&rig, multiply_x0_x0, 0, 0);

		if (i > 0)
			assert_int_equal(t.issue, issue + 3);
		issue = t.issue;
	}
	/* The window holds eight: the ninth is dispatched when the first has left. */
	assert_int_equal(rig.core.dispatch_cycle, issue + 3 - 8 * 3);
	assert_true(rig.counts[0].n[COUNT_STALL_BACKEND] > 80);
	rig_release(&rig);
}

/*
 * One multiplication a cycle; while the unit waits for the first of a chain, it does those that are
 * ready. A division keeps it for as long as it takes.
 */
static void units_do_one_thing_at_a_time(void **state)
{
	struct rig rig;
	struct times a, b, c;

	(void)state;
	rig_init(&rig);
	rig.params.busy[TIMING_DIVIDE] = rig.params.latency[TIMING_DIVIDE] = 8;
	core_wait_until(&rig.core, 1000);
	a = execute(&rig, multiply_x0_x0, 0, 0);
	b = execute(&rig, multiply_x0_x0, 0, 0);
	c = execute(&rig, multiply_x3_x3, 0, 0);
	assert_int_equal(a.issue, a.dispatch + 2);
	assert_int_equal(b.issue, a.issue + 3);
	assert_int_equal(c.issue, a.issue + 1);
	core_wait_until(&rig.core, 2000);
	a = execute(&rig, divide_x0, 0, 0);
	b = execute(&rig, multiply_x3_x3, 0, 0);
	c = execute(&rig, add_x0, 0, 0);
	assert_int_equal(b.issue, a.issue + 8);
	assert_int_equal(c.issue, c.dispatch + 2);
	rig_release(&rig);
}

/* A written-back base does not wait for the data that is stored. */
static void bases_do_not_wait_for_data(void **state)
{
	struct rig rig;
	struct times store, load;

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	for (int i = 0; i < 5; i++)
		execute(&rig, multiply_x3_x3, 0, 0);
	store = execute(&rig, store_x3_forward, 0x8000, 0);
	load = execute(&rig, load_x5, 0x8008, 0);
	assert_int_equal(load.issue, load.dispatch + 4);
	assert_true(store.issue > load.issue + 8);
	rig_release(&rig);
}

/* What waits for room in the window has not been dispatched yet: its latencies do not show it. */
static void independent_loads_overlap(void **state)
{
	struct rig rig;
	struct times a, b;

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	a = execute(&rig, load_x0, 0x8040, 0); /* from DRAM: 1000 and 5 more for SPE */
	b = execute(&rig, load_x5, 0x8080, 0);
	assert_int_equal(a.issue - a.dispatch, 4);
	assert_int_equal(a.finish - a.issue, 1005);
	assert_int_equal(b.issue, a.issue);
	assert_int_equal(b.finish, a.finish);
	rig_release(&rig);
}

/* Two misses may be under way: the third load stays in the queue until there is a place. */
static void misses_hold_the_queue(void **state)
{
	struct rig rig;
	struct times t = { 0 };

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	for (uint64_t i = 1; i <= 7; i++)
		t = execute(&rig, load_x0, 0x8000 + i * LINE_BYTES, 0);
	/* The queue holds four. The first two left it at once, the third when the first ended. */
	assert_int_equal(t.dispatch, rig.cycles[1] + 4 + 1000);
	rig_release(&rig);
}

static void a_chase_waits_for_each_load(void **state)
{
	struct rig rig;
	struct times t = { 0 };

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	for (int i = 0; i < 20; i++)
		t = execute(&rig, load_x0_x0, 0x8000, 0);
	/* Four wait at a time: one is dispatched when the fourth before it begins. */
	assert_int_equal(t.issue - t.dispatch, 4 * 4);
	assert_int_equal(t.finish - t.issue, 4);
	rig_release(&rig);
}

static void loads_wait_for_stores_of_their_bytes(void **state)
{
	struct rig rig;
	struct times multiplied = { 0 }, stored, loaded, other;

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	for (int i = 0; i < 5; i++)
		multiplied = execute(&rig, multiply_x3_x3, 0, 0);
	stored = execute(&rig, store_x3, 0x8008, 0);
	loaded = execute(&rig, load_x5, 0x8008, 0);
	other = execute(&rig, load_x5, 0x8010, 0);
	assert_int_equal(stored.issue, multiplied.finish);
	assert_int_equal(loaded.finish, stored.finish + 4); /* as fast as from the L1D */
	assert_int_equal(other.finish - other.issue, 4);
	rig_release(&rig);
}

/* What others see at once must not be undone: everything before it is done first. */
static void atomics_wait_for_what_comes_before(void **state)
{
	static const uint32_t words[] = { swap_x5, store_exclusive_x3 };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		struct times load, store, atomic;
		struct rig rig;

		rig_init(&rig);
		warm(&rig, 0x8000);
		load = execute(&rig, load_x0, 0x8040, 0); /* from DRAM */
		store = execute(&rig, store_x3, 0x8008, 0);
		atomic = execute(&rig, words[i], 0x8000, 0);
		assert_true(store.issue < load.finish);
		assert_int_equal(atomic.issue, load.issue + 1000);
		rig_release(&rig);
	}
}

/* A release is seen when its line is there; acquires after it wait for that, LDAPR does not. */
static void acquires_wait_for_releases(void **state)
{
	static const struct {
		uint32_t word;
		bool waits;
	} loads[] = {
		{ acquire_x5, true },
		{ swap_acquire_x5, true },
		{ weak_acquire_x5, false },
		{ load_x5, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(loads); i++) {
		struct times release, load;
		struct rig rig;

		rig_init(&rig);
		warm(&rig, 0x8000);
		release = execute(&rig, store_release_x3, 0x8040, 0);
		load = execute(&rig, loads[i].word, 0x8000, 0);
		if (loads[i].waits)
			assert_int_equal(load.issue, release.issue + 1000);
		else
			assert_int_equal(load.issue, load.dispatch + 4);
		rig_release(&rig);
	}
}

/* Whether an exclusive store succeeded is known when its line is there. */
static void exclusive_stores_need_their_line(void **state)
{
	struct rig rig;
	struct times plain, exclusive;

	(void)state;
	rig_init(&rig);
	warm(&rig, 0x8000);
	plain = execute(&rig, store_x3, 0x8040, 0);
	exclusive = execute(&rig, store_exclusive_x3, 0x8080, 0);
	assert_int_equal(plain.finish - plain.issue, 1);
	assert_int_equal(exclusive.finish - exclusive.issue, 1005);
	rig_release(&rig);
}

static void mispredictions_restart_the_fetch(void **state)
{
	struct rig rig;
	struct times branch, next;

	(void)state;
	rig_init(&rig);
	core_wait_until(&rig.core, 1000);
	branch = execute(&rig, branch_if_x0, 0, PC + 0x100); /* taken: not what it looks like */
	next = execute(&rig, add_x0_x0, 0, 0);
	assert_int_equal(next.dispatch, branch.finish + 11);
	assert_int_equal(rig.counts[0].n[COUNT_BR_MIS_PRED_RETIRED], 1);
	assert_int_equal(rig.counts[0].n[COUNT_STALL_FRONTEND],
			 next.dispatch - branch.dispatch - 1);
	rig_release(&rig);
}

#define EV(name) ((uint64_t)1 << SPE_EV_##name)

static void reports_what_spe_would(void **state)
{
	const uint64_t memory = EV(RETIRED) | EV(L1D_ACCESS) | EV(TLB_ACCESS);
	const uint64_t miss = EV(L1D_REFILL) | EV(LLC_ACCESS) | EV(LLC_MISS);
	static const uint32_t all = HAS_PC | HAS_OP | HAS_EVENTS | HAS_ISSUE | HAS_TOTAL;
	struct rig rig;
	const struct {
		uint32_t word;
		uint64_t va, next;
		uint32_t has;
		uint64_t events;
		uint8_t op_class, op;
		uint16_t source, xlat;
	} steps[] = {
		{ load_x0, 0x8000, 0, all | HAS_VA | HAS_PA | HAS_XLAT | HAS_SOURCE,
		  memory | miss | EV(TLB_WALK), SPE_OP_LDST, 0, SOURCE_DRAM, 6 + 20 + 1000 },
		{ load_x0, 0x8040, 0, all | HAS_VA | HAS_PA | HAS_XLAT | HAS_SOURCE, memory | miss,
		  SPE_OP_LDST, 0, SOURCE_DRAM, 1 },
		{ load_x0, 0x8000, 0, all | HAS_VA | HAS_PA | HAS_XLAT | HAS_SOURCE, memory,
		  SPE_OP_LDST, 0, SOURCE_L1, 1 },
		{ store_x3, 0x8000, 0, all | HAS_VA | HAS_PA | HAS_XLAT, memory, SPE_OP_LDST, 1, 0,
		  1 },
		{ add_x0, 0, 0, all, EV(RETIRED), SPE_OP_OTHER, 0, 0, 0 },
		{ branch_if_x0, 0, 0, all | HAS_TARGET, EV(RETIRED) | EV(NOT_TAKEN), SPE_OP_BRANCH,
		  1, 0, 0 },
		{ 0xd65f03c0, 0, PC, all | HAS_TARGET, EV(RETIRED) | EV(MISPREDICTED),
		  SPE_OP_BRANCH, 2, 0, 0 },
	};

	(void)state;
	rig_init(&rig);
	for (size_t i = 0; i < COUNT(steps); i++) {
		uint64_t pc = rig.pc;
		const struct spe_record *r;

		core_wait_until(&rig.core, core_cycle(&rig.core) + 100000);
		execute(&rig, steps[i].word, steps[i].va, steps[i].next);
		assert_int_equal(rig.n, i + 1);
		r = &rig.records[i];
		assert_int_equal(r->has, steps[i].has);
		assert_int_equal(r->events, steps[i].events);
		assert_int_equal(r->pc, pc);
		assert_int_equal(r->op_class, steps[i].op_class);
		assert_int_equal(r->op, steps[i].op);
		if (r->has & HAS_SOURCE)
			assert_int_equal(r->source, steps[i].source);
		if (r->has & HAS_XLAT)
			assert_int_equal(r->xlat, steps[i].xlat);
		if (r->has & HAS_VA)
			assert_int_equal(r->va, steps[i].va);
		if (r->has & HAS_TARGET)
			assert_int_equal(r->target, steps[i].next != 0 ? steps[i].next : pc + 4);
	}
	rig_release(&rig);
}

/* Counters of twelve bits stay at their end. */
static void latencies_saturate(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.params.dram_cycles = 6000;
	memory_release(&rig.memory);
	memory_init(&rig.memory, &rig.params, rig.counts);
	execute(&rig, load_x0, 0x8000, 0);
	assert_int_equal(rig.records[0].total, 4095);
	assert_int_equal(rig.records[0].xlat, 4095);
	assert_int_equal(rig.records[0].issue, 4);
	rig_release(&rig);
}

/* An access over the end of a line needs both lines. */
static void lines_are_crossed(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	execute(&rig, load_x0, 0x803c, 0);
	assert_int_equal(rig.counts[0].n[COUNT_L1D_CACHE_RD], 2);
	assert_int_equal(rig.counts[0].n[COUNT_UNALIGNED_LD_SPEC], 1);
	execute(&rig, load_x0, 0x8000, 0);
	assert_int_equal(rig.counts[0].n[COUNT_L1D_CACHE_RD], 3);
	assert_int_equal(rig.counts[0].n[COUNT_UNALIGNED_LD_SPEC], 1);
	rig_release(&rig);
}

enum { N_EXECUTIONS = 1000 };

/* An instruction that is executed again and again, so many times as many of it, and the cycles. */
static const struct {
	uint32_t word, instructions; /* in thousandths */
	uint64_t least, most;	     /* cycles */
} others[] = {
	{ add_x0, 1000, 500, 510 }, /* two are dispatched in a cycle */
	{ add_x0, 2000, 1000, 1010 },
	{ add_x0, 500, 230, 270 },
	{ add_x0, 16000, 7990, 8010 },
	{ add_x0_x0, 1000, 1000, 1010 }, /* each waits for the one before */
	{ add_x0_x0, 2000, 1000, 1010 },
	{ add_x0_x0, 250, 220, 280 },
	{ multiply_x0_x0, 1000, 3000, 3010 },
	{ multiply_x0_x0, 2000, 3000, 3010 },
	{ multiply_x0_x0, 4000, 4000, 4010 }, /* one unit multiplies */
};

static void other_instructions_take_other_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(others); i++) {
		const struct ideal ideal = { .bits = IDEAL_INSTRUCTIONS,
					     .instructions = others[i].instructions };
		struct rig rig;

		rig_init(&rig);
		rig.core.ideal = &ideal;
		for (size_t k = 0; k < N_EXECUTIONS; k++)
			execute(&rig, others[i].word, 0, 0);
		print_message("%x %u: %" PRIu64 "\n", others[i].word, others[i].instructions,
			      core_cycle(&rig.core));
		assert_in_range(rig.core.last_retire, others[i].least, others[i].most);
		assert_int_equal(rig.counts[0].n[COUNT_INST_RETIRED], N_EXECUTIONS);
		rig_release(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(translation_overlaps_with_the_first_level),
		cmocka_unit_test(dispatch_is_two_a_cycle),
		cmocka_unit_test(chains_wait_for_their_sources),
		cmocka_unit_test(units_do_one_thing_at_a_time),
		cmocka_unit_test(bases_do_not_wait_for_data),
		cmocka_unit_test(independent_loads_overlap),
		cmocka_unit_test(misses_hold_the_queue),
		cmocka_unit_test(a_chase_waits_for_each_load),
		cmocka_unit_test(loads_wait_for_stores_of_their_bytes),
		cmocka_unit_test(atomics_wait_for_what_comes_before),
		cmocka_unit_test(acquires_wait_for_releases),
		cmocka_unit_test(exclusive_stores_need_their_line),
		cmocka_unit_test(mispredictions_restart_the_fetch),
		cmocka_unit_test(reports_what_spe_would),
		cmocka_unit_test(latencies_saturate),
		cmocka_unit_test(lines_are_crossed),
		cmocka_unit_test(other_instructions_take_other_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
