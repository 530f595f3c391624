/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an iteration of a loop waits for in the iteration before: the longest way through registers,
 * and through memory that is stored and loaded at one place, with the latencies that were measured.
 */
#ifndef CYCLOPS_BOTTLENECK_CHAIN_H
#define CYCLOPS_BOTTLENECK_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction of A64 in the body of a loop, in order. */
struct loop_insn {
	uint32_t word;
	double latency; /* cycles from issue to result */
	bool is_rare;	/* most iterations do without it */
};

enum { CHAIN_MOST_INSNS = 1024 };

/*
 * Cycles for each iteration that the loop takes at least, if nothing but results limits it. Of each
 * instruction `parts` (of `n`) gets what it has of that: 0 if it is not on the longest way. Returns 0
 * and leaves `parts` 0 if nothing is carried around the loop, if it calls, is longer than
 * CHAIN_MOST_INSNS, or has words that are not known.
 */
double chain_find(const struct loop_insn *, size_t n, double *parts);

/*
 * The same if what the loop stores at a place that does not change, and loads again, were in registers.
 * `is_slot` (of `n`) says which instructions are such loads and stores.
 */
double chain_find_in_registers(const struct loop_insn *, size_t n, bool *is_slot);

/* MOV between general registers: the value goes on as it is. */
bool chain_is_copy(uint32_t word);

/* How the address of an access moves from iteration to iteration. */
enum address_move {
	ADDRESS_NONE,	  /* it is no access */
	ADDRESS_FIXED,	  /* the same in each */
	ADDRESS_STEPS,	  /* the same distance in each: `step`, if it is known */
	ADDRESS_COMPUTED, /* a calculation, of nothing that is loaded in the loop */
	ADDRESS_LOADED,	  /* something that is loaded in the loop */
};

/* What a value keeps of one that was loaded. */
enum link_kind {
	LINK_NONE,   /* more goes into it than that and what the loop leaves as it is */
	LINK_SCALED, /* multiplied, added to something that the loop leaves as it is */
	LINK_PLAIN,  /* unchanged, or some bits of it */
};

struct loop_address {
	enum address_move move;
	bool knows_step;
	int64_t step; /* bytes */
	int64_t times; /* … and so many times the register `step_reg` as it is before the loop; then
			  knows_step is not set */
	uint8_t step_reg;

	/* ADDRESS_LOADED, and the base or the whole address is a link: a pointer or an index. */
	bool is_link;
	uint64_t
		inputs; /* registers that the loop leaves as they are and that are added to it, after
			    all other calculations: bit n of n */

	uint8_t base;	 /* register that the address begins with */
	bool has_offset; /* … and with `offset` ends: of two with one base the distance is known */
	int64_t offset;
};

/* Of each instruction. `out` is all ADDRESS_NONE where chain_find() gives up. */
void chain_addresses(const struct loop_insn *, size_t n, struct loop_address *out);

/*
 * By how much a register differs from iteration to iteration when the instruction `at` of the loop
 * is reached. False: not known, or it does not step.
 */
bool chain_register_step(const struct loop_insn *, size_t n, size_t at, unsigned reg,
			 int64_t *out_step);

/* The mean latencies of a loop's calculations where none was measured. */
enum { CHAIN_LATENCY_ALU = 1, CHAIN_LATENCY_LOAD = 4 };

#endif
