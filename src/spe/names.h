/* SPDX-License-Identifier: Apache-2.0 */
/* What event bits and operations are called. The words are those of `perf script -D`. */
#ifndef CYCLOPS_SPE_NAMES_H
#define CYCLOPS_SPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "spe/packet.h"

/* The dump's name of event bit 0..63 ("L1D-REFILL"), or NULL if it has none. */
const char *spe_event_name(unsigned bit);

/*
 * The bit of an event named as in the dump or in everyday spelling: case and '_' against '-'
 * do not matter; "mispredicted", "tlb-walk", "llc-miss" and such are known too, and any bit
 * as "impdef:12". -1: no such.
 */
int spe_event_find(const char *name);

/* Appends the names of the bits set, joined with `separator`, unnamed ones as "IMPDEF:12". */
void spe_events_text(uint64_t events, char separator, struct text *);

/* What an operation packet says, spelled out. */
struct spe_op {
	const char *op; /* "LD", "ST", "B", "OTHER"; "OP-TYPE" for the reserved class */

	/*
	 * Loads and stores: "GP-REG", "SIMD-FP", "SVE", "MTE-TAG" …, or the words that are set
	 * of "AT EXCL AR"; branches: the words set of "COND IND"; other: "OTHER", "SVE", "SME".
	 * "" if there is none, or it is reserved.
	 */
	const char *subclass;
	bool is_load, is_store, is_branch;
	bool is_atomic, is_exclusive, is_acquire_release;
	bool is_conditional, is_indirect, is_call, is_return, is_gcs;
	bool is_sve, is_sme, is_fp, is_simd;
	bool is_predicated, is_gather_scatter;
	uint32_t vector_bits; /* effective vector length (SVE) or tile size (SME), 0 if none */
};

struct spe_op spe_op_of(uint8_t op_class, uint8_t payload);

/* Was it a branch that jumped? Hardware marks some unconditional branches NOT-TAKEN, in error. */
static inline bool spe_branch_is_taken(uint8_t payload, uint64_t events)
{
	return !(payload & 1) || !(events >> SPE_EV_NOT_TAKEN & 1);
}

/* Is the payload that of an atomic operation, among loads and stores? */
static inline bool spe_op_is_atomic(uint8_t payload)
{
	return (payload & 0xe2) == 0x02 && (payload & 0x04) != 0;
}

/* Appends the operation as the dump says it in full wording: "LD AT AR", "B COND IND" … */
void spe_op_text(uint8_t op_class, uint8_t payload, struct text *);

#endif
