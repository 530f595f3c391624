/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function that two others call, with data that hits in the first level and with data that does not:
 * what its loads wait for is the fault of one caller alone.
 */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 100
#endif

enum { FEW = 512, MANY = 1 << 19, STEPS = 1000 };

static KERNEL uint64_t gather(const uint64_t *from, uint64_t n, uint64_t seed)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		sum += from[seed >> 40 & (n - 1)];
	}
	return sum;
}

static KERNEL uint64_t look_up_settings(const uint64_t *settings, uint64_t seed)
{
	return gather(settings, FEW, seed) + gather(settings, FEW, seed + 1);
}

static KERNEL uint64_t look_up_orders(const uint64_t *orders, uint64_t seed)
{
	return gather(orders, MANY, seed) + 1;
}

int kernel_main(void)
{
	const uint64_t *numbers = fresh_memory(MANY * sizeof(*numbers));
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ROUNDS; i++)
		sum += look_up_settings(numbers, i) + look_up_orders(numbers, i);
	return sum == 1;
}
