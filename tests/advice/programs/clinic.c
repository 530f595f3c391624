/* SPDX-License-Identifier: Apache-2.0 */

/* A linked list of 4 MiB whose nodes are in the last-level cache, followed by a loop that is unrolled 48 times, with some
 * work on each node. The twin has the nodes in the order in which they are visited. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 1 << 16, ROUNDS = 3 };
#ifdef FIXED
enum { STEP = 1 };
#else
enum { STEP = 4096 * 7 + 17 };
#endif

struct patient {
	struct patient *next;
	uint32_t pulse, visits, rest[12];
};

#define SEE                                                                                        \
	sum += patient->pulse >> (patient->visits & 3);                                            \
	patient = patient->next;
#define SEE_4 SEE SEE SEE SEE
#define SEE_16 SEE_4 SEE_4 SEE_4 SEE_4

static uint64_t see_all(const struct patient *patient, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i += 48) {
		SEE_16 SEE_16 SEE_16
	}
	return sum;
}

int main(void)
{
	struct patient *patients = calloc(NODES, sizeof(*patients));
	uint32_t at = 0;

	if (patients == NULL)
		return 1;
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t next = (at + STEP) % NODES;

		patients[at] = (struct patient){ &patients[next], i, i >> 3, { 0 } };
		at = next;
	}
	printf("%llu\n", (unsigned long long)see_all(patients, NODES * ROUNDS));
	free(patients);
	return 0;
}
