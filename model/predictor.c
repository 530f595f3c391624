/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predictor.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { WEAKLY_NOT_TAKEN = 1, WEAKLY_TAKEN = 2, STRONGLY_TAKEN = 3 }; /* two-bit counters */

static uint8_t *new_counters(uint32_t n)
{
	uint8_t *counters = mem_alloc(n, 1);

	memset(counters, WEAKLY_NOT_TAKEN, n);
	return counters;
}

void predictor_init(struct predictor *p, const struct params *params)
{
	*p = (struct predictor){
		.conditional_mask = params->conditional_entries - 1,
		.target_mask = params->target_entries - 1,
		.indirect_mask = params->indirect_entries - 1,
		.history_mask = (uint32_t)(((uint64_t)1 << params->history_bits) - 1),
		.n_returns = params->return_stack,
		.by_address = new_counters(params->conditional_entries),
		.by_history = new_counters(params->conditional_entries),
		.chooser = new_counters(params->conditional_entries),
		.known_branches = mem_zalloc(params->target_entries, sizeof(uint64_t)),
		.indirect_targets = mem_zalloc(params->indirect_entries, sizeof(uint64_t)),
		.returns = mem_zalloc(params->return_stack, sizeof(uint64_t)),
	};
}

void predictor_release(struct predictor *p)
{
	free(p->by_address);
	free(p->by_history);
	free(p->chooser);
	free(p->known_branches);
	free(p->indirect_targets);
	free(p->returns);
	*p = (struct predictor){ 0 };
}

static bool is_high(uint8_t counter)
{
	return counter >= WEAKLY_TAKEN;
}

static void train(uint8_t *counter, bool outcome)
{
	if (outcome && *counter < STRONGLY_TAKEN)
		++*counter;
	else if (!outcome && *counter > 0)
		--*counter;
}

/* Hash of a branch address. */
static uint32_t hash_address(uint64_t address)
{
	return (uint32_t)(address >> 2 ^ address >> 17);
}

static bool predict_condition(struct predictor *p, uint64_t pc, bool is_taken)
{
	uint32_t bimodal = hash_address(pc) & p->conditional_mask;
	uint32_t gshare = (hash_address(pc) ^ p->history * 0x9e3779b1u >> 7) & p->conditional_mask;
	bool bimodal_taken = is_high(p->by_address[bimodal]);
	bool gshare_taken = is_high(p->by_history[gshare]);
	bool predicted = is_high(p->chooser[bimodal]) ? gshare_taken : bimodal_taken;

	if (bimodal_taken != gshare_taken)
		train(&p->chooser[bimodal], gshare_taken == is_taken);
	train(&p->by_address[bimodal], is_taken);
	train(&p->by_history[gshare], is_taken);
	p->history = (p->history << 1 | is_taken) & p->history_mask;
	return predicted == is_taken;
}

static bool predict_indirect(struct predictor *p, uint64_t pc, uint64_t next)
{
	uint32_t slot = (hash_address(pc) ^ p->target_history) & p->indirect_mask;
	bool is_right = p->indirect_targets[slot] == next;

	p->indirect_targets[slot] = next;
	p->target_history = (p->target_history << 3) ^ hash_address(next);
	return is_right;
}

static bool predict_return(struct predictor *p, uint64_t next)
{
	p->return_top = (p->return_top + p->n_returns - 1) % p->n_returns;
	return p->returns[p->return_top] == next;
}

static void push_return(struct predictor *p, uint64_t address)
{
	p->returns[p->return_top] = address;
	p->return_top = (p->return_top + 1) % p->n_returns;
}

/* Was the branch in the target buffer? Adds it. */
static bool look_up_and_add(struct predictor *p, uint64_t pc)
{
	uint64_t *slot = &p->known_branches[hash_address(pc) & p->target_mask];
	bool known = *slot == pc;

	*slot = pc;
	return known;
}

enum prediction predictor_branch(struct predictor *p, const struct insn *in, uint64_t next)
{
	bool is_taken = next != in->pc + 4;
	bool is_right = true;

	switch ((enum insn_branch)in->branch) {
	case BRANCH_DIRECT:
		break;
	case BRANCH_CONDITIONAL:
		is_right = predict_condition(p, in->pc, is_taken);
		break;
	case BRANCH_INDIRECT:
		is_right = predict_indirect(p, in->pc, next);
		break;
	case BRANCH_RETURN:
		is_right = predict_return(p, next);
		break;
	}
	if (in->flags & INSN_CALL)
		push_return(p, in->pc + 4);
	if (!is_right)
		return MISPREDICTED;
	return is_taken && !look_up_and_add(p, in->pc) ? RESTEERED : PREDICTED;
}
