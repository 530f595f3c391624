/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/fix/layout_groups.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/tuples.h"
#include "c2c/verdict/verdict.h"

/* Fields are put apart for this part of the accesses that find their line gone, or more. */
static const double least_gain = 0.3;

/* How many threads of one list are not in the other. */
static size_t count_others(const struct layout_uses *all, const struct layout_uses *of)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; k < of->n; k++) {
		while (i < all->n && all->items[i].thread < of->items[k].thread)
			i++;
		n += i == all->n || all->items[i].thread != of->items[k].thread;
	}
	return n;
}

/* Both are in order of threads: from the end on, what is there moves to make room. */
void layout_uses_add(struct layout_uses *to, const struct layout_field *f)
{
	size_t n_others = count_others(to, &f->uses);
	size_t i = to->n, k = f->uses.n, at = i + n_others;

	if (n_others > 0)
		vec_reserve(to, n_others);
	to->n = at;
	while (k > 0) {
		const struct layout_use *from = &f->uses.items[k - 1];

		if (i == 0 || to->items[i - 1].thread < from->thread) {
			to->items[--at] = *from;
			k--;
			continue;
		}
		to->items[--at] = to->items[--i];
		if (to->items[at].thread == from->thread) {
			memory_counts_merge(&to->items[at].counts, &from->counts);
			k--;
		}
	}
}

/* Of a thread's accesses those that find the line gone, with as many stores by all threads. */
static double waits_of(uint64_t reads, uint64_t writes, uint64_t stores)
{
	double own = (double)(reads + writes);

	return own * c2c_chance_gone(own, (double)(stores - writes));
}

/* Accesses that find the line gone. */
static double waits(const struct layout_uses *u)
{
	uint64_t stores = 0;
	double n = 0;

	for (size_t i = 0; i < u->n; i++)
		stores += memory_writes(&u->items[i].counts);
	for (size_t i = 0; i < u->n; i++)
		n += waits_of(memory_reads(&u->items[i].counts), memory_writes(&u->items[i].counts),
			      stores);
	return n;
}

/* The thread of a use, in a list that has no more than that. */
static uint64_t thread_at(const struct layout_uses *u, size_t i)
{
	return i < u->n ? u->items[i].thread : UINT64_MAX;
}

/* What layout_uses_add() of both would give waits(), without the list. */
static double waits_together(const struct layout_field *a, const struct layout_field *b)
{
	uint64_t stores = memory_writes(&a->counts) + memory_writes(&b->counts);
	size_t i = 0, k = 0;
	double n = 0;

	while (i < a->uses.n || k < b->uses.n) {
		uint64_t in_a = thread_at(&a->uses, i), in_b = thread_at(&b->uses, k);
		struct memory_counts counts = { 0 };

		if (in_a <= in_b)
			memory_counts_merge(&counts, &a->uses.items[i++].counts);
		if (in_b <= in_a)
			memory_counts_merge(&counts, &b->uses.items[k++].counts);
		n += waits_of(memory_reads(&counts), memory_writes(&counts), stores);
	}
	return n;
}

/* May two fields stand on one line? */
static bool are_friends(const struct layout_field *a, const struct layout_field *b)
{
	double together;

	if (memory_writes(&a->counts) == 0 && memory_writes(&b->counts) == 0)
		return true;
	together = waits_together(a, b);
	return together - a->waits_alone - b->waits_alone < least_gain * together || together == 0;
}

static struct layout_field *layout_groups_used_field(const struct layout *l, size_t i)
{
	return &l->fields.items[l->used.items[i]];
}

/* A number that is the same for all fields that threads use alike, as they do many elements of an array. */
static uint32_t number_of_uses(struct tuples *numbers, const struct layout_uses *u)
{
	uint32_t number = TUPLES_NONE;

	for (size_t i = 0; i < u->n; i++) {
		const struct layout_use *use = &u->items[i];

		number = tuples_add(numbers,
				    (uint64_t[]){ number, use->thread, memory_reads(&use->counts),
						  memory_writes(&use->counts) });
	}
	return number;
}

/* The fields of a group, by number in `used`: one for all that are used alike and are friends. */
struct group_members {
	uint32_t *last;	  /* of each group; NO_MEMBER: it is empty */
	uint32_t *before; /* of each field */
};

#define NO_MEMBER UINT32_MAX

static bool has_enemy(const struct layout *l, const struct layout_field *f,
		      const struct group_members *members, uint32_t group)
{
	for (uint32_t k = members->last[group]; k != NO_MEMBER; k = members->before[k])
		if (!are_friends(f, layout_groups_used_field(l, k)))
			return true;
	return false;
}

/* Each field joins the first group whose fields are all friends of it. */
void layout_make_groups(struct layout *l)
{
	struct group_members members = {
		.last = mem_alloc(l->used.n + 1, sizeof(*members.last)),
		.before = mem_alloc(l->used.n + 1, sizeof(*members.before)),
	};
	VEC_OF(uint32_t) group_of = { 0 }; /* of the last with these uses, by their number */
	struct tuples numbers;

	tuples_init(&numbers, 4);
	for (uint32_t i = 0; i < l->used.n; i++) {
		struct layout_field *f = layout_groups_used_field(l, i);
		uint32_t number = number_of_uses(&numbers, &f->uses);

		members.last[i] = NO_MEMBER;
		f->waits_alone = waits(&f->uses);
		while (group_of.n < numbers.n)
			*vec_add(&group_of) = LAYOUT_UNUSED;
		f->group = group_of.items[number];
		if (f->group != LAYOUT_UNUSED && are_friends(f, f))
			continue;
		f->group = 0;
		while (has_enemy(l, f, &members, f->group))
			f->group++;
		group_of.items[number] = f->group;
		members.before[i] = members.last[f->group];
		members.last[f->group] = i;
		if (f->group >= l->n_groups)
			l->n_groups = f->group + 1;
	}
	tuples_release(&numbers);
	vec_release(&group_of);
	free(members.last);
	free(members.before);
}

/*
 * Large fields reach over many lines: those count where they were accessed. Fields are in order and do not overlap, so all
 * between two on a line are on that line alone.
 */
static bool share_a_line(const struct layout_field *before, const struct layout_field *f)
{
	return before->lines.items[before->lines.n - 1] == f->lines.items[0];
}

/* Those of a group are friends. */
static bool are_enemies(const struct layout_field *a, const struct layout_field *b)
{
	return a->group != b->group && !are_friends(a, b);
}

bool layout_has_conflict(const struct layout *l)
{
	for (size_t i = 0; i < l->used.n; i++) {
		const struct layout_field *f = layout_groups_used_field(l, i);

		for (size_t k = i; k > 0; k--) {
			const struct layout_field *before = layout_groups_used_field(l, k - 1);

			if (!share_a_line(before, f))
				break;
			if (are_enemies(before, f))
				return true;
		}
	}
	return false;
}

bool layout_takes_turns(const struct layout *l)
{
	bool *is_over = mem_zalloc(l->n_groups + 1, sizeof(*is_over));
	bool is_found = false;

	for (size_t i = 0; i < l->used.n; i++) {
		is_found |= is_over[layout_groups_used_field(l, i)->group];
		if (i > 0 && layout_groups_used_field(l, i)->group !=
				     layout_groups_used_field(l, i - 1)->group)
			is_over[layout_groups_used_field(l, i - 1)->group] = true;
		is_found |= is_over[layout_groups_used_field(l, i)->group];
	}
	free(is_over);
	return is_found;
}

/* All that waits on the lines of a used field. */
static double waits_on_lines(const struct layout *l, const struct layout_field *f)
{
	size_t own = bisect(0, l->used.n, i, layout_groups_used_field(l, i)->offset < f->offset);
	size_t first = own, end = own + 1;
	struct layout_uses uses = { 0 };
	double all;

	while (first > 0 && share_a_line(layout_groups_used_field(l, first - 1), f))
		first--;
	while (end < l->used.n && share_a_line(f, layout_groups_used_field(l, end)))
		end++;
	for (size_t i = first; i < end; i++)
		layout_uses_add(&uses, layout_groups_used_field(l, i));
	all = waits(&uses);
	vec_release(&uses);
	return all;
}

double layout_own_part(const struct layout *l, const struct layout_field *f,
		       struct layout_last_line *last)
{
	bool is_last = f->lines.n == 1 && last->is_known && last->line == f->lines.items[0];
	double all = is_last ? last->waits : waits_on_lines(l, f);

	if (f->lines.n == 1)
		*last = (struct layout_last_line){ true, f->lines.items[0], all };
	return all > 0 ? waits(&f->uses) / all : 0;
}
