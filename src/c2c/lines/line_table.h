/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache lines by address, with what was done to each: 32 bytes for a line that is accessed a few times, as most are, so that an
 * access costs one miss of our own, and 32 more for nearly all others. The one table that several workers fill at once: what it
 * keeps are sums and facts, which come out the same in any order, and one copy of it is a lot smaller than one for each worker.
 */
#ifndef CYCLOPS_C2C_LINES_LINE_TABLE_H
#define CYCLOPS_C2C_LINES_LINE_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c2c/lines/counts.h"

#define C2C_NO_TID UINT32_MAX

/* One access to a line: half a line of ours. */
struct c2c_access_row {
	uint64_t line;	      /* its address */
	uint32_t hash;	      /* filled by c2c_table_add(), … */
	uint32_t space;	      /* whose address it is: struct c2c_spot */
	uint32_t tid;	      /* C2C_NO_TID: not known */
	uint32_t mask;	      /* the counters that it counts in, and C2C_ROW_… */
	uint16_t cycles;      /* at most C2C_LATENCY_MAX: they count if one of these is set */
	uint16_t mask_number; /* … and this */
	bool is_write;
};

/* Bits of a row's mask that are none of a counter. */
#define C2C_ROW_TIMED (UINT32_C(1) << 30)  /* one of the loads whose latency counts */
#define C2C_ROW_RELOAD (UINT32_C(1) << 31) /* … if others write to the line; not both */

static_assert(C2C_N_COUNTS <= 30, "bits for rows alone");

#define C2C_COUNTERS (C2C_ROW_TIMED - 1) /* the bits of a mask that are counters */

enum {
	C2C_SHARDS = 64,     /* parts of the table, by hash of the address */
	C2C_ROWS_MAX = 4096, /* added at once */
	C2C_KINDS = 7,	     /* of accesses to a line, until it gets counters */
};

/* What is known of a line. */
struct c2c_line {
	uint64_t address;
	uint32_t space;
	uint32_t any; /* the counters in which it has any */
	struct {
		uint32_t mask, n; /* n accesses that count in these counters */
	} kinds[C2C_KINDS];
	uint32_t n_kinds;		 /* of which some may be alike, … */
	const struct c2c_counts *counts; /* … or if not NULL, all counters; of the table */
	uint32_t n_timed, n_reloads;
	uint64_t cycles, reload_cycles; /* of those */
	bool has_threads;		/* more than one thread accessed it */
	bool is_written;		/* by a thread that is known */
};

/* The counters of `mask` together. */
uint64_t c2c_line_sum(const struct c2c_line *, uint32_t mask);

/* Adds all its counters. */
void c2c_line_add(const struct c2c_line *, struct c2c_counts *to);

struct c2c_table;

/* `visited`: counters; lines that count in them are visited. */
struct c2c_table *c2c_table_new(uint32_t visited);
void c2c_table_free(struct c2c_table *);

/* Forgets all lines. */
void c2c_table_empty(struct c2c_table *);

/* Adds at most C2C_ROWS_MAX accesses; several workers may at once. */
void c2c_table_add(struct c2c_table *, struct c2c_access_row *, size_t n);

/* So large that what is kept beside it has to give way; also while rows are added. */
bool c2c_table_is_large(const struct c2c_table *);

/* For when nobody adds any more: */
size_t c2c_table_n_lines(const struct c2c_table *);

/* Fetches what c2c_table_find() looks at first, and when that has come, the line. */
void c2c_table_fetch(const struct c2c_table *, uint32_t space, uint64_t address);
void c2c_table_fetch_line(const struct c2c_table *, uint32_t space, uint64_t address);

/* The line that is there, if it was accessed. */
bool c2c_table_find(const struct c2c_table *, uint32_t space, uint64_t address,
		    struct c2c_line *out);

/*
 * Calls `visit` for each line of a shard that counts in a counter that was given for that, or that several threads accessed and
 * one wrote to. In no order that may be relied on.
 */
void c2c_table_visit(const struct c2c_table *, size_t shard,
		     void (*visit)(void *context, const struct c2c_line *), void *context);

#endif
