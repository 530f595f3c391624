/* SPDX-License-Identifier: Apache-2.0 */

/* Reads one word of every 1088 bytes of 80 MiB, in order: further apart than the hardware prefetchers follow. A software
 * prefetch is there, but only one step ahead. The twin prefetches 32 steps ahead. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 1088, COUNT = 77000, ROUNDS = 3 };
#ifdef FIXED
enum { AHEAD = 32 };
#else
enum { AHEAD = 1 };
#endif

static uint64_t count_visitors(const char *gates, uint64_t sum)
{
	for (size_t i = 0; i < COUNT; i++) {
		__builtin_prefetch(gates + (i + AHEAD) * STEP);
		sum += *(const uint64_t *)(gates + i * STEP);
		for (int k = 0; k < 8; k++)
			sum = (sum << 7 | sum >> 57) + (sum ^ i);
	}
	return sum;
}

int main(void)
{
	char *gates = calloc(COUNT + 64, STEP);
	uint64_t sum = 1;

	if (gates == NULL)
		return 1;
	for (int round = 0; round < ROUNDS; round++)
		sum = count_visitors(gates, sum);
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
