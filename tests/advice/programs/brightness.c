/* SPDX-License-Identifier: Apache-2.0 */

/* Sum of absolute differences between blocks of two pictures: a scalar loop over bytes in the L1D, which gcc -O2
 * leaves scalar because the number of pixels is known only at run time. The twin takes 16 at a time. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 8192, ROUNDS = 300 };

static uint32_t add_differences(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint32_t sum = 0;
#ifdef FIXED
	uint32x4_t sums = vdupq_n_u32(0);
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		sums = vpadalq_u16(sums, vpaddlq_u8(vabdq_u8(vld1q_u8(a + i), vld1q_u8(b + i))));
	sum = vaddvq_u32(sums);
	for (; i < n; i++)
		sum += (uint32_t)abs(a[i] - b[i]);
#else
	for (size_t i = 0; i < n; i++)
		sum += (uint32_t)abs(a[i] - b[i]);
#endif
	return sum;
}

int main(int argc, char **argv)
{
	static uint8_t first[PIXELS], second[PIXELS];
	uint32_t state = 1;
	uint64_t sum = 0;

	(void)argv;
	for (size_t i = 0; i < PIXELS; i++) {
		state = state * 1664525 + 1013904223;
		first[i] = (uint8_t)(state >> 24);
		second[i] = (uint8_t)(state >> 16);
	}
	for (size_t round = 0; round < ROUNDS; round++)
		sum = sum * 3 + add_differences(first, second, PIXELS - round % 7 - (size_t)argc);
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
