/* SPDX-License-Identifier: Apache-2.0 */

/* The inverted index of a search engine: for each word, the documents that have it, as gaps between their numbers. A
 * gap takes one to four bytes of seven bits each, the lowest first; the top bit says that another byte follows. Each
 * query reads all lists, and adds up the numbers of the documents in its range. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GAPS = 20480, WORDS = 160, QUERIES = 28, MOST_BYTES = 4 };

struct list {
	const uint8_t *gaps;
	uint32_t length;
};

struct range {
	uint32_t first;
	uint32_t size;
};

static uint8_t packed[GAPS * MOST_BYTES + 8];
static struct list lists[WORDS];
static uint64_t state = 424243;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint8_t *pack(uint8_t *to, uint32_t gap)
{
	for (; gap > 127; gap >>= 7)
		*to++ = (uint8_t)(gap | 128);
	*to++ = (uint8_t)gap;
	return to;
}

static void make_index(void)
{
	uint8_t *to = packed;
	uint32_t made = 0;

	for (uint32_t word = 0; word < WORDS; word++) {
		uint32_t until =
			(uint32_t)((uint64_t)GAPS * (word + 1) * (word + 1) / WORDS / WORDS);

		lists[word] = (struct list){ to, until - made };
		for (; made < until; made++) {
			uint64_t bits = draw();

			to = pack(to, (uint32_t)(bits >> 32) >> (4 + 7 * (bits >> 20 & 3)));
		}
	}
}

static const uint8_t *unpack(const uint8_t *at, uint32_t *gap)
{
#ifdef FIXED
	uint32_t bytes;
	uint32_t ends;

	memcpy(&bytes, at, sizeof bytes);
	ends = ~bytes & 0x80808080;
	bytes &= ends ^ (ends - 1);
	*gap = (bytes & 0x7f) | (bytes >> 1 & 0x3f80) | (bytes >> 2 & 0x1fc000) |
	       (bytes >> 3 & 0xfe00000);
	return at + __builtin_ctz(ends) / 8 + 1;
#else
	uint32_t value = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = *at++;
		value |= (uint32_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	*gap = value;
	return at;
#endif
}

static uint64_t read_list(const struct list *list, struct range range)
{
	const uint8_t *at = list->gaps;
	uint32_t document = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list->length; i++) {
		uint32_t gap;

		at = unpack(at, &gap);
		document += gap;
		sum += document - range.first < range.size ? document : 0;
	}
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	make_index();
	for (uint32_t query = 0; query < QUERIES; query++) {
		struct range range = { (uint32_t)(draw() >> 34), UINT32_C(1) << 31 };

		for (int word = 0; word < WORDS; word++)
			sum = sum * 31 + read_list(&lists[word], range);
	}
	printf("postings %016llx\n", (unsigned long long)sum);
	return 0;
}
