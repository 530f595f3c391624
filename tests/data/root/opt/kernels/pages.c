/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of each of many pages, in a random order: the lines fit into the L2 cache, their
 * translations into no TLB. Huge pages would cure it.
 */
#include "start.h"

enum {
	PAGE = 4096,
	LINE = 64,
	PAGES = 4096,
	ROUNDS = 24,
};

/* A line for each page, each at another place in its page, so that all sets of a cache serve. */
static uint64_t *line_of(char *memory, uint32_t page)
{
	return (uint64_t *)(memory + (size_t)page * PAGE + page * 7 % (PAGE / LINE) * LINE);
}

static KERNEL void fill(char *memory)
{
	for (uint32_t page = 0; page < PAGES; page++)
		*line_of(memory, page) = page;
}

/* Steps through all pages by an odd stride that is no stride of pages next to each other. */
static KERNEL uint64_t visit(char *memory)
{
	uint64_t sum = 0;
	uint32_t page = 1;

	for (uint32_t i = 0; i < PAGES; i++) {
		page = (page * 1664525u + 1013904223u) % PAGES;
		sum += *line_of(memory, page);
	}
	return sum;
}

int kernel_main(void)
{
	char *memory = fresh_memory((size_t)PAGES * PAGE);
	uint64_t sum = 0;

	fill(memory);
	for (int i = 0; i < ROUNDS; i++)
		sum += visit(memory);
	return sum == (uint64_t)ROUNDS * PAGES * (PAGES - 1) / 2 ? 0 : 1;
}
