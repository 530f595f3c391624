/* SPDX-License-Identifier: Apache-2.0 */

/* Draws a pattern into a picture column by column: stores that are 8256 bytes apart, each to another line and page. The
 * twin draws it row by row. */

#include <stdint.h>
#include <stdio.h>

enum { HEIGHT = 1400, WIDTH = 1032, ROUNDS = 2 };

static uint64_t picture[HEIGHT][WIDTH];

static void draw(uint64_t colour)
{
#ifdef FIXED
	for (uint64_t y = 0; y < HEIGHT; y++)
		for (uint64_t x = 0; x < WIDTH; x++)
			picture[y][x] = colour ^ x << 8 ^ y;
#else
	for (uint64_t x = 0; x < WIDTH; x++)
		for (uint64_t y = 0; y < HEIGHT; y++)
			picture[y][x] = colour ^ x << 8 ^ y;
#endif
}

int main(void)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < ROUNDS; round++)
		draw(round << 40);
	for (int y = 0; y < HEIGHT; y++)
		sum = sum * 31 + picture[y][y % WIDTH];
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
