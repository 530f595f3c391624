/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture says of the control flow of one module: branch stacks of all branches, else SPE records.
 *
 * An execution of an instruction or of an edge makes `rate` records on average; n records are evidence
 * of n / rate executions.
 *
 *	SPE		a taken branch has its target, one that was not taken went on to the next
 *			instruction. Of other instructions each record is an execution. Where the CPU
 *			says where the branch before went, the way into a block is known, too.
 *	branch stacks	branches that were taken, and the straight segments between them.
 *
 * On hardware, an instruction that accesses memory may be several operations, each of which may be
 * sampled: such records are no evidence of executions.
 */
#ifndef CYCLOPS_FEEDBACK_EVIDENCE_H
#define CYCLOPS_FEEDBACK_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/spool.h"
#include "base/vec.h"
#include "branch_stacks/stacks.h"
#include "feedback/records.h"
#include "scan/select.h"
#include "session/session.h"

enum evidence_source {
	EVIDENCE_SPE,
	EVIDENCE_STACKS,
	EVIDENCE_SAMPLES, /* of the PMU: no branches */
};

/* Taken branches between two places. */
struct evidence_branch {
	struct place from, to;
	uint64_t n, n_mispredicted;
	uint64_t n_told; /* of those the prediction is known */
	double executions;
};

/* SPE records of an instruction by what they say beside a target; PMU samples of it. */
struct evidence_record {
	struct place place, previous; /* previous.module 0: not known */
	enum flow_record_kind kind;
	uint64_t n;
	double executions;
};

/* In memory, or in temporary files. */
struct evidence_records {
	const struct evidence_record *items;
	size_t n;
	struct spool spool;
};

struct evidence_branches {
	const struct evidence_branch *items;
	size_t n;
	struct spool spool;
};

struct flow_evidence {
	struct session *session;
	size_t memory_bytes; /* for what goes to temporary files if it is more */
	enum evidence_source source;
	bool has_all_operations; /* of SPE: not branches alone */
	bool is_relative;	 /* executions are known but for a factor */
	bool is_biased;		 /* the windows of the stacks are */
	struct flow_records *records;
	struct branch_stacks stacks;
	size_t sampled_event; /* of EVIDENCE_SAMPLES */
	uint64_t n_samples;
	struct code_functions functions;   /* of SPE; that of the stacks otherwise */
	struct evidence_branches branches; /* by place of the source, then of the target */
	struct evidence_branches entries;  /* the same by target, then source */
	struct evidence_records others;	   /* by place, then by kind */
	double branch_rate;		   /* records of a branch for each execution */
	double execution_rate; /* records of any other instruction, or segments, for each execution */
	double previous_share; /* of the records that have the branch before */
	double lost_factor; /* executions for each that the records stand for: samples were lost */
};

/*
 * Reads the evidence. `event` is the number of an event whose stacks to use, or -1: the best. ERR_NO_DATA says
 * what was not recorded, and how to; with `samples_do`, samples of an event take the place of branches that were
 * not recorded. `out` is to be released also after a failure. `memory_bytes`: for branches and
 * records; more of them go to temporary files.
 */
int flow_evidence_read(struct flow_evidence *out, struct session *, const struct select *,
		       int event, bool samples_do, size_t memory_bytes, struct err *);

/* What was looked at needs no memory until it is looked at again. To be called now and then: each so many branches. */
enum { EVIDENCE_AT_ONCE = 1 << 14 };
void flow_evidence_let_go(const struct flow_evidence *);

/* The event of EVIDENCE_SAMPLES as BOLT knows events: "cycles", "instructions", or its name. */
const char *flow_evidence_event_name(const struct flow_evidence *);
void flow_evidence_release(struct flow_evidence *);

/* Executions that a weight of the stacks stands for; but for a factor where is_relative. */
double flow_evidence_executions(const struct flow_evidence *, uint64_t weight);

/* A function's code; valid until the next call. To be asked for in order of places. */
const struct code_function *flow_evidence_code(struct flow_evidence *, struct module_id,
					       uint64_t from, uint64_t to);

/* The branch between two places; NULL if none was recorded. */
const struct evidence_branch *flow_evidence_branch(const struct flow_evidence *, struct place from,
						   struct place to);

/* The first branch whose source (of `branches`), or target (of `entries`), is at a place or behind it. */
size_t flow_evidence_first_branch(const struct flow_evidence *, struct place);
size_t flow_evidence_first_entry(const struct flow_evidence *, struct place);
size_t flow_evidence_first_other(const struct flow_evidence *, struct place);

/* Indexes of all three for one place: zeroed, at the start. Moves them on, for who goes through places in order. */
struct evidence_at {
	size_t branch, entry, other;
};

void flow_evidence_move(const struct flow_evidence *, struct place to, struct evidence_at *);

/* Appends what it is made of, with the sampling rate, as a clause. */
void flow_evidence_text(const struct flow_evidence *, struct text *out);

#endif
