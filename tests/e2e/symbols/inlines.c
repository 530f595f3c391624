/* SPDX-License-Identifier: Apache-2.0 */
/* Needs no library, so that it builds for any machine that has a compiler. */
struct node {
	struct node *next;
	int value;
};

int table[16];

static inline __attribute__((always_inline)) int clamp(int value)
{
	return value < 0 ? 0 : value > 100 ? 100 : value;
}

static inline __attribute__((always_inline)) int weigh(const struct node *node)
{
	int first = clamp(node->value);
	int second = clamp(node->value * 3 - 7);

	return first + second;
}

__attribute__((noinline)) static int walk(const struct node *node)
{
	int sum = 0;

	for (; node != 0; node = node->next)
		sum += weigh(node);
	return sum;
}

__attribute__((noinline)) int exported(int n)
{
	struct node nodes[3] = { { &nodes[1], n }, { &nodes[2], n * n }, { 0, -n } };

	for (int i = 0; i < 16; i++)
		table[i] = clamp(n + i);
	return walk(nodes) + table[n & 15];
}

void _start(void)
{
	volatile int result = exported(5);

	for (;;)
		result = exported(result);
}
