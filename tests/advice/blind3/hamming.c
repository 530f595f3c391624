/* SPDX-License-Identifier: Apache-2.0 */

/* How many bits differ between fingerprints, 64 bytes each, of which a first cache holds all. Written with vectors. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { PRINTS = 192, BYTES = 64, ROUNDS = 18 };

static uint8_t prints[PRINTS][BYTES] __attribute__((aligned(64)));
static uint64_t state = 31;

static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

/* The bits in which one differs from all, added up. */
static __attribute__((noinline)) uint64_t compare(const uint8_t *one)
{
	uint8x16_t a = vld1q_u8(one), b = vld1q_u8(one + 16), c = vld1q_u8(one + 32),
		   d = vld1q_u8(one + 48);
	uint32x4_t even = vdupq_n_u32(0), odd = vdupq_n_u32(0);

	for (int i = 0; i < PRINTS; i += 2) {
		const uint8_t *x = prints[i], *y = prints[i + 1];
		uint8x16_t p = vaddq_u8(vcntq_u8(veorq_u8(a, vld1q_u8(x))),
					vcntq_u8(veorq_u8(b, vld1q_u8(x + 16))));
		uint8x16_t q = vaddq_u8(vcntq_u8(veorq_u8(c, vld1q_u8(x + 32))),
					vcntq_u8(veorq_u8(d, vld1q_u8(x + 48))));
		uint8x16_t r = vaddq_u8(vcntq_u8(veorq_u8(a, vld1q_u8(y))),
					vcntq_u8(veorq_u8(b, vld1q_u8(y + 16))));
		uint8x16_t s = vaddq_u8(vcntq_u8(veorq_u8(c, vld1q_u8(y + 32))),
					vcntq_u8(veorq_u8(d, vld1q_u8(y + 48))));

		even = vpadalq_u16(even, vpaddlq_u8(vaddq_u8(p, q)));
		odd = vpadalq_u16(odd, vpaddlq_u8(vaddq_u8(r, s)));
	}
	return vaddvq_u32(even) + (uint64_t)vaddvq_u32(odd);
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < PRINTS; i++)
		for (int k = 0; k < BYTES; k++)
			prints[i][k] = (uint8_t)draw();
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < PRINTS; i++)
			sum += compare(prints[i]);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
