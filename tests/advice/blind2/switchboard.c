/* SPDX-License-Identifier: Apache-2.0 */

/* A telephone exchange charges calls. Numbers belong to blocks, and a block to an operator; which block a number is
 * in follows from the number (eight digits) and the key of the day. Each area has a table of its blocks. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { AREAS = 6, BLOCKS = 65536, DIGITS = 8, CALLS = 8192, DAYS = 5, GROUP = 16 };

struct block {
	uint32_t operator;
	uint32_t tariff;
	char holder[56];
};

struct bill {
	uint64_t charge;
	uint64_t abroad;
};

static char dialled[CALLS][DIGITS];
static uint64_t state = 99109;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint32_t block_of(const char *digits, uint32_t key)
{
	uint64_t number = 0;

	for (int i = 0; i < DIGITS; i++)
		number = number * 10 + (uint64_t)(digits[i] - '0');
	number = (number + key) * UINT64_C(0x9e3779b97f4a7c15);
	number ^= number >> 29;
	number *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(number >> 48);
}

static void charge(struct bill *bill, const struct block *block, uint32_t minutes)
{
	bill->charge += (uint64_t)block->tariff * minutes;
	bill->abroad += block->operator> 40;
}

#ifdef FIXED

static void charge_calls(struct bill *bill, const struct block *area, uint32_t key)
{
	for (uint32_t first = 0; first < CALLS; first += GROUP) {
		const struct block *group[GROUP];

		for (uint32_t i = 0; i < GROUP; i++) {
			group[i] = &area[block_of(dialled[first + i], key)];
			__builtin_prefetch(group[i]);
		}
		for (uint32_t i = 0; i < GROUP; i++)
			charge(bill, group[i], (first + i) & 31);
	}
}

#else

static void charge_calls(struct bill *bill, const struct block *area, uint32_t key)
{
	for (uint32_t call = 0; call < CALLS; call++)
		charge(bill, &area[block_of(dialled[call], key)], call & 31);
}

#endif

int main(void)
{
	struct block *blocks = aligned_alloc(64, (size_t)AREAS * BLOCKS * sizeof *blocks);
	struct bill bill = { 0, 0 };

	if (!blocks)
		return 1;
	for (uint32_t b = 0; b < AREAS * BLOCKS; b++) {
		uint32_t word = b * 2654435761u;

		blocks[b].operator= word>> 26;
		blocks[b].tariff = word >> 8 & 127;
	}
	for (int call = 0; call < CALLS; call++) {
		uint64_t word = draw() >> 16;

		for (int i = 0; i < DIGITS; i++) {
			dialled[call][i] = (char)('0' + (word & 63) * 10 / 64);
			word >>= 6;
		}
	}
	for (uint32_t day = 0; day < DAYS; day++)
		for (uint32_t area = 0; area < AREAS; area++)
			charge_calls(&bill, blocks + (size_t)area * BLOCKS, day * 7919 + area);
	printf("switchboard %llu %llu\n", (unsigned long long)bill.charge,
	       (unsigned long long)bill.abroad);
	free(blocks);
	return 0;
}
