/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/fight.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/verdict/verdict.h"

enum { MAX_LINES = 64 }; /* of an object in one fight; of objects of a type there are more */

/* What tells fights apart. */
enum { OF_LINE, OF_OBJECT, OF_PLACE, OF_TYPE };
enum { KEY_WORDS = 6 };

static double hypotenuse(double a, double b)
{
	return sqrt(a * a + b * b);
}

static void add_to_sum(struct sharing_subject *to, const struct sharing_subject *from)
{
	sharing_counts_add(&to->counts, &from->counts);
	sharing_latency_merge(&to->contended, &from->contended);
	sharing_latency_merge(&to->reloads, &from->reloads);
	to->excess_cycles += from->excess_cycles;
	to->share += from->share;
	to->error = hypotenuse(to->error, from->error);
	to->reload_share += from->reload_share;
	to->reload_error = hypotenuse(to->reload_error, from->reload_error);
	to->n_pages = from->n_pages > to->n_pages ? from->n_pages : to->n_pages;
}

/* Fights while lines are put into them. */
struct grouping {
	const struct sharing *s;
	struct tuples keys;
	VEC_OF(struct sharing_fight) list; /* by number of the key */
};

static void add_line(struct grouping *g, const uint64_t *key, uint32_t line)
{
	uint32_t number = tuples_add(&g->keys, key);
	struct sharing_fight *f;

	if (number == g->list.n)
		vec_add(&g->list);
	f = &g->list.items[number];
	if (f->lines.n == 0)
		f->sum = g->s->subjects.items[line];
	else
		add_to_sum(&f->sum, &g->s->subjects.items[line]);
	*vec_add(&f->lines) = line;
}

static void judge(const struct sharing *s, struct sharing_fight *f)
{
	if (f->lines.n > 1)
		f->sum.judgement = sharing_judge(s, f->lines.items, f->lines.n);
	f->worth = sharing_worth_of(s, &f->sum);
}

static void start(struct grouping *g, const struct sharing *s)
{
	*g = (struct grouping){ .s = s };
	tuples_init(&g->keys, KEY_WORDS);
}

static void drop(struct grouping *g)
{
	for (size_t i = 0; i < g->list.n; i++)
		vec_release(&g->list.items[i].lines);
	vec_release(&g->list);
	tuples_release(&g->keys);
}

/* The object that all accesses of a line are to, or TUPLES_NONE. */
static uint32_t sole_object(const struct sharing_objects *o, const struct sharing_subject *subject)
{
	const uint32_t *numbers = o->numbers + subject->first_access;

	for (uint32_t i = 1; i < subject->n_accesses; i++)
		if (numbers[i] != numbers[0])
			return TUPLES_NONE;
	return subject->n_accesses > 0 ? numbers[0] : TUPLES_NONE;
}

static void add_by_object(struct grouping *g, const struct sharing_objects *o,
			  struct tuples *counted, uint32_t *n_counted, uint32_t line)
{
	const struct sharing_subject *subject = &g->s->subjects.items[line];
	const struct sharing_judgement *j = &subject->judgement;
	enum sharing_worth worth = sharing_worth_of(g->s, subject);
	uint32_t object = sole_object(o, subject);
	uint64_t key[KEY_WORDS] = { OF_OBJECT, object, j->verdict, worth, j->is_guarded, 0 };

	if (object == TUPLES_NONE || worth == SHARING_WORTH_NOTHING) {
		key[0] = OF_LINE;
		key[1] = line;
	} else {
		key[5] = n_counted[tuples_add(counted, key)]++ / MAX_LINES;
	}
	add_line(g, key, line);
}

/*
 * Lines at the same place of objects of one type are alike, and what is to be said of them is said
 * by their samples together. Places that are alike are one fight.
 */
static void add_by_type(struct grouping *g, const struct sharing_instances *in,
			const struct grouping *places)
{
	for (size_t i = 0; i < places->list.n; i++) {
		const struct sharing_fight *f = &places->list.items[i];
		const struct sharing_judgement *j = &f->sum.judgement;
		uint32_t instance = in->of_line[f->lines.items[0]];
		const uint64_t key[KEY_WORDS] = {
			OF_TYPE,       sharing_instance(in, instance).kind,
			j->verdict,    f->worth,
			j->is_guarded, 0
		};

		for (size_t k = 0; k < f->lines.n; k++)
			add_line(g, key, f->lines.items[k]);
	}
}

static bool is_of_many(const struct sharing_instances *in, uint32_t line)
{
	uint32_t instance = in->of_line[line];

	return instance != TUPLES_NONE && in->n_of_kind[sharing_instance(in, instance).kind] > 1;
}

static void find_places(struct grouping *places, const struct sharing_instances *in)
{
	const struct sharing *s = places->s;

	for (uint32_t i = 0; i < s->subjects.n; i++) {
		struct sharing_instance instance;

		if (!is_of_many(in, i))
			continue;
		instance = sharing_instance(in, in->of_line[i]);
		add_line(places,
			 (const uint64_t[KEY_WORDS]){ OF_PLACE, instance.kind,
						      s->subjects.items[i].address -
							      instance.start },
			 i);
	}
	for (size_t i = 0; i < places->list.n; i++)
		judge(s, &places->list.items[i]);
}

static uint32_t count_objects(const struct sharing_instances *in, const struct sharing_fight *f)
{
	struct tuples objects;
	uint32_t n;

	tuples_init(&objects, 1);
	for (size_t i = 0; i < f->lines.n; i++)
		tuples_add(&objects, &(uint64_t){ in->of_line[f->lines.items[i]] });
	n = objects.n;
	tuples_release(&objects);
	return n;
}

static int compare_lines(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int compare_fights(const void *left, const void *right)
{
	const struct sharing_fight *a = left, *b = right;
	uint32_t first_of_a = a->lines.items[0], first_of_b = b->lines.items[0];

	return (first_of_a > first_of_b) - (first_of_a < first_of_b);
}

static int compare_costs(const void *left, const void *right)
{
	const struct sharing_fight *a = left, *b = right;
	bool is_over_a = sharing_is_in_phases(&a->sum.judgement);
	bool is_over_b = sharing_is_in_phases(&b->sum.judgement);

	if (is_over_a != is_over_b)
		return is_over_a ? 1 : -1;
	if (a->sum.excess_cycles != b->sum.excess_cycles)
		return (a->sum.excess_cycles < b->sum.excess_cycles) -
		       (a->sum.excess_cycles > b->sum.excess_cycles);
	return compare_fights(left, right);
}

/* Few loads that waited may be none of those that were not sampled. */
static bool may_cost_nothing(const struct sharing *s, const struct sharing_subject *sum)
{
	return s->lines->loads.cycles > 0 && sum->share <= sum->error;
}

/* Lines in order, the sum at the first of them. */
static void settle(const struct sharing *s, struct sharing_fight *f)
{
	const struct sharing_subject *first;

	if (f->lines.n > 1)
		qsort(f->lines.items, f->lines.n, sizeof(*f->lines.items), compare_lines);
	first = &s->subjects.items[f->lines.items[0]];
	f->sum.space = first->space;
	f->sum.address = first->address;
	f->sum.line = first->line;
	f->sum.first_access = first->first_access;
	f->sum.n_accesses = first->n_accesses;
	f->sum.first_touch = first->first_touch;
	f->sum.n_touches = first->n_touches;
	judge(s, f);
	if (f->worth == SHARING_WORTH_FIGHT && may_cost_nothing(s, &f->sum))
		f->worth = SHARING_WORTH_SUSPECT;
}

static void number_fights(struct sharing_fights *fights)
{
	uint32_t n = 0;

	for (size_t i = 0; i < fights->list.n; i++)
		if (fights->list.items[i].worth != SHARING_WORTH_NOTHING)
			fights->list.items[i].finding = ++n;
}

void sharing_fights_init(struct sharing_fights *fights, const struct sharing_objects *o,
			 const struct sharing_instances *in)
{
	const struct sharing *s = o->sharing;
	bool is_by_cost = s->request.sort == SHARING_SORT_COST;
	struct grouping places, all;
	struct tuples counted;
	uint32_t *n_counted = mem_zalloc(s->subjects.n + 1, sizeof(*n_counted));

	start(&places, s);
	start(&all, s);
	tuples_init(&counted, KEY_WORDS);
	find_places(&places, in);
	add_by_type(&all, in, &places);
	for (uint32_t i = 0; i < s->subjects.n; i++)
		if (!is_of_many(in, i))
			add_by_object(&all, o, &counted, n_counted, i);
	drop(&places);
	*fights = (struct sharing_fights){
		.of_line = mem_alloc(s->subjects.n + 1, sizeof(*fights->of_line)),
	};
	for (size_t i = 0; i < all.list.n; i++) {
		settle(s, &all.list.items[i]);
		if (tuples_get(&all.keys, (uint32_t)i)[0] == OF_TYPE)
			all.list.items[i].n_objects = count_objects(in, &all.list.items[i]);
		*vec_add(&fights->list) = all.list.items[i];
	}
	vec_release(&all.list);
	tuples_release(&all.keys);
	tuples_release(&counted);
	free(n_counted);
	if (fights->list.n > 1)
		qsort(fights->list.items, fights->list.n, sizeof(*fights->list.items),
		      is_by_cost ? compare_costs : compare_fights);
	number_fights(fights);
	for (uint32_t i = 0; i < fights->list.n; i++)
		for (size_t k = 0; k < fights->list.items[i].lines.n; k++)
			fights->of_line[fights->list.items[i].lines.items[k]] = i;
}

void sharing_fights_release(struct sharing_fights *fights)
{
	for (size_t i = 0; i < fights->list.n; i++)
		vec_release(&fights->list.items[i].lines);
	vec_release(&fights->list);
	free(fights->of_line);
	*fights = (struct sharing_fights){ 0 };
}
