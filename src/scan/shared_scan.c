/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/shared_scan.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Where to note records: one index will do. A scan that reads one is of few addresses, which the other wish may not be. */
static struct address_index *index_of_both(const struct scan_wish *a, const struct scan_wish *b)
{
	if (a->addresses != NULL || b->addresses != NULL)
		return NULL;
	return a->index != NULL ? a->index : b->index;
}

static bool without_targets(const struct scan_wish *wish)
{
	return wish->without_targets || wish->without_addresses;
}

/* The union of two wishes. */
static struct scan_wish wish_of_both(const struct scan_wish *a, const struct scan_wish *b)
{
	return (struct scan_wish){
		.without_places = a->without_places && b->without_places,
		.with_registers = a->with_registers || b->with_registers,
		.keeps_places = a->keeps_places || b->keeps_places,
		.only_code = a->only_code == b->only_code ? a->only_code : NULL,
		.addresses = a->addresses == b->addresses ? a->addresses : NULL,
		.with_physical = a->with_physical || b->with_physical,
		.only_memory = a->only_memory && b->only_memory,
		.without_targets = without_targets(a) && without_targets(b),
		.without_translation = a->without_translation && b->without_translation,
		.index = index_of_both(a, b),
	};
}

void shared_scan_add(struct shared_scan *s, struct analysis *analysis, const struct scan_wish *wish)
{
	assert(!wish->with_branches);
	s->wish = s->analyses.n == 0 ? *wish : wish_of_both(&s->wish, wish);
	*vec_add(&s->analyses) = analysis;
}

void shared_scan_release(struct shared_scan *s)
{
	vec_release(&s->analyses);
	*s = (struct shared_scan){ 0 };
}

void shared_scan_run(struct session *session, const struct select *select, struct shared_scan *s)
{
	size_t n = s->analyses.n;
	struct analysis *all = mem_alloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = *s->analyses.items[i];
	if (n > 0)
		scan_part(session, select, &s->wish, all, n);
	for (size_t i = 0; i < n; i++)
		s->analyses.items[i]->result = all[i].result;
	free(all);
	shared_scan_release(s);
}
