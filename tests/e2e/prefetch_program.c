/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that walk by a stride, upwards, downwards and inlined, and one that does not. For prefetch.py. */
#include <stdio.h>
#include <stdlib.h>

struct node {
	long key, unused[15];
};

__attribute__((noinline)) static long strided(const struct node *nodes, long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += nodes[i].key;
	return sum;
}

__attribute__((noinline)) static long backwards(const struct node *nodes, long n)
{
	long sum = 0;

	for (long i = n - 1; i >= 0; i--)
		sum ^= nodes[i].key;
	return sum;
}

static inline __attribute__((always_inline)) long inside(const struct node *node)
{
	long key = node->key;

	return key * key;
}

__attribute__((noinline)) static long inlined(const struct node *nodes, long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum |= inside(&nodes[i]);
	return sum;
}

__attribute__((noinline)) static long gather(const long *table, long n)
{
	unsigned at = 1;
	long sum = 0;

	for (long i = 0; i < n; i++) {
		at = at * 1664525u + 1013904223u;
		sum += table[at >> 12];
	}
	return sum;
}

int main(void)
{
	enum { N = 1 << 14 };
	struct node *nodes = calloc(N, sizeof(*nodes));
	long *table = calloc(1 << 20, sizeof(*table));

	printf("%ld\n",
	       strided(nodes, N) + backwards(nodes, N) + inlined(nodes, N) + gather(table, N));
	free(nodes);
	free(table);
	return 0;
}
