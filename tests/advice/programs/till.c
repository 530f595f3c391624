/* SPDX-License-Identifier: Apache-2.0 */

/* Adds up what a till took, in code that is compiled without optimisation: the sum and the counter lie on the stack, and
 * each iteration loads what the one before has stored. The twin is compiled as all the rest. */

#include <stdint.h>
#include <stdio.h>

enum { SALES = 4000, DAYS = 100 };

static uint32_t sales[SALES];

#ifndef FIXED
__attribute__((optimize("O0")))
#endif
__attribute__((noinline)) static uint64_t
add_up(const uint32_t *amounts, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum * 3 + amounts[i];
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SALES; i++)
		sales[i] = i * 2654435761u >> 12;
	for (int day = 0; day < DAYS; day++) {
		sales[day] += (uint32_t)day;
		sum += add_up(sales, SALES);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
