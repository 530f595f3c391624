/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that measures itself with the macros of libcyclops: "load" touches PAGES fresh pages, in
 * CALLS parts, "part", and works.
 *
 * usage: measure-program PAGES CALLS
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "cyclops/measure.h"

enum { PAGE = 4096 };

static unsigned work(volatile char *pages, size_t from, size_t to)
{
	unsigned sum = 0;

	for (size_t i = from; i < to; i++) {
		pages[i * PAGE] = (char)i;
		sum += (unsigned)pages[i * PAGE] * 3;
	}
	return sum;
}

int main(int argc, char **argv)
{
	size_t n_pages = argc > 1 ? strtoul(argv[1], NULL, 0) : 100;
	size_t n_calls = argc > 2 ? strtoul(argv[2], NULL, 0) : 10;
	volatile char *pages = mmap(NULL, n_pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned sum = 0;
	CYCLOPS_HANDLE(m);

	if (pages == MAP_FAILED)
		return 1;
	madvise((void *)(unsigned long)pages, n_pages * PAGE, MADV_NOHUGEPAGE);
	CYCLOPS_OPEN(m, NULL);
	CYCLOPS_REGION(m, load, "load");
	CYCLOPS_REGION(m, part, "part, \"quoted\"");
	CYCLOPS_BEGIN(m, load);
	for (size_t i = 0; i < n_calls; i++) {
		CYCLOPS_BEGIN(m, part);
		sum += work(pages, i * n_pages / n_calls, (i + 1) * n_pages / n_calls);
		CYCLOPS_END(m, part);
	}
	CYCLOPS_END(m, load);
	CYCLOPS_CLOSE(m);
	return sum == 1 ? 2 : 0;
}
