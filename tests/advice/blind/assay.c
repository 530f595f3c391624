/* SPDX-License-Identifier: Apache-2.0 */

/* Quality control of a laboratory: mean and variance of the readings in each window of a long series, kept up to
 * date reading by reading, so that large values with a small spread do not lose digits. */

#include <stdint.h>
#include <stdio.h>

enum { READINGS = 3072, WINDOW = 2048, WINDOWS = 640 };

struct summary {
	double mean;
	double squares; /* sum of squared distances from the mean */
};

static double readings[READINGS];
static double share[WINDOW + 1]; /* share[n] is 1/n */
static uint64_t state = 60607;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

#ifdef FIXED

/* Two summaries of as many readings each. */
static struct summary join(struct summary a, struct summary b, double readings_each)
{
	double apart = b.mean - a.mean;

	return (struct summary){ (a.mean + b.mean) / 2,
				 a.squares + b.squares + apart * apart * readings_each / 2 };
}

static struct summary summarise(const double *reading)
{
	struct summary a = { 0, 0 };
	struct summary b = { 0, 0 };
	struct summary c = { 0, 0 };
	struct summary d = { 0, 0 };

	for (int i = 0; i < WINDOW / 4; i++) {
		double part = share[i + 1];
		double from_a = reading[4 * i] - a.mean;
		double from_b = reading[4 * i + 1] - b.mean;
		double from_c = reading[4 * i + 2] - c.mean;
		double from_d = reading[4 * i + 3] - d.mean;

		a.mean += from_a * part;
		b.mean += from_b * part;
		c.mean += from_c * part;
		d.mean += from_d * part;
		a.squares += from_a * (reading[4 * i] - a.mean);
		b.squares += from_b * (reading[4 * i + 1] - b.mean);
		c.squares += from_c * (reading[4 * i + 2] - c.mean);
		d.squares += from_d * (reading[4 * i + 3] - d.mean);
	}
	return join(join(a, b, WINDOW / 4), join(c, d, WINDOW / 4), WINDOW / 2);
}

#else

static struct summary summarise(const double *reading)
{
	struct summary all = { 0, 0 };

	for (int i = 0; i < WINDOW; i++) {
		double distance = reading[i] - all.mean;

		all.mean += distance * share[i + 1];
		all.squares += distance * (reading[i] - all.mean);
	}
	return all;
}

#endif

int main(void)
{
	double means = 0;
	double variances = 0;

	for (int i = 0; i < READINGS; i++)
		readings[i] = 500 + (double)(draw() >> 20) / 4096;
	for (int n = 1; n <= WINDOW; n++)
		share[n] = 1.0 / n;
	for (int window = 0; window < WINDOWS; window++) {
		struct summary summary = summarise(readings + window * 5 % (READINGS - WINDOW));

		means += summary.mean;
		variances += summary.squares / (WINDOW - 1);
	}
	printf("assay %.4f %.5f\n", means, variances);
	return 0;
}
