/* SPDX-License-Identifier: Apache-2.0 */
/* Where records begin and end in SPE data, as far as bytes show: it can be cut there. */
#ifndef CYCLOPS_SPE_BOUNDARY_H
#define CYCLOPS_SPE_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

/* Records are aligned to this on all CPUs known, and are not longer. */
enum { SPE_RECORD_ALIGNMENT = 64 };

/* A PC at the start of 64 bytes, a timestamp at the end, with padding behind it. */
bool spe_is_padded_record(const uint8_t *bytes);

/* Do the bytes begin with a record, or with padding before one, as on all known CPUs? */
bool spe_begins_with_record(const uint8_t *bytes, uint64_t size);

/* A part of a buffer's stream. */
struct spe_bytes {
	const uint8_t *bytes;
	uint64_t size, address;	 /* of the first byte: alignment packets count from it */
	bool begins_with_packet; /* or else the first byte may be anywhere in one */
};

/* Do they certainly end with a whole record, padding aside? */
bool spe_ends_with_record(const struct spe_bytes *);

/* Prefetches what the two look at of most bytes. */
void spe_fetch_boundaries(const uint8_t *bytes, uint64_t size);

#endif
