/* SPDX-License-Identifier: Apache-2.0 */

/* An electricity company tries nine price lists on the register of its customers: for each list, what all of them
 * would pay together. A customer pays for the energy used, for the size of the connection, and gets a rebate. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUSTOMERS = 224 * 1024, LISTS = 9 };

struct billing {
	uint32_t energy;
	uint32_t connection;
	uint32_t rebate;
};

#ifdef FIXED

struct customer {
	char name[60];
	char street[56];
	char town[40];
	uint32_t contract;
	uint32_t meter;
	char phone[16];
};

struct registry {
	struct billing *billing;
	struct customer *customers;
};

static int open_registry(struct registry *registry, size_t customers)
{
	registry->billing = calloc(customers, sizeof *registry->billing);
	registry->customers = calloc(customers, sizeof *registry->customers);
	return registry->billing && registry->customers;
}

static void close_registry(struct registry *registry)
{
	free(registry->billing);
	free(registry->customers);
}

#define ENERGY(registry, i) ((registry)->billing[i].energy)
#define CONNECTION(registry, i) ((registry)->billing[i].connection)
#define REBATE(registry, i) ((registry)->billing[i].rebate)

#else

struct customer {
	uint32_t contract;
	uint32_t energy;
	char name[60];
	uint32_t connection;
	char street[56];
	uint32_t meter;
	uint32_t rebate;
	char town[40];
	char phone[16];
};

struct registry {
	struct customer *customers;
};

static int open_registry(struct registry *registry, size_t customers)
{
	registry->customers = calloc(customers, sizeof *registry->customers);
	return registry->customers != NULL;
}

static void close_registry(struct registry *registry)
{
	free(registry->customers);
}

#define ENERGY(registry, i) ((registry)->customers[i].energy)
#define CONNECTION(registry, i) ((registry)->customers[i].connection)
#define REBATE(registry, i) ((registry)->customers[i].rebate)

#endif

static uint64_t state = 90901;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint64_t revenue(const struct registry *registry, size_t customers, struct billing price)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < customers; i++)
		sum += (uint64_t)ENERGY(registry, i) * price.energy +
		       (uint64_t)CONNECTION(registry, i) * price.connection - REBATE(registry, i);
	return sum;
}

int main(void)
{
	struct registry registry;
	uint64_t sum = 0;

	if (!open_registry(&registry, CUSTOMERS))
		return 1;
	for (size_t i = 0; i < CUSTOMERS; i++) {
		uint64_t word = draw();

		ENERGY(&registry, i) = word >> 48;
		CONNECTION(&registry, i) = word >> 40 & 63;
		REBATE(&registry, i) = word >> 32 & 127;
	}
	for (uint32_t list = 0; list < LISTS; list++)
		sum = sum * 31 + revenue(&registry, CUSTOMERS,
					 (struct billing){ 20 + list, 300 - 7 * list, 0 });
	printf("meters %016llx\n", (unsigned long long)sum);
	close_registry(&registry);
	return 0;
}
