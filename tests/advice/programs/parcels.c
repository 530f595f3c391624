/* SPDX-License-Identifier: Apache-2.0 */

/* Looks at the first line of parcels that lie 4160 bytes apart, 3500 of them, in an order that depends on what was
 * found: the lines are in the L2, the translations are not in the TLBs, and each look needs a walk. No address is stored
 * anywhere, each is computed. The remedy is huge pages. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARCELS = 3500, LOOKS = 500000, STEP = 4160 };

static uint64_t weigh(const char *store)
{
	uint64_t sum = 0;
	uint32_t parcel = 0;

	for (uint64_t i = 0; i < LOOKS; i++) {
		uint64_t weight = *(const uint64_t *)(store + (size_t)parcel * STEP);

		sum += weight;
		parcel = (uint32_t)(((weight ^ i * 2654435761) & UINT32_MAX) * PARCELS >> 32);
	}
	return sum;
}

int main(void)
{
	char *store = aligned_alloc(1 << 21, 16 << 20);

	if (store == NULL)
		return 1;
	for (size_t i = 0; i < PARCELS; i++)
		*(uint64_t *)(store + i * STEP) = i * 2654435761u % (1ull << 32);
	printf("%llu\n", (unsigned long long)weigh(store));
	free(store);
	return 0;
}
