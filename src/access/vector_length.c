/* SPDX-License-Identifier: Apache-2.0 */
#include "access/vector_length.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "spe/packet.h"

/* Payload of SVE loads and stores (docs/reference/spe-packets.md, section 6.2). */
enum { SVE = 0x08, SVE_MASK = 0x0a, LENGTH_SHIFT = 4, LENGTH_MASK = 7, LENGTH_UNIT_BITS = 32 };

static void *vector_length_new(const struct session *session, const void *options)
{
	(void)session;
	(void)options;
	return mem_zalloc(1, sizeof(struct vector_length));
}

static void vector_length_add(struct vector_length *v, uint64_t n, uint32_t bits)
{
	v->n += n;
	v->bits = bits > v->bits ? bits : v->bits;
}

uint32_t vector_length_recorded(const struct batch *b, size_t row)
{
	if (b->kind != BATCH_SPE || !(b->has[row] & HAS_OP) || b->op_class[row] != SPE_OP_LDST ||
	    (b->op[row] & SVE_MASK) != SVE)
		return 0;
	return (uint32_t)LENGTH_UNIT_BITS << (b->op[row] >> LENGTH_SHIFT & LENGTH_MASK);
}

/* May any row be of SVE? Most captures have none, so what else a row needs for it is not looked at. */
static bool may_have_vectors(const struct batch *b)
{
	unsigned n = 0;

	for (size_t row = 0; row < b->n; row++)
		n += (b->op[row] & SVE_MASK) == SVE;
	return n > 0;
}

static void vector_length_consume(void *partial, const struct batch *b)
{
	if (b->kind != BATCH_SPE || !may_have_vectors(b))
		return;
	for (size_t row = 0; row < b->n; row++) {
		uint32_t bits = vector_length_recorded(b, row);

		if (bits > 0)
			vector_length_add(partial, 1, bits);
	}
}

static void vector_length_merge(void *into, const void *from, const struct id_map *map)
{
	const struct vector_length *part = from;

	(void)map;
	vector_length_add(into, part->n, part->bits);
}

int vector_length_check(uint32_t bits, struct err *err)
{
	if (bits % VECTOR_LEAST_BITS == 0 && bits <= VECTOR_MOST_BITS)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--vector-length: %" PRIu32 " bits: not a multiple of %d up to %d", bits,
		       VECTOR_LEAST_BITS, VECTOR_MOST_BITS);
}

const struct analysis_class vector_length_class = {
	.new = vector_length_new,
	.free = free,
	.consume = vector_length_consume,
	.merge = vector_length_merge,
};
