/* SPDX-License-Identifier: Apache-2.0 */

/* Turns headings of ships into unit vectors: each component is divided by the length. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { SHIPS = 1024, ROUNDS = 500 };

struct heading {
	double x, y, z, draught;
};

static struct heading fleet[SHIPS], units[SHIPS];
static double lengths[SHIPS];
static uint64_t state = 1492;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

static __attribute__((noinline)) void normalise(struct heading *restrict to,
						const struct heading *restrict from,
						const double *restrict length, int n)
{
	for (int i = 0; i < n; i++) {
		double by = length[i];

#ifdef FIXED
		by = 1 / by;
		to[i] = (struct heading){ from[i].x * by, from[i].y * by, from[i].z * by,
					  from[i].draught * by };
#else
		to[i].x = from[i].x / by;
		to[i].y = from[i].y / by;
		to[i].z = from[i].z / by;
		to[i].draught = from[i].draught / by;
#endif
	}
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < SHIPS; i++) {
		fleet[i] = (struct heading){ draw() % 1000 + 1, draw() % 1000, draw() % 1000,
					     draw() % 20 };
		lengths[i] = sqrt(fleet[i].x * fleet[i].x + fleet[i].y * fleet[i].y +
				  fleet[i].z * fleet[i].z);
	}
	for (int round = 0; round < ROUNDS; round++) {
		normalise(units, fleet, lengths, SHIPS);
		lengths[round % SHIPS] += units[round % SHIPS].x;
	}
	for (int i = 0; i < SHIPS; i++)
		sum += units[i].x + units[i].y * 2 + units[i].z * 3;
	printf("%.3f\n", sum);
	return 0;
}
