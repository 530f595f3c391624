/* SPDX-License-Identifier: Apache-2.0 */

/* Resets a mark in each of 50000 records of 1088 bytes, again and again: stores alone, each to a line that comes from
 * DRAM, and the store buffer is full. The twin has the marks in an array of their own. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 50000, RECORD_BYTES = 1088, ROUNDS = 30 };
#ifdef FIXED
enum { STEP = 1 };
#else
enum { STEP = RECORD_BYTES };
#endif

static void reset(uint8_t *marks, uint8_t value)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		marks[(size_t)i * STEP] = (uint8_t)(value + (i >> 5));
}

int main(void)
{
	uint8_t *records = calloc(RECORDS, RECORD_BYTES);
	uint64_t sum = 0;

	if (records == NULL)
		return 1;
	for (uint8_t round = 0; round < ROUNDS; round++)
		reset(records, round);
	for (uint32_t i = 0; i < RECORDS; i += 100)
		sum = sum * 31 + records[(size_t)i * STEP];
	printf("%llx\n", (unsigned long long)sum);
	free(records);
	return 0;
}
