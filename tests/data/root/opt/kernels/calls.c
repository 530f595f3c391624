/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls whom: a chain of 21 functions, each of which calls the next one, deeper than a return stack
 * of 16; a function that jumps on to another one; one that calls itself; one that is called by a
 * pointer.
 */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 1000
#endif

static volatile uint32_t sink;

static KERNEL uint32_t link_21(uint32_t n)
{
	sink = n;
	return n;
}

#define LINK(number, next)                                                                         \
	static KERNEL uint32_t link_##number(uint32_t n)                                           \
	{                                                                                          \
		sink = n;                                                                          \
		return link_##next(n + 1) + 1;                                                     \
	}

LINK(20, 21)
LINK(19, 20)
LINK(18, 19)
LINK(17, 18)
LINK(16, 17)
LINK(15, 16)
LINK(14, 15)
LINK(13, 14)
LINK(12, 13)
LINK(11, 12)
LINK(10, 11)
LINK(9, 10)
LINK(8, 9)
LINK(7, 8)
LINK(6, 7)
LINK(5, 6)
LINK(4, 5)
LINK(3, 4)
LINK(2, 3)
LINK(1, 2)

static KERNEL uint32_t end_of_tail(uint32_t n)
{
	sink = n;
	return n;
}

/* Its last call is a jump. */
static KERNEL uint32_t jumps_on(uint32_t n)
{
	sink = n;
	return end_of_tail(n + 1);
}

static KERNEL uint32_t factorial(uint32_t n)
{
	uint32_t below = n < 2 ? 1 : factorial(n - 1);

	sink = n;
	return n * below;
}

static KERNEL uint32_t by_pointer(uint32_t n)
{
	sink = n;
	return n;
}

static uint32_t (*volatile called)(uint32_t) = by_pointer;

static KERNEL uint32_t round_of_calls(uint32_t n)
{
	uint32_t sum = link_1(n);

	sum += jumps_on(n);
	sum += end_of_tail(n);
	sum += factorial(6);
	sum += called(n);
	return sum;
}

int kernel_main(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < ROUNDS; i++)
		sum += round_of_calls(i);
	sink = sum;
	return 0;
}
