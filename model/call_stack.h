/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that are under way on a CPU, for the call chains of samples: of the calls and returns that
 * were executed, as a shadow stack has them. Guest registers and memory are not read. A thread's calls
 * are a path in a tree of all calls so far, so that an older instruction can be asked for its calls, too.
 */
#ifndef CYCLOPS_MODEL_CALL_STACK_H
#define CYCLOPS_MODEL_CALL_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/tuples.h"
#include "base/vec.h"
#include "model/insn.h"

enum { CALL_CHAIN_MOST = 127 }; /* frames, as the kernel's default */

struct call_stack {
	struct tuples calls; /* caller (number + 1; 0: none), return address */
	uint32_t at;	     /* the innermost call (number + 1) of the thread that runs */
	const void *thread;
	VEC_OF(struct {
		const void *thread;
		uint32_t at;
	})
	others; /* threads that ran before */
};

void call_stack_init(struct call_stack *);
void call_stack_release(struct call_stack *);

/* A thread runs from now on. */
void call_stack_switch(struct call_stack *, const void *thread);

/* A branch that retired, and what runs next. */
void call_stack_see(struct call_stack *, const struct insn *, uint64_t next_pc);

/*
 * The chain of a sample at `pc` where the innermost call was `at`, as the kernel writes it: a marker, the
 * sampled instruction, return addresses from the inner ones on. Returns how many words.
 */
size_t call_stack_read(const struct call_stack *, uint32_t at, uint64_t pc,
		       uint64_t out[CALL_CHAIN_MOST + 1]);

#endif
