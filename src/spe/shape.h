/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes records by layout ("shape"). A core writes records of a few layouts only: which packets,
 * in which order, with how much padding. The decoder learns them from records that were parsed.
 * Header and padding bytes identify a layout:
 *
 *   bytes b0 d0 c2 a1 ed 66 ba ff c0 00 00 65 80 5f 00 00 49 00 52 16 00 …
 *   mask  ff .. .. .. .. .. .. .. .. ff ff ff .. .. .. .. ff .. ff .. .. …
 *
 * A record with the same bytes under the mask has its packets at the same places. Parsing depends
 * on no other bytes, so the result is the same as that of parsing.
 */
#ifndef CYCLOPS_SPE_SHAPE_H
#define CYCLOPS_SPE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "spe/fields.h"
#include "spe/wanted.h"

enum {
	SPE_SHAPE_SIZE = 64, /* as on today's cores; longer records are parsed */
	SPE_N_SHAPES = 12,
	SPE_N_PROBES = 4,
};

struct spe_shape {
	/* `mask` is set where bytes are of headers and padding, which `value` has. */
	_Alignas(16) uint8_t mask[SPE_SHAPE_SIZE];
	_Alignas(16) uint8_t value[SPE_SHAPE_SIZE];
	uint64_t n_hits;
	uint32_t has;
	uint8_t length;			 /* from the first packet on, with padding */
	uint8_t padding;		 /* its padding bytes */
	uint8_t place[SPE_N_FIELDS];	 /* offset of the payload in the record */
	uint8_t op_class, context_level; /* as in struct spe_fields */
	uint64_t payload_mask[SPE_N_FIELDS];
};

/*
 * The shapes of a decoder, and tables that say which of them a record may have: by the bytes at a few offsets, at which shapes have
 * different headers. So the bytes are looked at side by side, and hardly ever is another shape than the right one compared; a search
 * would mispredict branches. Zeroed is empty.
 */
struct spe_shapes {
	size_t n;
	size_t length; /* of all shapes; 0: they differ */
	size_t reach;  /* so many bytes are read of a record, or fewer */
	uint64_t n_misses, next_lesson;
	uint8_t probes[SPE_N_PROBES];	      /* the offsets */
	uint16_t possible[SPE_N_PROBES][256]; /* bit i: shape i, by the byte there */
	uint8_t lengths[SPE_N_SHAPES];	      /* of the shapes */
	uint32_t memory;		      /* bit i: shape i is of loads, stores and atomics */
	struct spe_shape items[SPE_N_SHAPES];
};

/* Learns the layout of a record, if header and padding bytes identify it. */
void spe_shapes_learn(struct spe_shapes *, const uint8_t *record, size_t size);

/*
 * Decodes records from the start of the bytes, as long as their shapes are known and the batch has
 * room. Unwanted records are skipped. `position` is that of bytes[0] in the file. Returns the
 * number of bytes consumed, and adds the padding among them to `padding`.
 */
size_t spe_shapes_decode(struct spe_shapes *, const uint8_t *bytes, size_t size, uint64_t position,
			 const struct spe_wanted *, struct batch *out, uint64_t *padding);

#endif
