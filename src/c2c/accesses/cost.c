/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads that got their line out of another core's cache waited for it. So did those that got it
 * from a cache that all share, or from memory, if another thread's write took it away: what was
 * modified is written back there now and then, and the next ones to load it find it there. A line
 * that does not fit in the own caches is loaded from there, too, without a write of another core. What
 * tells them apart is that others wrote to it at that time, and that it is used too often to be
 * evicted.
 */
#include "c2c/accesses/cost.h"

#include <math.h>

#include "base/tuples.h"
#include "base/widen.h"
#include "c2c/accesses/touch.h"
#include "estimate/estimate.h"
#include "estimate/latency.h"
#include "estimate/shares.h"

enum { ENOUGH_WRITES = 5 /* as for a verdict */ };

static uint64_t median_hit(const struct c2c_lines *lines)
{
	uint64_t n = 0, below = 0;

	for (size_t i = 0; i <= lines->all_latencies; i++)
		n += lines->local_hits[i];
	for (size_t i = 0; n > 0 && i <= lines->all_latencies; i++) {
		below += lines->local_hits[i];
		if (2 * below >= n)
			return i;
	}
	return 0;
}

/*
 * Where fast loads were not recorded the median is one of slow ones only: the filter's limit is
 * above what a hit takes, so the excess is too small.
 */
uint64_t c2c_local_cycles(const struct c2c *s)
{
	uint64_t median = median_hit(s->lines);

	return s->minimum_cycles > 0 && median > s->minimum_cycles ? s->minimum_cycles : median;
}

int64_t c2c_excess(const struct c2c *s, uint64_t cycles, uint64_t n)
{
	uint64_t usual = s->local_cycles * n;

	return cycles > usual ? (int64_t)(cycles - usual) : 0;
}

bool c2c_is_kept(const struct c2c *s, const struct c2c_use *use)
{
	const struct c2c_counts *c = &s->lines->total;
	double all =
		(double)c->n[C2C_RECORDS] - c->n[C2C_LOAD_NO_ADDRESS] - c->n[C2C_STORE_NO_ADDRESS];
	double n = (double)use->n_records;

	/* How often it hits is not known then, so the transfers that were seen are counted. */
	if (s->minimum_cycles > 1)
		return use->n_contended >= use->n_reloads;
	/* Used by one access of so many it is not evicted, even if each other is to another line. */
	return (n - 1.96 * sqrt(n)) * s->own_cache_lines >= all;
}

/* The writes of a thread to a line. */
struct writer {
	uint64_t first_ns, last_ns;
	uint64_t n;
};

struct settling {
	struct tuples threads;	       /* process << 32 | tid */
	VEC_OF(struct writer) writers; /* by thread */
};

static uint32_t thread_of(struct settling *t, const struct c2c_touch_key *k)
{
	const uint64_t thread = (uint64_t)k->process << 32 | k->tid;
	uint32_t number = tuples_add(&t->threads, &thread);

	if (number == t->writers.n)
		vec_add(&t->writers)->first_ns = UINT64_MAX;
	return number;
}

static void add_writes(struct settling *t, const struct c2c_touch_key *k,
		       const struct c2c_touch *touch)
{
	uint32_t thread = thread_of(t, k);
	struct writer *w = &t->writers.items[thread];

	w->n += touch->counts.n[C2C_RECORDS];
	widen_times(&w->first_ns, &w->last_ns, touch->first_ns, touch->last_ns);
}

/* All writes of other threads. */
static struct writer others_of(const struct settling *t, uint32_t thread)
{
	struct writer sum = { .first_ns = UINT64_MAX };

	for (uint32_t i = 0; i < t->writers.n; i++) {
		const struct writer *w = &t->writers.items[i];

		if (i == thread || w->n == 0)
			continue;
		sum.n += w->n;
		widen_times(&sum.first_ns, &sum.last_ns, w->first_ns, w->last_ns);
	}
	return sum;
}

/* Were they made while others wrote? For more than half of their time, if that is known. */
static bool is_explained(const struct c2c_touch *touch, const struct writer *others)
{
	uint64_t first = touch->first_reload_ns, last = touch->last_reload_ns, from, to;

	if (others->n < ENOUGH_WRITES)
		return false;
	if (first > last || others->first_ns > others->last_ns)
		return true; /* no times were recorded */
	from = first > others->first_ns ? first : others->first_ns;
	to = last < others->last_ns ? last : others->last_ns;
	return from <= to && 2 * (to - from) >= last - first;
}

static struct c2c_use use_of(const struct c2c *s, uint32_t from, uint32_t to)
{
	struct c2c_latency contended = { 0 }, reloads = { 0 };
	struct c2c_counts counts = { 0 };

	for (uint32_t i = from; i < to; i++) {
		if (i + C2C_TOUCHES_AHEAD < to)
			c2c_touch_fetch(s->accesses_seen,
					&s->accesses_seen->kept.items[i + C2C_TOUCHES_AHEAD]);
		c2c_touch_add_waits(s->accesses_seen, i, &counts, &contended, &reloads);
	}
	return (struct c2c_use){
		.n_records = counts.n[C2C_RECORDS],
		.n_contended = c2c_contended(&counts, s->options.mode),
		.n_reloads = reloads.n,
	};
}

static void find_writes(struct settling *t, const struct c2c *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, i);
		struct c2c_touch touch;

		if (!c2c_kind_writes(k.kind))
			continue;
		c2c_touch_get(s->accesses_seen, i, &touch);
		add_writes(t, &k, &touch);
	}
}

void c2c_settle_reloads(struct c2c *s, uint32_t from, uint32_t to)
{
	struct c2c_use use = use_of(s, from, to);
	struct settling t = { 0 };
	bool is_kept;

	if (use.n_reloads == 0)
		return;
	is_kept = c2c_is_kept(s, &use);
	tuples_init(&t.threads, 1);
	if (is_kept)
		find_writes(&t, s, from, to);
	for (uint32_t i = from; i < to; i++) {
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, i);
		struct c2c_touch touch;
		struct writer others;

		if (!c2c_touch_has_reloads(s->accesses_seen, i))
			continue;
		c2c_touch_get(s->accesses_seen, i, &touch);
		others = others_of(&t, thread_of(&t, &k));
		if (!is_kept || !is_explained(&touch, &others))
			c2c_touch_forget_reloads(s->accesses_seen, i);
	}
	vec_release(&t.writers);
	tuples_release(&t.threads);
}

/* Half of the 95 % interval of a share that some loads make: they against all others. */
static double c2c_cost_error_of(const struct c2c *s, const struct c2c_latency *mine, double share)
{
	const struct c2c_latency *all = &s->lines->loads;
	double base = (double)s->local_cycles;
	double squares =
		(double)mine->squares - 2 * base * (double)mine->cycles + base * base * mine->n;
	double rest = (double)(all->squares - mine->squares);

	squares = squares * (1 - share) * (1 - share) + rest * share * share;
	return 1.96 * sqrt(squares > 0 ? squares : 0) / (double)all->cycles +
	       estimate_lost_error(share, &s->session->lost);
}

void c2c_rate(const struct c2c *s, struct c2c_subject *subject)
{
	const struct c2c_latency *c = &subject->contended, *r = &subject->reloads;
	struct c2c_latency waits = *c;
	double all = (double)s->lines->loads.cycles;
	int64_t of_reloads = c2c_excess(s, r->cycles, r->n);

	c2c_latency_merge(&waits, r);
	subject->excess_cycles = c2c_excess(s, c->cycles, c->n) + of_reloads;
	if (all == 0)
		return;
	subject->share = (double)subject->excess_cycles / all;
	subject->error = c2c_cost_error_of(s, &waits, subject->share);
	subject->reload_share = (double)of_reloads / all;
	subject->reload_error = c2c_cost_error_of(s, r, subject->reload_share);
}

/* What full counters hold at least: those of 12 bits, less what went by before the issue. */
static struct latency_amount amount_of(const struct c2c_latency *l)
{
	uint64_t full = (uint64_t)l->n_saturated * LATENCY_LEAST_FULL;

	return (struct latency_amount){ l->cycles, full < l->cycles ? full : l->cycles };
}

enum cell_mark c2c_share_mark(const struct c2c *s, const struct c2c_subject *subject)
{
	struct c2c_latency waits = subject->contended;

	c2c_latency_merge(&waits, &subject->reloads);
	return latency_share_mark(amount_of(&waits), amount_of(&s->lines->loads));
}
