/* SPDX-License-Identifier: Apache-2.0 */
/* The huge pages that accessed pages are in: few, so that all pages are put in order by them, and walks added up. */
#ifndef CYCLOPS_ADDR_HUGE_H
#define CYCLOPS_ADDR_HUGE_H

#include <stddef.h>
#include <stdint.h>

#include "addr/addr.h"
#include "table/table.h"

/* The huge pages of a result with grain ADDR_PAGES, which is borrowed. Zeroed is empty. */
struct addr_huge {
	const struct addr *pages;
	struct tuples keys; /* process, number of the huge page */
	uint32_t *of_page;  /* by group of the pages: the number of its key */
};

void addr_huge_init(struct addr_huge *, const struct addr *pages);
void addr_huge_release(struct addr_huge *);

/* The groups of the pages by process, then by address. To be freed. */
uint32_t *addr_huge_order(const struct addr_huge *);

/* The page table walks of all pages, and by huge page. */
struct addr_walks {
	const struct addr_huge *huge;
	struct addr_huge_walks *items; /* by number of `huge` */
	uint64_t n, cycles;	       /* of all */
	uint64_t n_translated;	       /* records that say how the address was translated */
	uint64_t n_once;	       /* pages of processes with one walk */
};

void addr_walks_init(struct addr_walks *, const struct addr_huge *);
void addr_walks_release(struct addr_walks *);

/* How many huge pages, those with most walks first, have this share of the walks. */
size_t addr_walks_huge_pages(const struct addr_walks *, double share);

/* The table "huge_pages": which part of the walks how many huge pages avoid. */
void addr_walks_table(const struct addr_walks *, struct table *out);

#endif
