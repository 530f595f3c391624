/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls functions with known arguments of many types: arguments-program ROUNDS. Without an
 * argument it prints where the functions are. arguments.py knows the series.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions stay as they are written. */
#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

struct pair {
	int64_t first, second;
};

struct mixed {
	double weight;
	int32_t count;
};

struct floats {
	float x, y;
};

struct large {
	int64_t parts[5];
};

enum color { RED, GREEN = 7 };

static volatile int64_t sink;
static char buffers[2][1 << 16];

KEPT void plain(int32_t delta, size_t n, const char *text, unsigned char byte)
{
	sink += delta + (int64_t)n + text[0] + byte;
}

/* Floats are in other registers. */
KEPT void with_floats(double a, int16_t level, float b, uint32_t mask)
{
	sink += (int64_t)(a + b) + level + mask;
}

/* Structs take registers of their own, or none. */
KEPT void with_structs(struct pair pair, int8_t small, struct mixed mixed, struct floats floats,
		       _Bool is_odd)
{
	sink += pair.first + pair.second + small + mixed.count + (int64_t)floats.x + is_odd;
}

/* On some machines the result comes with a hidden argument. */
KEPT struct large with_result(uint64_t seed, enum color color)
{
	struct large l = { { (int64_t)seed, color, 0, 0, 0 } };

	return l;
}

KEPT void with_wide(int a, __int128 wide, int b)
{
	sink += a + (int64_t)wide + b;
}

/* Not everything finds room in registers. */
KEPT void many(int a, int b, int c, int d, int e, struct pair pair, int last)
{
	sink += a + b + c + d + e + pair.first + last;
}

KEPT void copy(char *to, const char *from, size_t n)
{
	memcpy(to, from, n);
	sink += to[0];
}

KEPT void taken(int32_t delta, size_t n, const char *text, unsigned char byte)
{
	sink += delta + (int64_t)n + text[0] + byte;
}

/* A jump to another function is its first instruction, where calls are optimised. */
KEPT void forward(int32_t delta, size_t n, const char *text, unsigned char byte)
{
	taken(delta, n, text, byte);
}

static void run(int64_t i)
{
	struct pair pair = { i, -i };
	struct mixed mixed = { 0.5, (int32_t)i };
	struct floats floats = { 1, 2 };

	plain(-(int32_t)(i % 100), (size_t)(i * i), "text", (unsigned char)i);
	with_floats(1.5, (int16_t)(i - 50), 2.5f, UINT32_MAX - (uint32_t)i);
	with_structs(pair, (int8_t)-i, mixed, floats, i % 2 == 1);
	sink += with_result(UINT64_MAX - (uint64_t)i, i % 2 == 0 ? RED : GREEN).parts[0];
	with_wide((int)i, (__int128)i << 64, -(int)i);
	many((int)i, 1, 2, 3, (int)(4 * i), pair, 7);
	copy(buffers[0], buffers[1], (size_t)1 << (i % 16));
	forward((int32_t)i, 5, "text", 3);
}

int main(int argc, char **argv)
{
	int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;

	for (int64_t i = 0; i < n; i++)
		run(i);
	if (n > 0)
		return 0;
	printf("plain 0x%jx\nwith_floats 0x%jx\nwith_structs 0x%jx\nwith_result 0x%jx\n"
	       "with_wide 0x%jx\nmany 0x%jx\ncopy 0x%jx\nforward 0x%jx\n",
	       (uintmax_t)(uintptr_t)plain, (uintmax_t)(uintptr_t)with_floats,
	       (uintmax_t)(uintptr_t)with_structs, (uintmax_t)(uintptr_t)with_result,
	       (uintmax_t)(uintptr_t)with_wide, (uintmax_t)(uintptr_t)many,
	       (uintmax_t)(uintptr_t)copy, (uintmax_t)(uintptr_t)forward);
	return 0;
}
