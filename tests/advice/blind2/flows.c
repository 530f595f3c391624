/* SPDX-License-Identifier: Apache-2.0 */

/* The table of connections of a firewall. At each tick of its clock, every connection grows older by the tick; the
 * firewall counts those that have been idle too long, and between two ticks some connections see a packet. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLOWS = 256 * 1024, TICKS = 14, PACKETS = 500, IDLE_LIMIT = 400 };

#ifdef FIXED

struct flow {
	uint32_t from, to;
	uint16_t from_port, to_port;
	uint32_t state;
	uint64_t packets, bytes;
	char rule[28];
};

struct table {
	struct flow *flows;
	uint32_t *idle;
};

static int open_table(struct table *table)
{
	table->flows = calloc(FLOWS, sizeof *table->flows);
	table->idle = calloc(FLOWS, sizeof *table->idle);
	return table->flows && table->idle;
}

static void close_table(struct table *table)
{
	free(table->flows);
	free(table->idle);
}

#define IDLE(table, i) ((table)->idle[i])

#else

struct flow {
	uint32_t from, to;
	uint16_t from_port, to_port;
	uint32_t state;
	uint64_t packets, bytes;
	uint32_t idle;
	char rule[28];
};

struct table {
	struct flow *flows;
};

static int open_table(struct table *table)
{
	table->flows = calloc(FLOWS, sizeof *table->flows);
	return table->flows != NULL;
}

static void close_table(struct table *table)
{
	free(table->flows);
}

#define IDLE(table, i) ((table)->flows[i].idle)

#endif

static uint64_t random_state = 4099;

static uint32_t draw(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 32);
}

static uint32_t grow_older(const struct table *table, size_t flows, uint32_t by)
{
	uint32_t over = 0;

	for (size_t i = 0; i < flows; i++) {
		IDLE(table, i) += by;
		over += IDLE(table, i) > IDLE_LIMIT;
	}
	return over;
}

static void take_packets(const struct table *table)
{
	for (int p = 0; p < PACKETS; p++) {
		uint32_t i = draw() % FLOWS;

		table->flows[i].packets++;
		table->flows[i].bytes += 60 + p % 1400;
		IDLE(table, i) = 0;
	}
}

int main(void)
{
	struct table table;
	uint64_t sum = 0;

	if (!open_table(&table))
		return 1;
	for (uint32_t i = 0; i < FLOWS; i++) {
		table.flows[i].from = i;
		IDLE(&table, i) = i * 2654435761u >> 23;
	}
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		take_packets(&table);
		sum = sum * 31 + grow_older(&table, FLOWS, 10 + tick);
	}
	for (uint32_t i = 0; i < FLOWS; i += 64)
		sum = sum * 31 + IDLE(&table, i) + table.flows[i].bytes + table.flows[i].from;
	printf("flows %016llx\n", (unsigned long long)sum);
	close_table(&table);
	return 0;
}
