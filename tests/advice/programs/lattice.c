/* SPDX-License-Identifier: Apache-2.0 */

/* Draws a pattern into part of a tall picture column by column: stores that are 1088 bytes apart, each to another line,
 * and the lines of a column do not fit in the L2. The twin draws it row by row. */

#include <stdint.h>
#include <stdio.h>

enum { HEIGHT = 20000, WIDTH = 1088, FIRST = 100, LAST = 148 };

static uint8_t picture[HEIGHT][WIDTH];

static void draw(uint32_t colour)
{
#ifdef FIXED
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = FIRST; x < LAST; x++)
			picture[y][x] = (uint8_t)(colour + x * (y >> 6));
#else
	for (uint32_t x = FIRST; x < LAST; x++)
		for (uint32_t y = 0; y < HEIGHT; y++)
			picture[y][x] = (uint8_t)(colour + x * (y >> 6));
#endif
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	(void)argv;
	draw((uint32_t)argc);
	for (int y = 0; y < HEIGHT; y++)
		sum = sum * 31 + picture[y][FIRST + y % 40];
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
