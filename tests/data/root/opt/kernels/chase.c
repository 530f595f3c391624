/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer chases over four sizes: half of the first-level cache, a quarter of the second, half
 * of the system cache, and twice that. Every load depends on the one before, and a step goes
 * to another page each time, so that nothing can be fetched ahead. Of the large ones every
 * fourth line is used: that fills a quarter of the sets of each cache, as good as all.
 */
#include "start.h"

enum { LINE = 64, STEPS = 120000, MEMORY = 64 << 20, SPARSE = 4 };

struct node {
	struct node *next;
	char rest[LINE - sizeof(struct node *)];
};

/*
 * Links every `spacing`-th of the nodes in `size` bytes to one ring. The sequence k → a k + c
 * visits all numbers below a power of two if c is odd and a is 1 modulo 4; these take it far.
 */
KERNEL static void link_nodes(struct node *nodes, unsigned size, unsigned spacing)
{
	unsigned n = size / LINE / spacing, at = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned next = (at * 1664525 + 1013904223) % n;

		nodes[at * spacing].next = &nodes[next * spacing];
		at = next;
	}
}

static inline struct node *chase(struct node *node, unsigned steps)
{
	while (steps-- > 0)
		node = node->next;
	return node;
}

KERNEL static struct node *chase_l1(struct node *node)
{
	return chase(node, STEPS);
}

KERNEL static struct node *chase_l2(struct node *node)
{
	return chase(node, STEPS);
}

KERNEL static struct node *chase_system_cache(struct node *node)
{
	return chase(node, STEPS);
}

KERNEL static struct node *chase_memory(struct node *node)
{
	return chase(node, STEPS);
}

int kernel_main(void)
{
	struct node *nodes = fresh_memory(MEMORY), *last;

	link_nodes(nodes, 32 << 10, 1);
	last = chase_l1(nodes);
	link_nodes(nodes, 256 << 10, 1);
	last = chase_l2(last);
	link_nodes(nodes, 16 << 20, SPARSE);
	last = chase_system_cache(nodes);
	link_nodes(nodes, MEMORY, SPARSE);
	last = chase_memory(nodes);
	return last == NULL;
}
