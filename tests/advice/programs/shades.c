/* SPDX-License-Identifier: Apache-2.0 */

/* Sums the pixels of a picture, three times. Their values are below 256, but each has 32 bits: 64 MiB come from DRAM as
 * fast as it gives them. The twin has 8 bits for each; FIXED=2 prefetches. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 16 << 20, ROUNDS = 2 };

#if FIXED == 1
typedef uint8_t pixel;

static uint64_t add_pixels(const pixel *p)
{
	uint32x4_t sums = vdupq_n_u32(0);

	for (size_t i = 0; i < PIXELS; i += 16)
		sums = vpadalq_u16(sums, vpaddlq_u8(vld1q_u8(p + i)));
	return vaddlvq_u32(sums);
}
#else
typedef uint32_t pixel;

static uint64_t add_pixels(const pixel *p)
{
	uint32x4_t sums = vdupq_n_u32(0), others = vdupq_n_u32(0);

	for (size_t i = 0; i < PIXELS; i += 16) {
#if FIXED == 2
		__builtin_prefetch(p + i + 640);
#endif
		sums = vaddq_u32(sums, vaddq_u32(vld1q_u32(p + i), vld1q_u32(p + i + 4)));
		others = vaddq_u32(others, vaddq_u32(vld1q_u32(p + i + 8), vld1q_u32(p + i + 12)));
	}
	return vaddlvq_u32(vaddq_u32(sums, others));
}
#endif

int main(void)
{
	pixel *pixels = calloc(PIXELS, sizeof(*pixels));
	uint64_t sum = 0;

	if (pixels == NULL)
		return 1;
	for (size_t i = 0; i < PIXELS; i += 4099)
		pixels[i] = (pixel)(i % 251);
	for (uint64_t round = 0; round < ROUNDS; round++)
		sum = sum * 3 + add_pixels(pixels);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
