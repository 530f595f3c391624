/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spends its time below leaf(), which is called in equal parts on six ways: unwind-program CALLS.
 * unwind.py knows them.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

static volatile uint64_t sink;

/* Calls nothing, so it has no frame: by frame pointers its caller is not seen. */
KEPT uint64_t spin(uint64_t x)
{
	for (int i = 0; i < 2000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEPT void leaf(uint64_t x)
{
	sink += spin(x);
}

KEPT void direct(uint64_t x)
{
	leaf(x);
	sink++;
}

/* A frame of more than a page. */
KEPT void large(uint64_t x)
{
	volatile char room[5000];

	memset((char *)(uintptr_t)room, (int)x, sizeof(room));
	leaf(x + (unsigned char)room[17]);
	sink += (unsigned char)room[18];
}

KEPT void recursive(uint64_t x, int depth)
{
	if (depth == 0)
		leaf(x);
	else
		recursive(x + 1, depth - 1);
	sink++;
}

/* The stack pointer is rounded: the frame is found from another register. */
KEPT void aligned(uint64_t x)
{
	__attribute__((aligned(128))) volatile char room[128];

	room[0] = (char)x;
	leaf(x + (unsigned char)room[0]);
	sink += (unsigned char)room[0];
}

KEPT int compare(const void *left, const void *right)
{
	leaf(*(const uint64_t *)left);
	sink++;
	return *(const uint64_t *)left < *(const uint64_t *)right ? -1 : 1;
}

/* Through a library. Two values are compared once. */
KEPT void sorting(uint64_t x)
{
	uint64_t values[2] = { x % 13, x % 7 };

	qsort(values, 2, sizeof(*values), compare);
	sink += values[0];
}

KEPT void handler(int number)
{
	leaf((uint64_t)number);
	sink++;
}

/* Through the frame of a signal. */
KEPT void signalled(void)
{
	(void)raise(SIGUSR1);
	sink++;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, random = 1;

	signal(SIGUSR1, handler);
	for (uint64_t i = 0; i < n; i++) {
		/* In no fixed order, which the clock of the samples could fall in step with. */
		random = random * 6364136223846793005u + 1442695040888963407u;
		switch ((random >> 33) % 6) {
		case 0:
			direct(i);
			break;
		case 1:
			large(i);
			break;
		case 2:
			recursive(i, 20);
			break;
		case 3:
			aligned(i);
			break;
		case 4:
			sorting(i);
			break;
		default:
			signalled();
		}
	}
	return 0;
}
