/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records with a data address stand in a file, in parts of it, with some bits of each address's hash: four bytes for a
 * record. A second look at a few addresses (base/address_filter.h) goes from one record that may have such an address
 * to the next one, and decodes nothing in between.
 */
#ifndef CYCLOPS_BASE_ADDRESS_INDEX_H
#define CYCLOPS_BASE_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address_filter.h"
#include "base/vec.h"

struct address_index;

/* Of pieces of `piece_bytes` (address_filter_init()). Keeps `most_bytes`; parts beyond are not indexed. */
struct address_index *address_index_new(size_t n_parts, uint64_t piece_bytes, size_t most_bytes);
void address_index_free(struct address_index *);

/* Frees what it has, and keeps no more: no part is indexed. */
void address_index_give_up(struct address_index *);

/* The records of a part so far. One for each worker; zeroed is empty. */
struct address_list {
	VEC_OF(uint32_t) words;
	uint64_t last;	      /* position of the last one + 1 */
	bool is_out_of_order; /* positions do not grow: it is no index */
};

/* Adds the records that have these numbers, by their positions and addresses. */
void address_list_add(struct address_list *, const struct address_index *,
		      const uint64_t *positions, const uint64_t *addresses, const uint16_t *numbers,
		      size_t n);
void address_list_release(struct address_list *);

/* Ends a part, which becomes indexed, and empties the list. Several workers may, of different parts. */
void address_index_keep(struct address_index *, size_t part, struct address_list *);

enum { ADDRESS_HITS = 32 };

/* A way through the records of a part that a filter may contain. */
struct address_cursor {
	const struct address_filter *filter;
	unsigned shift; /* of the bits that are kept of a hash, to those of the filter */
	const uint32_t *word, *end;
	uint64_t last;			      /* as in a list */
	uint64_t positions[2 * ADDRESS_HITS]; /* of the next records, in order: n, … */
	unsigned n, next;
	unsigned n_ahead; /* … and those that come after the next refill, to be fetched already */
};

/*
 * To the start of a part. False if it is not indexed, or the filter has more bits than are kept of a hash, as many addresses take, or is
 * of pieces of another size. The filter is borrowed.
 */
bool address_cursor_start(struct address_cursor *, const struct address_index *, size_t part,
			  const struct address_filter *);

/* Fills `positions` with those that come then; false: there are no more. To be called when all are used. */
bool address_cursor_refill(struct address_cursor *);

#endif
