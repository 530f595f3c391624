/* SPDX-License-Identifier: Apache-2.0 */

/* Adds up the columns of a table that is stored by rows, column by column, each a running hash: steps of 8320 bytes, of
 * whose lines each is used for one number. The twin interchanges the loops. */

#include <stdint.h>
#include <stdio.h>

enum { ROWS = 1600, COLUMNS = 1040, ROUNDS = 2 };

static uint64_t table[ROWS][COLUMNS];
static uint64_t sums[COLUMNS];

static void add_columns(void)
{
#ifdef FIXED
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			sums[column] = (sums[column] ^ table[row][column]) * 31;
#else
	for (int column = 0; column < COLUMNS; column++)
		for (int row = 0; row < ROWS; row++)
			sums[column] = (sums[column] ^ table[row][column]) * 31;
#endif
}

int main(void)
{
	uint64_t sum = 0;

	for (int row = 0; row < ROWS; row++)
		for (int column = row % 7; column < COLUMNS; column += 16)
			table[row][column] = (uint64_t)(row * column);
	for (int round = 0; round < ROUNDS; round++)
		add_columns();
	for (int column = 0; column < COLUMNS; column++)
		sum = sum * 31 + sums[column];
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
