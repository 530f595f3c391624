/* SPDX-License-Identifier: Apache-2.0 */
#include "report/finding_kinds.h"

#include "base/alloc.h"

enum {
	LEAST_PART = 10, /* records that a special finding rests on */
	SLOW = 2,	 /* times the mean latency of all operations */
};

static const struct extent nothing = { 0 };

static double percent(uint64_t part, uint64_t whole)
{
	return 100 * ratio(part, whole);
}

static double mean_latency(const struct hot_cost *c)
{
	return ratio(c->cycles, c->n_cycles);
}

/* Part of the weight of all, that `n` samples of the function have; `full`: in full counters. */
static struct extent part_with(const struct subject *s, double share, uint64_t n, uint64_t full)
{
	const struct hot_cost *mine = &s->f->cost, *all = s->all;

	return (struct extent){
		.share = share,
		.mark = latency_share_mark((struct latency_amount){ mine->cycles, full },
					   (struct latency_amount){ all->cycles, all->full }),
		.n = n,
		.n_all = all->n,
		.spread =
			share_spread((double)mine->squares, (double)mine->n, (double)mine->cycles),
		.rest_spread = share_spread((double)(all->squares - mine->squares),
					    (double)(all->n - mine->n),
					    (double)(all->cycles - mine->cycles)),
	};
}

static struct extent part(const struct subject *s, double share, uint64_t n)
{
	return part_with(s, share, n, s->f->cost.full);
}

static struct extent all_of_it(const struct subject *s)
{
	return part(s, s->share, s->f->cost.n);
}

/*
 * What waits for a load carries its latency too, but no data source of its own: the function
 * as a whole is taken to wait like its loads.
 */
static struct extent extent_far(const struct subject *s)
{
	const struct hot_function *f = s->f;

	if (f->n_far < LEAST_PART)
		return nothing;
	return part(s, s->share * ratio(f->far_cycles, f->sourced_cycles), f->n_far);
}

/* As for memory: what waits for such a load waits like it. */
static struct extent extent_peer(const struct subject *s)
{
	const struct hot_function *f = s->f;

	if (f->n_peer < LEAST_PART)
		return nothing;
	return part(s, s->share * ratio(f->peer_cycles, f->sourced_cycles), f->n_peer);
}

static struct extent extent_walks(const struct subject *s)
{
	const struct hot_cost *c = &s->f->cost;

	if (c->n_walks < LEAST_PART)
		return nothing;
	return part_with(s, ratio(c->xlat_cycles, s->all->cycles), c->n_walks, 0);
}

/* What a misprediction costs is not in the record, so branches are counted. */
static struct extent extent_mispredicted(const struct subject *s)
{
	const struct hot_cost *c = &s->f->cost;

	if (c->n_mispredicted < LEAST_PART)
		return nothing;
	return (struct extent){
		.share = ratio(c->n_mispredicted, s->all->n_branches),
		.n = c->n_mispredicted,
		.n_all = s->all->n_branches,
		.spread = 1,
		.rest_spread = 1,
	};
}

static struct extent extent_slow(const struct subject *s)
{
	bool is_slow = mean_latency(&s->f->cost) >= SLOW * mean_latency(s->all);

	return s->is_spe && is_slow ? all_of_it(s) : nothing;
}

static struct extent extent_unnamed(const struct subject *s)
{
	return s->has_name ? nothing : all_of_it(s);
}

static void measure_far(const struct subject *s, struct finding *out)
{
	out->value = percent(s->f->n_far, s->f->n_sourced);
}

static void measure_peer(const struct subject *s, struct finding *out)
{
	out->value = percent(s->f->n_peer, s->f->n_sourced);
}

static void measure_walks(const struct subject *s, struct finding *out)
{
	out->value = percent(s->f->cost.n_walks, s->f->cost.n);
}

static void measure_mispredicted(const struct subject *s, struct finding *out)
{
	out->value = percent(s->f->cost.n_mispredicted, s->f->cost.n_branches);
}

static void measure_slow(const struct subject *s, struct finding *out)
{
	out->value = mean_latency(&s->f->cost);
	out->other = mean_latency(s->all);
}

double extent_error(const struct extent *e)
{
	return share_error(e->share, e->n, e->n_all, e->spread, e->rest_spread);
}

const struct finding_class finding_classes[] = {
	{ FINDING_MEMORY_BOUND, 0.10, extent_far, measure_far, NULL, REMEDY_TOUCH_LESS,
	  "mem --by instruction", true, ASPECT_FAR, true },
	{ FINDING_SHARED_DATA, 0.05, extent_peer, measure_peer, NULL, REMEDY_OWN_LINES, "c2c",
	  false, ASPECT_PEER, false },
	{ FINDING_TLB_WALKS, 0.05, extent_walks, measure_walks, NULL, REMEDY_DENSER_PAGES,
	  "addr --by hugepage", false, ASPECT_WALKS, true },
	{ FINDING_MISPREDICTIONS, 0.02, extent_mispredicted, measure_mispredicted,
	  "sampled branches", REMEDY_PREDICTABLE, "hot --event mispredicted --by instruction",
	  false, ASPECT_MISPREDICTED, true },
	{ FINDING_SLOW_OPERATIONS, 0.20, extent_slow, measure_slow, NULL, REMEDY_NONE,
	  "hot --by instruction,source", true, ASPECT_WEIGHT, true },
	{ FINDING_UNNAMED_CODE, 0.20, extent_unnamed, NULL, NULL, REMEDY_NONE, NULL, false,
	  ASPECT_WEIGHT, false },
	{ FINDING_HOT_FUNCTION, 0.20, all_of_it, NULL, NULL, REMEDY_NONE, "hot --by line", true,
	  ASPECT_WEIGHT, true },
};

const size_t n_finding_classes = COUNT(finding_classes);
