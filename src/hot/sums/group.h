/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From raw groups (by place, source … as scanned) to the groups of the answer (by function, line
 * …). Also adds up what callers cost including their callees.
 */
#ifndef CYCLOPS_HOT_SUMS_GROUP_H
#define CYCLOPS_HOT_SUMS_GROUP_H

#include "hot/sums/sums.h"
#include "hot/sums/view.h"
#include "keys/keys.h"
#include "table/table.h"

/* Words that identify a group: its event, then those of the keys. */
enum { HOT_GROUP_WORDS = 1 + N_KEYS * KEY_MAX_WORDS };

/* A group of the answer. */
struct hot_group {
	struct hot_cost cost;
	uint64_t operations; /* that SPE records stand for; 0: not known */
	uint64_t time;	     /* of COMMIT_TIME_WHOLE, if view->time */
	uint64_t inclusive;  /* weight of records that have it anywhere in their call chain */
	uint32_t last_raw;   /* number + 1 of the raw group that was added to `inclusive` last */
};

/* The groups of code at a place, for an event. Frames come back to the same places all the time. */
struct hot_place_groups {
	uint32_t event; /* number + 1; 0: not known yet */
	uint32_t group,
		outer; /* that of the code; and that of what it is inlined into, or the same */
};

struct hot_grouping {
	const struct hot *hot;
	const struct hot_view *view;
	const struct names *names;
	size_t n_words;
	struct tuples keys; /* by number of the group */
	uint32_t last;	    /* the group that was asked for last: the next one often is the same */
	VEC_OF(struct hot_group) groups;
	VEC_OF(uint64_t) slices; /* weight by group and slice, if time is sliced */
	uint64_t *weights;	 /* by event: weight of all records */
	uint64_t *full;		 /* by event: the part of it by saturated latency counters */
	uint64_t each;		 /* operations that an SPE record stands for */
	bool has_own_intervals;	 /* it differs between CPUs: DIM_CPU is a dimension instead */
	bool has_chains;	 /* call chains were recorded, and all keys are of code */
	struct hot_place_groups *of_places; /* by place, with chains: those found last */
	size_t n_left_out;		    /* groups that hot_grouping_init_first() has not made */
};

/* Groups all raw groups of a result. All arguments are borrowed. */
void hot_grouping_init(struct hot_grouping *, const struct hot *, const struct names *,
		       const struct hot_view *);
void hot_grouping_release(struct hot_grouping *);

/*
 * The same for who shows the first view->top rows only: of very many groups those that cannot be among them may be left
 * out. The weights of all records are those of all groups nevertheless.
 */
void hot_grouping_init_first(struct hot_grouping *, const struct hot *, const struct names *,
			     const struct hot_view *);

/* Weight of records of an event in this view, and the part of it by saturated latency counters. */
uint64_t hot_weight(const struct hot_grouping *, uint64_t event, const struct hot_cost *);
uint64_t hot_full_weight(const struct hot_grouping *, uint64_t event, const struct hot_cost *);

/* The words of the group that a raw key belongs to. */
void hot_words(const struct hot_grouping *, const uint64_t *raw, uint64_t *words);

/* With chains: the group of code at a place of the raw key's chain, or at its own. */
uint32_t hot_group_at_place(struct hot_grouping *, const uint64_t *raw, uint64_t place);

/* With chains: goes through all raw groups with their chains, in any order. Zeroed, at the start. */
struct hot_chain_position {
	uint32_t group;
	struct spool_position chains;
};

/* The next one; false behind the last. The group is zeroed before the first call, and to be released. */
bool hot_chain_next(const struct hot *, struct hot_chain_position *, struct chained_group *);

/* Makes inlined code that of the function that it is inlined into. False if there is none. */
bool hot_words_of_outer(const struct hot_grouping *, uint64_t *words);

/* Orders the words of two groups of one event by the names they stand for, not by ids. */
int hot_words_compare(const struct hot_grouping *, const uint64_t *a, const uint64_t *b);

/*
 * The numbers of all groups by event, then by weight descending, then by name. If slices of time
 * are the key, they stay in order of time. To be freed.
 */
uint32_t *hot_grouping_order(const struct hot_grouping *);

/* The same of the first `top` groups of each event at least, 0: of all; there may be more behind them. */
uint32_t *hot_grouping_first(const struct hot_grouping *, size_t top, size_t *out_n);

/* The function that code was inlined from: behind the other columns of a table by function. */
extern const struct column hot_inlined_column;

/* Sets a cell of a row by the name of its column, if the table has that. */
void hot_table_set(struct table *, struct cell *row, const char *column, struct cell);

/* The cells of the keys of a group in a row of the table. */
void hot_show_keys(const struct hot_grouping *, const uint64_t *words, struct table *,
		   struct cell *row);

#endif
