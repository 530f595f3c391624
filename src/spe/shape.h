/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding by layout ("shape"). A core writes its records in a few layouts only: which packets, in
 * which order, with how much padding. The decoder learns them from the first records. The header
 * and padding bytes identify a layout:
 *
 *	bytes	b0 d0 c2 a1 ed 66 ba ff c0 00 00 65 80 5f 00 00 49 00 52 16 00 …
 *	mask	ff .. .. .. .. .. .. .. .. ff ff ff .. .. .. .. ff .. ff .. .. …
 *
 * A record that agrees with a known one under the mask has its packets at the same places: they
 * need not be parsed again. Parsing depends on nothing but those bytes, so the result is the same.
 */
#ifndef CYCLOPS_SPE_SHAPE_H
#define CYCLOPS_SPE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "spe/fields.h"
#include "spe/wanted.h"

enum {
	SPE_SHAPE_SIZE = 64, /* that of today's records; longer ones are parsed */
	SPE_N_SHAPES = 12,
};

struct spe_shape {
	uint8_t mask[SPE_SHAPE_SIZE], value[SPE_SHAPE_SIZE]; /* of headers and padding */
	uint64_t n_hits;
	uint32_t has;
	uint8_t length;			 /* first packet to last, with the padding between */
	uint8_t padding;		 /* bytes of it that are padding */
	uint8_t place[SPE_N_FIELDS];	 /* of the payload in the record */
	uint8_t op_class, context_level; /* as in struct spe_fields */
	uint64_t payload_mask[SPE_N_FIELDS];
};

/*
 * The shapes of one decoder, and two tables that guess the shape of a record: the byte at `probe`
 * gives a group, and the byte at probe_of_group[group] gives the shape. (Trying one shape after the
 * other would be mispredicted branches.) Zeroed is empty.
 */
struct spe_shapes {
	size_t n;
	size_t length; /* of all of them; 0: they differ */
	uint64_t n_misses, next_lesson;
	uint8_t probe;			      /* where the byte stands that says the group */
	uint8_t group_of[256];		      /* by that byte */
	uint8_t probe_of_group[SPE_N_SHAPES]; /* where the byte stands that says the shape */
	uint8_t shape_of[SPE_N_SHAPES][256];  /* by group and that byte: index of items */
	struct spe_shape items[SPE_N_SHAPES];
};

/* Learns the layout of a record, if its header and padding bytes identify it. */
void spe_shapes_learn(struct spe_shapes *, const uint8_t *record, size_t size);

/*
 * Decodes records from the start of the bytes, as long as they have known shapes and the batch has
 * room. Records that are not wanted are skipped. `position` is that of bytes[0] in the file.
 * Returns how many bytes were consumed, and adds to `padding` how many of them were padding.
 */
size_t spe_shapes_decode(struct spe_shapes *, const uint8_t *bytes, size_t size, uint64_t position,
			 const struct spe_wanted *, struct batch *out, uint64_t *padding);

#endif
