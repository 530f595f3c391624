/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes instructions to memory: AArch64, x86-64, 32-bit Arm (A32). What is written are functions,
 * void (unsigned long n, const void *data).
 *
 * Bodies leave n and data alone. Functions that call others begin with emit_enter().
 */
#ifndef CYCLOPS_KERNEL_LOOPS_EMIT_H
#define CYCLOPS_KERNEL_LOOPS_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/loops/microbenchmark.h"

typedef void emitted_function(unsigned long n, const void *data);

/* Where the next instruction goes. The caller sees to it that there is room. */
struct emitter {
	uint8_t *at;
	unsigned architecture; /* one of ON_AARCH64 … */
};

/* What a function needs that calls others. */
void emit_enter(struct emitter *);

/* Returns from a function that emit_enter() began. */
void emit_leave(struct emitter *);

/* Returns from a function that calls none. */
void emit_return(struct emitter *);

void emit_jump(struct emitter *, const uint8_t *target);
void emit_call(struct emitter *, const uint8_t *target);

/* Calls the function whose address is at `data`, and makes data point to the next one: two instructions. */
void emit_call_next(struct emitter *);

/* Makes emit_branch() with is_taken branch, and without fall through: one instruction. */
void emit_compare(struct emitter *);
void emit_branch(struct emitter *, const uint8_t *target, bool is_taken);

/* A cache line of moves of constants to registers: 16 instructions, 7 on x86. */
void emit_line_of_moves(struct emitter *);

/*
 * The end of a loop: three instructions, a branch that is not taken and one that is, until n has been
 * counted down to 0.
 */
void emit_loop_end(struct emitter *, const uint8_t *start);

/* Makes what was written executable. */
void emit_done(void *memory, size_t size);

#endif
