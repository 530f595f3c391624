/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --event: which records hotspots count. A sampled event, or a condition on SPE records and on
 * entries of branch stacks.
 */
#ifndef CYCLOPS_HOT_EVENT_H
#define CYCLOPS_HOT_EVENT_H

#include <stddef.h>

#include "base/err.h"
#include "hot/hot.h"
#include "scan/select.h"
#include "session/names.h"

/* The chosen records. Release with hot_event_release(). */
struct hot_event {
	char *text;		  /* the condition in the language of --select; NULL: none */
	struct select *condition; /* `text`, compiled */
	int sampled;	       /* number of a sampled event, chosen or to compare with; -1: none */
	int branches_of;       /* number of the event whose branch stacks count; -1: of all */
	bool is_spe;	       /* SPE records or branch entries were asked for, not samples */
	bool with_branches;    /* entries of branch stacks are among them */
	bool with_skid;	       /* compare samples of `sampled` with SPE records */
	bool needs_prediction; /* the condition asks whether branches were predicted */
	bool needs_type;       /* the condition asks for the kind of branch */
};

/*
 * Reads the values of --event. Each is a list of terms, separated by commas, and a record must meet
 * all of them. A term is the name of an event of the capture, or an expression of SPE events
 * ("l1d-refill"), kinds of operations ("load") and any tests of --select, with && || ! and
 * parentheses. `against` names a sampled event to compare with; NULL: the event of the capture that
 * counts the same as the SPE event, if there is one.
 */
int hot_event_choose(struct session *, const char *const *values, size_t n, const char *against,
		     struct hot_event *out, struct err *);
void hot_event_release(struct hot_event *);

/* Options for hot_class that count the chosen records, grouped by these dimensions (bits). */
struct hot_options hot_event_options(const struct hot_event *, uint32_t dimensions);

/*
 * If the table is empty: scans again and notes how many SPE records of the whole capture match the
 * event (or, without one, the selection). None may mean that the CPU never records the event.
 */
void hot_event_note_none(struct session *, const struct hot_event *, const struct select *,
			 struct table *);

/* The value of --event that asks for a list of what there is. */
#define HOT_EVENT_LIST "list"

/* Fills the table of all words for --event of which the capture has records. */
void hot_event_list(struct session *, const struct select *, struct table *out);

/* The i-th word of --event that is not the name of an SPE event; NULL behind the last. */
const char *hot_event_word(size_t i);

/*
 * Skid: where the samples of an event fell, beside where SPE records say that it happened. Each
 * group of the keys has its share of both. `hot` has the records of the chosen event.
 */
void hot_skid_table(const struct hot *, const struct hot_event *, const struct names *,
		    const struct keys *, size_t top, struct table *out);

#endif
