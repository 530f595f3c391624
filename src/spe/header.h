/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes header bytes, for the inner loops of this folder. Others use spe_packet_read(). */
#ifndef CYCLOPS_SPE_HEADER_H
#define CYCLOPS_SPE_HEADER_H

#include "base/cursor.h"
#include "spe/fields.h"
#include "spe/packet.h"

/* What a header byte means. SPE_ALIGNMENT also stands for the first byte of extended headers. */
struct spe_header {
	uint8_t kind;	    /* enum spe_kind; SPE_BAD: not a header */
	uint8_t size;	    /* payload bytes */
	uint8_t index_mask; /* bits of the header that are the index */
	uint8_t field;	    /* enum spe_field, for packets with a payload */
};

extern const struct spe_header spe_headers[256];

/* The mask of a payload of 0, 1, 2, 4 or 8 bytes. */
static inline uint64_t spe_payload_mask(unsigned size)
{
	static const uint64_t masks[] = {
		[0] = 0, [1] = 0xff, [2] = 0xffff, [4] = 0xffffffff, [8] = UINT64_MAX
	};

	return masks[size];
}

/* The field of a packet; SPE_FIELD_NONE if it has no payload or no column. */
static inline enum spe_field spe_field_of(const uint8_t *packet, const struct spe_packet *p)
{
	unsigned header_size = p->length - p->size;

	if (p->size == 0 || p->index > 7)
		return SPE_FIELD_NONE;
	return (enum spe_field)spe_headers[packet[header_size - 1]].field;
}

/* The number of padding bytes at the start. */
static inline size_t spe_padding_size(const uint8_t *bytes, size_t left)
{
	size_t n = 0;

	while (n + 8 <= left) {
		uint64_t word = load_u64(bytes + n);

		if (word != 0)
			return n + (unsigned)__builtin_ctzll(word) / 8;
		n += 8;
	}
	while (n < left && bytes[n] == 0)
		n++;
	return n;
}

#endif
