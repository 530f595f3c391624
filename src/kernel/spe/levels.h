/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPE records of pointer chases, of which it is known how many loads they execute, from where, and how long
 * each takes: are estimates, data sources and latencies right?
 */
#ifndef CYCLOPS_KERNEL_SPE_LEVELS_H
#define CYCLOPS_KERNEL_SPE_LEVELS_H

#include "base/err.h"
#include "base/vec.h"
#include "cpu/cpu.h"
#include "table/table.h"

/* One chase, and what its capture says of its load. */
struct spe_level {
	const char *name;	  /* "l1" …: as --level */
	enum source_level source; /* where its loads are answered */
	uint64_t loads;		  /* that it executes, with its first round */
	double cycles;		  /* of each, by counting; NAN: not known */

	/* filled by spe_level_read(): */
	uint64_t n, interval; /* records of the load, and operations from one sample to the next */
	double estimate;      /* loads that they stand for */
	double error;	      /* of the estimate: half of the 95 % interval */
	uint64_t n_of_source; /* of the records */
	enum source_level mostly; /* the source that most of them have */
	uint64_t n_full;	  /* records whose latency is saturated, of that source */
	double latency;		  /* mean of the others: execution and translation; NAN: none */
};

struct spe_levels {
	VEC_OF(struct spe_level) list;
};

/* The level's data source; false if its loads are not answered by a cache or memory. */
bool spe_level_source(const char *level, enum source_level *out);

/* Reads a capture of the chase: its load is the instruction with most records of loads. */
int spe_level_read(struct spe_level *, const char *capture, const char *catalog, struct err *);

/* Is what the records say what the chase did: the estimate within its error, and the source? */
bool spe_level_is_right(const struct spe_level *);

/* Table "spe". */
void spe_levels_table(const struct spe_levels *, struct table *out);

#endif
