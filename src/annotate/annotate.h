/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function, instruction by instruction: what each of its instructions was sampled with.
 * First annotate_find() says what a name means, then a scan with annotate_class counts, then
 * annotate_read() joins the counts with the instructions.
 */
#ifndef CYCLOPS_ANNOTATE_ANNOTATE_H
#define CYCLOPS_ANNOTATE_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "estimate/latency.h"
#include "isa/disasm.h"
#include "scan/scan.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "session/slices.h"

/* A stretch of code of one module. */
struct annotate_region {
	struct module_id module;
	uint64_t from, to; /* offsets in the module, `to` excluded */
	uint64_t address;  /* of `from`, in the module's own file */
	const char *name;  /* of the function; lives as long as the session */
	bool has_name;	   /* false: code without a symbol, around what was sampled */
	bool is_range;	   /* … or between addresses that were asked for */
};

/*
 * Finds the function of that name among those that have records: "name", "name@module",
 * "name+0x10", or an address in it ("0x4a2080", in its file or where it ran); or what lies
 * between two addresses of the file ("0x4a2000..0x4a2080"), with records in it. NULL: the one
 * with the most latency cycles, or samples. Where several match, or none, the error lists
 * what there is. Scans the capture once.
 */
int annotate_find(struct session *, const struct select *, const char *symbol,
		  struct annotate_region *out, struct err *);

/* What is counted of an instruction; each with a value. */
enum annotate_what {
	COUNT_SAMPLES, /* samples, by event */
	COUNT_PERIOD,  /* events that these stand for, by event */
	COUNT_RECORDS, /* SPE records; value 0 */
	COUNT_EVENT,   /* records with this event bit */
	COUNT_TOTAL,   /* records with this total latency … */
	COUNT_ISSUE,   /* … issue latency … */
	COUNT_XLAT,    /* … translation latency */
	COUNT_SOURCE,  /* records with this data source (DIM_SOURCE of hot.h) */
	COUNT_BRANCH,  /* records of branches; value 1: taken, 0: not */
	COUNT_ENTRY, /* entries of branch stacks; value 1: with whether it was predicted, else 0 */
	COUNT_SLICE, /* samples and records in this slice of time, if it is sliced */
	N_COUNTS,
};

/* Options: struct annotate_region. Result: this. */
struct annotate {
	const struct session *session;
	const struct annotate_region *region;
	struct tuples keys;	 /* offset, what, value … */
	VEC_OF(uint64_t) counts; /* … and how often */
};

extern const struct analysis_class annotate_class;

/*
 * What its scan has to bring along: entries of branch stacks, unless there are SPE records, which
 * tell more of branches and are not to be added up with them.
 */
struct scan_wish annotate_wish(const struct session *);

/* A count, with its value. */
struct annotate_value {
	uint64_t value, n;
};

struct annotated {
	struct instruction text;
	uint64_t offset; /* in the module */
	struct symbol symbol;
	const char *target_name;      /* of a branch out of the function; NULL */
	uint32_t first[N_COUNTS + 1]; /* in `values`, by what; the last one ends */
};

/* The function with all that was counted. Zeroed is empty. */
struct annotation {
	struct session *session;
	const struct annotate_region *region;
	enum isa isa;
	const char *shortage; /* why there are no instructions, or only their words; or NULL */
	VEC_OF(struct annotated) list;
	VEC_OF(struct annotate_value) values; /* by instruction, what, value */
	struct arena memory;
};

void annotation_read(struct annotation *out, struct session *, const struct annotate *,
		     enum disasm_syntax);
void annotation_release(struct annotation *);

/* How often something was counted of an instruction, with any value or with one. */
uint64_t annotated_count(const struct annotation *, size_t instruction, enum annotate_what);
uint64_t annotated_count_of(const struct annotation *, size_t instruction, enum annotate_what,
			    uint64_t value);

/* The same of all instructions. */
uint64_t annotation_count(const struct annotation *, enum annotate_what);
uint64_t annotation_count_of(const struct annotation *, enum annotate_what, uint64_t value);

/* Branches of an instruction: how many were recorded, of how many it is known how it went. */
struct annotated_branches {
	uint64_t n;
	uint64_t n_directed, n_taken;	      /* taken or not; branch stacks have taken ones only */
	uint64_t n_predicted, n_mispredicted; /* whether predicted, and not so */
};

struct annotated_branches annotated_branches(const struct annotation *, size_t instruction);

/* Latencies of one kind of an instruction. */
struct annotated_latency {
	uint64_t n_all, cycles;	   /* of all: at least so many cycles */
	uint64_t n_usable, usable; /* without those whose counter was full: for the mean */
	uint64_t p50, max;	   /* of all; full ones stand above the others */
};

struct annotated_latency annotated_latency(const struct annotation *, size_t instruction,
					   enum annotate_what);

/* Samples and records of an instruction by slice of time: fills as many as there are. */
void annotated_slices(const struct annotation *, size_t instruction, uint64_t out[SLICES_MAX]);

/* The instruction at an offset, or the number of instructions if there is none. */
size_t annotation_at(const struct annotation *, uint64_t offset);

/* The instruction that a branch goes to in the same function; the number of them if none. */
size_t annotated_target(const struct annotation *, size_t instruction);

/* A loop: a branch back to an instruction that it is always reached through, and what is between. */
struct annotated_loop {
	size_t head, branch;
	uint64_t n_records, n_samples; /* of SPE, and of samples of all events */
	uint64_t cycles, full;	       /* latency cycles of the SPE records; of full counters */
	uint64_t n_taken, n_not_taken; /* SPE records of the branch */
};

/* Loops with any records, by where they begin; to be freed. */
struct annotated_loop *annotation_loops(const struct annotation *, size_t *out_n);

#endif
