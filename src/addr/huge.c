/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/huge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/radix.h"

enum {
	PAGE_BITS = ADDR_HUGE_SHIFT - ADDR_PAGE_SHIFT
}; /* of the number of a page in its huge page */

void addr_huge_init(struct addr_huge *h, const struct addr *pages)
{
	uint32_t last = 0;

	*h = (struct addr_huge){ .pages = pages };
	tuples_init(&h->keys, 2);
	h->of_page = mem_alloc((size_t)pages->keys.n + 1, sizeof(*h->of_page));
	for (uint32_t i = 0; i < pages->keys.n; i++) {
		const uint64_t *page = tuples_get(&pages->keys, i);
		const uint64_t key[] = { page[0], page[1] >> PAGE_BITS };

		last = tuples_add_again(&h->keys, key, last);
		h->of_page[i] = last;
	}
}

void addr_huge_release(struct addr_huge *h)
{
	tuples_release(&h->keys);
	free(h->of_page);
	*h = (struct addr_huge){ 0 };
}

static struct radix_pair key_of_huge(const void *keys, size_t i)
{
	const uint64_t *key = tuples_get(keys, (uint32_t)i);

	return (struct radix_pair){ key[0], key[1] };
}

/* Pages of a process are near to each other, but far from the kernel's: numbers of huge pages in order are short to sort by. */
uint32_t *addr_huge_order(const struct addr_huge *h)
{
	const struct tuples *pages = &h->pages->keys;
	uint32_t *of_huge = radix_order(&h->keys, h->keys.n, key_of_huge);
	uint64_t *ranks = mem_alloc((size_t)h->keys.n + 1, sizeof(*ranks));
	uint64_t *keys = mem_alloc((size_t)pages->n + 1, sizeof(*keys));
	uint32_t *order = mem_alloc((size_t)pages->n + 1, sizeof(*order));

	for (uint32_t i = 0; i < h->keys.n; i++)
		ranks[of_huge[i]] = (uint64_t)i << PAGE_BITS;
	for (uint32_t i = 0; i < pages->n; i++) {
		keys[i] =
			ranks[h->of_page[i]] | (tuples_get(pages, i)[1] & ((1u << PAGE_BITS) - 1));
		order[i] = i;
	}
	radix_sort(order, pages->n, keys);
	free(keys);
	free(ranks);
	free(of_huge);
	return order;
}
