/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of --what-if: "dram,page-walks+dram,l2@main". */
#ifndef CYCLOPS_MODEL_WHAT_IF_LIST_H
#define CYCLOPS_MODEL_WHAT_IF_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

/* One idealisation, or several at the same time. */
struct what_if_item {
	char *name;	       /* as the user typed it */
	uint32_t bits;	       /* enum ideal_bit (model/ideal.h) */
	uint32_t instructions; /* of IDEAL_INSTRUCTIONS, in thousandths */
	char *function;	       /* holds for this function's instructions; NULL: for all */
};

struct what_if_list {
	VEC_OF(struct what_if_item) items; /* without duplicates */
};

/*
 * Reads a list; "all" and "" mean every idealisation. The error suggests a name for an unknown one.
 */
int what_if_list_read(const char *text, struct what_if_list *out, struct err *);
void what_if_list_release(struct what_if_list *);

/* Appends the titles of the idealisations: "DRAM (as fast as LLC)". */
void what_if_title(uint32_t bits, struct text *);

/* Are all of the bits limits that every core has: window, execution units, width, instructions? */
bool what_if_is_core_limit(uint32_t bits);

/* Appends a line for each idealisation: name and title. */
void what_if_names(struct text *);

#endif
