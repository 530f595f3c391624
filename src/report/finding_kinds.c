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

/* 1 where all weigh the same, as samples of the PMU are taken to. */
static double spread(double squares, double n, double weight)
{
	return squares <= 0 ? 1 : squares * n / (weight * weight);
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
		.spread = spread((double)mine->squares, (double)mine->n, (double)mine->cycles),
		.rest_spread =
			spread((double)(all->squares - mine->squares), (double)(all->n - mine->n),
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

static const char *claim_far(struct table *t, const struct subject *s)
{
	return table_format(t,
			    "%s waits for memory: %.0f %% of its sampled loads come from DRAM or "
			    "another socket",
			    s->name, percent(s->f->n_far, s->f->n_sourced));
}

/* As for memory: what waits for such a load waits like it. */
static struct extent extent_peer(const struct subject *s)
{
	const struct hot_function *f = s->f;

	if (f->n_peer < LEAST_PART)
		return nothing;
	return part(s, s->share * ratio(f->peer_cycles, f->sourced_cycles), f->n_peer);
}

static const char *claim_peer(struct table *t, const struct subject *s)
{
	return table_format(t,
			    "%s waits for other cores: %.0f %% of its sampled loads come from "
			    "their caches",
			    s->name, percent(s->f->n_peer, s->f->n_sourced));
}

static struct extent extent_walks(const struct subject *s)
{
	const struct hot_cost *c = &s->f->cost;

	if (c->n_walks < LEAST_PART)
		return nothing;
	return part_with(s, ratio(c->xlat_cycles, s->all->cycles), c->n_walks, 0);
}

static const char *claim_walks(struct table *t, const struct subject *s)
{
	return table_format(t, "%s walks the page tables in %.0f %% of its sampled operations",
			    s->name, percent(s->f->cost.n_walks, s->f->cost.n));
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

static const char *claim_mispredicted(struct table *t, const struct subject *s)
{
	return table_format(t, "%s: %.0f %% of its sampled branches are mispredicted", s->name,
			    percent(s->f->cost.n_mispredicted, s->f->cost.n_branches));
}

static struct extent extent_slow(const struct subject *s)
{
	bool is_slow = mean_latency(&s->f->cost) >= SLOW * mean_latency(s->all);

	return s->is_spe && is_slow ? all_of_it(s) : nothing;
}

static const char *claim_slow(struct table *t, const struct subject *s)
{
	return table_format(t,
			    "%s: its operations take %.0f cycles on average, all operations %.0f",
			    s->name, mean_latency(&s->f->cost), mean_latency(s->all));
}

static struct extent extent_unnamed(const struct subject *s)
{
	return s->has_name ? nothing : all_of_it(s);
}

static const char *claim_unnamed(struct table *t, const struct subject *s)
{
	return table_format(t, "%s has no names", s->name);
}

static const char *claim_hot(struct table *t, const struct subject *s)
{
	return table_format(t, "%s is hot by %s", s->name, s->event);
}

const struct finding_kind finding_kinds[] = {
	{ "memory-bound", 0.10, false, extent_far, claim_far, NULL,
	  "touch less memory or touch it in order; prefetch ahead; pack what is used together",
	  "mem --by instruction", true, ASPECT_FAR },
	{ "shared-data", 0.05, false, extent_peer, claim_peer, NULL,
	  "give each thread cache lines of its own", "c2c", false, ASPECT_PEER },
	{ "tlb-walks", 0.05, false, extent_walks, claim_walks, NULL,
	  "huge pages (madvise, hugetlbfs); denser data; fewer pages touched at random",
	  "addr --by hugepage", false, ASPECT_WALKS },
	{ "mispredictions", 0.02, false, extent_mispredicted, claim_mispredicted,
	  "sampled branches", "make the branch predictable (sort, split the loop) or branch-free",
	  "hot --event mispredicted --by instruction", false, ASPECT_MISPREDICTED },
	{ "slow-operations", 0.20, true, extent_slow, claim_slow, NULL, NULL,
	  "hot --by instruction,source", true, ASPECT_WEIGHT },
	{ "unnamed-code", 0.20, true, extent_unnamed, claim_unnamed, NULL, NULL, NULL, false,
	  ASPECT_WEIGHT },
	{ "hot-function", 0.20, true, all_of_it, claim_hot, NULL, NULL, "hot --by line", true,
	  ASPECT_WEIGHT },
};

const size_t n_finding_kinds = COUNT(finding_kinds);
