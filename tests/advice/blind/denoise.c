/* SPDX-License-Identifier: Apache-2.0 */

/* Takes the noise out of a small camera's picture: a pixel that differs little from the picture so far moves a
 * quarter of the way to the new value; a pixel that differs much is taken as it is, and counts as movement. The
 * argument is the number of pixels, at most 15000. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#include <arm_neon.h>
#endif

enum { MOST_PIXELS = 15000, PICTURES = 80 };

static uint8_t so_far[MOST_PIXELS];
static uint8_t camera[2 * MOST_PIXELS];
static uint64_t state = 7070;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint32_t blend(uint8_t *old, const uint8_t *new, int pixels, uint8_t noise)
{
	uint32_t moved = 0;
	int i = 0;

#ifdef FIXED
	uint8x16_t limit = vdupq_n_u8(noise);

	for (; i + 16 <= pixels; i += 16) {
		uint8x16_t a = vld1q_u8(old + i);
		uint8x16_t b = vld1q_u8(new + i);
		uint8x16_t much = vcgtq_u8(vabdq_u8(a, b), limit);
		uint16x8_t low = vmlal_u8(vmovl_u8(vget_low_u8(b)), vget_low_u8(a), vdup_n_u8(3));
		uint16x8_t high =
			vmlal_u8(vmovl_u8(vget_high_u8(b)), vget_high_u8(a), vdup_n_u8(3));
		uint8x16_t mixed = vcombine_u8(vrshrn_n_u16(low, 2), vrshrn_n_u16(high, 2));

		vst1q_u8(old + i, vbslq_u8(much, b, mixed));
		moved += vaddvq_u8(vshrq_n_u8(much, 7));
	}
#endif
	for (; i < pixels; i++) {
		int a = old[i];
		int b = new[i];
		int apart = a > b ? a - b : b - a;
		int mixed = (3 * a + b + 2) >> 2;

		old[i] = (uint8_t)(apart > noise ? b : mixed);
		moved += apart > noise;
	}
	return moved;
}

int main(int argc, char **argv)
{
	int pixels = argc > 1 ? atoi(argv[1]) : MOST_PIXELS;
	uint64_t sum = 0;

	if (pixels < 1 || pixels > MOST_PIXELS)
		return 2;
	for (int i = 0; i < 2 * pixels; i += 4) {
		uint64_t word = draw() >> 32;

		for (int b = 0; b < 4; b++)
			camera[i + b] = (uint8_t)(word >> 8 * b & 127) + (i >> 8 & 127);
	}
	for (int picture = 0; picture < PICTURES; picture++)
		sum = sum * 31 + blend(so_far, camera + picture * 193 % pixels, pixels,
				       (uint8_t)(20 + picture));
	for (int i = 0; i < pixels; i++)
		sum = sum * 31 + so_far[i];
	printf("denoise %016llx\n", (unsigned long long)sum);
	return 0;
}
