/* SPDX-License-Identifier: Apache-2.0 */
#include "spe/boundary.h"

#include <stddef.h>

#include "base/prefetch.h"
#include "spe/packet.h"

enum {
	/* So many bytes at the end must look like records: chunks do end with records. */
	END_BYTES = 2 * SPE_RECORD_ALIGNMENT,
	/* No packet is longer. */
	PACKET_BYTES = 16,
	/* Bytes in which all parses, from whatever offset, come to the same packet boundaries. */
	TAIL_BYTES = 1024,
	SHORT_TAIL_BYTES = 128, /* … of nearly all records */
};

/* Headers of the packets that begin and end records. */
enum { TIMESTAMP_HEADER = 0x71, TIMESTAMP_BYTES = 9, PC_HEADER = 0xb0 };

/* The last bytes, parsed to see whether it ends with a whole record. */
struct tail {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	    /* of the first byte */
	uint8_t passed[TAIL_BYTES]; /* by offset: 1 << (the packet before ended a record) */
};

/*
 * Parses packets from `at` to the end of the tail. Does the last one end a record (padding aside)?
 * Stops early at an offset that an earlier parse passed.
 */
static bool parse_ends_clean(struct tail *t, size_t at)
{
	bool is_clean = false;

	while (at < t->size) {
		uint8_t here = (uint8_t)(1 << is_clean);
		enum spe_kind kind;

		if (t->passed[at] & here)
			return true;
		t->passed[at] |= here;
		at += spe_packet_length(t->bytes + at, t->size - at, t->address + at, &kind);
		if (kind != SPE_PAD && kind != SPE_ALIGNMENT)
			is_clean = kind == SPE_TIMESTAMP || kind == SPE_END;
	}
	return at == t->size && is_clean;
}

/*
 * Do the bytes end with a whole record, by the last of them? A payload may look like the packet that ends a record, so
 * the packets before it are parsed, too. Where the first packet is known there is one way.
 * Elsewhere, parsing is tried from each offset that may be the first packet: all must give the same
 * answer.
 */
static bool tail_ends_clean(const struct spe_bytes *b, uint64_t tail_bytes)
{
	bool is_whole = b->size <= tail_bytes;
	uint64_t from = is_whole ? 0 : b->size - tail_bytes;
	size_t n_ways = is_whole && b->begins_with_packet ? 1 : PACKET_BYTES;
	struct tail t = {
		.bytes = b->bytes + from,
		.size = b->size - from,
		.address = b->address + from,
	};

	if (t.size < n_ways)
		return false;
	for (size_t at = 0; at < n_ways; at++)
		if (!parse_ends_clean(&t, at))
			return false;
	return true;
}

bool spe_is_padded_record(const uint8_t *bytes)
{
	if (bytes[0] != PC_HEADER)
		return false;
	for (size_t end = SPE_RECORD_ALIGNMENT; end > TIMESTAMP_BYTES; end--) {
		if (bytes[end - TIMESTAMP_BYTES] == TIMESTAMP_HEADER)
			return true;
		if (bytes[end - 1] != 0)
			return false;
	}
	return false;
}

/* Are the last bytes aligned records? Those of nearly all pieces are, and it is soon seen. */
static bool ends_with_padded_records(const struct spe_bytes *b)
{
	if (b->size < END_BYTES || (b->address + b->size) % SPE_RECORD_ALIGNMENT != 0)
		return false;
	for (uint64_t at = b->size - END_BYTES; at < b->size; at += SPE_RECORD_ALIGNMENT)
		if (!spe_is_padded_record(b->bytes + at))
			return false;
	return true;
}

/* Each parse comes through the short tail: if all end clean that begin in it, there is no other answer. */
bool spe_ends_with_record(const struct spe_bytes *b)
{
	return ends_with_padded_records(b) || tail_ends_clean(b, SHORT_TAIL_BYTES) ||
	       tail_ends_clean(b, TAIL_BYTES);
}

bool spe_begins_with_record(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t pad = 0; pad < SPE_RECORD_ALIGNMENT && pad < size; pad++)
		if (bytes[pad] != 0)
			return bytes[pad] == PC_HEADER;
	return false;
}

void spe_fetch_boundaries(const uint8_t *bytes, uint64_t size)
{
	if (size < END_BYTES)
		return;
	prefetch(bytes);
	for (uint64_t at = size - END_BYTES; at < size; at += SPE_RECORD_ALIGNMENT)
		prefetch(bytes + at);
}
