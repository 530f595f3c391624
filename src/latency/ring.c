/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pointer_ring.h"
#include "base/text.h"
#include "system/system.h"
#include "table/human.h"

enum { HUGE_PAGE = 2 << 20, USUAL_LINE = 64 };

static const char *const orders[N_RING_ORDERS] = {
	[RING_RANDOM] = "random",
	[RING_PAGE] = "page",
	[RING_LINE] = "line",
};

const char *ring_order_name(enum ring_order order)
{
	return orders[order];
}

int ring_order_find(const char *name)
{
	for (int i = 0; i < N_RING_ORDERS; i++)
		if (strcmp(orders[i], name) == 0)
			return i;
	return -1;
}

/* The number before " kB" of a line such as "MemAvailable:   123 kB". */
static bool find_kib(const struct text *file, const char *label, uint64_t *out_bytes)
{
	const char *at = file->n == 0 ? NULL : memmem(file->bytes, file->n, label, strlen(label));
	uint64_t value = 0;

	if (at == NULL)
		return false;
	for (at += strlen(label); at < file->bytes + file->n && (*at == ' ' || *at == '\t'); at++)
		;
	for (; at < file->bytes + file->n && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	*out_bytes = value * 1024;
	return true;
}

uint64_t ring_memory_available(const char *root)
{
	uint64_t available = UINT64_MAX, bytes;
	struct text file = { 0 };
	int64_t limit, used;

	if (system_text(root, &file, "/proc/meminfo") && find_kib(&file, "MemAvailable:", &bytes))
		available = bytes;
	text_release(&file);
	if (system_number(root, &limit, "/sys/fs/cgroup/memory.max") &&
	    system_number(root, &used, "/sys/fs/cgroup/memory.current") && used <= limit &&
	    (uint64_t)(limit - used) < available)
		available = (uint64_t)(limit - used);
	return available;
}

size_t ring_line_bytes(void)
{
	long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

	return line >= 16 && line <= 256 && (line & (line - 1)) == 0 ? (size_t)line : USUAL_LINE;
}

static char *map(size_t size, int more)
{
	void *at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Is all of it in transparent huge pages? It is the only mapping that has asked for them. */
static bool is_all_huge(const struct ring_memory *m)
{
	struct text smaps = { 0 };
	char start[40];
	uint64_t huge = 0;
	const char *at;

	snprintf(start, sizeof(start), "%" PRIxPTR "-", (uintptr_t)m->start);
	if (system_text("", &smaps, "/proc/self/smaps") &&
	    (at = memmem(smaps.bytes, smaps.n, start, strlen(start))) != NULL) {
		struct text rest = { .bytes = (char *)(uintptr_t)at,
				     .n = (size_t)(smaps.bytes + smaps.n - at) };

		(void)find_kib(&rest, "AnonHugePages:", &huge);
	}
	text_release(&smaps);
	return huge >= m->size;
}

static int no_huge_pages(size_t size, struct err *err)
{
	int64_t free_pages = 0;
	char words[128];

	(void)system_number("", &free_pages,
			    "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
	if (!system_line("", words, sizeof(words), "/sys/kernel/mm/transparent_hugepage/enabled"))
		snprintf(words, sizeof(words), "not there");
	return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
		       "--pages huge: %zu huge pages of 2 MiB are wanted, %" PRId64
		       " are reserved and free (sysctl vm.nr_hugepages=%zu reserves them), and "
		       "transparent "
		       "ones are not given (/sys/kernel/mm/transparent_hugepage/enabled: %s)",
		       size / HUGE_PAGE, free_pages, size / HUGE_PAGE, words);
}

/* Huge pages that are reserved, else transparent ones. */
static int map_huge(struct ring_memory *m, struct err *err)
{
	char *inside;
	size_t kept = m->size;

	m->size = (m->size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	m->page = HUGE_PAGE;
	m->n_mapped = m->size;
	m->start = m->mapped = map(m->n_mapped, MAP_HUGETLB | 21 << 26 /* MAP_HUGE_2MB */);
	if (m->mapped != NULL) {
		memset(m->start, 0, m->size);
		m->size = kept;
		return 0;
	}
	/* Whole huge pages in a mapping of their own, so that smaps tells of them alone. */
	m->n_mapped = m->size + HUGE_PAGE;
	m->mapped = map(m->n_mapped, 0);
	if (m->mapped == NULL)
		return no_huge_pages(m->size, err);
	inside = (char *)(((uintptr_t)m->mapped + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	m->start = inside;
	if (madvise(inside, m->size, MADV_HUGEPAGE) != 0)
		return no_huge_pages(m->size, err);
	memset(inside, 0, m->size);
	if (!is_all_huge(m))
		return no_huge_pages(m->size, err);
	m->size = kept;
	return 0;
}

int ring_memory_init(struct ring_memory *m, size_t size, bool is_huge, const char *what,
		     struct err *err)
{
	uint64_t available = ring_memory_available(""), wanted;
	size_t line = ring_line_bytes();

	*m = (struct ring_memory){ .size = size, .line = line };
	m->page = (size_t)sysconf(_SC_PAGESIZE);
	wanted = size + ring_link_cost(size / line);
	if (wanted > available) {
		struct text text = { 0 };
		const struct cell there = cell_count(available), asked = cell_count(wanted);

		text_format(&text, "%s: ", what);
		human_words(&text, &asked, "bytes");
		text_str(&text, " of memory are needed, and ");
		human_words(&text, &there, "bytes");
		text_str(&text, " are available");
		(void)err_set(err, ERR_LIMIT, ERR_NOWHERE, "%.*s", (int)text.n, text.bytes);
		text_release(&text);
		return -1;
	}
	if (is_huge) {
		if (map_huge(m, err) == 0)
			return 0;
		ring_memory_release(m);
		return -1;
	}
	m->n_mapped = size;
	m->start = m->mapped = map(size, 0);
	if (m->mapped == NULL)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE,
			       "%s: %zu bytes of memory cannot be mapped: %m", what, size);
	(void)madvise(m->start, size, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses */
	memset(m->start, 0, size);
	return 0;
}

void ring_memory_release(struct ring_memory *m)
{
	if (m->mapped != NULL)
		munmap(m->mapped, m->n_mapped);
	*m = (struct ring_memory){ 0 };
}

size_t ring_link_cost(size_t n_lines)
{
	return n_lines * sizeof(uint64_t);
}

void **ring_link(const struct ring_memory *m, size_t size, enum ring_order order, uint64_t seed)
{
	size_t n = size / m->line, block = order == RING_PAGE ? m->page / m->line : 0;
	uint64_t *offsets = random_order(n, block, seed);
	void **first;

	for (size_t i = 0; i < n; i++)
		offsets[i] = (order == RING_LINE ? i : offsets[i]) * m->line;
	first = pointer_ring_link(m->start, offsets, n);
	free(offsets);
	return first;
}

void **ring_link_pages(const struct ring_memory *m, size_t n_pages, uint64_t seed)
{
	uint64_t *offsets = random_order(n_pages, 0, seed);
	void **first;

	for (size_t i = 0; i < n_pages; i++)
		offsets[i] = offsets[i] * m->page + offsets[i] * m->line % m->page;
	first = pointer_ring_link(m->start, offsets, n_pages);
	free(offsets);
	return first;
}

void **ring_follow(void **p, uint64_t n)
{
	for (; n >= 8; n -= 8) {
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
		p = *(void **const volatile *)p;
	}
	for (; n > 0; n--)
		p = *(void **const volatile *)p;
	return p;
}
