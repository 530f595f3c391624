/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many small copies of lengths that nobody can foresee: what a parser or a message queue does.
 * The loops end where no branch predictor expects it.
 */
#include "start.h"

enum { N_PIECES = 4096, LONGEST = 31, ROUNDS = 24, ROOM = 64 * 1024 };

static unsigned char from[ROOM], to[ROOM], lengths[N_PIECES];

KERNEL static void prepare(void)
{
	uint32_t state = 7;

	for (unsigned i = 0; i < N_PIECES; i++)
		lengths[i] = (unsigned char)(next_random(&state) >> 9) % LONGEST + 1;
	for (unsigned i = 0; i < ROOM; i++)
		from[i] = (unsigned char)i;
}

/* Eight bytes at a time, then four, two, one: each a question of the length. */
static inline void copy(unsigned char *out, const unsigned char *in, unsigned n)
{
	for (; n >= 8; n -= 8, in += 8, out += 8)
		*(uint64_t *)(void *)out = *(const uint64_t *)(const void *)in;
	if (n & 4) {
		*(uint32_t *)(void *)out = *(const uint32_t *)(const void *)in;
		in += 4, out += 4;
	}
	if (n & 2) {
		*(uint16_t *)(void *)out = *(const uint16_t *)(const void *)in;
		in += 2, out += 2;
	}
	if (n & 1)
		*out = *in;
}

KERNEL static unsigned copy_all(void)
{
	unsigned at = 0;

	for (unsigned i = 0; i < N_PIECES; i++) {
		if (at + LONGEST >= ROOM)
			at = 0;
		copy(to + at, from + at, lengths[i]);
		at += lengths[i];
	}
	return at;
}

int kernel_main(void)
{
	unsigned sum = 0;

	prepare();
	for (unsigned i = 0; i < ROUNDS; i++)
		sum += copy_all();
	return sum == 0;
}
