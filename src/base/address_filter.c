/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address_filter.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
	/* bits per piece: about 1 in 64 of other pieces is taken for one of the set */
	BITS_EACH = 64,
	LOG_MIN = 9,
	LOG_MAX = 40,
};

void address_filter_init(struct address_filter *f, uint64_t piece_bytes, size_t n)
{
	unsigned log = LOG_MIN;

	while (log < LOG_MAX && (uint64_t)1 << log < (uint64_t)n * BITS_EACH)
		log++;
	*f = (struct address_filter){ .mask = ~(piece_bytes - 1), .shift = 64 - log };
	f->bits = mem_zalloc((size_t)1 << log >> 6, sizeof(*f->bits));
}

void address_filter_release(struct address_filter *f)
{
	free(f->bits);
	*f = (struct address_filter){ 0 };
}

void address_filter_add_bit(struct address_filter *f, uint64_t bit)
{
	f->bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

void address_filter_add(struct address_filter *f, uint64_t address)
{
	address_filter_add_bit(f, address_filter_bit(f, address));
}
