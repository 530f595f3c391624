/* SPDX-License-Identifier: Apache-2.0 */

/* Adds up columns of a table that is stored by rows, column by column: steps of 640 bytes, each to another line, and the
 * lines of a column do not fit in the L2. The twin interchanges the loops. */

#include <stdint.h>
#include <stdio.h>

enum { ROWS = 20000, COLUMNS = 160, ROUNDS = 3 };

static uint32_t table[ROWS][COLUMNS];
static uint64_t sums[COLUMNS];

static void add_columns(void)
{
#ifdef FIXED
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			sums[column] += table[row][column];
#else
	for (int column = 0; column < COLUMNS; column++)
		for (int row = 0; row < ROWS; row++)
			sums[column] += table[row][column];
#endif
}

int main(void)
{
	uint64_t sum = 0;

	for (int row = 0; row < ROWS; row++)
		table[row][row % 160] = (uint32_t)(row * 7);
	for (int round = 0; round < ROUNDS; round++)
		add_columns();
	for (int column = 0; column < COLUMNS; column++)
		sum = sum * 31 + sums[column];
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
