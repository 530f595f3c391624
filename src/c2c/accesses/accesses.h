/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second look at sharing: which bytes of a few chosen lines were accessed by which
 * instruction, of which thread, on which cpu, when, and at what cost.
 */
#ifndef CYCLOPS_C2C_ACCESSES_ACCESSES_H
#define CYCLOPS_C2C_ACCESSES_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address_filter.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "c2c/lines/counts.h"
#include "c2c/lines/lines.h"
#include "scan/scan.h"
#include "session/analysis.h"

/* The lines that are looked at. */
struct sharing_choice {
	const struct sharing_options *options; /* borrowed */
	struct tuples keys;		       /* (space, address of the line) */
	uint64_t first_ns;		       /* where slot 0 begins; at most 64 have accesses */
	unsigned slot_shift;		       /* they are 1 << slot_shift ns long */
	struct address_filter filter;
};

/* `first_ns` and `last_ns` are of the rows that there are, if they have times. */
void sharing_choice_init(struct sharing_choice *, const struct sharing_options *, size_t n_lines,
			 uint64_t first_ns, uint64_t last_ns);
void sharing_choice_add(struct sharing_choice *, uint32_t space, uint64_t address);
void sharing_choice_release(struct sharing_choice *);

/* How an access was made, as far as the record tells. */
enum sharing_kind {
	SHARING_KIND_STORE = 1,
	SHARING_KIND_ATOMIC = 2, /* reads and writes in one */
	SHARING_KIND_EXCLUSIVE = 4,
	SHARING_KIND_ORDERED = 8, /* acquires or releases */
	SHARING_KIND_VECTOR = 16,
	SHARING_KIND_PARTIAL = 32, /* some elements of the vector are left out, by its predicate */
};

/* Total latencies by what a load met; each load is in one of them, the first that fits. */
enum sharing_met {
	SHARING_MET_REMOTE_HITM,
	SHARING_MET_LOCAL_HITM,
	SHARING_MET_REMOTE_PEER,
	SHARING_MET_LOCAL_PEER,
	SHARING_MET_NONE,
	SHARING_N_MET,
};

struct sharing_mean {
	uint32_t n, n_saturated;
	uint64_t cycles;
};

/* What one instruction of one thread on one cpu did to one offset of one line. */
struct sharing_touch {
	struct sharing_counts counts;
	struct sharing_mean met[SHARING_N_MET];
	struct sharing_latency contended; /* of the loads that the mode is about */
	struct sharing_latency reloads;	  /* … and others that found their line gone, too */
	uint64_t first_ns, last_ns;	  /* UINT64_MAX, 0: no times were recorded */
	uint64_t first_reload_ns, last_reload_ns;
	uint64_t slots; /* when: bit n is slot n of sharing_choice's */
	uint64_t nodes; /* of the physical pages: bit n is node n */
};

void sharing_touch_merge(struct sharing_touch *, const struct sharing_touch *from);

/* Parts of a touch's key, and what it is made of. */
struct sharing_touch_key {
	uint32_t line; /* number in the choice */
	uint16_t offset;
	uint8_t kind;	/* enum sharing_kind */
	uint8_t vector; /* effective vector length of SVE: 16 << vector bits; 0: not said */
	uint32_t place, tid, process, cpu;
	uint64_t pc;
};

enum { SHARING_TOUCH_WORDS = 4 };

struct sharing_accesses {
	const struct session *session;
	const struct sharing_choice *choice;
	struct tuples keys;		      /* SHARING_TOUCH_WORDS wide */
	VEC_OF(struct sharing_touch) touches; /* by number of the key */
	struct tuples pages;		      /* (line, physical page): those that were met */
	uint64_t *slices;	 /* records by line of the choice and slice, if time is sliced */
	struct tuples views;	 /* (line, process) of lines of physical memory, … */
	VEC_OF(uint64_t) viewed; /* … and the lowest address of the line there */
	struct sharing_classifier *classifier;
};

struct sharing_touch_key sharing_touch_key(const struct sharing_accesses *, uint32_t number);

/* The address of a line in a process, if the line is one of physical memory; 0: not known. */
uint64_t sharing_accesses_view(const struct sharing_accesses *, uint32_t line, uint32_t process);

/* Options: struct sharing_choice. Result: struct sharing_accesses. */
extern const struct analysis_class sharing_accesses_class;

/* Keeps the rows of the choice alone, or a few more. */
struct scan_wish sharing_accesses_wish(const struct sharing_choice *);

/* How a row accesses memory: bits of enum sharing_kind. */
unsigned sharing_row_kind(const struct batch *, size_t row);

#endif
