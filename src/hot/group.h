/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From raw groups of records to groups with names: places that are called the same become one,
 * callers get what their callees cost. For the files of hot_table() only.
 */
#ifndef CYCLOPS_HOT_GROUP_H
#define CYCLOPS_HOT_GROUP_H

#include "hot/hot.h"
#include "keys/keys.h"

/* Words of a group: its event, then those of the keys. */
enum { HOT_GROUP_WORDS = 1 + N_KEYS * KEY_MAX_WORDS };

/* A group of the answer. */
struct hot_group {
	struct hot_cost cost;
	uint64_t operations; /* that SPE records stand for; 0: not known */
	uint64_t inclusive;  /* weight of records with it anywhere in their call chain */
	uint32_t last_raw;   /* number + 1 of the raw group that `inclusive` has counted last */
};

struct hot_grouping {
	const struct hot *hot;
	const struct hot_view *view;
	const struct names *names;
	size_t n_words;
	struct tuples keys; /* by number of the group */
	VEC_OF(struct hot_group) groups;
	VEC_OF(uint64_t) slices; /* weight by group and slice, if time is sliced */
	uint64_t *weights;	 /* by event: of everything */
	uint64_t *full;		 /* by event: what of it full latency counters show */
	uint64_t each;		 /* operations that an SPE record stands for, unless … */
	bool has_own_intervals;	 /* … that differs between CPUs, which are told apart then */
	bool has_chains;	 /* call chains were recorded, and the keys can tell who called */

	/* With callers: numbers of the raw groups, by the group they became. Of group n … */
	uint32_t *raws;
	uint32_t *first_raw; /* … these are raws[first_raw[n]] to raws[first_raw[n + 1] - 1] */
};

/* Groups everything. All borrowed. */
void hot_grouping_init(struct hot_grouping *, const struct hot *, const struct names *,
		       const struct hot_view *);
void hot_grouping_release(struct hot_grouping *);

/* What records of an event weigh in this view, and what of it full latency counters show. */
uint64_t hot_weight(const struct hot_grouping *, uint64_t event, const struct hot_cost *);
uint64_t hot_full_weight(const struct hot_grouping *, uint64_t event, const struct hot_cost *);

/* The words of the group that a raw key belongs to, or one of its callers at this place. */
void hot_words(const struct hot_grouping *, const uint64_t *raw, uint64_t *words);
void hot_caller_words(const struct hot_grouping *, const uint64_t *raw, uint64_t place,
		      uint64_t *words);

/* Orders the words of two groups of one event by what they name. */
int hot_words_compare(const struct hot_grouping *, const uint64_t *a, const uint64_t *b);

/*
 * The numbers of all groups: by event, heaviest first, then by name; slices of time in their order.
 * Free with free().
 */
uint32_t *hot_grouping_order(const struct hot_grouping *);

/* hot/hot_table.c: the cells of a group in a row of the table. */
void hot_show_keys(const struct hot_grouping *, const uint64_t *words, struct table *,
		   struct cell *row);
void hot_show_sums(const struct hot_grouping *, uint64_t event, const struct hot_cost *,
		   struct table *, struct cell *row);

/* hot/callers.c: appends who called the group of the last row, as a tree below it. */
void hot_show_callers(const struct hot_grouping *, uint32_t group, struct table *);

#endif
