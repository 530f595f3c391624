/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the answer: groups of a scan (addr.h) by what --by says, and their columns. */
#ifndef CYCLOPS_ADDR_ROWS_H
#define CYCLOPS_ADDR_ROWS_H

#include "addr/answer.h"
#include "session/names.h"

enum { ADDR_ROW_WORDS = 4, ADDR_MAX_COLUMNS = 40 };

/* What rows are made from. Borrowed. */
struct addr_source {
	const struct addr *addr;
	const struct addr_objects *objects;  /* for rows by object, type, field */
	const struct names *names;	     /* of places, for rows by instruction and offset */
	struct type_id window_type;	     /* for rows by offset: of an element; 0: not known */
	struct strings *strings;	     /* for paths of members: filled here */
	const struct data_names *page_names; /* by group, for rows by page and line */
	uint64_t line_bytes;		     /* of a cache line */
	struct type_id only_type; /* for rows by field: only objects of this type; 0: all */
	bool has_intervals;	  /* the number of operations that a record stands for is known */
};

/* Row i: the groups with the same words, see struct view in rows.c, and their sums. */
struct addr_rows {
	const struct addr_source *source;
	enum addr_by by;
	struct tuples keys;
	VEC_OF(struct addr_sums) sums;
	VEC_OF(struct addr_pattern) patterns;
	VEC_OF(uint32_t) groups; /* by row: its first group */
	VEC_OF(uint64_t) slices; /* records by row and slice, if time is sliced */
	struct addr_sums total;
};

void addr_rows_init(struct addr_rows *, const struct addr_source *, enum addr_by);
void addr_rows_release(struct addr_rows *);

/* The weight of sums: latency cycles, or records if no record of the capture has a latency. */
uint64_t addr_weight(const struct addr_rows *, const struct addr_sums *);

/* Fills `out` with the sorted rows. Fails if there is no column request->sort. */
int addr_rows_table(const struct addr_rows *, const struct addr_request *, struct table *out,
		    struct err *);

/* The table "splits": structs of which only few members are used much. From rows by field. */
void addr_splits_table(const struct addr_rows *, struct table *out);

#endif
