/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/batch.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Of `n` rows from one on. Without decisions: a number of rows that the compiler knows is looked at side by side. */
static inline bool are_all(const struct batch *b, size_t from, size_t n, uint32_t has,
			   uint8_t op_class)
{
	uint32_t all_have = UINT32_MAX;
	uint8_t differing = 0;

	for (size_t i = 0; i < n; i++)
		all_have &= b->has[from + i];
	for (size_t i = 0; i < n; i++)
		differing |= b->op_class[from + i] ^ op_class;
	return (all_have & has) == has && differing == 0;
}

bool batch_all_are(const struct batch *b, uint32_t has, uint8_t op_class)
{
	enum { BLOCK = 64 };
	size_t row = 0;
	bool are = true;

	for (; row + BLOCK <= b->n; row += BLOCK)
		are &= are_all(b, row, BLOCK, has, op_class);
	return are && are_all(b, row, b->n - row, has, op_class);
}

struct batch *batch_new(void)
{
	struct batch *b = mem_alloc(1, sizeof(*b));

	b->words.items = NULL;
	b->words.n = b->words.cap = 0;
	vec_reserve(&b->words, 1); /* empty slices need an address, too */
	batch_reset(b, BATCH_SPE);
	return b;
}

void batch_free(struct batch *b)
{
	if (b == NULL)
		return;
	vec_release(&b->words);
	free(b);
}

void batch_reset(struct batch *b, enum batch_kind kind)
{
	b->kind = kind;
	b->n = 0;
	b->words.n = 0;
}

static void move_common(struct batch *b, size_t to, size_t from)
{
	b->has[to] = b->has[from];
	b->position[to] = b->position[from];
	b->pc[to] = b->pc[from];
	b->va[to] = b->va[from];
	b->pa[to] = b->pa[from];
	b->time_ns[to] = b->time_ns[from];
	b->cpu[to] = b->cpu[from];
	b->pid[to] = b->pid[from];
	b->tid[to] = b->tid[from];
	b->process[to] = b->process[from];
	b->place[to] = b->place[from];
	b->frame[to] = b->frame[from];
	b->caller[to] = b->caller[from];
}

static void move_spe(struct batch *b, size_t to, size_t from)
{
	b->target[to] = b->target[from];
	b->prev_target[to] = b->prev_target[from];
	b->ticks[to] = b->ticks[from];
	b->events[to] = b->events[from];
	b->context[to] = b->context[from];
	b->total[to] = b->total[from];
	b->issue[to] = b->issue[from];
	b->xlat[to] = b->xlat[from];
	b->source[to] = b->source[from];
	b->op_class[to] = b->op_class[from];
	b->op[to] = b->op[from];
	b->level[to] = b->level[from];
	b->va_tag[to] = b->va_tag[from];
}

static void move_branch(struct batch *b, size_t to, size_t from)
{
	b->target[to] = b->target[from];
	b->events[to] = b->events[from];
	b->op_class[to] = b->op_class[from];
	b->op[to] = b->op[from];
	b->branch_cycles[to] = b->branch_cycles[from];
	b->branch_flags[to] = b->branch_flags[from];
	b->branch_position[to] = b->branch_position[from];
	b->event[to] = b->event[from];
	b->mode[to] = b->mode[from];
}

static void move_sample(struct batch *b, size_t to, size_t from)
{
	b->event[to] = b->event[from];
	b->mode[to] = b->mode[from];
	b->period[to] = b->period[from];
	b->weight[to] = b->weight[from];
	b->data_src[to] = b->data_src[from];
	b->weight2[to] = b->weight2[from];
	b->weight3[to] = b->weight3[from];
	b->stack[to] = b->stack[from];
	b->branches[to] = b->branches[from];
	b->user_stacks[to] = b->user_stacks[from];
	b->register_mask[to] = b->register_mask[from];
	b->registers[to] = b->registers[from];
}

static void batch_move_row(struct batch *b, size_t to, size_t from)
{
	move_common(b, to, from);
	switch (b->kind) {
	case BATCH_SPE:
		move_spe(b, to, from);
		break;
	case BATCH_SAMPLES:
	case BATCH_READINGS:
		move_sample(b, to, from);
		break;
	case BATCH_BRANCHES:
		move_branch(b, to, from);
		break;
	}
}

void batch_keep(struct batch *b, const bool keep[BATCH_ROWS])
{
	size_t kept = 0;

	for (size_t row = 0; row < b->n; row++) {
		if (!keep[row])
			continue;
		if (kept != row)
			batch_move_row(b, kept, row);
		kept++;
	}
	b->n = kept;
}
