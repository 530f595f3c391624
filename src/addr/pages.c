/* SPDX-License-Identifier: Apache-2.0 */
/* How many huge pages would avoid which part of the page table walks. */
#include <inttypes.h>
#include <stdlib.h>

#include "addr/huge.h"
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

struct addr_huge_walks {
	uint64_t n, cycles;
	uint64_t n_pages; /* pages with walks */
};

void addr_walks_init(struct addr_walks *w, const struct addr_huge *huge)
{
	const struct addr *pages = huge->pages;

	*w = (struct addr_walks){ .huge = huge };
	w->items = mem_zalloc((size_t)huge->keys.n + 1, sizeof(*w->items));
	for (uint32_t group = 0; group < pages->keys.n; group++) {
		struct addr_huge_walks *of = &w->items[huge->of_page[group]];
		struct brief_walks walks = addr_briefs_walks(&pages->sums, group);

		of->n += walks.n;
		of->cycles += walks.cycles;
		of->n_pages += walks.n > 0;
		w->n += walks.n;
		w->cycles += walks.cycles;
		w->n_translated += walks.n_translated;
		w->n_once += walks.n == 1 && tuples_get(&pages->keys, group)[0] != ADDR_KERNEL;
	}
}

void addr_walks_release(struct addr_walks *w)
{
	free(w->items);
	*w = (struct addr_walks){ 0 };
}

/* Huge pages of processes, ordered by the cycles of their walks. */
struct ranking {
	const struct addr_walks *walks;
	uint32_t *order;
	size_t n;
	uint64_t total;
	uint64_t n_walks; /* records with a walk */
};

static uint64_t weight_of(const struct addr_walks *w, uint32_t number)
{
	return w->cycles > 0 ? w->items[number].cycles : w->items[number].n;
}

static int addr_pages_compare(const void *left, const void *right, void *context)
{
	const struct addr_walks *w = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = weight_of(w, a), y = weight_of(w, b);
	const uint64_t *key_a = tuples_get(&w->huge->keys, a);
	const uint64_t *key_b = tuples_get(&w->huge->keys, b);

	if (x != y)
		return (x < y) - (x > y);
	if (key_a[0] != key_b[0])
		return (key_a[0] > key_b[0]) - (key_a[0] < key_b[0]);
	return (key_a[1] > key_b[1]) - (key_a[1] < key_b[1]);
}

/* Ranks the pages of processes. Those of the kernel are left out: users cannot remap them. */
static void pages_rank(struct ranking *k, const struct addr_walks *w)
{
	*k = (struct ranking){ .walks = w };
	k->order = mem_alloc((size_t)w->huge->keys.n + 1, sizeof(*k->order));
	for (uint32_t i = 0; i < w->huge->keys.n; i++) {
		if (tuples_get(&w->huge->keys, i)[0] == ADDR_KERNEL || weight_of(w, i) == 0)
			continue;
		k->order[k->n++] = i;
		k->total += weight_of(w, i);
		k->n_walks += w->items[i].n;
	}
	if (k->n > 1)
		qsort_r(k->order, k->n, sizeof(*k->order), addr_pages_compare,
			(void *)(uintptr_t)w);
}

/* How many pages, in this order, have this share of the walk cycles. */
static size_t count_for(const struct ranking *k, double share)
{
	uint64_t sum = 0;
	size_t n = 0;

	while (n < k->n && (double)sum < share * (double)k->total)
		sum += weight_of(k->walks, k->order[n++]);
	return n;
}

size_t addr_walks_huge_pages(const struct addr_walks *w, double share)
{
	struct ranking k;
	size_t n;

	pages_rank(&k, w);
	n = count_for(&k, share);
	free(k.order);
	return n;
}

/* The mark of a number of pages: exact, or a lower bound (see unseen_at_most). */
static enum cell_mark pages_mark(uint64_t n_once, uint64_t n_walks)
{
	return (double)n_once > unseen_at_most * (double)n_walks ? MARK_AT_LEAST : MARK_EXACT;
}

void addr_walks_table(const struct addr_walks *w, struct table *out)
{
	uint64_t n_huge_once = 0;
	enum cell_mark mark, huge_mark;
	struct ranking k;

	table_init(out, "huge_pages", "Page table walks and huge pages", columns, COUNT(columns));
	pages_rank(&k, w);
	for (size_t i = 0; i < k.n; i++)
		n_huge_once += w->items[k.order[i]].n == 1;
	mark = pages_mark(w->n_once, k.n_walks);
	huge_mark = pages_mark(n_huge_once, k.n_walks);
	for (size_t i = 0; i < COUNT(shares) && k.n > 0; i++) {
		size_t n = count_for(&k, shares[i]);
		struct cell *row = table_add_row(out);
		uint64_t n_pages = 0;

		for (size_t page = 0; page < n; page++)
			n_pages += w->items[k.order[page]].n_pages;
		row[0] = cell_number(shares[i]);
		row[1] = cell_marked(cell_count(n), huge_mark);
		row[2] = cell_marked(cell_count((uint64_t)n << ADDR_HUGE_SHIFT), huge_mark);
		row[3] = cell_marked(cell_count(n_pages), mark);
	}
	if (mark == MARK_AT_LEAST)
		table_note(out,
			   "%" PRIu64 " of %" PRIu64
			   " sampled walks are the only one of their 4 KiB page",
			   w->n_once, k.n_walks);
	if (k.n > 0 && k.n_walks < SPARSE_BELOW)
		table_note(out, "too few samples: %" PRIu64 " walk%s", k.n_walks,
			   k.n_walks == 1 ? "" : "s");
	free(k.order);
}
