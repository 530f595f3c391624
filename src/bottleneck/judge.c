/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a region waits for. An iteration takes so many cycles; the core's width and the chain around
 * the loop take some of them at least, and mispredictions theirs. What is left is the data's, the
 * walks' and the stores', as far as their latencies can fill it. So no cause has more than the time.
 */
#include "bottleneck/judged.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/latency.h"
#include "estimate/shares.h"
#include "isa/flow.h"
#include "isa/registers.h"

/* A level of the memory that has less of the latency of a loop's accesses is not what the loop waits for. */
static const double least_latency_part = 0.1;

enum {
	FOOTPRINT_RECORDS = 16, /* addresses, for what they span to be known */
	FOOTPRINT_BYTES = 256,
};

/*
 * Latencies are in cycles, times in ns. With a wrong frequency a cause gets more or less of the time, in
 * one proportion: what is compared with it differs by more.
 */
static const double assumed_hz = 2.8e9;

/* Part of the time: of less nothing is said. */
static const double least_cost = 0.10;

/* Of the lines that a core can wait for at a time: with more of them on their way there is no room for others. */
static const double all_lines = 0.85;

static bool has_all_lines(const struct finding_loop *l)
{
	return l->most_lines > 0 && l->lines_in_flight >= all_lines * l->most_lines;
}

static bool is_dram(enum source_level level)
{
	return level == SOURCE_DRAM || level == SOURCE_REMOTE_DRAM;
}

/* A cause that is being weighed. */
struct cause {
	enum bottleneck_cause cause;
	double cycles; /* where causes overlap, in proportion to their latencies */
	size_t insn;   /* of the region */
	double most;   /* cycles that go at most if the cause goes; 0: `cycles` */
};

/* The instruction that has most of something. */
static size_t heaviest(const struct judged *j, double (*weight)(const struct judged *, size_t))
{
	size_t best = 0;
	double most = -1;

	for (size_t i = 0; i < j->n; i++) {
		double w = judged_place(j, i) == UINT32_MAX ? -1 : weight(j, i);

		if (w > most) {
			most = w;
			best = i;
		}
	}
	return best;
}

static double weight_chain(const struct judged *j, size_t i)
{
	return j->chain_parts[i];
}

static double weight_slots(const struct judged *j, size_t i)
{
	return j->is_slot[i] && loads_data(judged_sums(j, i)) ? j->chain_parts[i] : -1;
}

static double weight_data(const struct judged *j, size_t i)
{
	const struct insn_sums *s = judged_sums(j, i);

	return loads_data(s) ? (double)s->access.cycles - (double)s->xlat.cycles : 0;
}

static double weight_walks(const struct judged *j, size_t i)
{
	return (double)judged_sums(j, i)->xlat.cycles;
}

static double weight_divisions(const struct judged *j, size_t i)
{
	return is_division_word(judged_word(j, i)) ? (double)judged_sums(j, i)->access.cycles : -1;
}

static double weight_mispredicted(const struct judged *j, size_t i)
{
	const struct insn_sums *s = judged_sums(j, i);

	return (double)s->mispredicted_cycles +
	       j->all->cpu.restart_cycles * (double)s->n_mispredicted;
}

static double weight_stores(const struct judged *j, size_t i)
{
	const struct insn_sums *s = judged_sums(j, i);

	return loads_data(s) || s->xlat.n == 0 || is_prefetch_word(judged_word(j, i))
		       ? 0
		       : judged_store_cycles(j, s);
}

static double weight_prefetches(const struct judged *j, size_t i)
{
	return is_prefetch_word(judged_word(j, i)) ? judged_store_cycles(j, judged_sums(j, i)) : -1;
}

/* Cycles of an instruction's translation, if its address begins with this register. */
static double translation_by(const struct judged *j, size_t i, unsigned base)
{
	const struct insn_sums *s = judged_sums(j, i);

	return j->addresses[i].move == ADDRESS_NONE || j->addresses[i].base != base
		       ? 0
		       : fmax(0, mean_of(&s->xlat, TRANSLATED) - TRANSLATED);
}

/*
 * Cycles that a load waits for a page table walk: its own, or that of another access to the same object, which
 * asked first. Its record has no translation then, but the line came no sooner.
 */
static double walk_cycles(const struct judged *j, size_t i)
{
	unsigned base = j->addresses[i].base;
	double cycles = translation_by(j, i, base);

	if (base == ISA_REG_NONE)
		return cycles;
	for (size_t k = i; k-- > 0 && !isa_writes_register(judged_word(j, k), base);)
		cycles = fmax(cycles, translation_by(j, k, base));
	for (size_t k = i;
	     k < j->n && (k == i || !isa_writes_register(judged_word(j, k - 1), base)); k++)
		cycles = fmax(cycles, translation_by(j, k, base));
	return cycles;
}

/* What the chain is made of: loads, of which `beyond` is what the L1D does not take; translations. */
struct chain_parts {
	double loads, beyond, walks;
};

static struct chain_parts split_chain(const struct judged *j)
{
	struct chain_parts out = { 0 };

	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = judged_sums(j, i);
		double part = j->chain_parts[i], walks;

		if (part == 0 || !loads_data(s))
			continue;
		walks = fmin(fmax(0, part - HIT_CYCLES), walk_cycles(j, i));
		out.walks += walks;
		out.loads += part - walks;
		out.beyond += fmax(0, part - walks - HIT_CYCLES);
	}
	return out;
}

/* Is the chain of counters alone? What they count goes on at any pace: no accumulator makes it shorter. */
static bool is_of_counters(const struct judged *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct isa_registers r;

		if (j->chain_parts[i] > 0 &&
		    (!isa_registers_of(judged_word(j, i), &r) || !r.is_step))
			return false;
	}
	return true;
}

enum { MOST_CAUSES = 8 };

static size_t weigh_causes(const struct judged *j, struct cause *out)
{
	double time = judged_time(j);
	double busy = fmax(j->chain < time ? j->chain : 0, j->width), left, waits, stores,
	       branch_waits;
	struct chain_parts chain = split_chain(j);
	bool is_of_data = 2 * chain.beyond >= chain.loads && 3 * chain.loads >= 2 * j->chain;
	double data = is_of_data ? j->chain - chain.walks : chain.beyond, scale, overlap;
	double front = j->width + j->restarts;
	struct cause *of_chain = NULL;
	size_t n = 0;

	/*
	 * What SPE shows as latency ends later than the result is there: no more than the time. Without
	 * the chain the core's width is left; a loop that is near it would gain little.
	 */
	if (is_chain_limited(j)) {
		scale = fmin(1, time / j->chain);
		if (is_forwarding_limited(j))
			out[n++] = (struct cause){ BOTTLENECK_FORWARDING,
						   time - fmax(scale * j->register_chain,
							       (j->insns - j->n_slots) * j->width /
								       j->insns),
						   heaviest(j, weight_slots) };
		else if (!is_near_width(j) && !is_of_counters(j))
			out[n++] = (struct cause){ BOTTLENECK_CHAIN,
						   fmin(scale * (j->chain - data - chain.walks),
							time - j->width),
						   heaviest(j, weight_chain) };
		of_chain = &out[n++];
		*of_chain =
			(struct cause){ BOTTLENECK_DATA, scale * data, heaviest(j, weight_chain) };
		out[n++] = (struct cause){ BOTTLENECK_WALKS, scale * chain.walks,
					   heaviest(j, weight_walks) };
		busy = fmin(time, j->chain);
	}
	if (is_division_limited(j)) {
		out[n++] = (struct cause){ BOTTLENECK_DIVISION, fmin(j->divisions, time),
					   heaviest(j, weight_divisions) };
		busy = fmin(time, fmax(busy, j->divisions));
	}
	if (isnan(j->time))
		return n;
	left = fmax(0, time - busy);
	/* A branch that waits long for data, and then is mispredicted, is the data's. */
	scale = fmin(j->mispredictions, is_chain_limited(j) ? left : time);
	branch_waits = j->data > 0 && !is_chain_limited(j) ? scale * j->branch_waits : 0;
	out[n++] = (struct cause){ BOTTLENECK_MISPREDICTIONS, scale - branch_waits,
				   heaviest(j, weight_mispredicted), j->mispredictions };
	left = fmax(0, left - scale);
	/* Where accesses wait for units, lines to store into come while they do. */
	stores = j->has_access_backlog ? 0 : j->stores;
	waits = j->data + j->walks + stores;
	scale = waits > 0 ? fmin(left, waits) / waits : 0;
	/*
	 * What waits for one cause may wait for another one, too, and end with either: a cause may have all
	 * but what the chain takes, or the front end. But so many latencies overlap as do on average
	 * (Little), and no more go with one.
	 */
	overlap = waits > time ? time / waits : 1;
	branch_waits = fmin(branch_waits, j->data);
	if (of_chain != NULL)
		of_chain->most =
			fmin(time - front, of_chain->cycles + fmin(time - busy, overlap * j->data));
	else {
		left = fmax(0, time - fmax(busy, front));
		out[n++] = (struct cause){ BOTTLENECK_DATA, scale * j->data + branch_waits,
					   heaviest(j, weight_data),
					   fmin(left, overlap * j->data + branch_waits) };
		out[n++] =
			(struct cause){ BOTTLENECK_WALKS, scale * j->walks,
					heaviest(j, weight_walks), fmin(left, overlap * j->walks) };
	}
	out[n++] = (struct cause){ BOTTLENECK_STORES, scale * stores, heaviest(j, weight_stores),
				   fmin(left, overlap * stores) };
	/* Nothing waits for prefetches as long as there is room for their lines. */
	if (j->prefetches > 0)
		out[n++] = (struct cause){ BOTTLENECK_PREFETCH,
					   fmin(j->prefetches, fmax(0, left - scale * waits)),
					   heaviest(j, weight_prefetches) };
	return n;
}

/* SOURCE_UNKNOWN: no record of it has a source that is known. */
static enum source_level heaviest_level(const struct insn_sums *s)
{
	int best = SOURCE_L2;

	if (s->n_level[SOURCE_UNKNOWN] == s->n_loads)
		return SOURCE_UNKNOWN;
	for (int level = SOURCE_L2; level < N_SOURCE_LEVELS; level++)
		if (s->level_cycles[level] > s->level_cycles[best])
			best = level;
	return (enum source_level)best;
}

/*
 * Do other cores take the lines away? Their caches answer; or the data are a few lines, which a loop
 * misses again and again, and nothing but another core takes those out of the cache.
 */
static bool is_contended(const struct insn_sums *s)
{
	uint64_t n_peer = s->n_level[SOURCE_PEER_CORE] + s->n_level[SOURCE_PEER_CLUSTER] +
			  s->n_level[SOURCE_REMOTE];
	bool has_few_lines = s->addresses.n >= FOOTPRINT_RECORDS &&
			     s->addresses.most - s->addresses.any < FOOTPRINT_BYTES;

	return 4 * n_peer >= s->n || (has_few_lines && 2 * s->n_refills >= s->n);
}

/* Adds the accesses of an instruction, and those with data of the level: how many, and what these took. */
static void count_level(const struct insn_sums *s, enum source_level level,
			struct insn_latency *sum, struct finding_loop *out)
{
	out->n_here += s->n_level[level];
	out->n_of += s->n;
	out->n_saturated += s->n_full[level];
	sum->cycles += s->level[level].cycles;
	sum->n += s->level[level].n;
}

/* The same of all loads of the chain. */
static void count_chain(const struct judged *j, struct bottleneck *out, struct insn_latency *sum)
{
	out->loop.n_here = out->loop.n_of = out->loop.n_saturated = 0;
	*sum = (struct insn_latency){ 0 };
	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = judged_sums(j, i);

		if (j->chain_parts[i] == 0 || !loads_data(s))
			continue;
		count_level(s, out->level, sum, &out->loop);
	}
}

static struct flow judged_flow(const struct judged *j, size_t insn)
{
	uint32_t word = htole32(judged_word(j, insn));

	return isa_flow(ISA_A64, &word, sizeof(word),
			sizeof(word) * (j->region->head + (uint64_t)insn));
}

/*
 * Does a branch decide whether a loop goes on? It leads back, and nothing behind it leads into the same code:
 * else it is a case of what the loop does.
 */
static bool ends_loop(const struct judged *j, size_t insn)
{
	uint64_t at = sizeof(uint32_t) * (j->region->head + (uint64_t)insn);
	struct flow flow = judged_flow(j, insn);

	if (flow.kind != FLOW_BRANCH || !flow.has_target || flow.target > at)
		return false;
	for (size_t i = insn + 1; i < j->n; i++) {
		struct flow next = judged_flow(j, i);

		if (next.has_target && next.target >= flow.target && next.target <= at)
			return false;
	}
	return true;
}

/*
 * Part of the run time in which what a branch takes, when it is mispredicted, is spent: that of its loop if it
 * stays there, of its function if records tell that from others; else it may be any. A jump to an address that
 * is not known is a switch.
 */
static double time_share_around(const struct judged *j, size_t insn)
{
	const double told_apart = 0.8; /* of the function's pairs of records, with both in it */
	const struct pair_sums *function = &j->sums->functions[j->region->function];
	const uint64_t bytes = sizeof(uint32_t);
	uint64_t head = bytes * j->region->head, end = bytes * j->f->n;
	struct flow flow = judged_flow(j, insn);

	if (flow.kind == FLOW_CALL || flow.kind == FLOW_RETURN || flow.target >= end)
		return 1;
	if (j->region->is_loop && flow.has_target && flow.target >= head &&
	    flow.target < head + bytes * j->n)
		return j->time_share;
	return ratio(function->n_inside, function->n) < told_apart
		       ? 1
		       : fmax(j->time_share, ratio(function->half_ns, j->sums->all.half_ns));
}

/*
 * Of the time that an iteration takes, that a cause has at most: more than the whole where it is spent
 * elsewhere. Lost samples make it more.
 */
static double bound_of(const struct judged *j, const struct cause *c)
{
	double time = judged_time(j), most = fmax(c->cycles, c->most), rest, whole = 1;

	if (time <= 0)
		return 0;
	if (c->cause == BOTTLENECK_MISPREDICTIONS && j->time_share > 0) {
		whole = time_share_around(j, c->insn) / j->time_share;
		/* with all branches predicted the core's width is left */
		most = fmin(most, fmax(0, whole * time - j->width));
	}
	rest = fmax(0, 1 - most / time);
	return fmin(whole, fmax(most / (time * j->least_time), 1 - rest / j->most_time));
}

static void fill_common(const struct judged *j, const struct cause *c, struct bottleneck *out)
{
	const struct pair_sums *mine = &j->sums->regions[j->number], *all = &j->sums->all;
	double time = judged_time(j), access;
	double bound = bound_of(j, c);
	double mean = ratio(mine->half_ns, mine->n), rest_n = (double)(all->n - mine->n);
	double rest = rest_n > 0 ? (double)(all->half_ns - mine->half_ns) / rest_n : 0;

	access = mean_of(&judged_sums(j, c->insn)->access, 0);
	*out = (struct bottleneck){
		.cause = c->cause,
		.place = judged_place(j, c->insn),
		.loop_place = judged_place(j, j->n - 1),
		.prefetch = UINT32_MAX,
		.suspect = UINT32_MAX,
		.time_share = j->time_share,
		.cost = time > 0 ? fmin(fmin(1, bound), c->cycles / time) : 0,
		.bound = bound,
		.n = mine->n,
		.n_all = all->n,
		.spread =
			mean > 0 ? 2 * (double)mine->squares / (double)mine->n / (mean * mean) : 1,
		.rest_spread = rest > 0 ? 2 * (double)(all->squares - mine->squares) / rest_n /
						  (rest * rest)
					: 1,
		.loop = {
			.is_loop = j->region->is_loop,
			.share = j->time_share,
			.n_insns = j->insns,
			.iteration_ns = j->time_ns,
			.ghz = j->all->clock.hz / 1e9,
			.is_clock_assumed = j->all->clock.basis == CLOCK_UNKNOWN,
			.chain_cycles = j->chain,
			.division_cycles = j->divisions,
			.division_wait = j->division_wait,
			.width = j->all->cpu.width,
			.access_cycles = access,
			.is_access_cut = access >= LATENCY_LEAST_FULL,
			.is_chain_cut = j->chain >= LATENCY_LEAST_FULL,
			.part = NAN,
		},
	};
}

/* Whose memory the instruction accesses, and where. */
static void describe_data(const struct judged *j, size_t insn, struct finding_data *out)
{
	const struct insn_sums *s = judged_sums(j, insn);

	if (s->addresses.n == 0 || s->process == OF_SEVERAL)
		return;
	*out = (struct finding_data){
		.code = session_place(j->all->session, judged_place(j, insn)),
		.process = s->process,
		.time_ns = s->time_ns,
		.low = s->addresses.any,
		.high = s->addresses.most,
	};
}

/* What the chain carries from iteration to iteration. */
static enum carried judged_carried(const struct judged *j)
{
	const struct region *r = j->region;

	return j->f->words == NULL ? CARRIED_UNKNOWN
				   : carried_by(j->f->words + r->head, j->chain_parts, j->n);
}

/* What is known of the cause, but for amounts. False: it is not what the region waits for. */
static bool describe_cause(struct judged *j, const struct cause *c, struct bottleneck *out)
{
	const struct insn_sums *s = judged_sums(j, c->insn);
	struct insn_latency sum = { 0 };
	bool is_waited_for = true;

	out->is_contended = loads_data(s) && is_contended(s);
	describe_data(j, c->insn, &out->loop.data);
	switch (c->cause) {
	case BOTTLENECK_DATA:
		out->level = heaviest_level(s);
		count_level(s, out->level, &sum, &out->loop);
		if (out->level != SOURCE_UNKNOWN) {
			out->loop.level = source_level_name(out->level);
			out->loop.part =
				j->latency > 0 ? fmin(1, j->by_level[out->level] / j->latency) : 0;
			is_waited_for = out->loop.part >= least_latency_part;
		}
		describe_walk(j, c->insn, &out->loop);
		if (out->loop.walk == WALK_CHASE || out->loop.walk == WALK_LOOKUP)
			count_chain(j, out, &sum);
		out->loop.level_cycles = mean_of(&sum, 0);
		if (!describe_prefetch(j, c->insn, out))
			break;
		/* Lines that are asked for sooner would wait for others then. */
		out->lacks_lines = is_dram(out->level) && has_all_lines(&out->loop);
		if (out->lacks_lines)
			break;
		out->cause = BOTTLENECK_PREFETCH;
		out->loop.n_here = s->n_refills > s->n_late ? s->n_refills : s->n_late;
		break;
	case BOTTLENECK_WALKS:
		out->loop.n_here = s->n_walks;
		out->loop.n_of = s->n;
		out->loop.part = j->latency > 0 ? fmin(1, j->walks / j->latency) : 0;
		break;
	case BOTTLENECK_MISPREDICTIONS:
		out->ends_loop = ends_loop(j, c->insn);
		out->loop.mispredicted = j->n_mispredicted;
		if (j->n_mispredicted > 0)
			out->loop.mispredicted_cycles = j->mispredictions / j->n_mispredicted;
		out->loop.n_here = s->n_mispredicted;
		out->loop.n_of = s->n;
		break;
	case BOTTLENECK_PREFETCH:
		/* No operation waits for its line, but the next lines do. */
		out->cause = BOTTLENECK_DATA;
		out->level = SOURCE_DRAM;
		out->loop.level = source_level_name(out->level);
		out->loop.n_here = s->n_llc_misses;
		out->loop.n_of = s->n;
		describe_walk(j, c->insn, &out->loop);
		describe_lines(j, c->insn, &out->loop);
		out->lacks_lines = is_waited_for = has_all_lines(&out->loop);
		break;
	case BOTTLENECK_STORES:
		out->loop.n_here = s->n_refills;
		out->loop.n_of = s->n;
		describe_walk(j, c->insn, &out->loop);
		break;
	default:
		if (c->cause == BOTTLENECK_FORWARDING)
			out->loop.register_chain = j->register_chain;
		out->is_division = is_division_word(judged_word(j, c->insn));
		out->carried = judged_carried(j);
		out->loop.walk = loads_data(s) ? chained_walk(j, c->insn) : WALK_UNKNOWN;
		if (out->loop.walk == WALK_UNKNOWN)
			describe_columns(j, &out->loop);
		out->loop.n_here = s->n;
		out->loop.n_of = j->n_records;
	}
	if (out->cause == BOTTLENECK_DATA && is_dram(out->level))
		describe_bandwidth(j, &out->loop);
	return is_waited_for && out->loop.n_here >= LEAST_HERE;
}

static void add_cause(struct judged *j, struct bottlenecks *all, const struct cause *c)
{
	double least = all->has_largest ? all->largest.time_share * all->largest.bound : 0;
	struct bottleneck b;

	fill_common(j, c, &b);
	if (b.place == UINT32_MAX || (b.cost < least_cost && b.time_share * b.bound <= least))
		return;
	if (describe_cause(j, c, &b) && b.cost >= least_cost) {
		*vec_add(&all->found) = b;
	} else if (b.time_share * b.bound > least) {
		all->largest = b;
		all->has_largest = true;
	}
}

/*
 * A loop that takes as long as the core is wide, and handles one element at a time: it loads or
 * stores elements that follow each other, in no vectors.
 */
static bool is_scalar(const struct judged *j, size_t *out_access)
{
	bool has_elements = false;
	double most = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *a = &j->addresses[i];
		struct isa_registers r;

		if (!isa_registers_of(judged_word(j, i), &r) || r.is_vector || r.is_call)
			return false;
		if (a->move == ADDRESS_LOADED || a->move == ADDRESS_COMPUTED)
			return false; /* gathered */
		if (a->move != ADDRESS_STEPS || !a->knows_step || a->step == 0 || a->step > 8 ||
		    a->step < -8 || (double)judged_sums(j, i)->n <= most)
			continue;
		has_elements = true;
		most = (double)judged_sums(j, i)->n;
		*out_access = i;
	}
	return has_elements;
}

/*
 * Does each iteration need what several instructions of the one before made of a value, such as a
 * rotated sum? Vectors cannot take such iterations together. They can take counters, sums, which lanes
 * add up, and the larger of two values, which is a comparison and a choice.
 */
static bool is_recurrence(const struct judged *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct isa_registers r;

		if (j->chain_parts[i] > 0 && isa_registers_of(judged_word(j, i), &r))
			n += r.n_writes > 0 && r.writes[0] != ISA_REG_FLAGS && !r.is_step &&
			     !chain_is_copy(judged_word(j, i));
	}
	return n > 1;
}

static void add_scalar(struct judged *j, struct bottlenecks *all)
{
	struct cause c = { BOTTLENECK_SCALAR, j->width, 0 };
	struct bottleneck b;

	if (!j->region->is_loop || isnan(j->time) || !is_near_width(j) || is_recurrence(j) ||
	    !is_scalar(j, &c.insn))
		return;
	fill_common(j, &c, &b);
	if (b.place == UINT32_MAX)
		return;
	b.loop.n_here = judged_sums(j, c.insn)->n;
	b.loop.n_of = j->n_records;
	describe_walk(j, c.insn, &b.loop);
	*vec_add(&all->found) = b;
}

static int compare_bottlenecks(const void *left, const void *right, void *context)
{
	const struct bottlenecks *all = context;
	const struct bottleneck *a = left, *b = right;
	double x = a->time_share * a->cost, y = b->time_share * b->cost;
	struct place p = session_place(all->session, a->place),
		     q = session_place(all->session, b->place);

	if (x != y)
		return (x < y) - (x > y);
	if (p.module.v != q.module.v)
		return (p.module.v > q.module.v) - (p.module.v < q.module.v);
	if (p.offset != q.offset)
		return (p.offset > q.offset) - (p.offset < q.offset);
	return (a->cause > b->cause) - (a->cause < b->cause);
}

/* Cycles of an iteration that no cause, chain or width explains. */
static double unexplained_cycles(const struct judged *j, const struct cause *causes, size_t n)
{
	double time = judged_time(j);
	double explained = fmax(fmax(fmin(j->chain, time), j->width), fmin(j->divisions, time));

	for (size_t i = 0; i < n; i++) {
		bool is_of_chain = is_chain_limited(j) && (causes[i].cause == BOTTLENECK_DATA ||
							   causes[i].cause == BOTTLENECK_WALKS);

		if (causes[i].cause >= BOTTLENECK_DATA && !is_of_chain)
			explained += causes[i].cycles;
	}
	return fmax(0, time - explained);
}

/* Of the loops, the one with most time that nothing explains. */
static void keep_unexplained(struct judged *j, struct bottlenecks *all, const struct cause *causes,
			     size_t n)
{
	struct cause c = { .cycles = unexplained_cycles(j, causes, n), .insn = j->n - 1 };
	struct bottleneck b;
	size_t suspect;

	if (isnan(j->time) || !j->region->is_loop || c.cycles <= 0)
		return;
	fill_common(j, &c, &b);
	if (b.loop_place == UINT32_MAX ||
	    (all->has_unexplained &&
	     b.time_share * b.cost <= all->unexplained.time_share * all->unexplained.cost))
		return;
	b.place = b.loop_place;
	b.loop.iteration_cycles = judged_time(j);
	b.loop.explained_cycles = judged_time(j) - c.cycles;
	if (find_ordering(j, &suspect)) {
		b.suspect = judged_place(j, suspect);
		b.loop.n_here = judged_sums(j, suspect)->n;
		b.loop.n_of = j->n_records;
	}
	all->unexplained = b;
	all->has_unexplained = true;
}

static void judge_region(struct bottlenecks *all, uint32_t number, uint64_t *explained)
{
	const struct region *r = &all->regions.items[number];
	struct judged j = {
		.all = all,
		.sums = all->analysis.result,
		.region = r,
		.f = &all->functions.items[r->function],
		.number = number,
		.n = r->branch - r->head + 1,
	};
	struct cause causes[MOST_CAUSES];
	size_t n;

	if (!judged_measure(&j))
		return;
	n = weigh_causes(&j, causes);
	for (size_t i = 0; i < n; i++)
		add_cause(&j, all, &causes[i]);
	add_scalar(&j, all);
	keep_unexplained(&j, all, causes, n);
	if (!isnan(j.time) && r->is_loop)
		explained[r->function] += j.n_records;
	judged_release(&j);
}

void bottlenecks_find(struct bottlenecks *all)
{
	uint64_t *explained = mem_zalloc(all->functions.n + 1, sizeof(*explained));

	all->clock = core_clock_derived(all->clock_pairs.result);
	if (all->clock.basis == CLOCK_UNKNOWN)
		all->clock.hz = assumed_hz;
	code_measure_time(all);
	for (uint32_t i = 0; i < all->regions.n; i++)
		judge_region(all, i, explained);
	for (size_t f = 0; f < all->functions.n; f++) {
		uint64_t n = 0;

		for (size_t i = 0; i < all->functions.items[f].n; i++)
			n += all->functions.items[f].counts[i];
		all->is_explained[f] = 2 * explained[f] > n;
		all->n_explained += explained[f];
	}
	if (all->found.n > 1)
		qsort_r(all->found.items, all->found.n, sizeof(*all->found.items),
			compare_bottlenecks, all);
	free(explained);
}
