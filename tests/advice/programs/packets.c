/* SPDX-License-Identifier: Apache-2.0 */

/* Copies packets of 1 to 48 bytes, whose lengths follow no pattern: memcpy() branches on each length, and the predictor
 * misses. The twin always copies 48 bytes, for which there is room. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PACKETS = 2500, LONGEST = 48, ROUNDS = 90 };

static uint8_t from[PACKETS][LONGEST], to[PACKETS * LONGEST + LONGEST];
static uint8_t lengths[PACKETS];

static size_t join(void)
{
	size_t at = 0;

	for (int i = 0; i < PACKETS; i++) {
#ifdef FIXED
		memcpy(to + at, from[i], LONGEST);
#else
		memcpy(to + at, from[i], lengths[i]);
#endif
		at += lengths[i];
	}
	return at;
}

int main(void)
{
	uint32_t state = 23, sum = 0;

	for (int i = 0; i < PACKETS; i++) {
		state = state * 1664525 + 1013904223;
		lengths[i] = (uint8_t)(1 + (state >> 16) % LONGEST);
		memset(from[i], (int)(state >> 24), lengths[i]);
	}
	for (int round = 0; round < ROUNDS; round++)
		sum = sum * 3 + (uint32_t)join() + to[round * 7];
	printf("%x\n", sum);
	return 0;
}
