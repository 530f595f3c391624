/* SPDX-License-Identifier: Apache-2.0 */

/* The range of one reading of each record of 48 bytes: most of what comes from DRAM is not needed. The twin keeps that
 * reading in an array of its own, in half as many bits, and compares sixteen bytes at a time. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAUGES = 200000, ROUNDS = 3 };

struct gauge {
	uint32_t number, level, others[10];
};

static uint32_t level_of(uint32_t i)
{
	return (i * 2654435761u >> 17) + 1;
}

#ifdef FIXED
static __attribute__((noinline)) uint32_t range(const uint16_t *levels)
{
	uint16x8_t least = vdupq_n_u16(UINT16_MAX), most = vdupq_n_u16(0);

	for (int i = 0; i < GAUGES; i += 8) {
		least = vminq_u16(least, vld1q_u16(levels + i));
		most = vmaxq_u16(most, vld1q_u16(levels + i));
	}
	return (uint32_t)vmaxvq_u16(most) - vminvq_u16(least);
}
#else
static __attribute__((noinline)) uint32_t range(const struct gauge *gauges)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (int i = 0; i < GAUGES; i++) {
		least = gauges[i].level < least ? gauges[i].level : least;
		most = gauges[i].level > most ? gauges[i].level : most;
	}
	return most - least;
}
#endif

int main(void)
{
	uint32_t sum = 0;
#ifdef FIXED
	uint16_t *gauges = calloc(GAUGES, sizeof(*gauges));
#else
	struct gauge *gauges = calloc(GAUGES, sizeof(*gauges));
#endif

	if (gauges == NULL)
		return 1;
	for (uint32_t i = 0; i < GAUGES; i += 8)
#ifdef FIXED
		gauges[i] = (uint16_t)level_of(i);
#else
		gauges[i].level = level_of(i);
#endif
	for (int round = 0; round < ROUNDS; round++)
		sum += range(gauges);
	printf("%u\n", sum);
	return 0;
}
