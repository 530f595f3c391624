/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics of SPE: how many, how long they took, and when, by whatever is
 * told apart. What is sampled is operations; the interval says how many each stands for.
 */
#ifndef CYCLOPS_ANALYSIS_MEM_H
#define CYCLOPS_ANALYSIS_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "analysis/hot.h"
#include "analysis/latency.h"
#include "analysis/place_groups.h"
#include "analysis/select.h"
#include "base/tuples.h"
#include "base/vec.h"

/* What an operation does to memory. An atomic is neither of the others. */
enum mem_kind { MEM_LOAD, MEM_STORE, MEM_ATOMIC, N_MEM_KINDS, MEM_NONE = N_MEM_KINDS };

const char *mem_kind_name(enum mem_kind); /* "load" … */

/* The kind of an operation packet. */
enum mem_kind mem_kind_of(uint8_t op_class, uint8_t op);

/* The sums of a group. */
struct mem_cost {
	uint64_t n;	     /* records */
	uint64_t operations; /* that they stand for; 0 if the interval is not known */
	struct latency_sum sums[N_LATENCIES];
	uint64_t full_cycles;	    /* what full counters of the total latency show at least */
	uint64_t n_walks;	    /* with a translation table walk */
	struct latency_sum walk;    /* translation latency of those */
	uint64_t first_ns, last_ns; /* of the records with a time; UINT64_MAX, 0: none */
};

/*
 * The same for each of very many groups, without times. What does not fit any more goes into a
 * struct mem_cost (mem_groups.c): sums of up to 65535 records do fit.
 */
struct mem_sums {
	uint64_t operations;
	struct mem_sum {
		uint32_t cycles;
		uint16_t n, n_full;
	} of[N_LATENCIES], walk;
	uint32_t full_cycles;
	uint16_t n, n_walks;
};

/* Of the records of a group; UINT64_MAX, 0: none has a time. */
struct mem_times {
	uint64_t first_ns, last_ns;
};

/* A cost of no records. */
extern const struct mem_cost mem_cost_none;

void mem_cost_add(struct mem_cost *, const struct mem_cost *);

/* Time from the first to the last record; 0 if there are no two with a time. */
uint64_t mem_cost_length_ns(const struct mem_cost *);

struct mem_options {
	uint32_t dimensions; /* bit n: enum hot_dimension n is told apart */
	bool with_histograms;
	bool with_times; /* groups know their first and last record */
};

/* A distribution for each latency. */
struct mem_histograms {
	struct histogram of[N_LATENCIES];
};

void mem_histograms_add(struct mem_histograms *, const struct latencies *);
void mem_histograms_merge(struct mem_histograms *into, const struct mem_histograms *from);
void mem_histograms_release(struct mem_histograms *);

/*
 * Groups of records, numbered. The kind is told apart always. Most groups differ in their
 * place, and there may be very many, so they are as small as they can be (mem_groups.c).
 */
struct mem {
	const struct session *session;
	const struct mem_options *options;
	enum hot_dimension dimensions[HOT_N_DIMENSIONS]; /* told apart, but for the place */
	size_t n_dimensions;
	bool has_place;

	struct tuples rests;			  /* kind, then the dimensions */
	struct place_groups groups;		  /* unused without places: the rest is the group */
	VEC_OF(struct mem_sums) sums;		  /* by group */
	struct tuples spilled;			  /* groups whose sums did not fit; by number: */
	VEC_OF(struct mem_cost) wide;		  /* … the rest of them */
	VEC_OF(struct mem_times) times;		  /* by group, if wanted */
	VEC_OF(struct mem_histograms) histograms; /* by group, if wanted */

	uint64_t first_ns, last_ns; /* of all records with a time; UINT64_MAX, 0: none */
};

/* How many groups there are. */
static inline uint32_t mem_n_groups(const struct mem *m)
{
	return (uint32_t)m->sums.n;
}

/* The key of a group: its kind, and a word for each dimension, 0 where not told apart. */
enum mem_kind mem_key(const struct mem *, uint32_t group, uint64_t key[HOT_N_DIMENSIONS]);

/* What a group adds up to; without times unless the options want them. */
struct mem_cost mem_cost_of(const struct mem *, uint32_t group);

/* The group of a record of this kind, or UINT32_MAX. */
uint32_t mem_find(const struct mem *, enum mem_kind, const struct batch *, size_t row);

/* What to tell apart: several answers from one look at the records. */
struct mem_set_options {
	const struct mem_options *list;
	size_t n;
};

struct mem_set {
	struct mem *list; /* by index of their options */
	size_t n;
};

/* Options: struct mem_set_options. Result: struct mem_set. */
extern const struct analysis_class mem_set_class;

/*
 * Distributions for groups that are known already, in a second pass: only of those that are
 * shown, so that memory does not grow with what is not.
 */
struct mem_focus {
	const struct mem *mem; /* of the first pass */
	const uint32_t *rows;  /* by group: number of its row, or UINT32_MAX */
	uint32_t n_rows;
};

struct mem_detail {
	struct mem_histograms *rows; /* focus.n_rows of them */
	const struct mem_focus *focus;
};

/* Options: struct mem_focus. Result: struct mem_detail. */
extern const struct analysis_class mem_detail_class;

/* Runs the second pass. Places keep their ids. */
struct mem_detail *mem_detail_scan(struct session *, const struct select *,
				   const struct mem_focus *);

/* For the files of this subject: collects the loads, stores and atomics of a batch. */
size_t mem_rows_of(const struct batch *, uint16_t rows[BATCH_ROWS], uint8_t kinds[BATCH_ROWS]);

/* mem_groups.c: the groups of a struct mem. */
void mem_init(struct mem *, const struct session *, const struct mem_options *);
void mem_release(struct mem *);

enum { MEM_ROWS_AT_ONCE = 64 };

/* The groups of `n` rows, up to MEM_ROWS_AT_ONCE, which are added if they are new. */
void mem_groups_of(struct mem *, const struct batch *, const uint16_t *rows, const uint8_t *kinds,
		   size_t n, uint32_t *out_groups);

/* Adds a record to a group, or what a group of `from` adds up to. */
void mem_add_record(struct mem *, uint32_t group, const struct batch *, size_t row,
		    const struct latencies *);
void mem_add_groups(struct mem *, const struct mem *from);

#endif
