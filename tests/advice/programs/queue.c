/* SPDX-License-Identifier: Apache-2.0 */

/* Adds up a linked list of 64 MiB. Nodes that follow each other lie far apart, so each is a DRAM access that begins when
 * the one before has ended. The twin has them in order. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 1 << 20, VISITS = 600000 };
#ifdef FIXED
enum { STEP = 1 };
#else
enum { STEP = 4096 * 101 + 1 };
#endif

struct node {
	struct node *next;
	uint64_t value, rest[6];
};

static uint64_t add_up(const struct node *node, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		sum += node->value;
		node = node->next;
	}
	return sum;
}

int main(void)
{
	struct node *nodes = calloc(NODES, sizeof(*nodes));
	uint32_t at = 0;

	if (nodes == NULL)
		return 1;
	for (int i = 0; i < VISITS; i++) {
		uint32_t next = (at + STEP) % NODES;

		nodes[at].next = &nodes[next];
		nodes[at].value = (uint64_t)i;
		at = next;
	}
	printf("%llu\n", (unsigned long long)add_up(nodes, VISITS));
	free(nodes);
	return 0;
}
