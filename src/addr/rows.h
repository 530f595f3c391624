/* SPDX-License-Identifier: Apache-2.0 */
/* Results of addr.h grouped by what people want to see, and the columns they see. */
#ifndef CYCLOPS_ADDR_ROWS_H
#define CYCLOPS_ADDR_ROWS_H

#include "addr/answer.h"
#include "session/names.h"

enum { ADDR_ROW_WORDS = 4, ADDR_MAX_COLUMNS = 40 };

/* What rows are made from. Borrowed. */
struct addr_source {
	const struct addr *addr;
	const struct addr_objects *objects; /* of objects, types, fields */
	const struct names *names;	    /* of places */
	struct type_id window_type;	    /* of ADDR_BY_OFFSET; may be 0 */
	struct strings *strings;	    /* of paths */
	const struct data_name *page_names; /* by group, of pages and lines */
	const struct data_names *data_names;
	uint64_t line_bytes;
	struct type_id only_type; /* of ADDR_BY_FIELD: objects of this type alone; 0: all */
	bool has_intervals;	  /* what each record stands for is known */
};

/* Groups with the same key in words. */
struct addr_rows {
	const struct addr_source *source;
	enum addr_by by;
	struct tuples keys;
	VEC_OF(struct addr_sums) sums;
	VEC_OF(struct addr_pattern) patterns;
	VEC_OF(uint32_t) groups; /* by row: one of its groups */
	VEC_OF(uint64_t) slices; /* records by row and slice, if time is sliced */
	struct addr_sums total;
};

void addr_rows_init(struct addr_rows *, const struct addr_source *, enum addr_by);
void addr_rows_release(struct addr_rows *);

/* What rows weigh: latency cycles, or records if there is no latency. */
uint64_t addr_weight(const struct addr_rows *, const struct addr_sums *);

/* Fills `out` with rows in order. Fails if there is no column `sort`. */
int addr_rows_table(const struct addr_rows *, const struct addr_request *, struct table *out,
		    struct err *);

/* How many huge pages would serve how much of the walks: "huge_pages". Of rows by huge page. */
void addr_coverage_table(const struct addr_rows *, struct table *out);

/* Structs of which few members are used much: "splits". Of rows by field. */
void addr_splits_table(const struct addr_rows *, struct table *out);

#endif
