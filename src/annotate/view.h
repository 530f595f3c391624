/* SPDX-License-Identifier: Apache-2.0 */
/* How an annotated function is shown: event columns, tables, the listing. */
#ifndef CYCLOPS_ANNOTATE_VIEW_H
#define CYCLOPS_ANNOTATE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "annotate/annotate.h"
#include "annotate/blocks.h"
#include "base/err.h"
#include "table/table.h"

enum { ANNOTATE_EVENTS = 16 };

/* An event with a column: one of the capture's, or a bit of SPE records. */
struct annotate_event {
	bool is_spe;
	uint32_t number; /* index of the capture's event, or the bit */
};

struct annotate_view {
	struct annotate_event events[ANNOTATE_EVENTS];
	size_t n_events;
	bool shows_all;		  /* cold instructions are shown, too */
	unsigned context;	  /* instructions shown before and after each hot one */
	bool without_source;	  /* no text of source lines */
	bool has_unicode;	  /* arrows may use UTF-8 */
	const struct cfg *blocks; /* borrowed; NULL: not shown */
	const char *symfs;	  /* prefix for source files; NULL: none */
};

/*
 * Adds a column for an event of the capture or an SPE event. Fails if there is none of that name.
 */
int annotate_view_add(struct annotate_view *, const struct session *, const char *name,
		      struct err *);

/* Adds columns for sampled events, then for SPE events that mean a delay, up to three in all. */
void annotate_view_fill(struct annotate_view *, const struct annotation *);

/*
 * The tables of an annotated function; zeroed is empty. `shown` borrows from the others. csv and
 * json show `instructions` with their events and sources; text shows the answer and the listing.
 */
struct annotate_tables {
	struct table answer, function, instructions, events, sources, loops, listing;
	struct tables shown;
};

void annotate_tables_make(const struct annotation *, const struct annotate_view *, bool is_text,
			  struct annotate_tables *out);
void annotate_tables_release(struct annotate_tables *);

/* The part, 0 … 1, that one instruction has of an event's `total`. */
double annotate_share(const struct annotation *, const struct annotate_event *, uint64_t total,
		      size_t instruction);
uint64_t annotate_total(const struct annotation *, const struct annotate_event *);
const char *annotate_event_name(const struct annotation *, const struct annotate_event *);

/* Says which instruction has most; nothing if none has records. */
void annotate_summary(const struct annotation *, struct table *answer);

/* Fills the table of the listing for people. */
void annotate_listing(const struct annotation *, const struct annotate_view *, struct table *out);

/*
 * Arrows from branches to their targets, as a column of text. Row i of `n_rows` shows instruction
 * rows[i]; SIZE_MAX: no instruction. Returns a string for each row, all of the same width. They
 * live in the arena.
 */
const char **annotate_arrows(const struct annotation *, const size_t *rows, size_t n_rows,
			     bool has_unicode, struct arena *);

#endif
