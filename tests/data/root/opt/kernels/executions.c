/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often code runs, where samples of instructions mislead. A loop of eight trips copies a number and
 * takes a square root in turn: both blocks run equally often, but interrupts come behind the root.
 * With TRIPS, loops of 1 to 64 trips instead, each in a function of its own.
 */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 20000
#endif

enum { TRIPS_OF_INNER = 8, MOST_TRIPS = 64, CHOICES = 1024 };

#ifdef TRIPS

static volatile uint32_t sink;

#define LOOP(n)                                                                                    \
	static KERNEL void trips_##n(uint32_t trips)                                               \
	{                                                                                          \
		for (uint32_t i = 0; i < trips; i++)                                               \
			sink = i;                                                                  \
	}
#define CALL(n) trips_##n(n);
#define EIGHT(DO, a, b, c, d, e, f, g, h) DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h)
#define ALL(DO)                                                                                    \
	EIGHT(DO, 1, 2, 3, 4, 5, 6, 7, 8)                                                          \
	EIGHT(DO, 9, 10, 11, 12, 13, 14, 15, 16)                                                   \
	EIGHT(DO, 17, 18, 19, 20, 21, 22, 23, 24)                                                  \
	EIGHT(DO, 25, 26, 27, 28, 29, 30, 31, 32)                                                  \
	EIGHT(DO, 33, 34, 35, 36, 37, 38, 39, 40)                                                  \
	EIGHT(DO, 41, 42, 43, 44, 45, 46, 47, 48)                                                  \
	EIGHT(DO, 49, 50, 51, 52, 53, 54, 55, 56)                                                  \
	EIGHT(DO, 57, 58, 59, 60, 61, 62, 63, 64)

ALL(LOOP)

int kernel_main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		ALL(CALL)
	}
	return 0;
}

#else

static uint32_t choices[CHOICES];
static double numbers[CHOICES];
static double results[CHOICES];

static KERNEL void prepare(void)
{
	for (uint32_t i = 0; i < CHOICES; i++) {
		choices[i] = (i * 5) % CHOICES;
		numbers[i] = i;
	}
}

static KERNEL void copy_or_root(uint32_t rounds)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t k = 0; k < TRIPS_OF_INNER; k++, at++) {
			uint32_t chosen = choices[at % CHOICES];

			double result;

			/* written out, so that no compiler makes one block of both */
			if (at % 2 == 0)
				__asm__ volatile("fmov %d0, %d1"
						 : "=w"(result)
						 : "w"(numbers[chosen]));
			else
				__asm__ volatile("fsqrt %d0, %d1"
						 : "=w"(result)
						 : "w"(numbers[chosen]));
			results[chosen] = result;
		}
	}
}

int kernel_main(void)
{
	prepare();
	copy_or_root(ROUNDS);
	return 0;
}

#endif
