/* SPDX-License-Identifier: Apache-2.0 */
/* Writes SPE records as bytes: for tests, generated captures and the machine model. */
#ifndef CYCLOPS_SPE_ENCODE_H
#define CYCLOPS_SPE_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "spe/packet.h"

/* The packets of one record. Bit HAS_x of `has` (batch.h) says which fields are written. */
struct spe_record {
	uint32_t has;				  /* HAS_PC … HAS_CONTEXT as in batch.h */
	uint64_t pc, va, pa, target, prev_target; /* low 56 bits are written (va: all 64);
						     all but va are marked non-secure */
	uint8_t pc_level, target_level, prev_target_level; /* exception levels 0..3 */
	uint8_t context_level;				   /* 1 or 2 */
	uint64_t ticks; /* without HAS_TICKS the record ends with an END packet */
	uint64_t events;
	uint32_t context;
	uint16_t total, issue, xlat;
	uint16_t source;
	uint8_t op_class, op;
};

/* How records are laid out. */
struct spe_layout {
	const uint8_t *order; /* enum spe_slot, n_order of them: packets in this order */
	size_t n_order;

	/*
	 * By packet of `order`: the lowest offset in the record at which it starts. Absent packets
	 * leave padding. NULL: packets follow each other.
	 */
	const uint8_t *places;

	size_t record_size;  /* padded to a multiple of this; 0 or 1: no padding. N1: 64 */
	uint8_t events_size; /* payload bytes: 1, 2, 4, 8; more if it needs more */
	uint8_t source_size; /* payload bytes: 1 or 2; more if it needs more */
	uint8_t extended;    /* write address and counter packets with the extended header */
};

/* A packet's turn in spe_layout.order. The timestamp or END always comes last. */
enum spe_slot {
	SPE_SLOT_PC,
	SPE_SLOT_CONTEXT,
	SPE_SLOT_OP,
	SPE_SLOT_EVENTS,
	SPE_SLOT_ISSUE,
	SPE_SLOT_TOTAL,
	SPE_SLOT_VA,
	SPE_SLOT_TARGET,
	SPE_SLOT_PREV_TARGET,
	SPE_SLOT_XLAT,
	SPE_SLOT_PA,
	SPE_SLOT_SOURCE,
	SPE_N_SLOTS,
};

/* Neoverse N1: 64-byte records, a fixed place for each packet. */
extern const struct spe_layout spe_layout_n1;

enum { SPE_RECORD_MAX = 2048 };

/*
 * Writes one record to `out` (room for SPE_RECORD_MAX bytes) and returns its size, padding
 * included. The timestamp stands at the end, behind the padding, as in hardware.
 */
size_t spe_encode(const struct spe_record *, const struct spe_layout *, uint8_t *out);

/*
 * Writes one packet with its short header (or extended if its index needs that) and returns
 * its size, at most SPE_PACKET_MAX. `size` counts for events and sources only, `length` never.
 * Of an alignment packet it writes the header: what it aligns is the caller's business.
 */
enum { SPE_PACKET_MAX = 10 };
size_t spe_packet_write(const struct spe_packet *, uint8_t *out);

#endif
