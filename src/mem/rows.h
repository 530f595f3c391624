/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations by the keys of hot.h: groups with names, bytes and distributions. */
#ifndef CYCLOPS_MEM_ROWS_H
#define CYCLOPS_MEM_ROWS_H

#include "access/sizes.h"
#include "estimate/clock.h"
#include "keys/keys.h"
#include "mem/mem.h"
#include "session/names.h"

struct mem_row {
	struct mem_cost cost;
	uint64_t bytes;	  /* estimated, of the records whose instruction is known */
	uint64_t n_sized; /* so many records */
	struct mem_histograms *histograms; /* NULL: none was taken */
};

/* The distribution of a latency; an empty one, if none was taken. */
const struct histogram *mem_row_histogram(const struct mem_row *, enum latency);

struct mem_rows {
	const struct mem *mem;
	const struct names *names;
	const struct keys *by;
	struct tuples
		keys; /* by number of a row: kind, then the words of the keys. Some that are not shown are left out */
	/* Of rows that are shown alone: there may be as many others as the program has places. */
	VEC_OF(struct mem_row) rows;
	VEC_OF(uint64_t)
	slices;		 /* records by index in `rows` and slice of time, if time is sliced */
	uint32_t *index; /* in `rows`, by number; UINT32_MAX: not shown */
	/* The first of each kind, as many as are wanted: most latency cycles first, then by name. */
	uint32_t *shown;
	uint32_t n_shown, n_left_out;
	struct mem_cost kinds[N_MEMORY_KINDS]; /* all of a kind, … */
	uint64_t bytes[N_MEMORY_KINDS];	       /* … as in struct mem_row */
	uint64_t n_sized[N_MEMORY_KINDS];
	struct mem_cost prefetches; /* the loads that are prefetch instructions */
};

/* Total latency in cycles; a full counter counts with what it shows at least, as in hot.h. */
uint64_t mem_weight(const struct mem_cost *);

/* Rows to be made, of whose kinds the `top` first are to be shown (0: all). */
struct mem_rows_wish {
	struct mem_rows *rows; /* filled */
	const struct keys *by;
	size_t top;
};

/* Groups everything, for several rows at a time. Borrows. */
void mem_rows_init_some(const struct mem_rows_wish *, size_t n, const struct mem *,
			const struct names *, const struct access_sizes *);
void mem_rows_release(struct mem_rows *);

/* What a row that is shown adds up to, by its number. */
static inline const struct mem_row *mem_rows_at(const struct mem_rows *r, uint32_t number)
{
	return &r->rows.items[r->index[number]];
}

/* The number of the row of a record of this kind, or TUPLES_NONE. */
uint32_t mem_rows_find(const struct mem_rows *, enum memory_kind, const struct batch *, size_t row);

/* Takes distributions from a result that is grouped by the dimensions of the keys. */
void mem_rows_take_histograms(struct mem_rows *, const struct mem *);

/*
 * Gets them from a second pass, for the rows that are shown but not more than
 * MEM_ROWS_DETAILED of them; returns how many are left without.
 */
enum { MEM_ROWS_DETAILED = 2000 };
uint32_t mem_rows_detail(struct mem_rows *, struct session *, const struct select *);

/*
 * Distributions of rows, in a second pass: only of those that are shown, so that memory does not grow with what is not.
 */
struct mem_focus {
	const struct mem_rows *rows;
	const uint32_t *place_in_focus; /* by row: number of its distributions, or UINT32_MAX */
	uint32_t n;
};

struct mem_detail {
	struct mem_histograms *list; /* focus.n of them */
	const struct mem_focus *focus;
};

/* Options: struct mem_focus. Result: struct mem_detail. */
extern const struct analysis_class mem_detail_class;

/* Runs the second pass. Places keep their ids. */
struct mem_detail *mem_detail_scan(struct session *, const struct select *,
				   const struct mem_focus *);

/* How rows become a table. */
struct mem_view {
	const char *name, *title;
	const struct core_clock *clock;
	uint64_t length_ns; /* from the first to the last record, 0 if not known */
	const char *sort;   /* name of a column, or NULL */
	size_t top;	    /* with `sort`: rows to keep; 0: all */
};

/* Fills `out` (to be released by the caller also after a failure). */
int mem_table(const struct mem_rows *, const struct mem_view *, struct table *out, struct err *);

/* The mean times `factor`; nothing of none, a lower bound where full counters were left out. */
struct cell mem_mean_cell(const struct latency_sum *, double factor);

/*
 * Bytes a second, of the accesses that `n` records stand for. Absent without a time, and where the
 * recorder left out operations by latency, event or data source: the bytes are of those that passed,
 * the time is of all.
 */
struct cell mem_rate_cell(const struct session *, uint64_t bytes, uint64_t n, uint64_t length_ns);

/* Distributions in steps of half a doubling, a row for each step that has records. */
void mem_histogram_table(const struct mem_rows *, struct table *out);

/* The places of a result and of its callers, by number. Free with free(). */
bool *mem_places(const struct session *, const struct mem *);

/* The names of these places that the keys need. */
void mem_names(struct session *, const bool *places, const struct keys *, struct names *out);

#endif
