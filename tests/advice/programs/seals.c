/* SPDX-License-Identifier: Apache-2.0 */

/* Hashes documents word by word: each step multiplies the result of the one before by 64-bit constants. The twin hashes
 * four documents at the same time, four chains. */

#include <stdint.h>
#include <stdio.h>

enum { DOCUMENTS = 64, WORDS = 500, ROUNDS = 25 };

static uint64_t texts[DOCUMENTS][WORDS];

static inline uint64_t add_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
}

static uint64_t seal_all(void)
{
	uint64_t sum = 0;

#ifdef FIXED
	for (int d = 0; d < DOCUMENTS; d += 4) {
		uint64_t a = 1, b = 1, c = 1, e = 1;

		for (int i = 0; i < WORDS; i++) {
			a = add_word(a, texts[d][i]);
			b = add_word(b, texts[d + 1][i]);
			c = add_word(c, texts[d + 2][i]);
			e = add_word(e, texts[d + 3][i]);
		}
		sum += a + b + c + e;
	}
#else
	for (int d = 0; d < DOCUMENTS; d++) {
		uint64_t hash = 1;

		for (int i = 0; i < WORDS; i++)
			hash = add_word(hash, texts[d][i]);
		sum += hash;
	}
#endif
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	for (int d = 0; d < DOCUMENTS; d++)
		for (int i = 0; i < WORDS; i++)
			texts[d][i] = (uint64_t)d * 1000003 + (uint64_t)i * i;
	for (int round = 0; round < ROUNDS; round++)
		sum = sum * 3 + seal_all();
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
