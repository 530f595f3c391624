/* SPDX-License-Identifier: Apache-2.0 */

/* Slopes of a map: differences of neighbours in y, with x in the outer loop, so that the map and the result are both
 * walked by columns. The twin interchanges the loops. */

#include <stdint.h>
#include <stdio.h>

enum { HEIGHT = 1200, WIDTH = 1040, ROUNDS = 2 };

static int16_t height[HEIGHT][WIDTH];
static int32_t slope[HEIGHT][WIDTH];

static void find_slopes(int round)
{
#ifdef FIXED
	for (int y = 1; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			slope[y][x] += (height[y][x] - height[y - 1][x]) << round;
#else
	for (int x = 0; x < WIDTH; x++)
		for (int y = 1; y < HEIGHT; y++)
			slope[y][x] += (height[y][x] - height[y - 1][x]) << round;
#endif
}

int main(void)
{
	uint32_t sum = 0;

	for (int y = 0; y < HEIGHT; y++)
		for (int x = y % 5; x < WIDTH; x += 32)
			height[y][x] = (int16_t)(y * x % 1000);
	for (int round = 0; round < ROUNDS; round++)
		find_slopes(round);
	for (int y = 0; y < HEIGHT; y++)
		sum = sum * 31 + (uint32_t)slope[y][y % WIDTH];
	printf("%x\n", sum);
	return 0;
}
