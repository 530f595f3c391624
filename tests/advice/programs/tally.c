/* SPDX-License-Identifier: Apache-2.0 */

/* Efficient: checksums of packets in the L1D by vector instructions, 64 bytes in a round, with sums that do not wait for
 * each other. */

#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>

enum { BYTES = 16384, ROUNDS = 900 };

static _Alignas(64) uint8_t packet[BYTES];

static uint64_t add_up(void)
{
	uint16x8_t evens[4] = { 0 }, odds[4] = { 0 };
	uint64_t sum = 0;

	for (size_t at = 0; at < BYTES; at += 64)
		for (size_t i = 0; i < 4; i++) {
			uint8x16_t bytes = vld1q_u8(packet + at + 16 * i);

			evens[i] = vpadalq_u8(evens[i], bytes);
			odds[i] =
				vaddw_u8(odds[i], veor_u8(vget_low_u8(bytes), vget_high_u8(bytes)));
		}
	for (int i = 0; i < 4; i++)
		sum = sum * 3 + vaddlvq_u16(evens[i]) + vaddlvq_u16(odds[i]);
	return sum;
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
