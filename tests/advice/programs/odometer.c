/* SPDX-License-Identifier: Apache-2.0 */

/* Drives a list of legs, and adds up distance and fuel where the caller wants them. Both may be one place, as far as the
 * compiler knows, so each sum is loaded and stored for each leg. The twin has local variables for them. */

#include <stdint.h>
#include <stdio.h>

enum { LEGS = 4096, TRIPS = 120 };

struct leg {
	uint32_t metres, millilitres;
};

static struct leg legs[LEGS];

__attribute__((noinline, noipa)) static void drive(uint64_t *metres, uint64_t *millilitres,
						   const struct leg *leg, int n)
{
#ifdef FIXED
	uint64_t way = *metres, fuel = *millilitres;

	for (int i = 0; i < n; i++) {
		way += leg[i].metres;
		fuel += leg[i].millilitres;
	}
	*metres = way;
	*millilitres = fuel;
#else
	for (int i = 0; i < n; i++) {
		*metres += leg[i].metres;
		*millilitres += leg[i].millilitres;
	}
#endif
}

int main(void)
{
	uint64_t metres = 0, millilitres = 0;

	for (uint32_t i = 0; i < LEGS; i++)
		legs[i] = (struct leg){ i * 2654435761u >> 20, i & 255 };
	for (int trip = 0; trip < TRIPS; trip++)
		drive(&metres, &millilitres, legs, LEGS);
	printf("%llu %llu\n", (unsigned long long)metres, (unsigned long long)millilitres);
	return 0;
}
