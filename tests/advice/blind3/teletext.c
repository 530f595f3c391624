/* SPDX-License-Identifier: Apache-2.0 */

/* Four pages of text go through a table of states, byte by byte; the state after each byte decides what the next means. */

#include <stdint.h>
#include <stdio.h>

enum { STATES = 64, CLASSES = 32, PAGES = 4, LENGTH = 4096, ROUNDS = 60 };

static uint8_t next_state[STATES][CLASSES], text[PAGES][LENGTH];
static uint64_t state = 1984;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static __attribute__((noinline)) uint32_t scan(uint32_t round)
{
	uint32_t sum = 0;

#ifdef FIXED
	uint32_t a = round % STATES, b = a, c = a, d = a;

	for (int i = 0; i < LENGTH; i++) {
		a = next_state[a][text[0][i]];
		b = next_state[b][text[1][i]];
		c = next_state[c][text[2][i]];
		d = next_state[d][text[3][i]];
	}
	sum = a + b + c + d;
#else
	for (int page = 0; page < PAGES; page++) {
		uint32_t at = round % STATES;

		for (int i = 0; i < LENGTH; i++)
			at = next_state[at][text[page][i]];
		sum += at;
	}
#endif
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < STATES; i++)
		for (int k = 0; k < CLASSES; k++)
			next_state[i][k] = (uint8_t)(draw() % STATES);
	for (int page = 0; page < PAGES; page++)
		for (int i = 0; i < LENGTH; i++)
			text[page][i] = (uint8_t)(draw() % CLASSES);
	for (uint32_t round = 0; round < ROUNDS; round++)
		sum = sum * 31 + scan(round);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
