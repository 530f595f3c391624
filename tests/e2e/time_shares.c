/* SPDX-License-Identifier: Apache-2.0 */
/* A program of several small parts, for time_shares.py: sorting, hashing, lists, text, numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noipa))

enum { N = 4000, SLOTS = 1 << 16, NODES = 20000 };

struct node {
	struct node *left, *right;
	uint32_t key;
};

static uint32_t values[N], table[SLOTS], state = 1;
static struct node nodes[NODES];
static char text[N * 12];

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static int compare_values(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

KEEP static void fill_values(void)
{
	for (unsigned i = 0; i < N; i++)
		values[i] = next_random();
}

KEEP static unsigned count_hashed(unsigned rounds)
{
	unsigned found = 0;

	for (unsigned i = 0; i < rounds; i++) {
		uint32_t slot = next_random() * UINT32_C(0x9e3779b1) >> 16;

		found += table[slot] != 0;
		table[slot]++;
	}
	return found;
}

KEEP static struct node *insert_nodes(unsigned n)
{
	struct node *root = NULL;

	for (unsigned i = 0; i < n; i++) {
		struct node **link = &root;

		nodes[i] = (struct node){ .key = next_random() };
		while (*link != NULL)
			link = nodes[i].key < (*link)->key ? &(*link)->left : &(*link)->right;
		*link = &nodes[i];
	}
	return root;
}

KEEP static size_t write_text(void)
{
	size_t at = 0;

	for (unsigned i = 0; i < N; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u ", values[i]);
	return at;
}

KEEP static unsigned count_words(const char *from)
{
	unsigned words = 0;

	for (; *from != '\0'; from++)
		words += *from == ' ';
	return words;
}

KEEP static double add_quotients(unsigned n)
{
	double sum = 0;

	for (unsigned i = 1; i < n; i++)
		sum += 1.0 / (double)(values[i % N] | 1);
	return sum;
}

int main(void)
{
	unsigned found, words;

	fill_values();
	qsort(values, N, sizeof(values[0]), compare_values);
	found = count_hashed(60000);
	insert_nodes(NODES);
	write_text();
	words = count_words(text);
	return found == 0 || words == 0 || add_quotients(40000) < 0;
}
