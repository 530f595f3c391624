/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes SPE records: for tests, generated captures and the machine model. */
#ifndef CYCLOPS_SPE_ENCODE_H
#define CYCLOPS_SPE_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "batch/batch.h"
#include "spe/packet.h"

/* The fields of a record. Bit HAS_x of `has` (batch.h): the field is written. */
struct spe_record {
	uint32_t has; /* HAS_PC … HAS_CONTEXT as in batch.h */
	/* low 56 bits (va: all 64), marked non-secure (not va) */
	uint64_t pc, va, pa, target, prev_target;
	uint8_t pc_level, target_level, prev_target_level; /* exception levels 0..3 */
	uint8_t context_level;				   /* 1 or 2 */
	uint64_t ticks; /* without HAS_TICKS the record ends with an END packet */
	uint64_t events;
	uint32_t context;
	uint16_t total, issue, xlat;
	uint16_t source;
	uint8_t op_class, op;
};

/* A layout of records. */
struct spe_layout {
	const uint8_t *order; /* order of packets: n_order values of enum spe_slot */
	size_t n_order;

	/*
	 * By packet of `order`: the least offset in the record. Absent packets leave padding. NULL:
	 * packets are adjacent.
	 */
	const uint8_t *places;

	size_t record_size;  /* records are padded to a multiple of this; 0 or 1: no padding */
	uint8_t events_size; /* least payload: 1, 2, 4 or 8 bytes */
	uint8_t source_size; /* least payload: 1 or 2 bytes */
	uint8_t extended;    /* write addresses and counters with the extended header */
};

/* Packets in spe_layout.order. Timestamp or END is always the last one. */
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
 * Encodes a record to `out`, which has room for SPE_RECORD_MAX bytes. Returns its size with
 * padding. The timestamp is behind the padding, as in hardware.
 */
size_t spe_encode(const struct spe_record *, const struct spe_layout *, uint8_t *out);

/*
 * Writes a packet with its short header, or the extended one if the index needs that. Returns its
 * size, at most SPE_PACKET_MAX. Uses `size` for events and sources only, `length` never. Of an
 * alignment packet only the header is written.
 */
enum { SPE_PACKET_MAX = 10 };
size_t spe_packet_write(const struct spe_packet *, uint8_t *out);

#endif
