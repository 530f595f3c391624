/* SPDX-License-Identifier: Apache-2.0 */
/* How many huge pages would avoid which part of the page table walks. */
#include <inttypes.h>
#include <stdlib.h>

#include "addr/rows.h"
#include "base/alloc.h"
#include "estimate/shares.h"

static const double shares[] = { 0.5, 0.8, 0.9, 0.99, 1 };

static const struct column columns[] = {
	{ "walks_share", "walk share", "", CELL_NUMBER, COLUMN_SHARE,
	  "part of the cycles of page table walks; without cycles: of their number" },
	{ "huge_pages", "huge pages", "", CELL_COUNT, COLUMN_TRUST,
	  "huge pages of 2 MiB that would cover that share of the walks" },
	{ "huge_bytes", "memory", "bytes", CELL_COUNT, COLUMN_TRUST,
	  "their part of all pages with walks" },
	{ "pages", "4 KiB pages", "", CELL_COUNT, COLUMN_TRUST,
	  "4 KiB pages with sampled walks, inside them" },
};

/*
 * Good-Turing estimate (I. J. Good, The population frequencies of species, 1953): the part of all
 * walks that go to pages without a sample is about n1 / n, where n1 is the number of pages with one
 * sample and n that of samples. Below this part the number of pages is taken to be complete.
 */
static const double unseen_at_most = 0.01;

/* Huge pages of processes, ordered by the cycles of their walks. */
struct ranking {
	const struct addr_rows *rows; /* by huge page */
	uint32_t *order;
	size_t n;
	uint64_t total;
	uint64_t n_walks; /* records with a walk */
};

static uint64_t weight_of(const struct addr_rows *r, uint32_t row)
{
	const struct addr_sums *s = &r->sums.items[row];

	return r->total.walk_cycles > 0 ? s->walk_cycles : s->walks;
}

static int addr_pages_compare(const void *left, const void *right, void *context)
{
	const struct addr_rows *r = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = weight_of(r, a), y = weight_of(r, b);
	const uint64_t *key_a = tuples_get(&r->keys, a), *key_b = tuples_get(&r->keys, b);

	if (x != y)
		return (x < y) - (x > y);
	if (key_a[1] != key_b[1])
		return (key_a[1] > key_b[1]) - (key_a[1] < key_b[1]);
	return (key_a[0] > key_b[0]) - (key_a[0] < key_b[0]);
}

/* Ranks the pages of processes. Those of the kernel are left out: users cannot remap them. */
static void pages_rank(struct ranking *k, const struct addr_rows *r)
{
	*k = (struct ranking){ .rows = r };
	k->order = mem_alloc(r->keys.n + 1, sizeof(*k->order));
	for (uint32_t i = 0; i < r->keys.n; i++) {
		if (tuples_get(&r->keys, i)[1] == ADDR_KERNEL || weight_of(r, i) == 0)
			continue;
		k->order[k->n++] = i;
		k->total += weight_of(r, i);
		k->n_walks += r->sums.items[i].walks;
	}
	if (k->n > 1)
		qsort_r(k->order, k->n, sizeof(*k->order), addr_pages_compare,
			(void *)(uintptr_t)r);
}

/* How many pages, in this order, have this share of the walk cycles. */
static size_t count_for(const struct ranking *k, double share)
{
	uint64_t sum = 0;
	size_t n = 0;

	while (n < k->n && (double)sum < share * (double)k->total)
		sum += weight_of(k->rows, k->order[n++]);
	return n;
}

size_t addr_huge_pages(const struct addr_rows *r, double share)
{
	struct ranking k;
	size_t n;

	pages_rank(&k, r);
	n = count_for(&k, share);
	free(k.order);
	return n;
}

/* The mark of a number of pages: exact, or a lower bound (see unseen_at_most). */
static enum cell_mark pages_mark(uint64_t n_once, uint64_t n_walks)
{
	return (double)n_once > unseen_at_most * (double)n_walks ? MARK_AT_LEAST : MARK_EXACT;
}

/* By row: 4 KiB pages with walks. *out_once: how many of them had one walk. */
static uint64_t *count_pages(const struct addr_rows *r, uint64_t *out_once)
{
	const struct addr *a = r->source->addr;
	uint64_t *n = mem_zalloc(r->keys.n + 1, sizeof(*n));

	*out_once = 0;
	for (uint32_t group = 0; group < a->keys.n; group++) {
		const uint64_t *key = tuples_get(&a->keys, group);
		uint64_t n_walks = addr_group_sums(a, group).walks;
		const uint64_t words[ADDR_ROW_WORDS] = {
			key[1] >> (ADDR_HUGE_SHIFT - ADDR_PAGE_SHIFT),
			key[0],
		};

		if (n_walks > 0)
			n[tuples_find(&r->keys, words)]++;
		*out_once += n_walks == 1 && key[0] != ADDR_KERNEL;
	}
	return n;
}

void addr_coverage_table(const struct addr_rows *r, struct table *out)
{
	uint64_t n_once, n_huge_once = 0, *pages = count_pages(r, &n_once);
	enum cell_mark mark, huge_mark;
	struct ranking k;

	table_init(out, "huge_pages", "Page table walks and huge pages", columns, COUNT(columns));
	pages_rank(&k, r);
	for (size_t i = 0; i < k.n; i++)
		n_huge_once += r->sums.items[k.order[i]].walks == 1;
	mark = pages_mark(n_once, k.n_walks);
	huge_mark = pages_mark(n_huge_once, k.n_walks);
	for (size_t i = 0; i < COUNT(shares) && k.n > 0; i++) {
		size_t n = count_for(&k, shares[i]);
		struct cell *row = table_add_row(out);
		uint64_t n_pages = 0;

		for (size_t page = 0; page < n; page++)
			n_pages += pages[k.order[page]];
		row[0] = cell_number(shares[i]);
		row[1] = cell_marked(cell_count(n), huge_mark);
		row[2] = cell_marked(cell_count((uint64_t)n << ADDR_HUGE_SHIFT), huge_mark);
		row[3] = cell_marked(cell_count(n_pages), mark);
	}
	if (mark == MARK_AT_LEAST)
		table_note(out,
			   "%" PRIu64 " of %" PRIu64
			   " sampled walks are the only one of their 4 KiB page",
			   n_once, k.n_walks);
	if (k.n > 0 && k.n_walks < SPARSE_BELOW)
		table_note(out, "too few samples: %" PRIu64 " walk%s", k.n_walks,
			   k.n_walks == 1 ? "" : "s");
	free(k.order);
	free(pages);
}
