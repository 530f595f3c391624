/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hotspots are of: --event, for sampled events, and for what SPE records or, of branches,
 * entries of branch stacks tell.
 */
#ifndef CYCLOPS_HOT_EVENT_H
#define CYCLOPS_HOT_EVENT_H

#include <stddef.h>

#include "base/err.h"
#include "hot/hot.h"
#include "scan/select.h"
#include "session/names.h"

/* A choice of records, to be released with hot_event_release(). Zeroed is all of them. */
struct hot_event {
	char *text;		  /* the condition on these records in words; NULL: none */
	struct select *condition; /* the same, compiled */
	int sampled;		  /* number of a sampled event, or -1 */
	int branches_of;	  /* number of the one whose branch stacks are meant; -1: all */
	bool is_spe;		  /* SPE records are wanted, or branch entries */
	bool with_branches;	  /* entries of branch stacks, too */
	bool with_skid;		  /* samples are to be compared with SPE records */
	bool needs_prediction;	  /* whether branches were predicted … */
	bool needs_type;	  /* … or of which kind they are has to be known */
};

/*
 * Reads the values of --event. Each is a list of terms with commas between them, and a record
 * must meet them all: the name of an event of the capture; an SPE event ("l1d-refill") or a
 * kind of operation ("load"), joined by && || ! and parentheses as in --select, of which all
 * tests are allowed too. `against` (NULL: the event that counts the same, if the capture has
 * it) is a sampled event to be shown beside.
 */
int hot_event_choose(struct session *, const char *const *values, size_t n, const char *against,
		     struct hot_event *out, struct err *);
void hot_event_release(struct hot_event *);

/* What hotspots of these dimensions (bits of enum dimension) are to count for the choice. */
struct hot_options hot_event_options(const struct hot_event *, uint32_t dimensions);

/*
 * If the table of the chosen records is empty, notes whether any SPE record of the whole capture
 * has the event, or matches the selection if there is no event: what a CPU never records is not
 * what never happened.
 */
void hot_event_note_none(struct session *, const struct hot_event *, const struct select *,
			 struct table *);

/* The value of --event that asks for a list of what there is. */
#define HOT_EVENT_LIST "list"

/* Fills the table of everything that --event can name and the capture has records of. */
void hot_event_list(struct session *, const struct select *, struct table *out);

/* Words that --event knows besides the names of SPE events; NULL behind the last. */
const char *hot_event_word(size_t i);

/*
 * How far samples of an event fall from where SPE records say that it happened: for each group
 * of the keys its share of both. `hot` has the records of the chosen event.
 */
void hot_skid_table(const struct hot *, const struct hot_event *, const struct names *,
		    const struct keys *, size_t top, struct table *out);

#endif
