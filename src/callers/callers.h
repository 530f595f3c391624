/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of SPE records, estimated. SPE records no stack, but samples of other events of the same capture
 * may have call chains. Each SPE record is given the chain of one of them, with the same leaf function, so
 * that the chains of a function's records have the shares that the samples speak for:
 *
 * - among all records as among samples of instructions (else, of cycles, weighted by how much time passes
 *   between the records beside them), and among records that missed the L1D as among samples of its refills;
 * - by what the record itself tells: its class of latency, and the time between the records around it, which
 *   says how fast the code ran that called. What callers have of these is learned of the records that are
 *   next to samples in time.
 *
 * docs/callers.md says when that is wrong. Which record gets which chain is decided by its position in the
 * file, so it is the same in each run, for any number of workers.
 */
#ifndef CYCLOPS_CALLERS_CALLERS_H
#define CYCLOPS_CALLERS_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "session/session.h"
#include "table/table.h"

/* Quantities whose shares by caller are estimated. */
enum callers_quantity {
	CALLERS_OF_RECORDS,
	CALLERS_OF_LATENCY,
	CALLERS_OF_MISSES,
	N_CALLERS_QUANTITIES
};

/* How well callers are known: of a function's records in a thread, or in a process. */
struct callers_known {
	uint32_t place; /* of one of its samples; 0: of all functions together */
	bool is_by_thread;
	uint32_t id;	    /* tid or pid */
	uint64_t n_stacks;  /* samples with call chains that were used */
	uint64_t n_records; /* SPE records that got callers */
	/* Half of the 95 % interval of the share that a caller has, 0 … 1; that of the least certain caller. */
	double error[N_CALLERS_QUANTITIES];
};

/*
 * Scans the capture twice if it has SPE records and samples with call chains, once for a session; from then
 * on scans give SPE rows a call chain (HAS_STACK), and places keep their numbers. Else does nothing.
 */
void callers_estimate(struct session *);

/* Were callers estimated, and of what? n_records 0: none were. */
struct callers_known callers_known_of_all(const struct session *);

/* The same by function, those with the most records first; false behind the last. */
bool callers_known_at(const struct session *, size_t i, struct callers_known *out);

/* Appends "callers of SPE records are estimated from 422 stacks, …"; false: there are none. */
bool callers_sentence(const struct session *, struct text *);

/* The same as a note of a table of records; none if there are none. */
void callers_note(const struct session *, struct table *);

#endif
