/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch prediction. Conditional branches: a tournament of a bimodal and a gshare predictor
 * (McFarling, 1993), with two-bit counters. Indirect branches: a table of targets, by address and
 * recent targets. Returns: a return stack. Taken branches: a table of known addresses (branch
 * target buffer).
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
	uint32_t n_returns;			    /* entries of the return stack; any number */
	uint8_t *by_address, *by_history, *chooser; /* bimodal, gshare; high: use gshare */
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
	PREDICTED,    /* fetch went on at the right address */
	RESTEERED,    /* a taken branch that was not known before decode: a short bubble */
	MISPREDICTED, /* the pipeline is flushed when the branch executes */
};

/* Predicts a branch after which the program goes on at `next`, and trains the tables. */
enum prediction predictor_branch(struct predictor *, const struct insn *, uint64_t next);

#endif
