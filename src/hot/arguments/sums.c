/* SPDX-License-Identifier: Apache-2.0 */
/* The second scan: sums of the values of arguments. */
#include <stdlib.h>

#include "base/alloc.h"
#include "hot/arguments/inside.h"

#define SIGN ((uint64_t)1 << 63)

/* Values of site_of. */
enum { NOT_LOOKED_UP, NO_SITE, FIRST_SITE };

uint64_t argument_value(const struct argument *a, uint64_t bits)
{
	unsigned unused = 64 - 8u * a->size;

	if (a->size >= 8)
		return bits;
	bits <<= unused;
	return a->kind == PARAMETER_SIGNED ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

uint64_t argument_key(const struct argument *a, uint64_t value)
{
	return a->kind == PARAMETER_SIGNED ? value ^ SIGN : value;
}

uint64_t argument_of_key(const struct argument *a, uint64_t key)
{
	return argument_key(a, key);
}

static void *values_new(const struct session *session, const void *options)
{
	struct argument_values *v = mem_zalloc(1, sizeof(*v));

	v->session = session;
	v->sites = options;
	v->sums = mem_zalloc(v->sites->arguments.n + 1, sizeof(*v->sums));
	v->n_samples = mem_zalloc(v->sites->functions.n + 1, sizeof(*v->n_samples));
	return v;
}

static void values_free(void *partial)
{
	struct argument_values *v = partial;

	if (v == NULL)
		return;
	free(v->sums);
	free(v->n_samples);
	vec_release(&v->site_of);
	free(v);
}

static void add_square(struct argument_sums *s, uint64_t magnitude)
{
	s->squares_high += uint128_add(&s->squares, uint128_product(magnitude, magnitude));
}

static void arguments_sums_add_value(const struct argument *a, struct argument_sums *s,
				     uint64_t value)
{
	bool is_negative = a->kind == PARAMETER_SIGNED && value >= SIGN;
	uint64_t key = argument_key(a, value), magnitude = is_negative ? -value : value;

	s->least = s->n == 0 || key < s->least ? key : s->least;
	s->most = s->n == 0 || key > s->most ? key : s->most;
	s->n++;
	s->n_negative += is_negative;
	uint128_add(&s->sum, is_negative ? uint128_negative((struct uint128){ .low = magnitude })
					 : (struct uint128){ .low = magnitude });
	add_square(s, magnitude);
	if (!is_negative)
		s->bins[value == 0 ? 0 : 64 - __builtin_clzll(value)]++;
}

/* The site of a place, FIRST_SITE or more; each is looked up once. */
static uint32_t find_site(struct argument_values *v, uint32_t place)
{
	struct place where = session_place(v->session, place);
	uint32_t *site, found;

	while (v->site_of.n <= place)
		vec_add(&v->site_of);
	site = &v->site_of.items[place];
	if (*site != NOT_LOOKED_UP)
		return *site;
	found = tuples_find(&v->sites->places, (uint64_t[2]){ where.module.v, where.offset });
	*site = found == TUPLES_NONE ? NO_SITE : found + FIRST_SITE;
	return *site;
}

static void arguments_sums_add_row(struct argument_values *v, const struct batch *b, size_t row,
				   uint32_t number)
{
	const struct argument_function *f = &v->sites->functions.items[number];
	uint64_t bits;

	v->n_samples[number]++;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct argument *a = &v->sites->arguments.items[i];

		if (batch_register(b, b->registers[row], b->register_mask[row], a->number, &bits))
			arguments_sums_add_value(a, &v->sums[i], argument_value(a, bits));
	}
}

static void values_consume(void *partial, const struct batch *b)
{
	struct argument_values *v = partial;
	const struct argument_sites *sites = v->sites;

	for (size_t row = 0; row < b->n; row++) {
		uint32_t site;

		if (!(b->has[row] & HAS_REGISTERS) || !(b->has[row] & HAS_PLACE) ||
		    b->kind != BATCH_SAMPLES ||
		    (sites->event >= 0 && b->event[row] != (unsigned)sites->event))
			continue;
		site = find_site(v, b->place[row]);
		if (site >= FIRST_SITE)
			arguments_sums_add_row(v, b, row,
					       sites->function_of.items[site - FIRST_SITE]);
	}
}

static void argument_sums_add(struct argument_sums *to, const struct argument_sums *from)
{
	if (from->n == 0)
		return;
	to->least = to->n == 0 || from->least < to->least ? from->least : to->least;
	to->most = to->n == 0 || from->most > to->most ? from->most : to->most;
	to->n += from->n;
	to->n_negative += from->n_negative;
	uint128_add(&to->sum, from->sum);
	to->squares_high += from->squares_high + uint128_add(&to->squares, from->squares);
	for (size_t i = 0; i < ARGUMENT_BINS; i++)
		to->bins[i] += from->bins[i];
}

static void values_merge(void *into, const void *from, const struct id_map *map)
{
	struct argument_values *to = into;
	const struct argument_values *part = from;

	(void)map;
	for (size_t i = 0; i < to->sites->arguments.n; i++)
		argument_sums_add(&to->sums[i], &part->sums[i]);
	for (size_t i = 0; i < to->sites->functions.n; i++)
		to->n_samples[i] += part->n_samples[i];
}

const struct analysis_class argument_values_class = {
	.new = values_new,
	.free = values_free,
	.consume = values_consume,
	.merge = values_merge,
};
