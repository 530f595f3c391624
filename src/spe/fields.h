/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a record, and how they become a row. For this folder only. Both decoders (decode.c
 * by packets, shape.c by layouts) use this, so they cannot differ.
 */
#ifndef CYCLOPS_SPE_FIELDS_H
#define CYCLOPS_SPE_FIELDS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "batch/batch.h"

/* Packets by their content; numbers are those of the HAS_x bits. */
enum spe_field {
	SPE_FIELD_PC = 0,
	SPE_FIELD_VA = 1,
	SPE_FIELD_PA = 2,
	SPE_FIELD_TARGET = 3,
	SPE_FIELD_PREV_TARGET = 4,
	SPE_FIELD_TICKS = 5,
	SPE_FIELD_NONE = 6, /* of a later architecture version: no column for it */
	SPE_FIELD_TOTAL = 7,
	SPE_FIELD_ISSUE = 8,
	SPE_FIELD_XLAT = 9,
	SPE_FIELD_EVENTS = 10,
	SPE_FIELD_OP = 11,
	SPE_FIELD_SOURCE = 12,
	SPE_FIELD_CONTEXT = 13,
	SPE_N_FIELDS = 14,
};

static_assert(HAS_PC == 1 << SPE_FIELD_PC && HAS_VA == 1 << SPE_FIELD_VA, "same bits");
static_assert(HAS_PA == 1 << SPE_FIELD_PA && HAS_TARGET == 1 << SPE_FIELD_TARGET, "same bits");
static_assert(HAS_PREV_TARGET == 1 << SPE_FIELD_PREV_TARGET, "same bits");
static_assert(HAS_TICKS == 1 << SPE_FIELD_TICKS && HAS_TIME == 1 << SPE_FIELD_NONE, "same bits");
static_assert(HAS_TOTAL == 1 << SPE_FIELD_TOTAL && HAS_ISSUE == 1 << SPE_FIELD_ISSUE, "same bits");
static_assert(HAS_XLAT == 1 << SPE_FIELD_XLAT && HAS_EVENTS == 1 << SPE_FIELD_EVENTS, "same bits");
static_assert(HAS_OP == 1 << SPE_FIELD_OP && HAS_SOURCE == 1 << SPE_FIELD_SOURCE, "same bits");
static_assert(HAS_CONTEXT == 1 << SPE_FIELD_CONTEXT, "same bits");

/* Payloads as recorded; 0 if bit n of `has` is clear. */
struct spe_fields {
	uint32_t has;
	uint8_t op_class;      /* index of the operation packet */
	uint8_t context_level; /* spe_context_level() of the context packet */
	uint64_t value[SPE_N_FIELDS];
};

enum { SPE_ADDRESS_BITS = 56 };

/* The exception level in the payload of a code address. */
static inline uint8_t spe_code_level(uint64_t payload)
{
	return payload >> 61 & 3;
}

/* The exception level of a context packet: 1 or 2. Reserved indexes give 3 and 0. */
static inline uint8_t spe_context_level(unsigned index)
{
	return (index + 1) & 3;
}

/*
 * Code addresses have 56 bits. Those of a kernel (non-secure EL1, EL2) are sign-extended with ones.
 */
static inline uint64_t spe_code_address(uint64_t payload)
{
	static const uint64_t top[8] = {
		[5] = (uint64_t)0xff << SPE_ADDRESS_BITS,
		[6] = (uint64_t)0xff << SPE_ADDRESS_BITS,
	}; /* by NS and EL */

	return (payload & UINT64_MAX >> 8) | top[payload >> 61];
}

/*
 * Data addresses have a tag in the top byte, no level. Bits 55:52 show whether it is a kernel
 * address.
 */
static inline uint64_t spe_data_address(uint64_t payload)
{
	uint64_t is_high = (payload >> 52 & 15) == 15;

	return (payload & UINT64_MAX >> 8) | (uint64_t)0xff * is_high << SPE_ADDRESS_BITS;
}

static inline uint64_t spe_physical_address(uint64_t payload)
{
	return payload & UINT64_MAX >> 8;
}

/* What a row is without: data addresses and branch targets, the latter with translation, or alone, or nothing. */
enum spe_without {
	SPE_WITHOUT_NOTHING = 0,
	SPE_WITHOUT_TARGETS = HAS_TARGET | HAS_PREV_TARGET,
	SPE_WITHOUT_TRANSLATION = HAS_PA | HAS_XLAT | SPE_WITHOUT_TARGETS,
	SPE_WITHOUT_ADDRESSES = HAS_VA | HAS_PA | SPE_WITHOUT_TARGETS,
};

/* The payload of a field of a record, 0 if it has none. What the record is, the caller of spe_deliver() knows. */
typedef uint64_t spe_payload(const void *record, enum spe_field);

/* What comes before payloads, as in struct spe_fields. */
struct spe_row_head {
	uint32_t has;
	uint8_t op_class, context_level;
	uint64_t position;
};

/*
 * Appends a row; there must be room. Absent fields are stored as 0: stores are cheaper than
 * mispredicted branches. What is left out is a constant of the caller's, for the same reason; so is whether the record has targets.
 * Each payload is read just before it is stored: they would not all fit into registers.
 */
__attribute__((always_inline)) static inline void spe_deliver(struct spe_row_head head,
							      spe_payload *payload,
							      const void *record,
							      enum spe_without without,
							      bool has_targets, struct batch *out)
{
	size_t row = out->n++;
	uint64_t pc = payload(record, SPE_FIELD_PC);
	uint64_t target = has_targets ? payload(record, SPE_FIELD_TARGET) : 0;
	uint64_t prev = has_targets ? payload(record, SPE_FIELD_PREV_TARGET) : 0;

	out->has[row] = head.has & ~(1u << SPE_FIELD_NONE | without);
	out->position[row] = head.position;
	out->pc[row] = spe_code_address(pc);
	out->level[row] = (uint8_t)(spe_code_level(pc) | spe_code_level(target) << 2 |
				    spe_code_level(prev) << 4 | head.context_level << 6);
	out->ticks[row] = payload(record, SPE_FIELD_TICKS);
	out->events[row] = payload(record, SPE_FIELD_EVENTS);
	out->context[row] = (uint32_t)payload(record, SPE_FIELD_CONTEXT);
	out->total[row] = (uint16_t)payload(record, SPE_FIELD_TOTAL);
	out->issue[row] = (uint16_t)payload(record, SPE_FIELD_ISSUE);
	if (without != SPE_WITHOUT_TRANSLATION)
		out->xlat[row] = (uint16_t)payload(record, SPE_FIELD_XLAT);
	out->source[row] = (uint16_t)payload(record, SPE_FIELD_SOURCE);
	out->op_class[row] = head.op_class;
	out->op[row] = (uint8_t)payload(record, SPE_FIELD_OP);
	if (without == SPE_WITHOUT_ADDRESSES)
		return;
	uint64_t va = payload(record, SPE_FIELD_VA);

	out->va[row] = spe_data_address(va);
	out->va_tag[row] = (uint8_t)(va >> SPE_ADDRESS_BITS);
	if (without == SPE_WITHOUT_TRANSLATION)
		return;
	out->pa[row] = spe_physical_address(payload(record, SPE_FIELD_PA));
	if (without == SPE_WITHOUT_TARGETS)
		return;
	out->target[row] = spe_code_address(target);
	out->prev_target[row] = spe_code_address(prev);
}

#endif
