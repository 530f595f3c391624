/* SPDX-License-Identifier: Apache-2.0 */
#include "access/sizes.h"

#include <stdlib.h>

#include "access/vector_length.h"
#include "base/alloc.h"
#include "variables/code.h"

static void access_sizes_add(struct access_sizes *a, const struct session *s, uint32_t place)
{
	const uint32_t kinds = ACCESS_LOAD | ACCESS_STORE;
	struct isa_access access;

	if (!symbols_access(s->symbols, session_place(s, place), &access))
		return;
	a->is_prefetch[place] = access.flags & ACCESS_PREFETCH;
	if (!(access.flags & kinds))
		return;
	a->bytes[place] = access.bytes;
	a->is_scalable[place] = access.flags & ACCESS_SCALABLE;
	a->n_scalable += a->is_scalable[place];
}

void access_sizes_init(struct access_sizes *a, struct session *s, const bool *wanted)
{
	*a = (struct access_sizes){ .n = place_numbers_n(s->places) };
	a->bytes = mem_zalloc(a->n + 1, sizeof(*a->bytes));
	a->is_prefetch = mem_zalloc(a->n + 1, sizeof(*a->is_prefetch));
	a->is_scalable = mem_zalloc(a->n + 1, sizeof(*a->is_scalable));
	for (uint32_t i = 0; i < a->n; i++)
		if (wanted[i])
			access_sizes_add(a, s, i);
}

/*
 * An instruction that extends or truncates its elements moves less than a vector. Its records may
 * hold the length of what it moves instead of the vector length. That is certain where the recorded
 * length is below the shortest vector.
 */
uint32_t access_sizes_bytes(const struct access_sizes *a, uint64_t place, uint32_t recorded_bits)
{
	bool is_whole;
	uint32_t bytes;

	if (place >= a->n || !a->is_scalable[place])
		return place < a->n ? a->bytes[place] : 0;
	bytes = a->bytes[place];
	is_whole = bytes >= VECTOR_LEAST_BITS / 8;
	if (recorded_bits != 0 && recorded_bits < VECTOR_LEAST_BITS && !is_whole)
		return recorded_bits / 8;
	return bytes * (recorded_bits >= VECTOR_LEAST_BITS ? recorded_bits : a->vector_bits) /
	       VECTOR_LEAST_BITS;
}

void access_sizes_release(struct access_sizes *a)
{
	free(a->bytes);
	free(a->is_prefetch);
	free(a->is_scalable);
	*a = (struct access_sizes){ 0 };
}
