/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics of SPE, or of PMU samples (access/samples.h): their number, latencies and
 * times, grouped by any dimensions. Operations are sampled; the interval says how many each record
 * stands for.
 */
#ifndef CYCLOPS_MEM_MEM_H
#define CYCLOPS_MEM_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "access/samples.h"
#include "base/spool.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "base/widen.h"
#include "estimate/latency.h"
#include "keys/dimension.h"
#include "scan/select.h"
#include "session/analysis.h"

/* The sums of a group. */
struct mem_cost {
	uint64_t n;	     /* records */
	uint64_t operations; /* that they stand for; 0 if the interval is not known */
	struct latency_sum sums[N_ALL_LATENCIES];
	uint64_t full_cycles;	 /* what full counters of the total latency show at least */
	uint64_t n_walks;	 /* with a translation table walk */
	uint64_t n_translated;	 /* samples that say how the address was translated */
	struct latency_sum walk; /* translation latency of those */
};

void mem_cost_add(struct mem_cost *, const struct mem_cost *);

/*
 * What the latency counters of a record show: for each of total, issue and translation an enum latency_state, and whether they
 * contradict each other. It is part of what groups differ by, so the states of differences need not be counted.
 */
enum mem_states {
	MEM_STATE_ISSUE_SHIFT = 2,
	MEM_STATE_XLAT_SHIFT = 4,
	MEM_STATE_MASK = 3,
	MEM_ISSUE_ABOVE_TOTAL = 1 << 6, /* so total - issue counts as 0 */
	MEM_XLAT_ABOVE_ACCESS = 1 << 7, /* so total - issue - translation counts as 0 */
};

/*
 * The sums of a record, or of each of very many groups, in three words, so that three additions add up all of it. A group
 * has at most 65535 records: no half overflows. More are in a struct mem_cost (mem/groups.c).
 *
 *	0: total 32, issue 32
 *	1: translation 32, translation of records with a walk 32
 *	2: n 32, n_walks 32
 */
struct mem_sums {
	uint64_t words[3];
};

enum { MEM_SUMS_MOST = 65535 };

static inline uint32_t mem_sums_n(const struct mem_sums *s)
{
	return (uint32_t)s->words[2];
}

/* Of usable counters and of full ones. */
static inline uint32_t mem_sums_total(const struct mem_sums *s)
{
	return (uint32_t)s->words[0];
}

/* From the first to the last of some records; UINT64_MAX, 0: none has a time. */
struct mem_times {
	uint64_t first_ns, last_ns;
};

extern const struct mem_times mem_times_none;

static inline void mem_times_add(struct mem_times *to, const struct mem_times *from)
{
	widen_times(&to->first_ns, &to->last_ns, from->first_ns, from->last_ns);
}

/* 0 if there are no two records with a time. */
uint64_t mem_times_length_ns(const struct mem_times *);

struct mem_options {
	uint32_t dimensions; /* bit n: grouped by enum dimension n */
	bool with_histograms;
	bool only_total; /* histograms of the total latency alone */

	/* Groups of a worker that take so many bytes go to a temporary file, if they have no histograms. 0: none do. */
	size_t groups_bytes;
};

/* What is usual for groups_bytes: together no more than 24 MiB. */
size_t mem_groups_bytes(const struct session *);

static inline unsigned mem_wants_chains(const struct mem_options *o)
{
	return o->dimensions >> DIM_CALLER & 1 ? CHAINS_OF_SAMPLES | CHAINS_OF_SPE : 0;
}

/* A distribution for each latency. */
struct mem_histograms {
	struct histogram of[N_ALL_LATENCIES];
};

void mem_histograms_add(struct mem_histograms *, const struct latencies *);
void mem_histograms_merge(struct mem_histograms *into, const struct mem_histograms *from);
void mem_histograms_release(struct mem_histograms *);

/* All groups of a place are in one partition, so that threads can add up what is of different places. */
enum { MEM_PARTITIONS = 32 };

/* Groups that were sent to a file together. */
struct mem_spilled {
	uint32_t file;			     /* of the spool's */
	uint64_t starts[MEM_PARTITIONS + 1]; /* by partition; the last one: the end of all */
};

/*
 * Most records are of places and rests that came first, whose groups need no hash table: up to 2 MiB of numbers, and a
 * quarter of groups_bytes.
 */
enum { MEM_FIRST_PLACES = 1 << 14, MEM_FIRST_RESTS = 32 };

/* In a class, and in a rest: the kind, the states, then the dimensions. */
enum { MEM_BEFORE_DIMENSIONS = 2, MEM_MAX_WORDS = MEM_BEFORE_DIMENSIONS + N_DIMENSIONS };

/*
 * Groups of records, numbered. Kind and states are always two of the dimensions. Most groups differ in their
 * place, and there may be very many, so they are as small as they can be (mem/groups.c).
 */
struct mem {
	const struct session *session;
	const struct mem_options *options;
	enum dimension dimensions[N_DIMENSIONS]; /* grouped by, but for the place */
	size_t n_dimensions;
	bool has_place;
	bool is_sampled; /* of PMU samples, which: */
	struct access_sampling sampling;
	uint64_t each;	     /* operations that a record stands for, unless … */
	bool has_operations; /* … they differ, by CPU: then they are added up, too */

	struct tuples rests;		/* kind, states, then the dimensions */
	VEC_OF(uint32_t) rest_of_class; /* by number in the set's `classes` */
	struct tuples groups; /* place << 32 | rest; unused without places: the rest is the group */
	uint32_t n_first_places; /* no more than MEM_FIRST_PLACES */
	VEC_OF(uint32_t)
	group_of; /* … of the first places and rests: number + 1, by place * MEM_FIRST_RESTS + rest; 0: none */
	VEC_OF(struct mem_sums) sums;		  /* by group */
	struct tuples wide_groups;		  /* whose sums did not fit; by number: */
	VEC_OF(struct mem_cost) wide;		  /* … the rest of them */
	VEC_OF(uint64_t) operations;		  /* by group, if they differ */
	VEC_OF(struct mem_histograms) histograms; /* by group, if wanted */

	struct spool file; /* more groups, any of them several times: mem/spill.c */
	VEC_OF(struct mem_spilled) spilled;
	VEC_OF(uint64_t)
	spilled_places; /* a bit for each number: places of groups in the file, and of their callers */
};

/* A group with its key. Sums are in several pieces: mem_cost_add_group(). */
struct mem_group {
	enum memory_kind kind;
	unsigned states;	    /* enum mem_states */
	uint64_t key[N_DIMENSIONS]; /* 0: not grouped by */
	struct mem_sums sums;
	bool has_wide;
	struct mem_cost wide; /* has_wide: the rest of the sums, but for operations */
	uint64_t operations;
	const struct mem_histograms *histograms; /* NULL: none were taken */
};

/* How many records are in it. */
static inline uint64_t mem_group_n(const struct mem_group *g)
{
	return mem_sums_n(&g->sums) + (g->has_wide ? g->wide.n : 0);
}

/* Adds what a group adds up to. */
void mem_cost_add_group(struct mem_cost *, const struct mem_group *);

/* Where a reader of groups is: zeroed, at the start. */
struct mem_position {
	uint32_t group;
	struct spool_position file;
};

/* The next group, in any order; false behind the last. A group may come in several parts, which are to be added up. */
bool mem_next(const struct mem *, struct mem_position *, struct mem_group *out);

/* The groups that are in memory, by partition. */
struct mem_partitions {
	uint32_t *groups; /* those of partition i: [starts[i], starts[i + 1]) */
	uint32_t starts[MEM_PARTITIONS + 1];
};

void mem_partitions_init(struct mem_partitions *, const struct mem *);
void mem_partitions_release(struct mem_partitions *);

/* Where a reader of a partition is: zeroed, at the start. */
struct mem_partition_position {
	uint32_t group;
	size_t spilled;
	uint64_t at; /* in the file, from the start of the partition */
};

/* As mem_next(), of one partition. Threads may read several at the same time. */
bool mem_next_of(const struct mem *, const struct mem_partitions *, size_t partition,
		 struct mem_partition_position *, struct mem_group *out);

/*
 * A class by all that it depends on, as it was recorded: for the dimensions that operation, events and data source tell.
 * Zeroed: none, as `key` has a bit that is always set.
 */
struct mem_known_class {
	uint64_t events, key;
	const struct cpu *model; /* of the CPU, by which the source is told */
	uint32_t class;
};

/* Several groupings, made in one look at the records. */
struct mem_set_options {
	const struct mem_options *list;
	size_t n;
};

struct mem_set {
	struct mem *list; /* by index of their options */
	size_t n;

	/*
	 * The dimensions of all of the list, but for the place. One look-up finds a record's class,
	 * and the class has the rest in each of the list.
	 */
	struct tuples classes; /* kind, states, then the dimensions */
	enum dimension dimensions[N_DIMENSIONS];
	size_t n_dimensions;
	struct mem_known_class *known; /* cache; NULL: there are other dimensions than it has */

	struct tuples threads; /* kind, thread: those of records with a time, by number: */
	VEC_OF(struct mem_times) times;
};

/* -1 and an error if a temporary file could not be written: then groups are missing. */
int mem_set_check(const struct mem_set *, struct err *);

/* From the first record with a time to the last one; 0 if there are no two. */
uint64_t mem_set_length_ns(const struct mem_set *);

/* Options: struct mem_set_options. Result: struct mem_set. */
extern const struct analysis_class mem_set_class;

/*
 * For the files of this subject: collects the loads, stores and atomics of a batch, of the records
 * or samples that are looked at.
 */
size_t mem_rows_of(const struct mem *, const struct batch *, uint16_t rows[BATCH_ROWS],
		   uint8_t kinds[BATCH_ROWS]);

/* mem/groups.c: the groups of a struct mem. */
void mem_init(struct mem *, const struct session *, const struct mem_options *);
void mem_release(struct mem *);

/* mem/groups.c: a group that is in memory. */
void mem_group_read(const struct mem *, uint32_t group, struct mem_group *out);

/* mem/groups.c: fetches the group at this position of `groups`, if there is any. */
void mem_partitions_fetch(const struct mem_partitions *, const struct mem *, uint32_t at);

/* mem/groups.c: notes the places and callers of groups that are in memory, by number. */
void mem_note_places(const struct mem *, bool *places);

/* mem/groups.c: bytes that the groups take; forgets all of them, and what classes are; frees their memory, too. */
size_t mem_groups_size(const struct mem *);
void mem_groups_reset(struct mem *);
void mem_groups_give_back(struct mem *);

/*
 * mem/spill.c: sends all groups to the file, and forgets them, if they take too many bytes. True: so classes have no
 * rests any more. Then, at the end of a worker, what is left; and adds what is in the files of another one.
 */
bool mem_spill(struct mem *);
void mem_spill_finish(struct mem *);
void mem_spill_merge(struct mem *into, const struct mem *from);

/* mem/groups.c: adds the latencies of a sample. */
void mem_cost_add_sample(struct mem_cost *, const struct sample_latencies *);
void mem_histograms_add_sample(struct mem_histograms *, const struct sample_latencies *);

enum { MEM_ROWS_AT_ONCE = 64 };

/* Some of the records of a batch, up to MEM_ROWS_AT_ONCE. */
struct mem_records {
	const struct batch *batch;
	size_t n;
	const uint16_t *rows;
	const uint8_t *kinds;
	uint8_t states[MEM_ROWS_AT_ONCE];
	uint32_t classes[MEM_ROWS_AT_ONCE];
	struct mem_sums sums[MEM_ROWS_AT_ONCE];
};

/* Tells the rest of a new class: `words` are the kind, the states and those of the `dimensions`. */
void mem_add_class(struct mem *, const enum dimension *dimensions, const uint64_t *words);

/* Adds records to their groups, or what the groups of `from` add up to. */
void mem_add_records(struct mem *, const struct mem_records *);
void mem_add_groups(struct mem *, const struct mem *from);

#endif
