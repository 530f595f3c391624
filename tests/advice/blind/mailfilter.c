/* SPDX-License-Identifier: Apache-2.0 */

/* A mail filter with eight sets of rules. Each set is compiled to an automaton over a six-bit alphabet. Every
 * message goes through every automaton, and its score is made of the states where they end and of the states that
 * ring a bell on the way. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS = 8, STATES = 192, LETTERS = 64, MESSAGES = 4352, MESSAGE_BYTES = 64, BATCH = 256 };

/* The next state, times LETTERS. */
typedef uint16_t automaton[STATES * LETTERS];

static automaton rules[SETS];
static uint8_t mail[MESSAGES][MESSAGE_BYTES];
static uint64_t score[MESSAGES];
static uint64_t state = 424243;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state ^ state >> 31;
}

static uint32_t match(const uint16_t *next, const uint8_t *text)
{
	uint32_t at = 0;
	uint32_t bells = 0;

	for (int i = 0; i < MESSAGE_BYTES; i++) {
		at = next[at + text[i]];
		bells += at >> 13;
	}
	return at + bells;
}

static void filter(void)
{
#ifdef FIXED
	for (int first = 0; first < MESSAGES; first += BATCH)
		for (int set = 0; set < SETS; set++)
			for (int m = first; m < first + BATCH; m++)
				score[m] = score[m] * 31 + match(rules[set], mail[m]);
#else
	for (int m = 0; m < MESSAGES; m++)
		for (int set = 0; set < SETS; set++)
			score[m] = score[m] * 31 + match(rules[set], mail[m]);
#endif
}

int main(void)
{
	uint64_t sum = 0;

	for (int set = 0; set < SETS; set++)
		for (int i = 0; i < STATES * LETTERS; i += 2) {
			uint64_t word = draw();

			rules[set][i] = (uint16_t)((word & 0xffff) * STATES >> 16) * LETTERS;
			rules[set][i + 1] =
				(uint16_t)((word >> 16 & 0xffff) * STATES >> 16) * LETTERS;
		}
	for (int m = 0; m < MESSAGES; m++)
		for (int i = 0; i < MESSAGE_BYTES; i += 8) {
			uint64_t word = draw();

			for (int b = 0; b < 8; b++)
				mail[m][i + b] = word >> 8 * b & (LETTERS - 1);
		}
	filter();
	for (int m = 0; m < MESSAGES; m++)
		sum = sum * 31 + score[m];
	printf("mailfilter %016llx\n", (unsigned long long)sum);
	return 0;
}
