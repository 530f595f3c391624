/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/random.h"
#include "kernel/loops/inside.h"

int run_take_memory(struct microbenchmark_run *r, size_t bytes, bool is_code, struct err *err)
{
	bool is_huge = r->values[HUGE_PAGES] != 0;
	size_t unit = is_huge ? MEM_HUGE : PAGE_BYTES;
	size_t size = (bytes + unit - 1) / unit * unit;
	int protection = PROT_READ | PROT_WRITE | (is_code ? PROT_EXEC : 0);
	char *start = mmap(NULL, size + unit, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return err_set(err, ERR_IO, ERR_NOWHERE, "kernel %s: no memory of %zu bytes%s: %s",
			       r->what->name, size, is_code ? " for code" : "", strerror(errno));
	r->memory = start + (-(uintptr_t)start & (unit - 1));
	r->memory_bytes = size;
	if (r->memory != (void *)start)
		munmap(start, (size_t)((char *)r->memory - start));
	munmap((char *)r->memory + size, (size_t)(start + unit - (char *)r->memory));
	r->has_huge_pages =
		madvise(r->memory, size, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0 && is_huge;
	return 0;
}

int run_take_code(struct microbenchmark_run *r, uint64_t bytes, struct err *err)
{
	enum { REACH = 1 << 24 };

	if (bytes > REACH)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "kernel %s: %" PRIu64
			       " bytes of code; at most 16 MiB are reached by "
			       "its branches",
			       r->what->name, bytes);
	return run_take_memory(r, (size_t)bytes, true, err);
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
	return random_next(state) % n;
}

/* Fisher and Yates: each order is equally likely, in linear time. */
static void shuffle(uint32_t *numbers, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(state, i);
		uint32_t kept = numbers[i - 1];

		numbers[i - 1] = numbers[k];
		numbers[k] = kept;
	}
}

uint32_t *random_order(size_t n, size_t block)
{
	uint32_t *order = mem_alloc(n, sizeof(*order)), *blocks;
	uint64_t state = 0; /* runs repeat */
	size_t n_blocks, at = 0;

	if (block == 0 || block > n)
		block = n;
	n_blocks = (n + block - 1) / block;
	blocks = mem_alloc(n_blocks, sizeof(*blocks));
	for (size_t i = 0; i < n_blocks; i++)
		blocks[i] = (uint32_t)i;
	shuffle(blocks, n_blocks, &state);
	for (size_t i = 0; i < n_blocks; i++) {
		size_t first = blocks[i] * block, length = n - first < block ? n - first : block;

		for (size_t k = 0; k < length; k++)
			order[at + k] = (uint32_t)(first + k);
		shuffle(order + at, length, &state);
		at += length;
	}
	free(blocks);
	return order;
}

void make_pointer_ring(void *memory, size_t n, size_t stride, size_t block)
{
	uint32_t *order = random_order(n, block);
	char *places = memory;

	for (size_t i = 0; i < n; i++) {
		/* the last of the order leads back to the first */
		void *next = places + order[i + 1 < n ? i + 1 : 0] * stride;

		memcpy(places + order[i] * stride, &next, sizeof(next));
	}
	free(order);
}

uint64_t round_of_lines(const uint64_t values[N_PARAMETERS])
{
	return values[LINES];
}
