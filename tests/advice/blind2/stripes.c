/* SPDX-License-Identifier: Apache-2.0 */

/* A storage array writes stripes of four data blocks and a parity block. Each of two writers has buffers of its own:
 * it makes the parity of its stripe, adds up the words of the parity as the stripe's checksum, and then puts a new
 * word into one of the data blocks. */

#include <arm_neon.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { WRITERS = 2, DATA_BLOCKS = 4, BLOCK_WORDS = 1920, STRIPES = 1000, STEP = 16 };

struct writer {
	_Alignas(4096) uint32_t data[DATA_BLOCKS][BLOCK_WORDS];
	uint32_t parity[BLOCK_WORDS];
	uint64_t sum;
};

static struct writer writers[WRITERS];
static uint64_t state = 86243;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint32x4_t parity_of_four(const struct writer *writer, int at)
{
	uint32x4_t low =
		veorq_u32(vld1q_u32(&writer->data[0][at]), vld1q_u32(&writer->data[1][at]));
	uint32x4_t high =
		veorq_u32(vld1q_u32(&writer->data[2][at]), vld1q_u32(&writer->data[3][at]));

	return veorq_u32(low, high);
}

static uint32_t make_parity(struct writer *writer)
{
	uint32x4_t sum_a = vdupq_n_u32(0);
	uint32x4_t sum_b = sum_a;
	uint32x4_t sum_c = sum_a;
	uint32x4_t sum_d = sum_a;

	for (int at = 0; at < BLOCK_WORDS; at += STEP) {
		uint32x4_t a = parity_of_four(writer, at);
		uint32x4_t b = parity_of_four(writer, at + 4);
		uint32x4_t c = parity_of_four(writer, at + 8);
		uint32x4_t d = parity_of_four(writer, at + 12);

		vst1q_u32(&writer->parity[at], a);
		vst1q_u32(&writer->parity[at + 4], b);
		vst1q_u32(&writer->parity[at + 8], c);
		vst1q_u32(&writer->parity[at + 12], d);
		sum_a = vaddq_u32(sum_a, a);
		sum_b = vaddq_u32(sum_b, b);
		sum_c = vaddq_u32(sum_c, c);
		sum_d = vaddq_u32(sum_d, d);
	}
	return vaddvq_u32(vaddq_u32(vaddq_u32(sum_a, sum_b), vaddq_u32(sum_c, sum_d)));
}

static void *write_stripes(void *arg)
{
	struct writer *writer = arg;
	uint64_t sum = 0;

	for (int stripe = 0; stripe < STRIPES; stripe++) {
		uint32_t checksum = make_parity(writer);

		sum = sum * 31 + checksum;
		writer->data[stripe % DATA_BLOCKS][stripe] = checksum;
	}
	writer->sum = sum;
	return NULL;
}

int main(void)
{
	pthread_t threads[WRITERS];
	uint64_t sum = 0;

	for (int w = 0; w < WRITERS; w++)
		for (int b = 0; b < DATA_BLOCKS; b++)
			for (int at = 0; at < BLOCK_WORDS; at++)
				writers[w].data[b][at] = (uint32_t)(draw() >> 32);
	for (int w = 0; w < WRITERS; w++)
		if (pthread_create(&threads[w], NULL, write_stripes, &writers[w]) != 0)
			return 1;
	for (int w = 0; w < WRITERS; w++)
		pthread_join(threads[w], NULL);
	for (int w = 0; w < WRITERS; w++)
		sum = sum * 31 + writers[w].sum;
	printf("stripes %016llx\n", (unsigned long long)sum);
	return 0;
}
