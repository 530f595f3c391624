/* SPDX-License-Identifier: Apache-2.0 */
/* Branches that are always the same, jumps that lead anywhere, branches that nobody can predict. */
#include <limits.h>
#include <stdlib.h>

#include "base/pointer_ring.h"
#include "base/random.h"
#include "kernel/loops/emit.h"
#include "kernel/loops/inside.h"

enum { SPACING_LEAST = 16, SPACING_MOST = 1 << 16, BRANCHES_MOST = 1 << 20 };

/* Each branch leads to the next one, taken or not. The first follows the comparison. */
static int prepare_branches(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[BRANCHES], spacing = r->values[SPACING];
	struct emitter e = { .architecture = MICROBENCHMARK_ARCHITECTURE };
	uint8_t *start;

	if (run_take_code(r, n * spacing + LINE_BYTES, err) < 0)
		return -1;
	start = r->memory;
	e.at = start;
	emit_compare(&e);
	for (size_t i = 0; i < n; i++) {
		uint8_t *next = start + (i + 1) * spacing;

		/* what is between two branches that fall through would be executed */
		emit_branch(&e, next, r->values[TAKEN] != 0);
		if (r->values[TAKEN] != 0)
			e.at = next;
	}
	emit_loop_end(&e, start);
	emit_return(&e);
	emit_done(r->memory, r->memory_bytes);
	return 0;
}

/* The jumps visit their places in the order of a permutation. */
static int prepare_jumps(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[BRANCHES], spacing = r->values[SPACING];
	uint64_t *order;
	uint8_t *start, *end;
	struct emitter e = { .architecture = MICROBENCHMARK_ARCHITECTURE };

	if (run_take_code(r, (n + 1) * spacing + LINE_BYTES, err) < 0)
		return -1;
	start = r->memory;
	end = start + n * spacing;
	/* one block of each number is their natural order, but for the blocks' */
	order = r->values[RANDOM] != 0 ? random_order(n, 0, 0) : NULL;
	for (size_t i = 0; i < n; i++) {
		size_t here = order != NULL ? order[i] : i;
		size_t next = i + 1 == n ? n : order != NULL ? order[i + 1] : i + 1;

		e.at = start + here * spacing;
		emit_jump(&e, start + next * spacing);
	}
	e.at = end;
	emit_loop_end(&e, start + (order != NULL ? order[0] : 0) * spacing);
	emit_return(&e);
	r->position = start + (order != NULL ? order[0] : 0) * spacing;
	free(order);
	emit_done(r->memory, r->memory_bytes);
	return 0;
}

static void run_jumps(struct microbenchmark_run *r)
{
	((emitted_function *)(uintptr_t)r->position)(r->values[ITERATIONS], NULL);
}

/* A table of addresses of functions that only return, and the loop that calls them. */
static int prepare_indirect(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[BRANCHES], spacing = r->values[SPACING],
	       n_targets = r->values[TARGETS];
	size_t table_bytes = (n * sizeof(void *) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	uint64_t state = 1;
	uint8_t *functions;
	const uint8_t **table;
	struct emitter e = { .architecture = MICROBENCHMARK_ARCHITECTURE };

	if (run_take_memory(r, table_bytes + PAGE_BYTES + n_targets * spacing, true, err) < 0)
		return -1;
	table = r->memory;
	r->position = (char *)r->memory + table_bytes;
	functions = (uint8_t *)r->position + PAGE_BYTES;
	for (size_t i = 0; i < n_targets; i++) {
		e.at = functions + i * spacing;
		emit_return(&e);
	}
	for (size_t i = 0; i < n; i++)
		table[i] = functions + random_below(&state, n_targets) * spacing;
	e.at = r->position;
	emit_enter(&e);
	functions = e.at; /* the start of the loop */
	emit_call_next(&e);
	emit_loop_end(&e, functions);
	emit_leave(&e);
	emit_done(r->memory, r->memory_bytes);
	return 0;
}

static void run_indirect(struct microbenchmark_run *r)
{
	emitted_function *loop = (emitted_function *)(uintptr_t)r->position;

	for (uint64_t left = r->values[ITERATIONS], n; left > 0; left -= n) {
		n = left < r->values[BRANCHES] ? left : r->values[BRANCHES];
		loop((unsigned long)n, r->memory);
	}
}

static uint64_t round_of_branches(const uint64_t values[N_PARAMETERS])
{
	return values[BRANCHES];
}

/* Of linear congruential generators (Knuth; Numerical Recipes), whose high bits are random enough. */
#if ULONG_MAX > UINT32_MAX
#define RANDOM_FACTOR 6364136223846793005ul
#define RANDOM_STEP 1442695040888963407ul
#else
#define RANDOM_FACTOR 1664525ul
#define RANDOM_STEP 1013904223ul
#endif

/*
 * A branch on a high bit of a random number, or on 0. The next number is computed of this one meanwhile, and
 * takes about as long as the comparison and the branch: what a misprediction costs more is what it takes to
 * fetch and issue again.
 */
static void run_random_branch(struct microbenchmark_run *r)
{
	unsigned long n = r->values[ITERATIONS], state = 0x9e3779b9, t = 0;
	unsigned long mask = r->values[RANDOM] != 0 ? ~(~0ul >> 1) >> 1 : 0;

	__asm__ volatile(LOOP_START BY_ARCHITECTURE("tst %[s], %[mask]\n"
						    "mul %[s], %[s], %[a]\n"
						    "add %[s], %[s], %[c]\n"
						    "b.eq 2f\n"
						    "nop\n"
						    "2:\n",
						    "mov %[s], %[t]\n"
						    "imul %[a], %[s]\n"
						    "add %[c], %[s]\n"
						    "test %[mask], %[t]\n"
						    "jz 2f\n"
						    "nop\n"
						    "2:\n",
						    "tst %[s], %[mask]\n"
						    "mul %[s], %[a], %[s]\n"
						    "add %[s], %[s], %[c]\n"
						    "beq 2f\n"
						    "nop\n"
						    "2:\n") LOOP_END
			 : [s] "+r"(state), [n] "+r"(n), [t] "+r"(t)
			 : [mask] "r"(mask), [a] "r"(RANDOM_FACTOR), [c] "r"(RANDOM_STEP)
			 : "cc");
}

const struct microbenchmark microbenchmark_branches = {
	.name = "branches",
	.iteration = "all conditional branches, each taken or none",
	.proves = "branches taken and not taken, capacity of branch target buffers",
	.parameters = {
		ITERATIONS_RANGE(10000),
		[BRANCHES] = { 100, 1, BRANCHES_MOST },
		[SPACING] = { 64, SPACING_LEAST, SPACING_MOST, 8 },
		[TAKEN] = { 1, 0, 1 },
	},
	.architectures = ON_ALL,
	.prepare = prepare_branches,
	.run = run_emitted,
};

const struct microbenchmark microbenchmark_jumps = {
	.name = "jumps",
	.iteration = "all unconditional jumps, each to the next one",
	.proves = "jumps, capacity of branch target buffers, instruction cache and TLB together",
	.parameters = {
		ITERATIONS_RANGE(10000),
		[BRANCHES] = { 100, 1, BRANCHES_MOST },
		[SPACING] = { 64, SPACING_LEAST, SPACING_MOST, 8 },
		[RANDOM] = { 0, 0, 1 },
	},
	.architectures = ON_ALL,
	.prepare = prepare_jumps,
	.run = run_jumps,
};

const struct microbenchmark microbenchmark_indirect = {
	.name = "indirect",
	.iteration = "a call of a function that a table of random addresses names, and its return",
	.proves = "indirect branches and their mispredictions; random code with many targets",
	.parameters = {
		ITERATIONS_RANGE(500000),
		[BRANCHES] = { 65536, 1, BRANCHES_MOST },
		[TARGETS] = { 32, 1, 1 << 20 },
		[SPACING] = { 64, SPACING_LEAST, SPACING_MOST, 8 },
	},
	.architectures = ON_ALL,
	.prepare = prepare_indirect,
	.run = run_indirect,
	.round = round_of_branches,
};

const struct microbenchmark microbenchmark_random_branch = {
	.name = "random-branch",
	.iteration = "a branch on a random bit, or on a constant",
	.proves = "mispredicted branches and what they cost",
	.parameters = {
		ITERATIONS_RANGE(500000),
		[RANDOM] = { 1, 0, 1 },
	},
	.architectures = ON_ALL,
	.run = run_random_branch,
};
