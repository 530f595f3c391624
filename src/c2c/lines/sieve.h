/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of which lines may reloads count (C2C_ROW_RELOAD)? Of those that are accessed often enough. Lines are many, and most of them are not: answers
 * that need no others count accesses by hash of the address, instead of keeping all lines in a table. It says "certainly not" or "perhaps".
 */
#ifndef CYCLOPS_C2C_LINES_SIEVE_H
#define CYCLOPS_C2C_LINES_SIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address_filter.h"

enum {
	C2C_SIEVE_LOG = 18, /* a core's own cache holds the counts */

	/* Processes that began as one have other lines at the same addresses: they are told apart, but for so many of them. */
	C2C_SIEVE_SPACES_LOG = 3,
};

struct c2c_sieve {
	struct address_filter shape; /* of what comes out: empty */
	uint16_t least;		     /* count that is let through */

	/* Of accesses, by bit of a filter, with the change of the space; changes of spaces that were met. */
	uint16_t counts[1 << C2C_SIEVE_LOG];
	bool has_change[1 << C2C_SIEVE_SPACES_LOG];
};

/* Where an access is counted, and whether that was a reload. */
struct c2c_sieve_access {
	uint32_t is_reload : 1, count : 31;
};

/* What a space changes of an address's bit. */
static inline uint32_t c2c_sieve_change(uint32_t space)
{
	return space * 0x9e3779b9u >> (32 - C2C_SIEVE_SPACES_LOG);
}

/* Whose line was accessed, as in struct c2c_spot, and whether that was a reload. */
static inline struct c2c_sieve_access c2c_sieve_access_of(struct c2c_sieve *s, uint32_t space,
							  uint64_t address, bool is_reload)
{
	uint32_t change = c2c_sieve_change(space);

	s->has_change[change] = true;
	return (struct c2c_sieve_access){
		.is_reload = is_reload,
		.count = (uint32_t)(address_filter_bit(&s->shape, address) ^ change) & INT32_MAX,
	};
}

struct c2c_sieve *c2c_sieve_new(uint64_t line_bytes);
void c2c_sieve_free(struct c2c_sieve *);

void c2c_sieve_add(struct c2c_sieve *, const struct c2c_sieve_access *, size_t n);
void c2c_sieve_merge(struct c2c_sieve *, const struct c2c_sieve *from);

/*
 * Fills in the addresses of lines with reloads that may have been accessed `least` times or more. Returns how many accesses
 * these were; of many to one line more were. The caller releases `out`.
 */
uint64_t c2c_sieve_lines(struct c2c_sieve *, uint32_t least, struct address_filter *out);

/* May it be one of those lines? Then: an address alone may be another space's. */
bool c2c_sieve_may_have(const struct c2c_sieve *, uint32_t space, uint64_t address);

#endif
