/* SPDX-License-Identifier: Apache-2.0 */
#include "process/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"

void history_release(struct history *h)
{
	vec_release(&h->changes);
	free(h->first);
	*h = (struct history){ 0 };
}

void history_add(struct history *h, uint32_t key, uint64_t from_ns, uint32_t value)
{
	*vec_add(&h->changes) = (struct change){ .from_ns = from_ns, .key = key, .value = value };
}

/* Moves the changes of each key together, keeping their order. */
static void group_by_key(struct history *h, struct change *spare)
{
	const struct change *changes = h->changes.items;
	size_t n = h->changes.n;

	for (size_t i = 0; i < n; i++) {
		assert(changes[i].key < h->n_keys);
		h->first[changes[i].key + 1]++;
	}
	for (uint32_t key = 0; key < h->n_keys; key++)
		h->first[key + 1] += h->first[key];
	for (size_t i = 0; i < n; i++)
		spare[h->first[changes[i].key]++] = changes[i];
	memmove(h->first + 1, h->first, h->n_keys * sizeof(*h->first));
	h->first[0] = 0;
	if (n > 0)
		memcpy(h->changes.items, spare, n * sizeof(*spare));
}

/* A stable merge sort, linear if changes are in order, as they mostly are. */
static void sort_by_time(struct change *changes, struct change *spare, size_t n)
{
	size_t half = n / 2;

	if (n < 2)
		return;
	sort_by_time(changes, spare, half);
	sort_by_time(changes + half, spare, n - half);
	if (changes[half - 1].from_ns <= changes[half].from_ns)
		return;
	memcpy(spare, changes, half * sizeof(*spare));
	for (size_t i = 0, j = half, to = 0; i < half; to++) {
		if (j < n && changes[j].from_ns < spare[i].from_ns)
			changes[to] = changes[j++];
		else
			changes[to] = spare[i++];
	}
}

/* Drops changes without effect: replaced at the same time, or to the value before. */
static void drop_invisible(struct history *h)
{
	struct change *changes = h->changes.items;
	uint32_t kept = 0, end = 0;

	for (uint32_t key = 0; key < h->n_keys; key++) {
		uint32_t i = end, first = kept;

		end = h->first[key + 1];
		h->first[key] = first;
		for (; i < end; i++) {
			if (i + 1 < end && changes[i + 1].from_ns == changes[i].from_ns)
				continue;
			if (kept > first && changes[kept - 1].value == changes[i].value)
				continue;
			changes[kept++] = changes[i];
		}
	}
	h->first[h->n_keys] = kept;
	h->changes.n = kept;
}

void history_freeze(struct history *h, uint32_t n_keys)
{
	struct change *spare = mem_alloc(h->changes.n, sizeof(*spare));

	assert(h->first == NULL && h->changes.n < UINT32_MAX && n_keys < UINT32_MAX);
	h->n_keys = n_keys;
	h->first = mem_zalloc((size_t)n_keys + 1, sizeof(*h->first));
	group_by_key(h, spare);
	for (uint32_t key = 0; key < n_keys; key++)
		sort_by_time(h->changes.items + h->first[key], spare,
			     h->first[key + 1] - h->first[key]);
	drop_invisible(h);
	vec_fit(&h->changes);
	free(spare);
}

struct span history_find(const struct history *h, uint32_t key, uint64_t time_ns)
{
	struct span none = { .from_ns = 0, .to_ns = UINT64_MAX, .value = HISTORY_NONE };
	const struct change *changes = h->changes.items;
	size_t first, end, next;

	if (key >= h->n_keys)
		return none;
	first = h->first[key];
	end = h->first[key + 1];
	next = bisect(first, end, i, changes[i].from_ns <= time_ns);
	if (next < end)
		none.to_ns = changes[next].from_ns;
	if (next == first)
		return none;
	return (struct span){
		.from_ns = changes[next - 1].from_ns,
		.to_ns = none.to_ns,
		.value = changes[next - 1].value,
	};
}
