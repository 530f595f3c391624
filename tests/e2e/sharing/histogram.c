/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As Phoenix's histogram: each thread counts the colours of its part of an image in a struct of its
 * own, the last ones for longer. The structs stand side by side; built with -DPADDED, each has its own cache lines.
 */
#include "../../../kernels/start.h"

enum { LINE = 64, N_THREADS = 4, N_PIXELS = 8192, ROUNDS = 14 };

struct counts {
	uint64_t dark, bright;
#ifdef PADDED
} __attribute__((aligned(LINE)));
#else
};
#endif

static struct counts counts[N_THREADS] __attribute__((aligned(LINE)));
static uint8_t image[N_THREADS * N_PIXELS] __attribute__((aligned(LINE)));

KERNEL static void prepare(void)
{
	uint32_t state = 1;

	for (unsigned i = 0; i < sizeof(image); i++)
		image[i] = (uint8_t)next_random(&state);
}

KERNEL static void count_pixels(void *argument)
{
	volatile struct counts *mine = argument;
	unsigned thread = (unsigned)((struct counts *)argument - counts);
	const uint8_t *pixels = image + thread * N_PIXELS;

	for (unsigned i = 0; i < (thread + 2) * ROUNDS * N_PIXELS; i++) {
		unsigned is_bright = pixels[i % N_PIXELS] >> 7;

		mine->bright += is_bright;
		mine->dark += 1 - is_bright;
	}
}

int kernel_main(void)
{
	struct thread threads[N_THREADS];
	uint64_t n = 0;

	prepare();
	for (int i = 0; i < N_THREADS; i++)
		thread_start(&threads[i], count_pixels, &counts[i]);
	for (int i = 0; i < N_THREADS; i++) {
		thread_join(&threads[i]);
		n += counts[i].dark + counts[i].bright;
	}
	return n != (2 + 3 + 4 + 5) * ROUNDS * N_PIXELS;
}
