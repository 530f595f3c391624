/* SPDX-License-Identifier: Apache-2.0 */

/* How often each of a few notes is played: the counters of the same few notes are incremented in memory, one right after the
 * other. The twin has four sets of counters, and adds them up in the end. */

#include <stdint.h>
#include <stdio.h>

enum { NOTES = 60000, ROUNDS = 8, KINDS = 256, SETS = 4 };

static uint8_t notes[NOTES];
static uint32_t played[KINDS];

static __attribute__((noinline)) void count(void)
{
#ifdef FIXED
	uint32_t sets[SETS][KINDS] = { 0 };

	for (int i = 0; i < NOTES; i += SETS)
		for (int k = 0; k < SETS; k++)
			sets[k][notes[i + k]]++;
	for (int i = 0; i < KINDS; i++)
		for (int k = 0; k < SETS; k++)
			played[i] += sets[k][i];
#else
	for (int i = 0; i < NOTES; i++)
		played[notes[i]]++;
#endif
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < NOTES; i++)
		notes[i] = (uint8_t)(i / 40 * 7);
	for (int round = 0; round < ROUNDS; round++)
		count();
	for (int i = 0; i < KINDS; i++)
		sum = sum * 31 + played[i];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
