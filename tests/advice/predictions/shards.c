/* SPDX-License-Identifier: Apache-2.0 */

/* Which of 1021 shards each key belongs to: the remainder of a division by a number that is known at run time only. The twin
 * multiplies by the reciprocal and corrects the result, which takes more instructions. */

#include <stdint.h>
#include <stdio.h>

enum { KEYS = 500000 };

static uint32_t loads[1024];

static __attribute__((noinline)) uint64_t spread(uint32_t n)
{
	uint64_t key = 88172645463325252u, moved = 0;
#if defined(FIXED) && FIXED != 2
	uint64_t reciprocal = UINT64_MAX / n;
#endif

	for (int i = 0; i < KEYS; i++) {
		uint64_t shard;

		key ^= key << 13;
		key ^= key >> 7;
		key ^= key << 17;
#if defined(FIXED) &&                                                                              \
	FIXED == 2 /* another shard for each key: written after the first twin had run */
		shard = (key >> 32) * n >> 32;
#elif defined(FIXED)
		shard = key - (uint64_t)((unsigned __int128)key * reciprocal >> 64) * n;
		while (shard >= n)
			shard -= n;
#else
		shard = key % n;
#endif
		moved += loads[shard]++ & 1;
	}
	return moved;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%llu\n", (unsigned long long)spread(1020 + (uint32_t)argc));
	return 0;
}
