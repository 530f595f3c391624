/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As PARSEC's streamcluster: each thread adds up what opening a centre would gain for its points, in
 * a slot of a common array; the last ones have more. Slots are 32 bytes apart, which is no whole cache line; built with
 * -DPADDED, they are.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_THREADS = 4, N_POINTS = 1024, ROUNDS = 80, DIMENSIONS = 2 };

#ifdef PADDED
enum { STRIDE = LINE / sizeof(double) };
#else
enum { STRIDE = 4 };
#endif

static double work[N_THREADS * STRIDE] __attribute__((aligned(LINE)));
static float points[N_THREADS][N_POINTS][DIMENSIONS] __attribute__((aligned(LINE)));
static float centre[DIMENSIONS];

KERNEL static void prepare(void)
{
	uint32_t state = 1;

	for (unsigned t = 0; t < N_THREADS; t++)
		for (unsigned i = 0; i < N_POINTS; i++)
			for (unsigned d = 0; d < DIMENSIONS; d++)
				points[t][i][d] = (float)(next_random(&state) >> 24);
}

KERNEL static void gain(void *argument)
{
	volatile double *mine = argument;
	unsigned thread = (unsigned)((double *)argument - work) / STRIDE;
	float(*own)[DIMENSIONS] = points[thread];

	for (unsigned i = 0; i < (thread + 2) * ROUNDS * N_POINTS; i++) {
		const float *point = own[i % N_POINTS];
		float sum = 0;

		for (unsigned d = 0; d < DIMENSIONS; d++)
			sum += (point[d] - centre[d]) * (point[d] - centre[d]);
		mine[0] += sum;
		mine[1] += 1;
	}
}

int kernel_main(void)
{
	struct thread threads[N_THREADS];
	double n = 0;

	prepare();
	for (int i = 0; i < N_THREADS; i++)
		thread_start(&threads[i], gain, &work[i * STRIDE]);
	for (int i = 0; i < N_THREADS; i++) {
		thread_join(&threads[i]);
		n += work[i * STRIDE + 1];
	}
	return n != (2 + 3 + 4 + 5) * ROUNDS * N_POINTS;
}
