/* SPDX-License-Identifier: Apache-2.0 */

/* The harvest of each column of a slope whose rows lie one after the other: down each column. The twin goes along the rows,
 * and keeps a sum for each column in memory, so that it executes more. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1500, COLUMNS = 1040 };

static __attribute__((noinline)) void pick(const uint32_t (*vines)[COLUMNS], uint64_t *sums,
					   int columns)
{
#ifdef FIXED
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < columns; column++)
			sums[column] = sums[column] * 3 + vines[row][column];
#else
	for (int column = 0; column < columns; column++) {
		uint64_t sum = 0;

		for (int row = 0; row < ROWS; row++)
			sum = sum * 3 + vines[row][column];
		sums[column] = sum;
	}
#endif
}

int main(int argc, char **argv)
{
	uint32_t(*vines)[COLUMNS] = calloc(ROWS, sizeof(*vines));
	static uint64_t sums[COLUMNS];
	uint64_t sum = 0;

	(void)argv;
	if (vines == NULL)
		return 1;
	for (int row = 0; row < ROWS; row++)
		vines[row][row % COLUMNS] = (uint32_t)row;
	pick((const uint32_t(*)[COLUMNS])vines, sums, COLUMNS - (argc > 9));
	for (int column = 0; column < COLUMNS; column++)
		sum = sum * 31 + sums[column];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
