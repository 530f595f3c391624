/* SPDX-License-Identifier: Apache-2.0 */

/* Rates players: each result moves a player's points, and the rank that belongs to them is looked up in the list
 * of limits by bisection. */

#include <stdint.h>
#include <stdio.h>

enum { LIMITS = 1024, PLAYERS = 4096, ROUNDS = 24 };

static uint32_t limits[LIMITS], points[PLAYERS];
static uint64_t state = 7;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static __attribute__((noinline)) uint32_t rank_of(uint32_t value)
{
#ifdef FIXED
	const uint32_t *base = limits;

	for (uint32_t half = LIMITS / 2; half > 0; half /= 2)
		base += half & -(uint32_t)(base[half - 1] < value);
	return (uint32_t)(base - limits) + (*base < value);
#else
	uint32_t low = 0, high = LIMITS;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (limits[middle] == value)
			return middle;
		if (limits[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
#endif
}

int main(void)
{
	uint32_t limit = 0;
	uint64_t sum = 0;

	for (int i = 0; i < LIMITS; i++)
		limits[i] = limit += 1 + draw() % 3000;
	for (int i = 0; i < PLAYERS; i++)
		points[i] = draw() % limit;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < PLAYERS; i++) {
			points[i] = (points[i] + draw() % 400000) % limit;
			sum += rank_of(points[i]);
		}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
