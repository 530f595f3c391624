/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/pointer_ring.h"
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

void make_pointer_ring(void *memory, size_t n, size_t stride, size_t block)
{
	uint64_t *offsets = random_order(n, block, 0);

	for (size_t i = 0; i < n; i++)
		offsets[i] *= stride;
	(void)pointer_ring_link(memory, offsets, n);
	free(offsets);
}

uint64_t round_of_lines(const uint64_t values[N_PARAMETERS])
{
	return values[LINES];
}
