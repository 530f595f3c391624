/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader maps whole pages: the mapping of a segment begins with the page that the segment begins
 * in, and ends with a page, so that it also shows bytes of the file that are of its neighbours.
 * With pages of 64 KiB most files of AArch64 are smaller than one, and all their mappings begin at
 * offset 0. So an offset does not tell the segment; but all mappings of a loading have one bias.
 *
 * The first mapping is made for all that is going to be loaded, and so it is recorded, before
 * others are put over its end: it may be longer than its segment.
 */
#include "elf/load_bias.h"

#include "base/alloc.h"
#include "base/vec.h"

enum { LARGEST_PAGE = 1 << 16 };

static const uint64_t page_sizes[] = { 1 << 12, 1 << 14, LARGEST_PAGE };

/* A segment may be what is mapped; then this is the bias. */
struct candidate {
	uint64_t bias;
	const struct elf_segment *segment;
	const struct data_mapping *mapping;
};

struct candidates {
	VEC_OF(struct candidate) list;
};

/* May the mapping begin in one of the pages that the segment is loaded from? */
static bool may_map(const struct data_mapping *m, const struct elf_segment *s)
{
	uint64_t begin = s->offset & ~(uint64_t)(LARGEST_PAGE - 1);

	if (s->size == 0 || s->size > UINT64_MAX - s->offset || (m->is_data && s->is_code))
		return false;
	return m->offset >= begin &&
	       (m->offset < s->offset || m->offset - s->offset < s->size ||
		m->offset / LARGEST_PAGE == (s->offset + s->size) / LARGEST_PAGE);
}

static struct candidate load_bias_candidate(const struct data_mapping *m,
					    const struct elf_segment *s)
{
	return (struct candidate){
		.bias = m->first - m->offset - (s->address - s->offset),
		.segment = s,
		.mapping = m,
	};
}

/* Programs that are linked for an address are loaded there. */
static bool is_possible(const struct elf_file *file, const struct candidate *c)
{
	return file->type != ET_EXEC || c->bias == 0;
}

static void add_candidates(const struct elf_file *file, const struct data_mapping *m,
			   struct candidates *out)
{
	for (size_t i = 0; i < file->segments.n; i++) {
		const struct elf_segment *s = &file->segments.items[i];
		struct candidate c = load_bias_candidate(m, s);

		if (may_map(m, s) && is_possible(file, &c))
			*vec_add(&out->list) = c;
	}
}

static bool has_bias(const struct candidates *all, uint64_t bias)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.items[i].bias == bias)
			return true;
	return false;
}

/* Keeps what `with` has, too; all, if it has none of them. */
static void intersect(struct candidates *all, const struct candidates *with)
{
	size_t n = 0;

	for (size_t i = 0; i < all->list.n; i++)
		n += has_bias(with, all->list.items[i].bias);
	if (n == 0)
		return;
	n = 0;
	for (size_t i = 0; i < all->list.n; i++)
		if (has_bias(with, all->list.items[i].bias))
			all->list.items[n++] = all->list.items[i];
	all->list.n = n;
}

static bool is_code(const struct candidate *c)
{
	return c->segment->is_code || c->mapping->is_data;
}

/* Does the mapping begin and end where that of the segment does, with pages of some size? */
static bool is_exact(const struct candidate *c)
{
	const struct elf_segment *s = c->segment;
	uint64_t bytes = c->mapping->last - c->mapping->first + 1;

	for (size_t i = 0; i < COUNT(page_sizes); i++) {
		uint64_t page = page_sizes[i], begin = s->offset / page * page;
		uint64_t pages = (s->offset + s->size - begin + page - 1) / page;

		if (c->mapping->offset == begin && bytes == pages * page)
			return true;
	}
	return false;
}

/* Keeps those of which something is true; all, if it is true of none. */
static void prefer(struct candidates *all, bool (*is_true)(const struct candidate *))
{
	struct candidates preferred = { 0 };

	for (size_t i = 0; i < all->list.n; i++)
		if (is_true(&all->list.items[i]))
			*vec_add(&preferred.list) = all->list.items[i];
	intersect(all, &preferred);
	vec_release(&preferred.list);
}

static enum load_bias answer_of(const struct candidates *all, uint64_t *out)
{
	if (all->list.n == 0)
		return LOAD_BIAS_NONE;
	for (size_t i = 1; i < all->list.n; i++)
		if (all->list.items[i].bias != all->list.items[0].bias)
			return LOAD_BIAS_AMBIGUOUS;
	*out = all->list.items[0].bias;
	return LOAD_BIAS_FOUND;
}

enum load_bias load_bias_find(const struct elf_file *file, const struct data_mapping *mappings,
			      size_t n, uint64_t *out_bias)
{
	struct candidates all = { 0 };
	enum load_bias answer;

	for (size_t i = 0; i < n; i++) {
		struct candidates own = { 0 };

		add_candidates(file, &mappings[i], &own);
		if (all.list.n > 0) {
			intersect(&all, &own);
			vec_release(&own.list);
		} else {
			vec_release(&all.list);
			all = own;
		}
	}
	prefer(&all, is_code);
	prefer(&all, is_exact);
	answer = answer_of(&all, out_bias);
	vec_release(&all.list);
	return answer;
}
