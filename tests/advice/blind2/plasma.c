/* SPDX-License-Identifier: Apache-2.0 */

/* The energy of a simulated plasma. Particles are kept by cell, and cells have different numbers of them. The sum of
 * a cell carries the digits that were lost, so that many small energies add up well. */

#include <stdint.h>
#include <stdio.h>

enum { PARTICLES = 1400, CELLS = 11, STEPS = 700 };

struct particle {
	double velocity[3];
	double mass;
};

struct total {
	double sum;
	double lost; /* what the sum has too much */
};

static struct particle particles[PARTICLES];
static int ends[CELLS]; /* the first particle after the cell */
static uint64_t state = 73939;

static double draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 32) / 4294967296.0;
}

static double energy(const struct particle *particle)
{
	const double *v = particle->velocity;

	return particle->mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static struct total add(struct total total, double value)
{
	double exact = value - total.lost;
	double sum = total.sum + exact;

	return (struct total){ sum, (sum - total.sum) - exact };
}

#ifdef FIXED

static double cell_energy(const struct particle *from, const struct particle *to)
{
	struct total a = { 0, 0 };
	struct total b = { 0, 0 };
	struct total c = { 0, 0 };
	struct total d = { 0, 0 };

	for (; to - from >= 4; from += 4) {
		a = add(a, energy(from));
		b = add(b, energy(from + 1));
		c = add(c, energy(from + 2));
		d = add(d, energy(from + 3));
	}
	for (; from < to; from++)
		a = add(a, energy(from));
	return ((a.sum + b.sum) + (c.sum + d.sum)) - ((a.lost + b.lost) + (c.lost + d.lost));
}

#else

static double cell_energy(const struct particle *from, const struct particle *to)
{
	struct total total = { 0, 0 };

	for (; from < to; from++)
		total = add(total, energy(from));
	return total.sum - total.lost;
}

#endif

int main(void)
{
	double sum = 0;

	for (int p = 0; p < PARTICLES; p++) {
		for (int i = 0; i < 3; i++)
			particles[p].velocity[i] = draw() - 0.5;
		particles[p].mass = 1 + draw();
	}
	for (int c = 0; c < CELLS; c++)
		ends[c] = c + 1 < CELLS ? 2 + 140 * c + c * c % 19 * 5 : PARTICLES;
	for (int step = 0; step < STEPS; step++) {
		int first = 0;

		for (int c = 0; c < CELLS; c++) {
			sum += cell_energy(particles + first, particles + ends[c]);
			first = ends[c];
		}
		particles[step].velocity[step % 3] += 0.25;
	}
	printf("plasma %.6f\n", sum);
	return 0;
}
