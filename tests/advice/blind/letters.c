/* SPDX-License-Identifier: Apache-2.0 */

/* Counts kinds of characters in a text, for an estimate of its language: vowels, consonants, digits, the rest. Four
 * readers take a quarter of the text each. The text is read many times, each time with other letters as vowels. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { READERS = 4, QUARTER = 16384, READINGS = 28, KINDS = 4 };

struct tally {
#ifdef FIXED
	_Alignas(128)
#endif
		uint32_t count[KINDS];
};

struct reader {
	const uint8_t *text;
	struct tally *tally;
};

static _Alignas(128) struct tally tallies[READERS];
static uint8_t kinds[READINGS][256];
static uint8_t text[READERS * QUARTER];
static uint64_t state = 1117;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static void count_kinds(struct tally *tally, const uint8_t *kind, const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		tally->count[kind[from[i]]]++;
}

static void *read_quarter(void *arg)
{
	const struct reader *reader = arg;

	for (int reading = 0; reading < READINGS; reading++)
		count_kinds(reader->tally, kinds[reading], reader->text, QUARTER);
	return NULL;
}

int main(void)
{
	struct reader readers[READERS];
	pthread_t threads[READERS];
	uint64_t sum = 0;

	for (int reading = 0; reading < READINGS; reading++)
		for (int c = 0; c < 256; c++)
			kinds[reading][c] = (c * 7 + c / 16 + reading * (c & 3)) & (KINDS - 1);
	for (size_t i = 0; i < sizeof text; i += 4) {
		uint64_t word = draw() >> 32;

		for (int b = 0; b < 4; b++)
			text[i + b] = (uint8_t)(word >> 8 * b);
	}
	for (int r = 0; r < READERS; r++) {
		readers[r] = (struct reader){ text + r * QUARTER, &tallies[r] };
		if (pthread_create(&threads[r], NULL, read_quarter, &readers[r]) != 0)
			return 1;
	}
	for (int r = 0; r < READERS; r++)
		pthread_join(threads[r], NULL);
	for (int r = 0; r < READERS; r++)
		for (int k = 0; k < KINDS; k++)
			sum = sum * 31 + tallies[r].count[k];
	printf("letters %016llx\n", (unsigned long long)sum);
	return 0;
}
