/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each line's touches are put in order on their own, by all workers. What two workers kept of the same touch stands
 * together then, so no worker's touches are looked up among another's.
 */
#include "c2c/accesses/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/radix.h"
#include "c2c/accesses/touch.h"

enum {
	/* What rows differ by, in this order; then the rest of a key. */
	GROUP_WORDS = 7,
	SORT_WORDS = GROUP_WORDS + 4,

	FEW = 32, /* touches: to sort digits takes longer */
};

struct ordering {
	const struct c2c *s;
	struct c2c_accesses *seen;
	uint32_t *ranks; /* by place: among those of the touches, by module and offset */
	uint32_t *order; /* touches by line, … */
	uint32_t *
		first; /* … by line, and one more: where in that; later: the first one of its own */
	uint32_t *n;   /* by line: different touches … */
	uint32_t *
		n_many; /* … of which so many are of several records; later: the first one of these */
	struct c2c_accesses out;
};

/* All that the order of a line's touches depends on: nothing in it is a number of ours. */
struct sort_key {
	uint64_t words[SORT_WORDS];
	uint32_t touch;
};

static void find_sort_key(const struct ordering *o, uint32_t touch, struct sort_key *out)
{
	const struct c2c *s = o->s;
	struct c2c_touch_key k = c2c_touch_key(o->seen, touch);
	struct place place = session_place(s->session, k.place);
	uint64_t pid = timeline_process(s->session->timeline, k.process)->pid;
	unsigned by = s->request.coalesce;

	*out = (struct sort_key){
		.words = {
			k.offset,
			by & C2C_BY_PROCESS ? pid << 32 | k.process : 0,
			by & C2C_BY_THREAD ? k.tid : 0,
			by & (C2C_BY_MODULE | C2C_BY_PLACE) ? place.module.v : 0,
			by & C2C_BY_PLACE ? place.offset : 0,
			by & C2C_BY_PLACE ? k.pc : 0,
			k.kind & ~(unsigned)C2C_KIND_PARTIAL,
			(uint64_t)k.tid << 32 | k.cpu,
			(uint64_t)k.process << 32 | (uint64_t)k.vector << 8 | k.kind,
			k.pc,
			o->ranks[k.place], /* code may be mapped to where other code was */
		},
		.touch = touch,
	};
}

static int compare_sort_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;

	for (size_t i = 0; i < SORT_WORDS; i++)
		if (a->words[i] != b->words[i])
			return (a->words[i] > b->words[i]) - (a->words[i] < b->words[i]);
	return 0;
}

static void sort_touches(const struct ordering *o, uint32_t *touches, uint32_t n)
{
	struct sort_key *keys;

	if (n < 2)
		return;
	keys = mem_alloc(n, sizeof(*keys));
	for (uint32_t i = 0; i < n; i++)
		find_sort_key(o, touches[i], &keys[i]);
	qsort(keys, n, sizeof(*keys), compare_sort_keys);
	for (uint32_t i = 0; i < n; i++)
		touches[i] = keys[i].touch;
	free(keys);
}

/* What the first words of a sort key say, in one. If rows do not differ by their place alone it is the offset. */
static uint64_t first_key(const struct ordering *o, uint32_t touch)
{
	struct c2c_touch_key k = c2c_touch_key(o->seen, touch);

	return (uint64_t)k.offset << 32 |
	       (o->s->request.coalesce == C2C_BY_PLACE ? o->ranks[k.place] : 0);
}

/* Of a line with many touches hardly any are of the same place and offset: only these have to be compared. */
static void sort_many(const struct ordering *o, uint32_t *touches, uint32_t n)
{
	uint64_t *keys = mem_alloc(n, sizeof(*keys));
	uint32_t *order = mem_alloc(n, sizeof(*order)), *from = mem_alloc(n, sizeof(*from));

	for (uint32_t i = 0; i < n; i++) {
		from[i] = touches[i];
		keys[i] = first_key(o, touches[i]);
		order[i] = i;
	}
	radix_sort(order, n, keys);
	for (uint32_t i = 0; i < n; i++)
		touches[i] = from[order[i]];
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && keys[order[end]] == keys[order[i]];)
			end++;
		sort_touches(o, touches + i, end - i);
	}
	free(from);
	free(order);
	free(keys);
}

struct plain_key {
	uint64_t words[C2C_TOUCH_WORDS];
	uint32_t touch;
};

static int compare_plain_keys(const void *left, const void *right)
{
	const struct plain_key *a = left, *b = right;

	for (size_t i = 0; i < C2C_TOUCH_WORDS; i++)
		if (a->words[i] != b->words[i])
			return (a->words[i] > b->words[i]) - (a->words[i] < b->words[i]);
	return 0;
}

/* Of a line that is one row: in any order, as long as those that are alike stand together. */
static void sort_whole(const struct ordering *o, uint32_t *touches, uint32_t n)
{
	struct plain_key *keys;

	if (!o->seen->is_joined)
		return;
	keys = mem_alloc((size_t)n + 1, sizeof(*keys));
	for (uint32_t i = 0; i < n; i++) {
		keys[i].touch = touches[i];
		memcpy(keys[i].words, tuples_get(&o->seen->keys, touches[i]),
		       sizeof(keys[i].words));
	}
	if (n > 1)
		qsort(keys, n, sizeof(*keys), compare_plain_keys);
	for (uint32_t i = 0; i < n; i++)
		touches[i] = keys[i].touch;
	free(keys);
}

/* How many of these touches, of which the first ones may be alike, are. */
static uint32_t count_alike(const struct ordering *o, const uint32_t *touches, uint32_t n)
{
	const struct tuples *keys = &o->seen->keys;
	uint32_t i = 1;

	while (i < n && tuples_equal(tuples_get(keys, touches[0]), tuples_get(keys, touches[i]),
				     C2C_TOUCH_WORDS))
		i++;
	return i;
}

static bool becomes_many(const struct ordering *o, uint32_t touch, uint32_t n_alike)
{
	return n_alike > 1 || o->seen->kept.items[touch].flags & C2C_KEPT_MANY;
}

/* Each line has its own touches, so lines are worked on at once. */
static void order_line(void *context, size_t line, unsigned worker)
{
	const struct ordering *o = context;
	uint32_t *touches = o->order + o->first[line], n = o->first[line + 1] - o->first[line];

	(void)worker;
	if (c2c_is_whole(o->seen->choice, (uint32_t)line))
		sort_whole(o, touches, n);
	else if (n < FEW)
		sort_touches(o, touches, n);
	else
		sort_many(o, touches, n);
	for (uint32_t i = 0, alike; i < n; i += alike) {
		alike = count_alike(o, touches + i, n - i);
		o->n[line]++;
		o->n_many[line] += becomes_many(o, touches[i], alike);
	}
}

static void take_whole(const struct ordering *o, const uint32_t *touches, uint32_t n_alike,
		       struct c2c_whole_touch *out)
{
	const struct c2c_accesses *seen = o->seen;

	*out = c2c_whole_touch_of(seen, &seen->kept.items[touches[0]]);
	for (uint32_t i = 1; i < n_alike; i++) {
		struct c2c_whole_touch other =
			c2c_whole_touch_of(seen, &seen->kept.items[touches[i]]);

		c2c_whole_touch_merge(out, &other);
	}
}

static void take_touches(const struct ordering *o, const uint32_t *touches, uint32_t n_alike,
			 struct c2c_kept_touch *out, uint32_t many)
{
	const struct c2c_accesses *seen = o->seen;

	*out = seen->kept.items[touches[0]];
	if (!seen->is_joined || !becomes_many(o, touches[0], n_alike))
		return;
	if (out->flags & C2C_KEPT_WHOLE) {
		take_whole(o, touches, n_alike, &o->out.whole.items[many]);
		out->many = many;
		out->flags = C2C_KEPT_MANY | C2C_KEPT_WHOLE | (out->flags & C2C_KEPT_RELOAD);
		return;
	}
	c2c_touch_get(seen, touches[0], &o->out.many.items[many]);
	for (uint32_t i = 1; i < n_alike; i++)
		c2c_touch_add_kept(seen, &seen->kept.items[touches[i]], &o->out.many.items[many]);
	*out = (struct c2c_kept_touch){ .many = many, .flags = C2C_KEPT_MANY };
}

/* Puts the touches of a line to where they are from now on. */
static void take_line(void *context, size_t line, unsigned worker)
{
	const struct ordering *o = context;
	const uint32_t *touches = o->order + o->first[line];
	uint32_t n = o->first[line + 1] - o->first[line], at = o->out.first[line];
	uint32_t many = o->n_many[line];

	(void)worker;
	for (uint32_t i = 0, alike; i < n && at < o->out.first[line + 1]; i += alike, at++) {
		alike = count_alike(o, touches + i, n - i);
		memcpy(o->out.keys.words + (size_t)at * C2C_TOUCH_WORDS,
		       tuples_get(&o->seen->keys, touches[i]),
		       C2C_TOUCH_WORDS * sizeof(*o->out.keys.words));
		take_touches(o, touches + i, alike, &o->out.kept.items[at], many);
		many += becomes_many(o, touches[i], alike);
	}
}

struct ranked_place {
	struct place place;
	uint32_t number;
};

static struct radix_pair key_of_place(const void *places, size_t i)
{
	const struct ranked_place *p = (const struct ranked_place *)places + i;

	return (struct radix_pair){ p->place.module.v, p->place.offset };
}

static void rank_places(struct ordering *o)
{
	const struct session *s = o->s->session;
	VEC_OF(struct ranked_place) used = { 0 };
	uint32_t *order;

	o->ranks = mem_zalloc((size_t)place_numbers_n(s->places) + 1, sizeof(*o->ranks));
	for (uint32_t i = 0; i < o->seen->keys.n; i++) {
		uint32_t place = c2c_touch_key(o->seen, i).place;

		if (o->ranks[place] == 0)
			*vec_add(&used) = (struct ranked_place){ session_place(s, place), place };
		o->ranks[place] = 1;
	}
	order = radix_order(used.items, used.n, key_of_place);
	for (uint32_t i = 0; i < used.n; i++)
		o->ranks[used.items[order[i]].number] = i;
	free(order);
	vec_release(&used);
}

static uint32_t line_of(const struct ordering *o, uint32_t touch)
{
	return c2c_touch_key(o->seen, touch).line;
}

/* Those of lines that are not left out. */
static void order_by_line(struct ordering *o)
{
	const struct c2c_accesses *seen = o->seen;

	for (uint32_t i = 0; i < seen->keys.n; i++)
		if (line_of(o, i) < seen->kept_end)
			o->first[line_of(o, i) + 2]++;
	for (uint32_t line = 0; line < seen->n_lines; line++)
		o->first[line + 2] += o->first[line + 1];
	for (uint32_t i = 0; i < seen->keys.n; i++)
		if (line_of(o, i) < seen->kept_end)
			o->order[o->first[line_of(o, i) + 1]++] = i;
}

/* The first line near by with which these have more touches than `most`, or `end`. */
static uint32_t end_of_near(const struct ordering *o, size_t most, uint32_t end)
{
	size_t n = 0;

	for (uint32_t line = o->seen->choice->n_shown; line < end; line++) {
		n += o->n[line];
		if (n > most)
			return line;
	}
	return end;
}

/* Gives each line its place among all touches. */
static void place_touches(struct ordering *o)
{
	const struct c2c_accesses *seen = o->seen;
	uint32_t n = 0, n_many = 0, n_whole = 0, first;

	o->out.first = mem_alloc((size_t)seen->n_lines + 1, sizeof(*o->out.first));
	for (uint32_t line = 0; line < seen->n_lines; line++) {
		uint32_t many = line < seen->kept_end ? o->n_many[line] : 0;
		uint32_t *n_of_kind = c2c_is_whole(seen->choice, line) ? &n_whole : &n_many;

		o->out.first[line] = n;
		o->n_many[line] = *n_of_kind;
		n += line < seen->kept_end ? o->n[line] : 0;
		*n_of_kind += many;
	}
	o->out.first[seen->n_lines] = n;
	tuples_init(&o->out.keys, C2C_TOUCH_WORDS);
	tuples_forget_index(&o->out.keys);
	tuples_append(&o->out.keys, n, &first);
	vec_extend(&o->out.kept, n);
	if (!seen->is_joined) { /* none is alike: those of several records stay where they are */
		o->out.many = seen->many;
		o->out.whole = seen->whole;
		return;
	}
	vec_extend(&o->out.whole, n_whole);
	vec_extend(&o->out.many, n_many);
}

void c2c_order_touches(const struct c2c *s, struct c2c_accesses *seen)
{
	size_t n_lines = seen->n_lines;
	struct ordering o = {
		.s = s,
		.seen = seen,
		.order = mem_alloc((size_t)seen->keys.n + 1, sizeof(*o.order)),
		.first = mem_zalloc(n_lines + 2, sizeof(*o.first)),
		.n = mem_zalloc(n_lines + 1, sizeof(*o.n)),
		.n_many = mem_zalloc(n_lines + 1, sizeof(*o.n_many)),
	};

	rank_places(&o);
	order_by_line(&o);
	pool_run(s->session->pool, n_lines, order_line, &o);
	seen->kept_end = end_of_near(&o, seen->choice->most_kept, seen->kept_end);
	seen->near_end = end_of_near(&o, seen->choice->most_near, seen->kept_end);
	place_touches(&o);
	pool_run(s->session->pool, n_lines, take_line, &o);
	tuples_release(&seen->keys);
	vec_release(&seen->kept);
	if (seen->is_joined) {
		vec_release(&seen->many);
		vec_release(&seen->whole);
	}
	free(seen->first);
	seen->keys = o.out.keys;
	seen->kept = o.out.kept;
	seen->many = o.out.many;
	seen->whole = o.out.whole;
	seen->first = o.out.first;
	free(o.ranks);
	free(o.order);
	free(o.first);
	free(o.n);
	free(o.n_many);
}
