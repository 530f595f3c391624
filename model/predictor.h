/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch prediction. Conditional branches: two tables of two-bit counters, one by address and
 * one by address and recent outcomes, and a third that learns which of the two is right.
 * Indirect branches: targets by address and recent targets. Returns: a stack.
 */
#ifndef CYCLOPS_MODEL_PREDICTOR_H
#define CYCLOPS_MODEL_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/insn.h"
#include "model/params.h"

struct predictor {
	uint32_t conditional_mask, target_mask, indirect_mask;
	uint32_t history_mask;
	uint32_t n_returns; /* of the stack; a power of two is not needed */
	uint8_t *by_address, *by_history, *chooser;
	uint64_t *known_branches; /* addresses of taken branches whose target is known */
	uint64_t *indirect_targets;
	uint64_t *returns;
	uint32_t return_top;
	uint32_t history;	 /* outcomes of conditional branches, newest in bit 0 */
	uint32_t target_history; /* of indirect branches */
};

void predictor_init(struct predictor *, const struct params *);
void predictor_release(struct predictor *);

enum prediction {
	PREDICTED,    /* the fetch went on at the right place */
	RESTEERED,    /* decoding found a taken branch nobody knew of: a short bubble */
	MISPREDICTED, /* what was fetched is thrown away when the branch is executed */
};

/* Predicts a branch that goes on at `next`, and learns from it. */
enum prediction predictor_branch(struct predictor *, const struct insn *, uint64_t next);

#endif
