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

struct c2c_sieve;

/* Whose line was accessed, as in struct c2c_spot, and whether that was a reload. */
struct c2c_sieve_access {
	uint64_t address; /* of the line */
	uint32_t space;
	bool is_reload;
};

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
