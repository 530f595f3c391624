/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/ranges.h"

#include "base/bisect.h"
#include "base/sort.h"

void ranges_release(struct ranges *ranges)
{
	vec_release(&ranges->list);
}

void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, uint32_t value)
{
	if (start < end)
		*vec_add(&ranges->list) =
			(struct range){ .start = start, .end = end, .value = value };
}

/* Outer ranges before inner ones. */
static int ranges_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return (a->start > b->start) - (a->start < b->start);
	if (a->end != b->end)
		return (a->end < b->end) - (a->end > b->end);
	return (a->value < b->value) - (a->value > b->value);
}

/* A sweep over the sorted ranges: those that are open, and how far the output reaches. */
struct sweep {
	struct ranges out;
	VEC_OF(struct range) open; /* the last one holds the current address */
	uint64_t at;
};

/* The innermost open range holds the addresses from where the output ends up to `end`. */
static void emit(struct sweep *s, uint64_t end)
{
	const struct range *top = &s->open.items[s->open.n - 1];

	if (s->at < end) {
		ranges_add(&s->out, s->at, end, top->value);
		s->at = end;
	}
}

/* Closes what ends at or before `address`. */
static void close_until(struct sweep *s, uint64_t address)
{
	while (s->open.n > 0 && s->open.items[s->open.n - 1].end <= address) {
		emit(s, s->open.items[s->open.n - 1].end);
		s->open.n--;
	}
}

void ranges_build(struct ranges *ranges)
{
	struct sweep s = { 0 };

	sort_unless_sorted(ranges->list.items, ranges->list.n, sizeof(*ranges->list.items),
			   ranges_compare);
	for (size_t i = 0; i < ranges->list.n; i++) {
		struct range next = ranges->list.items[i];

		close_until(&s, next.start);
		if (s.open.n > 0)
			emit(&s, next.start);
		s.at = next.start;
		*vec_add(&s.open) = next;
	}
	close_until(&s, UINT64_MAX);
	vec_release(&s.open);
	ranges_release(ranges);
	*ranges = s.out;
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t at = bisect(0, ranges->list.n, i, ranges->list.items[i].end <= address);

	if (at == ranges->list.n || ranges->list.items[at].start > address)
		return NULL;
	return &ranges->list.items[at];
}
