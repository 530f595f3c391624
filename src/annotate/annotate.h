/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function with its counts by instruction. Three steps: annotate_find() finds the function of a
 * name, a scan with annotate_class counts records by offset, and annotation_read() joins the counts
 * with the disassembled instructions.
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
#include "commit_time/commit_time.h"
#include "estimate/latency.h"
#include "isa/disasm.h"
#include "scan/scan.h"
#include "scan/select.h"
#include "session/analysis.h"
#include "session/slices.h"

/* A range of code in one module. */
struct annotate_region {
	struct module_id module;
	uint64_t from, to; /* offsets in the module: [from, to) */
	uint64_t address;  /* of `from`, in the module's own file */
	const char *name;  /* of the function; lives as long as the session */
	bool has_name;	   /* false: no symbol; the code around the hottest place, or a range */
	bool is_range;	   /* between two addresses that the user gave */
};

/* What else the scan of annotate_find() is for. Zeroed: nothing. */
struct annotate_also {
	struct commit_time *time; /* NULL: no estimate */

	/* Fed with samples and SPE records; class NULL: none. To be freed also after a failure. */
	struct analysis analysis;

	/* Wanted: samples, their periods, and SPE records of the function; to be freed. */
	bool counts;
	struct annotate *counted;
};

/*
 * Finds the function of `symbol` among those with records: "name", "name@module", "name+0x10", an
 * address in it ("0x4a2080", in its file or in memory), or a range of file addresses
 * ("0x4a2000..0x4a2080"). NULL: the hottest function, by latency cycles or samples. If none or
 * several match, the error lists candidates. Functions that have entries of branch stacks, but neither
 * samples nor SPE records, are looked at if no other matches: then the capture is scanned twice, else
 * once. `also` may be NULL.
 */
int annotate_find(struct session *, const struct select *, const char *symbol,
		  struct annotate_also *also, struct annotate_region *out, struct err *);

/*
 * The functions with most SPE latency, or else samples, the first of them first: at most `most`. Of code without a symbol
 * only the hottest place of each module. Scans the capture. To be freed.
 */
struct annotate_region *annotate_hottest(struct session *, const struct select *, size_t most,
					 size_t *out_n);

/* What is counted for an instruction. Comments: the records, and what the value is. */
enum annotate_what {
	COUNT_SAMPLES, /* samples; value: event */
	COUNT_PERIOD,  /* sum of their periods; value: event */
	COUNT_RECORDS, /* SPE records; value: 0 */
	COUNT_EVENT,   /* SPE records; value: an event bit they have */
	COUNT_TOTAL,   /* SPE records; value: total latency, cycles */
	COUNT_ISSUE,   /* SPE records; value: issue latency, cycles */
	COUNT_XLAT,    /* SPE records; value: translation latency, cycles */
	COUNT_SOURCE,  /* SPE records; value: data source as in DIM_SOURCE */
	COUNT_BRANCH,  /* SPE records of branches; value: 1 taken, 0 not taken */
	COUNT_ENTRY,   /* branch stack entries; value: 1 if the prediction was recorded, else 0 */
	COUNT_SLICE,   /* samples and records; value: slice of time */
	COUNT_PLACE,   /* SPE records; value: number of the place in the session */
	N_COUNTS,
};

/* Options: struct annotate_region. Result: this. */
struct annotate {
	const struct session *session;
	const struct annotate_region *region;
	struct tuples keys;	 /* (offset, what, value) → number … */
	VEC_OF(uint64_t) counts; /* … → count */
};

extern const struct analysis_class annotate_class;

/*
 * The part of it that hotspots by event and place know: samples, their periods, SPE records. Borrows the
 * region. Freed by annotate_class.
 */
struct hot;
struct annotate *annotate_of_hot(const struct hot *, const struct annotate_region *);

/*
 * The scan for annotate_class needs branch stacks only without SPE records: these have more about
 * branches, and counts of two samplings must not be added.
 */
struct scan_wish annotate_wish(const struct session *);

/* A count, with its value. */
struct annotate_value {
	uint64_t value, n;
};

/* An instruction with its counts. */
struct annotated {
	struct instruction text;
	uint64_t offset;      /* in the module */
	struct symbol symbol; /* its source line and inline chain */
	/* the function that a branch goes to, if it leaves this one; NULL */
	const char *target_name;
	/* by `what`: the range first[what] … first[what + 1] - 1 of `values` */
	uint32_t first[N_COUNTS + 1];
};

/* The function with all that was counted. Zeroed is empty. */
struct annotation {
	struct session *session;
	const struct annotate_region *region;
	enum isa isa;
	const char *shortage;		/* why there is no disassembly; NULL: there is */
	const struct commit_time *time; /* borrowed, of the same places; NULL: no estimate */
	VEC_OF(struct annotated) list;
	VEC_OF(struct annotate_value) values; /* sorted by instruction, what, value */
	struct arena memory;
};

void annotation_read(struct annotation *out, struct session *, const struct annotate *,
		     enum disasm_syntax);
void annotation_release(struct annotation *);

/* The count of an instruction: of all values, and of one value. */
uint64_t annotated_count(const struct annotation *, size_t instruction, enum annotate_what);
uint64_t annotated_count_of(const struct annotation *, size_t instruction, enum annotate_what,
			    uint64_t value);

/* The same summed over all instructions. */
uint64_t annotation_count(const struct annotation *, enum annotate_what);
uint64_t annotation_count_of(const struct annotation *, enum annotate_what, uint64_t value);

/* The estimated time of an instruction and of all, of COMMIT_TIME_WHOLE; needs `time`. */
uint64_t annotated_time(const struct annotation *, size_t instruction);
uint64_t annotation_time(const struct annotation *);

/* Recorded executions of a branch instruction. */
struct annotated_branches {
	uint64_t n;
	uint64_t n_directed, n_taken;	      /* direction known; taken. Only with SPE */
	uint64_t n_predicted, n_mispredicted; /* prediction recorded; mispredicted */
};

struct annotated_branches annotated_branches(const struct annotation *, size_t instruction);

/* Latencies of one kind (COUNT_TOTAL …) of an instruction, in cycles. */
struct annotated_latency {
	uint64_t n_all, cycles;	   /* all records; their sum, a lower bound if any is saturated */
	uint64_t n_usable, usable; /* without saturated counters: for the mean */
	uint64_t p50, max;	   /* of all; saturated ones rank above all others */
};

struct annotated_latency annotated_latency(const struct annotation *, size_t instruction,
					   enum annotate_what);

/* Samples and records of an instruction by slice of time: fills session->slices.n of them. */
void annotated_slices(const struct annotation *, size_t instruction, uint64_t out[SLICES_MAX]);

/* The number of the instruction that begins at an offset; list.n if none does. */
size_t annotation_at(const struct annotation *, uint64_t offset);

/* The instruction that a branch goes to; list.n if it is outside or unknown. */
size_t annotated_target(const struct annotation *, size_t instruction);

/*
 * A natural loop: a branch back to an instruction (head) that dominates it, with all code between.
 */
struct annotated_loop {
	size_t head, branch;
	uint64_t n_records, n_samples; /* SPE records; samples of all events */
	uint64_t cycles, full;	       /* total latencies; the part by saturated counters */
	uint64_t n_taken, n_not_taken; /* SPE records of the branch */
};

/* The loops that have records, by address of the head. To be freed. */
struct annotated_loop *annotation_loops(const struct annotation *, size_t *out_n);

#endif
