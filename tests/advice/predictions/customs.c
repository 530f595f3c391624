/* SPDX-License-Identifier: Apache-2.0 */

/* Looks declarations up in a table of 64 MiB. Each has a check digit, which is computed from what the table says. The twin
 * computes the places of a batch first, prefetches them, and asks then. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1 << 20, DECLARATIONS = 150000, BATCH = 16 };

struct row {
	uint32_t code, duty, seen, rest[13];
};

static uint32_t place(uint32_t number)
{
	number *= 0x9e3779b1;
	number ^= number >> 16;
	number *= 0x85ebca6b;
	return (number ^ number >> 13) % ROWS;
}

/* Digits are added up one after the other. */
static uint32_t check_digit(uint32_t value)
{
	uint32_t sum = 0;

	for (int i = 0; i < 8; i++, value >>= 4)
		sum = sum * 3 + (value & 15);
	return sum;
}

static __attribute__((noinline)) uint64_t declare(struct row *rows, uint32_t first)
{
	uint64_t duties = 0;

#ifdef FIXED
	for (uint32_t i = 0; i < DECLARATIONS; i += BATCH) {
		uint32_t places[BATCH];

		for (uint32_t k = 0; k < BATCH; k++) {
			places[k] = place(first + i + k);
			__builtin_prefetch(&rows[places[k]], 1);
		}
		for (uint32_t k = 0; k < BATCH; k++) {
			struct row *row = &rows[places[k]];

			row->seen += check_digit(row->code + (first + i + k));
			duties += row->duty + row->seen;
		}
	}
#else
	for (uint32_t i = 0; i < DECLARATIONS; i++) {
		struct row *row = &rows[place(first + i)];

		row->seen += check_digit(row->code + (first + i));
		duties += row->duty + row->seen;
	}
#endif
	return duties;
}

int main(void)
{
	struct row *rows = calloc(ROWS, sizeof(*rows));

	if (rows == NULL)
		return 1;
	printf("%llu\n", (unsigned long long)(declare(rows, 1) + declare(rows, 5000000)));
	return 0;
}
