/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch's rows say, for comparisons: absent fields are zero. */
#ifndef TESTS_UNIT_SPE_ROWS_H
#define TESTS_UNIT_SPE_ROWS_H

#include <stdint.h>

#include "batch/batch.h"

/* The members are those of struct batch; without gaps, so that rows compare as memory. */
struct row {
	uint64_t position;
	uint64_t pc, target, prev_target, va, pa, ticks, events;
	uint32_t has, context;
	uint16_t total, issue, xlat, source;
	uint8_t op_class, op, level, va_tag;
	uint32_t gap;
};

static inline struct row row_of(const struct batch *b, size_t i)
{
	uint32_t has = b->has[i];

	return (struct row){
		.position = b->position[i],
		.pc = has & HAS_PC ? b->pc[i] : 0,
		.target = has & HAS_TARGET ? b->target[i] : 0,
		.prev_target = has & HAS_PREV_TARGET ? b->prev_target[i] : 0,
		.va = has & HAS_VA ? b->va[i] : 0,
		.pa = has & HAS_PA ? b->pa[i] : 0,
		.ticks = has & HAS_TICKS ? b->ticks[i] : 0,
		.events = has & HAS_EVENTS ? b->events[i] : 0,
		.has = has,
		.context = has & HAS_CONTEXT ? b->context[i] : 0,
		.total = has & HAS_TOTAL ? b->total[i] : 0,
		.issue = has & HAS_ISSUE ? b->issue[i] : 0,
		.xlat = has & HAS_XLAT ? b->xlat[i] : 0,
		.source = has & HAS_SOURCE ? b->source[i] : 0,
		.op_class = has & HAS_OP ? b->op_class[i] : 0,
		.op = has & HAS_OP ? b->op[i] : 0,
		.level = b->level[i],
		.va_tag = has & HAS_VA ? b->va_tag[i] : 0,
	};
}

#endif
