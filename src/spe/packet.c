/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a packet: kind, index, payload. Format: see spe/packet.h. */
#include "spe/packet.h"

#include "spe/header.h"

const struct spe_header spe_headers[256] = {
	[0x00] = { SPE_PAD, 0, 0, SPE_FIELD_NONE },
	[0x01] = { SPE_END, 0, 0, SPE_FIELD_NONE },
	[0x20 ... 0x23] = { SPE_ALIGNMENT, 0, 3, SPE_FIELD_NONE },
	[0x42] = { SPE_EVENTS, 1, 0, SPE_FIELD_EVENTS },
	[0x43] = { SPE_SOURCE, 1, 0, SPE_FIELD_SOURCE },
	[0x48 ... 0x4b] = { SPE_OP, 1, 3, SPE_FIELD_OP },
	[0x52] = { SPE_EVENTS, 2, 0, SPE_FIELD_EVENTS },
	[0x53] = { SPE_SOURCE, 2, 0, SPE_FIELD_SOURCE },
	[0x62] = { SPE_EVENTS, 4, 0, SPE_FIELD_EVENTS },
	[0x63] = { SPE_SOURCE, 4, 0, SPE_FIELD_SOURCE },
	[0x64 ... 0x67] = { SPE_CONTEXT, 4, 3, SPE_FIELD_CONTEXT },
	[0x71] = { SPE_TIMESTAMP, 8, 0, SPE_FIELD_TICKS },
	[0x72] = { SPE_EVENTS, 8, 0, SPE_FIELD_EVENTS },
	[0x73] = { SPE_SOURCE, 8, 0, SPE_FIELD_SOURCE },
	[0x98 | SPE_COUNT_TOTAL] = { SPE_COUNTER, 2, 7, SPE_FIELD_TOTAL },
	[0x98 | SPE_COUNT_ISSUE] = { SPE_COUNTER, 2, 7, SPE_FIELD_ISSUE },
	[0x98 | SPE_COUNT_XLAT] = { SPE_COUNTER, 2, 7, SPE_FIELD_XLAT },
	[0x9b ... 0x9f] = { SPE_COUNTER, 2, 7, SPE_FIELD_NONE },
	[0xb0 | SPE_ADDR_PC] = { SPE_ADDRESS, 8, 7, SPE_FIELD_PC },
	[0xb0 | SPE_ADDR_TARGET] = { SPE_ADDRESS, 8, 7, SPE_FIELD_TARGET },
	[0xb0 | SPE_ADDR_VA] = { SPE_ADDRESS, 8, 7, SPE_FIELD_VA },
	[0xb0 | SPE_ADDR_PA] = { SPE_ADDRESS, 8, 7, SPE_FIELD_PA },
	[0xb0 | SPE_ADDR_PREV_TARGET] = { SPE_ADDRESS, 8, 7, SPE_FIELD_PREV_TARGET },
	[0xb5 ... 0xb7] = { SPE_ADDRESS, 8, 7, SPE_FIELD_NONE },
};

static const struct spe_packet bad_packet = { .kind = SPE_BAD, .length = 1 };
static const struct spe_packet cut_packet = { .kind = SPE_BAD, .length = 1, .is_cut = true };

/* The payload at `at`, where `left` bytes can be read. */
static uint64_t read_payload(const uint8_t *at, size_t left, unsigned size)
{
	uint64_t payload = 0;

	if (left >= 8)
		return load_u64(at) & spe_payload_mask(size);
	for (unsigned i = 0; i < size; i++)
		payload |= (uint64_t)at[i] << (8 * i);
	return payload;
}

/* Reads the packet whose header, of `header_size` bytes, ends with a byte that `h` describes. */
static inline struct spe_packet read_body(const struct spe_header *h, const uint8_t *bytes,
					  size_t left, unsigned header_size, unsigned index_high)
{
	unsigned length = header_size + h->size;

	if (left < length)
		return cut_packet;
	return (struct spe_packet){
		.kind = (enum spe_kind)h->kind,
		.index = (uint8_t)(index_high | (bytes[header_size - 1] & h->index_mask)),
		.size = h->size,
		.length = (uint8_t)length,
		.payload = read_payload(bytes + header_size, left - header_size, h->size),
	};
}

/*
 * An alignment packet extends to the next multiple of its alignment. As in other decoders it is
 * incomplete if fewer bytes than the alignment are left, even if it needs less.
 */
static struct spe_packet read_alignment(const uint8_t *bytes, size_t left, uint64_t address)
{
	unsigned alignment = 2u << (bytes[0] & 3);

	if (left < alignment)
		return cut_packet;
	return (struct spe_packet){
		.kind = SPE_ALIGNMENT,
		.index = bytes[0] & 3,
		.length = (uint8_t)(alignment - (address & (alignment - 1))),
	};
}

/* The second byte is like a short header. Only addresses and counters can be extended. */
static struct spe_packet read_extended(const uint8_t *bytes, size_t left, uint64_t address)
{
	const struct spe_header *h;

	if (left < 2)
		return cut_packet;
	h = &spe_headers[bytes[1]];
	if (h->kind == SPE_PAD)
		return read_alignment(bytes, left, address);
	if (h->kind != SPE_ADDRESS && h->kind != SPE_COUNTER)
		return bad_packet;
	return read_body(h, bytes, left, 2, (bytes[0] & 3u) << 3);
}

struct spe_packet spe_packet_read(const uint8_t *bytes, size_t left, uint64_t address)
{
	const struct spe_header *h = &spe_headers[bytes[0]];

	if (h->kind == SPE_BAD)
		return bad_packet;
	if (h->kind == SPE_ALIGNMENT)
		return read_extended(bytes, left, address);
	return read_body(h, bytes, left, 1, 0);
}

size_t spe_packet_length(const uint8_t *bytes, size_t left, uint64_t address,
			 enum spe_kind *out_kind)
{
	const struct spe_header *h = &spe_headers[bytes[0]];
	struct spe_packet extended;

	if (h->kind == SPE_ALIGNMENT) {
		extended = read_extended(bytes, left, address);
		*out_kind = extended.kind;
		return extended.length;
	}
	*out_kind = left > h->size ? (enum spe_kind)h->kind : SPE_BAD;
	return left > h->size ? 1u + h->size : 1;
}
