/* SPDX-License-Identifier: Apache-2.0 */
/* What --what-if asks for: "dram,page-walks+dram,l2@main". */
#ifndef CYCLOPS_MODEL_WHAT_IF_LIST_H
#define CYCLOPS_MODEL_WHAT_IF_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

/* One experiment: what is perfect at the same time, and for whose instructions. */
struct what_if_item {
	char *name;	/* as it was asked for */
	uint32_t bits;	/* enum ideal_bit (model/ideal.h) */
	char *function; /* NULL: the whole program */
};

struct what_if_list {
	VEC_OF(struct what_if_item) items; /* none twice */
};

/* Reads a list; "all" and "" stand for every idealisation. An unknown name gives the nearest right one. */
int what_if_list_read(const char *text, struct what_if_list *out, struct err *);
void what_if_list_release(struct what_if_list *);

/* What the bits stand for, in words: "DRAM (as fast as LLC)". */
void what_if_title(uint32_t bits, struct text *);

/* Is only what limits every core perfect? */
bool what_if_is_core_limit(uint32_t bits);

/* Every idealisation: a line each, of its name and what it stands for. */
void what_if_names(struct text *);

#endif
