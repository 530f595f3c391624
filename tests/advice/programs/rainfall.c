/* SPDX-License-Identifier: Apache-2.0 */

/* Sums readings of stations in the order of an index, out of 64 MiB: each is a DRAM access at a place that no hardware
 * prefetcher guesses. A software prefetch is there, but only one reading ahead. The twin prefetches 16 ahead. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { READINGS = 1 << 17, STATIONS = 1 << 20, LINE = 64 };
#ifdef FIXED
enum { AHEAD = 16 };
#else
enum { AHEAD = 1 };
#endif

struct station {
	int64_t rain[LINE / sizeof(int64_t)];
};

#define MIX(n)                                                                                     \
	a ^= a >> (n);                                                                             \
	b += b << (n);                                                                             \
	c ^= c << (n);                                                                             \
	d -= d >> (n);

/* More instructions than there is room for in the window beside those of the next reading. */
static uint64_t weight_of(uint64_t reading, uint64_t station)
{
	uint64_t a = reading + station, b = reading ^ station << 3, c = station * 7,
		 d = reading << 5;

	MIX(3) MIX(7) MIX(11) MIX(5) MIX(9) MIX(2) MIX(13) MIX(4) MIX(6) MIX(10) MIX(8) MIX(12)
			MIX(3) MIX(7) MIX(11) MIX(5) MIX(9) MIX(2) MIX(13)
				MIX(4) return (a ^ b >> 1) +
		(c ^ d >> 1);
}

static uint64_t add_readings(const struct station *stations, const uint32_t *order)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < READINGS; i++) {
		const struct station *later = &stations[order[i + AHEAD]];

		__builtin_prefetch(later);
		sum += weight_of((uint64_t)stations[order[i]].rain[order[i] & 7], order[i]);
		__asm__ volatile(
			""
			:
			: "r"(later)); /* the model needs the prefetch's address register */
	}
	return sum;
}

int main(void)
{
	static _Alignas(LINE) struct station stations[STATIONS];
	uint32_t *order = malloc((READINGS + 64) * sizeof(*order));
	uint32_t state = 3;

	if (order == NULL)
		return 1;
	for (size_t i = 0; i < READINGS + 64; i++) {
		state = state * 1664525 + 1013904223;
		order[i] = state >> 12;
	}
	printf("%llx\n", (unsigned long long)add_readings(stations, order));
	return 0;
}
