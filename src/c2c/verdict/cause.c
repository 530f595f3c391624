/* SPDX-License-Identifier: Apache-2.0 */
#include "c2c/verdict/cause.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "c2c/verdict/verdict.h"

enum { MAX_LINES = 64 }; /* of an object in one cause; of objects of a type there are more */

/* What causes differ by. */
enum { OF_LINE, OF_OBJECT, OF_PLACE, OF_TYPE, OF_VARIABLES };
enum { KEY_WORDS = 6 };

static double hypotenuse(double a, double b)
{
	return sqrt(a * a + b * b);
}

static void add_to_sum(struct c2c_subject *to, const struct c2c_subject *from)
{
	c2c_counts_add(&to->counts, &from->counts);
	c2c_latency_merge(&to->contended, &from->contended);
	c2c_latency_merge(&to->reloads, &from->reloads);
	to->excess_cycles += from->excess_cycles;
	to->share += from->share;
	to->error = hypotenuse(to->error, from->error);
	to->reload_share += from->reload_share;
	to->reload_error = hypotenuse(to->reload_error, from->reload_error);
	to->n_pages = from->n_pages > to->n_pages ? from->n_pages : to->n_pages;
}

/* Causes while lines are put into them. */
struct grouping {
	const struct c2c *s;
	struct tuples keys;
	struct c2c_causes causes; /* by number of the key */
};

static void c2c_cause_add_line(struct grouping *g, const uint64_t *key, uint32_t line)
{
	uint32_t number = tuples_add(&g->keys, key);
	struct c2c_cause *f;

	if (number == g->causes.list.n)
		vec_add(&g->causes.list);
	f = &g->causes.list.items[number];
	if (f->lines.n == 0)
		f->sum = g->s->subjects.items[line];
	else
		add_to_sum(&f->sum, &g->s->subjects.items[line]);
	*vec_add(&f->lines) = line;
}

static void judge_cause(const struct c2c *s, struct c2c_cause *f)
{
	if (f->lines.n > 1)
		f->sum.judgement = c2c_judge(s, f->lines.items, f->lines.n);
	f->class = c2c_class_of(s, &f->sum);
}

static void start(struct grouping *g, const struct c2c *s)
{
	*g = (struct grouping){ .s = s };
	tuples_init(&g->keys, KEY_WORDS);
}

void c2c_causes_release(struct c2c_causes *causes)
{
	for (size_t i = 0; i < causes->list.n; i++)
		vec_release(&causes->list.items[i].lines);
	vec_release(&causes->list);
	free(causes->of_line);
	*causes = (struct c2c_causes){ 0 };
}

static void drop(struct grouping *g)
{
	c2c_causes_release(&g->causes);
	tuples_release(&g->keys);
}

/* The object that all accesses of a line are to, or TUPLES_NONE. */
static uint32_t sole_object(const struct c2c_objects *o, const struct c2c_subject *subject)
{
	const uint32_t *numbers = o->numbers + subject->first_access;

	for (uint32_t i = 1; i < subject->n_accesses; i++)
		if (numbers[i] != numbers[0])
			return TUPLES_NONE;
	return subject->n_accesses > 0 ? numbers[0] : TUPLES_NONE;
}

/* The struct that the object is a variable of, each with a name of its own; 0: it is no such variable. */
static uint32_t type_of_variable(const struct c2c_objects *o, const struct c2c_subject *subject)
{
	const struct types *types = symbols_types(o->sharing->session->symbols);
	const struct data_name *name = data_names_get(&o->names, subject->first_access);
	struct type_id type = types_plain(types, name->type);

	return name->object.v == 0 || name->is_by_type || name->kind == DATA_THREAD ||
			       name->n_elements > 0 || types_get(types, type)->kind != TYPE_STRUCT
		       ? 0
		       : type.v;
}

static void add_by_object(struct grouping *g, const struct c2c_objects *o, struct tuples *counted,
			  uint32_t *n_counted, uint32_t line)
{
	const struct c2c_subject *subject = &g->s->subjects.items[line];
	const struct c2c_judgement *j = &subject->judgement;
	enum c2c_class class = c2c_class_of(g->s, subject);
	uint32_t object = sole_object(o, subject);
	uint64_t key[KEY_WORDS] = { OF_OBJECT, object, j->verdict, class, j->is_guarded, 0 };

	if (object == TUPLES_NONE || class == C2C_NOT_CONTENDED) {
		key[0] = OF_LINE;
		key[1] = line;
	} else {
		/* variables of one type that are used alike are one layout to change */
		uint32_t type = type_of_variable(o, subject);

		if (type != 0) {
			key[0] = OF_VARIABLES;
			key[1] = type;
		}
		key[5] = n_counted[tuples_add(counted, key)]++ / MAX_LINES;
	}
	c2c_cause_add_line(g, key, line);
}

/*
 * Lines at the same place of objects of one type are alike, and what is to be said of them is said
 * by their samples together. Places that are alike are one cause.
 */
static void add_by_type(struct grouping *g, const struct c2c_instances *in,
			const struct grouping *places)
{
	for (size_t i = 0; i < places->causes.list.n; i++) {
		const struct c2c_cause *f = &places->causes.list.items[i];
		const struct c2c_judgement *j = &f->sum.judgement;
		uint32_t instance = in->of_line[f->lines.items[0]];
		const uint64_t key[KEY_WORDS] = { OF_TYPE,	 c2c_instance(in, instance).kind,
						  j->verdict,	 f->class,
						  j->is_guarded, 0 };

		for (size_t k = 0; k < f->lines.n; k++)
			c2c_cause_add_line(g, key, f->lines.items[k]);
	}
}

static bool is_of_many(const struct c2c_instances *in, uint32_t line)
{
	uint32_t instance = in->of_line[line];

	return instance != TUPLES_NONE && in->n_of_kind[c2c_instance(in, instance).kind] > 1;
}

static void find_places(struct grouping *places, const struct c2c_instances *in)
{
	const struct c2c *s = places->s;

	for (uint32_t i = 0; i < s->subjects.n; i++) {
		struct c2c_instance instance;

		if (!is_of_many(in, i))
			continue;
		instance = c2c_instance(in, in->of_line[i]);
		c2c_cause_add_line(places,
				   (const uint64_t[KEY_WORDS]){ OF_PLACE, instance.kind,
								s->subjects.items[i].address -
									instance.start },
				   i);
	}
	for (size_t i = 0; i < places->causes.list.n; i++)
		judge_cause(s, &places->causes.list.items[i]);
}

static uint32_t count_objects(const struct c2c_instances *in, const struct c2c_cause *f)
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

static uint32_t count_variables(const struct c2c_objects *o, const struct c2c_cause *f)
{
	struct tuples objects;
	uint32_t n;

	tuples_init(&objects, 1);
	for (size_t i = 0; i < f->lines.n; i++)
		tuples_add(&objects, &(uint64_t){ sole_object(
					     o, &o->sharing->subjects.items[f->lines.items[i]]) });
	n = objects.n;
	tuples_release(&objects);
	return n;
}

static int compare_lines(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int compare_causes(const void *left, const void *right)
{
	const struct c2c_cause *a = left, *b = right;
	uint32_t first_of_a = a->lines.items[0], first_of_b = b->lines.items[0];

	return (first_of_a > first_of_b) - (first_of_a < first_of_b);
}

static int compare_costs(const void *left, const void *right)
{
	const struct c2c_cause *a = left, *b = right;
	bool is_over_a = c2c_is_in_phases(&a->sum.judgement);
	bool is_over_b = c2c_is_in_phases(&b->sum.judgement);

	if (is_over_a != is_over_b)
		return is_over_a ? 1 : -1;
	if (a->sum.excess_cycles != b->sum.excess_cycles)
		return (a->sum.excess_cycles < b->sum.excess_cycles) -
		       (a->sum.excess_cycles > b->sum.excess_cycles);
	return compare_causes(left, right);
}

/* Few loads that waited may be none of those that were not sampled. */
static bool may_cost_nothing(const struct c2c *s, const struct c2c_subject *sum)
{
	return s->lines->loads.cycles > 0 && sum->share <= sum->error;
}

/* Lines in order, the sum at the first of them. */
static void settle(const struct c2c *s, struct c2c_cause *f)
{
	const struct c2c_subject *first;

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
	judge_cause(s, f);
	if (f->class == C2C_CONTENDED && may_cost_nothing(s, &f->sum))
		f->class = C2C_SUSPECTED;
}

static void number_causes(struct c2c_causes *causes)
{
	uint32_t n = 0;

	for (size_t i = 0; i < causes->list.n; i++)
		if (causes->list.items[i].class != C2C_NOT_CONTENDED)
			causes->list.items[i].finding = ++n;
}

void c2c_causes_init(struct c2c_causes *causes, const struct c2c_objects *o,
		     const struct c2c_instances *in)
{
	const struct c2c *s = o->sharing;
	bool is_by_cost = s->request.sort == C2C_SORT_COST;
	struct grouping places, all;
	struct tuples counted;
	uint32_t *n_counted = mem_zalloc(s->subjects.n + 1, sizeof(*n_counted));

	start(&places, s);
	start(&all, s);
	/* for as many as there may be, of which those are touched that there are: nothing moves */
	all.causes.list.items = mem_alloc(s->subjects.n, sizeof(*all.causes.list.items));
	all.causes.list.cap = s->subjects.n;
	tuples_init(&counted, KEY_WORDS);
	find_places(&places, in);
	add_by_type(&all, in, &places);
	for (uint32_t i = 0; i < s->subjects.n; i++)
		if (!is_of_many(in, i))
			add_by_object(&all, o, &counted, n_counted, i);
	drop(&places);
	*causes = all.causes;
	causes->of_line = mem_alloc(s->subjects.n + 1, sizeof(*causes->of_line));
	for (size_t i = 0; i < causes->list.n; i++) {
		struct c2c_cause *f = &causes->list.items[i];
		uint64_t kind = tuples_get(&all.keys, (uint32_t)i)[0];

		settle(s, f);
		if (kind == OF_TYPE)
			f->n_objects = count_objects(in, f);
		if (kind == OF_VARIABLES)
			f->n_variables = count_variables(o, f);
	}
	tuples_release(&all.keys);
	tuples_release(&counted);
	free(n_counted);
	if (causes->list.n > 1)
		qsort(causes->list.items, causes->list.n, sizeof(*causes->list.items),
		      is_by_cost ? compare_costs : compare_causes);
	number_causes(causes);
	for (uint32_t i = 0; i < causes->list.n; i++)
		for (size_t k = 0; k < causes->list.items[i].lines.n; k++)
			causes->of_line[causes->list.items[i].lines.items[k]] = i;
}

bool c2c_is_shown(const struct c2c_causes *causes, size_t top, size_t line)
{
	const struct c2c_cause *f = &causes->list.items[causes->of_line[line]];

	return top == 0 || line < top ||
	       (f->finding > 0 && f->finding <= top && f->lines.items[0] == line);
}
