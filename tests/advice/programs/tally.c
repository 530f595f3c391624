/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: checksums of packets in the L1D by vector instructions, 128 bytes in a round, with sums that do not wait for
 * each other. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { BYTES = 49152, ROUNDS = 1400 };

static _Alignas(64) uint8_t packet[BYTES];

static uint64_t add_up(void)
{
	uint16x8_t a = vdupq_n_u16(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;

	for (const uint8_t *at = packet; at < packet + BYTES; at += 128) {
		a = vpadalq_u8(a, vld1q_u8(at));
		b = vpadalq_u8(b, vld1q_u8(at + 16));
		c = vpadalq_u8(c, vld1q_u8(at + 32));
		d = vpadalq_u8(d, vld1q_u8(at + 48));
		e = vpadalq_u8(e, vld1q_u8(at + 64));
		f = vpadalq_u8(f, vld1q_u8(at + 80));
		g = vpadalq_u8(g, vld1q_u8(at + 96));
		h = vpadalq_u8(h, vld1q_u8(at + 112));
	}
	return vaddlvq_u16(a) + 3u * vaddlvq_u16(b) + 5u * vaddlvq_u16(c) + 7u * vaddlvq_u16(d) +
	       11u * vaddlvq_u16(e) + 13u * vaddlvq_u16(f) + 17u * vaddlvq_u16(g) +
	       19u * vaddlvq_u16(h);
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < BYTES; i++)
		packet[i] = (uint8_t)(i * 31 >> 3);
	for (int round = 0; round < ROUNDS; round++) {
		sum = sum * 5 + add_up();
		packet[round] ^= (uint8_t)sum;
	}
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
