/* SPDX-License-Identifier: Apache-2.0 */

/* Looks documents up in a table of 128 MiB by a hash of their number. The hash is long, so that only one or two of the
 * look-ups are in flight, and each waits for DRAM. The numbers are known long before: the twin prefetches 16 ahead. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 21, LOOKUPS = 120000, AHEAD = 16 };

struct slot {
	uint64_t number, valid_until, rest[6];
};

static uint64_t hash(uint64_t number)
{
	for (int i = 0; i < 5; i++) {
		number ^= number >> 29;
		number *= 0xbf58476d1ce4e5b9;
		number ^= number >> 32;
	}
	return number;
}

static uint64_t check(const struct slot *slots, uint64_t first)
{
	uint64_t valid = 0;

#ifdef FIXED
	uint64_t known[AHEAD];

	for (uint64_t i = 0; i < AHEAD; i++)
		known[i] = hash(first + i) % SLOTS;
	for (uint64_t i = 0; i < LOOKUPS; i++) {
		const struct slot *slot = &slots[known[i % AHEAD]];
#else
	for (uint64_t i = 0; i < LOOKUPS; i++) {
		const struct slot *slot = &slots[hash(first + i) % SLOTS];
#endif

		/* Whose number is another one would be looked for further on. */
		valid = hash(valid + slot->number + slot->valid_until);
#ifdef FIXED
		known[i % AHEAD] = hash(first + i + AHEAD) % SLOTS;
		__builtin_prefetch(&slots[known[i % AHEAD]]);
#endif
	}
	return valid;
}

int main(void)
{
	struct slot *slots = calloc(SLOTS, sizeof(*slots));

	if (slots == NULL)
		return 1;
	printf("%llx\n", (unsigned long long)check(slots, 1000));
	return 0;
}
