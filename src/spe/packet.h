/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arm SPE packets: a header of one or two bytes and at most eight payload bytes. Format: Arm
 * Architecture Reference Manual, "Statistical Profiling Extension sample record"; summary in
 * docs/reference/spe-packets.md.
 */
#ifndef CYCLOPS_SPE_PACKET_H
#define CYCLOPS_SPE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum spe_kind {
	SPE_BAD, /* no packet, or an incomplete one: one byte */
	SPE_PAD,
	SPE_ALIGNMENT,
	SPE_END,
	SPE_TIMESTAMP,
	SPE_EVENTS,
	SPE_SOURCE,
	SPE_CONTEXT,
	SPE_OP,
	SPE_ADDRESS,
	SPE_COUNTER,
};

/* Index of an address packet. */
enum spe_address {
	SPE_ADDR_PC,
	SPE_ADDR_TARGET,
	SPE_ADDR_VA,
	SPE_ADDR_PA,
	SPE_ADDR_PREV_TARGET,
};

/* Index of a counter packet. */
enum spe_counter {
	SPE_COUNT_TOTAL,
	SPE_COUNT_ISSUE,
	SPE_COUNT_XLAT,
};

/* Class (index) of an operation packet. */
enum spe_op_class {
	SPE_OP_OTHER,
	SPE_OP_LDST,
	SPE_OP_BRANCH,
	SPE_OP_RESERVED,
};

/* Bits of the events packet; others are IMPLEMENTATION DEFINED or reserved. */
enum spe_event {
	SPE_EV_EXCEPTION,
	SPE_EV_RETIRED,
	SPE_EV_L1D_ACCESS,
	SPE_EV_L1D_REFILL,
	SPE_EV_TLB_ACCESS,
	SPE_EV_TLB_WALK,
	SPE_EV_NOT_TAKEN,
	SPE_EV_MISPREDICTED,
	SPE_EV_LLC_ACCESS,
	SPE_EV_LLC_MISS,
	SPE_EV_REMOTE,
	SPE_EV_ALIGNMENT,
	SPE_EV_TRANSACTION = 16,
	SPE_EV_PARTIAL_PREDICATE,
	SPE_EV_EMPTY_PREDICATE,
	SPE_EV_L2D_ACCESS,
	SPE_EV_L2D_MISS,
	SPE_EV_HITM,
	SPE_EV_RECENTLY_FETCHED,
	SPE_EV_SNOOPED,
	SPE_EV_STREAMING_SVE,
	SPE_EV_SMCU,
};

struct spe_packet {
	enum spe_kind kind;
	uint8_t index;	/* of addresses, counters, contexts, operations (class) */
	uint8_t size;	/* payload bytes: 0, 1, 2, 4, 8 */
	uint8_t length; /* all bytes of the packet, at least 1 */
	bool is_cut;	/* only with SPE_BAD: the packet is incomplete */
	uint64_t payload;
};

/*
 * Reads the packet at `bytes`, where `left` (at least 1) bytes can be read. Alignment packets count
 * from `address`. Incomplete packets are SPE_BAD with length 1. A PAD is one byte.
 */
struct spe_packet spe_packet_read(const uint8_t *bytes, size_t left, uint64_t address);

/* The length and kind that it has, for those who look at nothing else: several times as fast. */
size_t spe_packet_length(const uint8_t *bytes, size_t left, uint64_t address,
			 enum spe_kind *out_kind);

/* The words of a packet's text. */
enum spe_wording {
	SPE_WORDING_PERF_6_1, /* exactly as perf 6.1 */
	SPE_WORDING_FULL,     /* all names of the architecture, as in the newest perf */
};

/* A CPU's names for bits of the events packet; NULL if it has none. Borrowed. */
struct spe_event_names {
	const char *by_bit[64];
};

/*
 * Appends the packet's text. `names` (NULL: none) are for bits that the architecture does not name,
 * in full wording only.
 */
void spe_packet_text(const struct spe_packet *, enum spe_wording, const struct spe_event_names *,
		     struct text *);

/*
 * Appends a dump of a buffer as `perf script -D` prints it, one line per packet: offset in the
 * buffer, bytes, text. `address` as in spe_packet_read(). Padding shares lines of up to 16 bytes.
 */
void spe_dump(const uint8_t *bytes, size_t size, uint64_t address, enum spe_wording,
	      const struct spe_event_names *, struct text *);

/*
 * The same in parts, as a dump is about fifteen times as large as its buffer. Appends lines from
 * bytes[from] on until the text has grown by `limit` bytes or the bytes end. Returns `from` of the
 * next call; `size` at the end.
 */
size_t spe_dump_some(const uint8_t *bytes, size_t size, uint64_t address, size_t from, size_t limit,
		     enum spe_wording, const struct spe_event_names *, struct text *);

#endif
