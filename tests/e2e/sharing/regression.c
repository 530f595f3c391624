/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As Phoenix's linear regression: each thread adds up the products of its points in the struct that
 * it was started with, the last ones for longer. The structs stand side by side; built with -DPADDED, each has its own lines.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_THREADS = 3, N_POINTS = 8192, ROUNDS = 13 };

struct point {
	int8_t x, y;
};

struct sums {
	const struct point *points;
	int64_t x, y, xx, yy, xy;
#ifdef PADDED
} __attribute__((aligned(LINE)));
#else
};
#endif

static struct sums sums[N_THREADS] __attribute__((aligned(LINE)));
static struct point points[N_THREADS][N_POINTS] __attribute__((aligned(LINE)));

KERNEL static void prepare(void)
{
	uint32_t state = 1;

	for (unsigned t = 0; t < N_THREADS; t++)
		for (unsigned i = 0; i < N_POINTS; i++)
			points[t][i] = (struct point){ (int8_t)next_random(&state),
						       (int8_t)next_random(&state) };
}

KERNEL static void add_points(void *argument)
{
	volatile struct sums *s = argument;
	unsigned thread = (unsigned)((struct sums *)argument - sums);

	for (unsigned i = 0; i < (thread + 2) * ROUNDS * N_POINTS; i++) {
		const struct point *p = &s->points[i % N_POINTS];
		int64_t x = p->x, y = p->y;

		s->x += x;
		s->y += y;
		s->xx += x * x;
		s->yy += y * y;
		s->xy += x * y;
	}
}

int kernel_main(void)
{
	struct thread threads[N_THREADS];
	int64_t squares = 0;

	prepare();
	for (int i = 0; i < N_THREADS; i++) {
		sums[i].points = points[i];
		thread_start(&threads[i], add_points, &sums[i]);
	}
	for (int i = 0; i < N_THREADS; i++) {
		thread_join(&threads[i]);
		squares += sums[i].xx + sums[i].yy;
	}
	return squares <= 0;
}
