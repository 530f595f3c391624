/* SPDX-License-Identifier: Apache-2.0 */
/* Names of event bits and operations, as in `perf script -D`. */
#ifndef CYCLOPS_SPE_NAMES_H
#define CYCLOPS_SPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "spe/packet.h"

/* The name of an event bit in dumps ("L1D-REFILL"), or NULL. */
const char *spe_event_name(unsigned bit);

/*
 * The bit of an event, by its name in dumps or another spelling: case is ignored, '_' is '-', and
 * "mispredicted", "tlb-walk", "llc-miss" … are known. "impdef:12" is bit 12. -1 if there is none.
 */
int spe_event_find(const char *name);

/* Appends the names of the bits, joined with `separator`; bits without a name as "IMPDEF:12". */
void spe_events_text(uint64_t events, char separator, struct text *);

/* The meaning of an operation packet. */
struct spe_op {
	const char *op; /* "LD", "ST", "B", "OTHER"; "OP-TYPE" for the reserved class */

	/*
	 * Loads and stores: "GP-REG", "SIMD-FP", "SVE", "MTE-TAG" …, or those of "AT EXCL AR" that
	 * are set. Branches: those of "COND IND" that are set. Others: "OTHER", "SVE", "SME". "" if
	 * there is none, or it is reserved.
	 */
	const char *subclass;
	/* Branches, if the CPU says so: "call", "return", "neither". NULL: not said. */
	const char *branch;
	bool is_load, is_store, is_branch;
	bool is_atomic, is_exclusive, is_acquire_release;
	bool is_conditional, is_indirect, is_call, is_return, is_gcs;
	bool is_sve, is_sme, is_fp, is_simd;
	bool is_predicated, is_gather_scatter;
	uint32_t vector_bits; /* SVE vector length or SME tile size; 0 if none */
};

struct spe_op spe_op_of(uint8_t op_class, uint8_t payload);

/*
 * Was a branch taken? Some unconditional branches are recorded as NOT-TAKEN by erroneous hardware:
 * they count as taken.
 */
static inline bool spe_branch_is_taken(uint8_t payload, uint64_t events)
{
	return !(payload & 1) || !(events >> SPE_EV_NOT_TAKEN & 1);
}

/* Is it the payload of an atomic, for the class of loads and stores? */
static inline bool spe_op_is_atomic(uint8_t payload)
{
	return (payload & 0xe2) == 0x02 && (payload & 0x04) != 0;
}

/* Appends the operation in full wording: "LD AT AR", "B COND IND" … */
void spe_op_text(uint8_t op_class, uint8_t payload, struct text *);

#endif
