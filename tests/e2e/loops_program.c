/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted loops whose limits are known: loops-program ROUNDS. In each loop is a symbol, at which arguments_loops.py
 * sets a breakpoint.
 */
#include <stdint.h>
#include <stdlib.h>

/* The functions stay as they are written. */
#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif
#define IN_LOOP(name) __asm__ volatile(".globl in_" name "\nin_" name ":")

static volatile int64_t sink;
static int64_t numbers[64];

struct queue {
	size_t length;
};

KEPT void by_one(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		IN_LOOP("by_one");
		sink += numbers[i % 64];
	}
}

KEPT void by_three(size_t count)
{
	for (size_t i = 0; i < count; i += 3) {
		IN_LOOP("by_three");
		sink += numbers[i % 64];
	}
}

KEPT void of_int(int times)
{
	for (int i = 0; i < times; i++) {
		IN_LOOP("of_int");
		sink += numbers[i % 64];
	}
}

/* The limit is no argument. */
KEPT void of_queue(const struct queue *queue)
{
	size_t length = queue->length;

	for (size_t i = 0; i < length; i++) {
		IN_LOOP("of_queue");
		sink += numbers[i % 64];
	}
}

/* An address is no number of iterations, and no limit of one. */
KEPT void of_pointers(const int64_t *end)
{
	for (const int64_t *at = numbers; at != end; at++) {
		IN_LOOP("of_pointers");
		sink += *at;
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	for (long round = 0; round < rounds; round++) {
		static const unsigned limits[] = { 10, 10, 10, 200 };
		unsigned limit = limits[round % 4];
		const struct queue queue = { limit };

		by_one(limit);
		by_three(limit);
		of_int((int)limit);
		of_queue(&queue);
		of_pointers(numbers + 16);
	}
	return 0;
}
