/* SPDX-License-Identifier: Apache-2.0 */

/* Runs four state machines of 48 KiB over each line of a text in turn: together they do not fit in the L1D, and each
 * step waits for the one before, so for the L2. The twin runs one machine over all lines before the next; another one
 * (FIXED=2) runs the four side by side. */

#include <stdint.h>
#include <stdio.h>

enum { MACHINES = 4, STATES = 384, LETTERS = 32, LINES = 512, LENGTH = 384 };

static uint16_t go[MACHINES][STATES][LETTERS * 2];
static uint8_t text[LINES][LENGTH];
static uint32_t ends[MACHINES];

#if FIXED == 2
static void match_all(int line)
{
	uint32_t state[MACHINES];

	for (int machine = 0; machine < MACHINES; machine++)
		state[machine] = (uint32_t)line % STATES;
	for (int i = 0; i < LENGTH; i++)
		for (int machine = 0; machine < MACHINES; machine++)
			state[machine] = go[machine][state[machine]][text[line][i]];
	for (int machine = 0; machine < MACHINES; machine++)
		ends[machine] = ends[machine] * 31 + state[machine];
}
#else
static void match(int machine, int line)
{
	uint32_t state = (uint32_t)line % STATES;

	for (int i = 0; i < LENGTH; i++)
		state = go[machine][state][text[line][i]];
	ends[machine] = ends[machine] * 31 + state;
}
#endif

int main(void)
{
	uint32_t seed = 5;

	for (int m = 0; m < MACHINES; m++)
		for (int s = 0; s < STATES; s++)
			for (int c = 0; c < LETTERS * 2; c++) {
				seed = seed * 1664525 + 1013904223;
				go[m][s][c] = (uint16_t)((seed >> 16) % STATES);
			}
	for (int line = 0; line < LINES; line++)
		for (int i = 0; i < LENGTH; i++) {
			seed = seed * 1664525 + 1013904223;
			text[line][i] = (uint8_t)(seed >> 26);
		}
#if FIXED == 1
	for (int machine = 0; machine < MACHINES; machine++)
		for (int line = 0; line < LINES; line++)
			match(machine, line);
#elif FIXED == 2
	for (int line = 0; line < LINES; line++)
		match_all(line);
#else
	for (int line = 0; line < LINES; line++)
		for (int machine = 0; machine < MACHINES; machine++)
			match(machine, line);
#endif
	for (int machine = 0; machine < MACHINES; machine++)
		printf("%x\n", ends[machine]);
	return 0;
}
