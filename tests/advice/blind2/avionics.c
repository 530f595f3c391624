/* SPDX-License-Identifier: Apache-2.0 */

/* Decodes the data bus of an aircraft. A frame holds one message of each kind; a message has 24 words, and its kind
 * says where the value is in the word, its scale, its offset and its limit. The kinds take their turn in the order
 * of the bus schedule. */

#include <stdint.h>
#include <stdio.h>

enum { VALUES = 24, KINDS = 240, FRAMES = 320, BUFFERS = 16 };

struct layout {
	uint32_t shift;
	uint32_t mask;
	uint32_t scale;
	uint32_t offset;
	uint32_t limit;
};

/* Kinds are numbered from 1000, in four digits. */
#define LAYOUT(kind)                                                                               \
	{                                                                                          \
		(kind) % 13, 0x7fffu >> (kind) % 5, 3 + (kind)*7u, (kind)*11u,                     \
			9000000 + (kind)*1001u                                                     \
	}

#define TEN(DO, a, b)                                                                              \
	DO(1##a##b##0)                                                                             \
	DO(1##a##b##1)                                                                             \
	DO(1##a##b##2)                                                                             \
	DO(1##a##b##3)                                                                             \
	DO(1##a##b##4)                                                                             \
	DO(1##a##b##5)                                                                             \
	DO(1##a##b##6)                                                                             \
	DO(1##a##b##7)                                                                             \
	DO(1##a##b##8)                                                                             \
	DO(1##a##b##9)

#define EIGHTY(DO, a)                                                                              \
	TEN(DO, a, 0)                                                                              \
	TEN(DO, a, 1)                                                                              \
	TEN(DO, a, 2)                                                                              \
	TEN(DO, a, 3)                                                                              \
	TEN(DO, a, 4)                                                                              \
	TEN(DO, a, 5)                                                                              \
	TEN(DO, a, 6)                                                                              \
	TEN(DO, a, 7)

/* The schedule: every tenth kind, then every tenth kind from the next one on, and so forth. */
#define EVERY_TENTH_OF_EIGHTY(DO, a, c)                                                            \
	DO(1##a##0##c)                                                                             \
	DO(1##a##1##c)                                                                             \
	DO(1##a##2##c)                                                                             \
	DO(1##a##3##c)                                                                             \
	DO(1##a##4##c)                                                                             \
	DO(1##a##5##c)                                                                             \
	DO(1##a##6##c)                                                                             \
	DO(1##a##7##c)

#define EVERY_TENTH(DO, c)                                                                         \
	EVERY_TENTH_OF_EIGHTY(DO, 0, c)                                                            \
	EVERY_TENTH_OF_EIGHTY(DO, 1, c)                                                            \
	EVERY_TENTH_OF_EIGHTY(DO, 2, c)

#define ALL_KINDS(DO)                                                                              \
	EIGHTY(DO, 0)                                                                              \
	EIGHTY(DO, 1)                                                                              \
	EIGHTY(DO, 2)

#define SCHEDULE(DO)                                                                               \
	EVERY_TENTH(DO, 0)                                                                         \
	EVERY_TENTH(DO, 1)                                                                         \
	EVERY_TENTH(DO, 2)                                                                         \
	EVERY_TENTH(DO, 3)                                                                         \
	EVERY_TENTH(DO, 4)                                                                         \
	EVERY_TENTH(DO, 5)                                                                         \
	EVERY_TENTH(DO, 6)                                                                         \
	EVERY_TENTH(DO, 7)                                                                         \
	EVERY_TENTH(DO, 8)                                                                         \
	EVERY_TENTH(DO, 9)

static uint32_t bus[BUFFERS + VALUES];
static uint32_t cockpit[VALUES];
static uint64_t state = 12007;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static inline __attribute__((always_inline)) uint32_t decode(const uint32_t *word,
							     const struct layout layout)
{
	uint32_t check = 0;

#pragma GCC unroll 24
	for (int i = 0; i < VALUES; i++) {
		uint32_t value =
			(word[i] >> layout.shift & layout.mask) * layout.scale + layout.offset;

		value = value < layout.limit ? value : layout.limit;
		cockpit[i] = value;
		check = (check << 1) + value;
	}
	return check;
}

#ifdef FIXED

#define LAYOUT_IN_LIST(kind) LAYOUT(kind),

static const struct layout schedule[KINDS] = { SCHEDULE(LAYOUT_IN_LIST) };

static __attribute__((noinline)) uint32_t decode_any(const uint32_t *word,
						     const struct layout *layout)
{
	return decode(word, *layout);
}

static uint64_t decode_frame(const uint32_t *word)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < KINDS; kind++)
		sum += decode_any(word, &schedule[kind]);
	return sum;
}

#else

#define DECODER(kind)                                                                              \
	static __attribute__((noinline)) uint32_t decode_##kind(const uint32_t *word)              \
	{                                                                                          \
		return decode(word, (struct layout)LAYOUT(kind));                                  \
	}

#define ADD_KIND(kind) sum += decode_##kind(word);

ALL_KINDS(DECODER)

static uint64_t decode_frame(const uint32_t *word)
{
	uint64_t sum = 0;

	SCHEDULE(ADD_KIND)
	return sum;
}

#endif

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < BUFFERS + VALUES; i++)
		bus[i] = (uint32_t)(draw() >> 32);
	for (int frame = 0; frame < FRAMES; frame++) {
		sum = sum * 31 + decode_frame(bus + frame % BUFFERS);
		bus[frame % BUFFERS] += cockpit[frame % VALUES];
	}
	printf("avionics %016llx\n", (unsigned long long)sum);
	return 0;
}
