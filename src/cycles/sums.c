/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/sums.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bisect.h"

static void *sums_new(const struct session *s, const void *options)
{
	struct cycle_sums *sums = mem_zalloc(1, sizeof(*sums));

	sums->session = s;
	sums->options = options;
	for (int i = 0; i < N_DIMENSIONS; i++)
		if (i == DIM_EVENT || sums->options->dimensions >> i & 1)
			sums->dimensions[sums->n_dimensions++] = (enum dimension)i;
	tuples_init(&sums->keys, sums->n_dimensions);
	sums->words = mem_alloc(BATCH_ROWS * sums->n_dimensions, sizeof(*sums->words));
	sums->numbers = mem_alloc(BATCH_ROWS, sizeof(*sums->numbers));
	return sums;
}

static void sums_free(void *partial)
{
	struct cycle_sums *sums = partial;

	if (sums == NULL)
		return;
	tuples_release(&sums->keys);
	vec_release(&sums->sums);
	free(sums->words);
	free(sums->numbers);
	free(sums);
}

static struct sample_sum *sum_at(struct cycle_sums *sums, uint32_t number)
{
	while (sums->sums.n <= number)
		vec_add(&sums->sums);
	return &sums->sums.items[number];
}

static void add(struct sample_sum *sum, uint64_t weight)
{
	sum->weight += weight;
	uint128_add(&sum->squares, uint128_product(weight, weight));
	sum->n++;
}

/* The first follower at this position of the file or behind it. */
static size_t followers_at(const struct mux *m, uint64_t position)
{
	return bisect(0, mux_n_followers(m), i, mux_follower(m, i)->position < position);
}

/* What followers counted up to this sample of their leader, at the leader's place. */
static void add_followers(struct cycle_sums *sums, const struct batch *b, size_t row,
			  const uint64_t *words)
{
	const struct mux *m = sums->options->mux;
	uint64_t key[N_DIMENSIONS];

	for (size_t i = 0; i < sums->n_dimensions; i++)
		key[i] = words[i];
	for (size_t i = followers_at(m, b->position[row]);
	     i < mux_n_followers(m) && mux_follower(m, i)->position == b->position[row]; i++) {
		const struct follower_count *f = mux_follower(m, i);

		if ((b->has[row] & HAS_TIME && f->time_ns != b->time_ns[row]) ||
		    (b->has[row] & HAS_CPU && f->cpu != b->cpu[row]))
			continue;  /* another sample of the same compressed record */
		key[0] = f->event; /* DIM_EVENT is the first dimension */
		add(sum_at(sums, tuples_add(&sums->keys, key)), f->count);
	}
}

static void sums_consume(void *partial, const struct batch *b)
{
	struct cycle_sums *sums = partial;
	uint16_t rows[BATCH_ROWS];

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t i = 0; i < b->n; i++)
		rows[i] = (uint16_t)i;
	for (size_t i = 0; i < sums->n_dimensions; i++)
		records_dimension(sums->session, b, rows, b->n, sums->dimensions[i],
				  sums->words + i, sums->n_dimensions);
	tuples_add_runs(&sums->keys, sums->words, b->n, sums->numbers);
	for (size_t i = 0; i < b->n; i++)
		add(sum_at(sums, sums->numbers[i]), b->period[i]);
	if (sums->options->mux == NULL || mux_n_followers(sums->options->mux) == 0)
		return;
	for (size_t i = 0; i < b->n; i++)
		add_followers(sums, b, i, sums->words + i * sums->n_dimensions);
}

static void sums_merge(void *into, const void *from, const struct id_map *map)
{
	struct cycle_sums *to = into;
	const struct cycle_sums *other = from;

	(void)map; /* no frames are among the dimensions */
	for (uint32_t i = 0; i < other->sums.n; i++) {
		struct sample_sum *sum =
			sum_at(to, tuples_add(&to->keys, tuples_get(&other->keys, i)));

		sum->weight += other->sums.items[i].weight;
		uint128_add(&sum->squares, other->sums.items[i].squares);
		sum->n += other->sums.items[i].n;
	}
}

const struct analysis_class cycle_sums_class = {
	.new = sums_new,
	.free = sums_free,
	.consume = sums_consume,
	.merge = sums_merge,
};

void cycle_sums_key(const struct cycle_sums *sums, uint32_t group, uint64_t key[N_DIMENSIONS])
{
	const uint64_t *words = tuples_get(&sums->keys, group);

	for (size_t i = 0; i < N_DIMENSIONS; i++)
		key[i] = 0;
	for (size_t i = 0; i < sums->n_dimensions; i++)
		key[sums->dimensions[i]] = words[i];
}

/* The order of groups differs between runs, sums of doubles with it: groups are added in this order. */
static int compare_groups(const void *a, const void *b, void *context)
{
	const struct cycle_sums *sums = *(const struct cycle_sums *const *)context;
	const uint64_t *x = tuples_get(&sums->keys, *(const uint32_t *)a);
	const uint64_t *y = tuples_get(&sums->keys, *(const uint32_t *)b);
	const struct sample_sum *p = &sums->sums.items[*(const uint32_t *)a];
	const struct sample_sum *q = &sums->sums.items[*(const uint32_t *)b];

	/* places and processes have other numbers in each run: what is added is the same */
	for (size_t i = 0; i < sums->n_dimensions; i++)
		if (sums->dimensions[i] == DIM_EVENT || sums->dimensions[i] == DIM_CPU)
			if (x[i] != y[i])
				return x[i] < y[i] ? -1 : 1;
	if (p->weight != q->weight)
		return p->weight < q->weight ? -1 : 1;
	return uint128_compare(p->squares, q->squares);
}

uint32_t *cycle_sums_order(const struct cycle_sums *sums)
{
	uint32_t n = (uint32_t)sums->sums.n;
	uint32_t *order = mem_alloc(n + 1u, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_groups, &sums);
	return order;
}

uint32_t cycle_sums_cpu(const struct cycle_sums *sums, const uint64_t key[N_DIMENSIONS])
{
	return sums->options->dimensions >> DIM_CPU & 1 && key[DIM_CPU] != DIM_ABSENT
		       ? (uint32_t)key[DIM_CPU]
		       : UINT32_MAX;
}
