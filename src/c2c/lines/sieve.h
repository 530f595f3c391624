/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines may loads have waited for? Lines are many, and most of them nobody waits for: answers about the others alone count, instead
 * of keeping all in a table, by hash of the address. It says "certainly not" or "perhaps".
 */
#ifndef CYCLOPS_C2C_LINES_SIEVE_H
#define CYCLOPS_C2C_LINES_SIEVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/address_filter.h"
#include "c2c/lines/line_table.h"

struct c2c_sieve;

struct c2c_sieve *c2c_sieve_new(uint64_t line_bytes);
void c2c_sieve_free(struct c2c_sieve *);

/* Adds accesses. `contended`: the counters of loads that wait for other threads, whatever else is done to their line. */
void c2c_sieve_add(struct c2c_sieve *, const struct c2c_access_row *, size_t n, uint32_t contended);
void c2c_sieve_merge(struct c2c_sieve *, const struct c2c_sieve *from);

/*
 * Fills in the lines with contended loads, and those with reloads (C2C_ROW_RELOAD) for which `is_enough` is true, given how often
 * they may have been accessed. Returns whether there may be any of the latter. The caller releases it.
 */
bool c2c_sieve_lines(const struct c2c_sieve *, bool (*is_enough)(const void *context, uint32_t n),
		     const void *context, struct address_filter *out);

#endif
