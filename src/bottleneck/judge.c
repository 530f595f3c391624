/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a region waits for. An iteration takes so many cycles; the core's width and the chain around
 * the loop take some of them at least, and mispredictions theirs. What is left is the data's, the
 * walks' and the stores', as far as their latencies can fill it. So no cause has more than the time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bottleneck/inside.h"
#include "estimate/shares.h"
#include "isa/registers.h"
#include "scan/spe_filters.h"
#include "session/interval.h"
#include "variables/code.h"
#include "variables/function_code.h"

enum {
	LEAST_RECORDS = 30, /* of a region */
	LEAST_PAIRS = 10,   /* that tell its time */
	LEAST_HERE = 5,	    /* records that a cause rests on */
	HIT_CYCLES = 4,	    /* of a load that finds its data in the L1D */
	TRANSLATED = 1,	    /* cycles of a translation that the first-level TLB has */
	SHORT_WAIT = 30,    /* a branch that is mispredicted is dispatched so long before */
	LINE = 64,
};

/*
 * Latencies are in cycles, times in ns. Captures do not tell the frequency, and with a wrong one a
 * cause gets more or less of the time, in one proportion: what is compared with it differs by more.
 */
static const double assumed_ghz = 2.8;

/* Parts of the time: of less nothing is said; a chain that limits has more. */
static const double least_cost = 0.10, least_chain = 0.75, least_width = 0.6;

/* All numbers are for each iteration, in cycles where nothing else is said. */
struct judged {
	const struct bottlenecks *all;
	const struct bottleneck_sums *sums;
	const struct region *region;
	const struct function_insns *f;
	uint32_t number;
	size_t n; /* instructions of the region's range */
	uint64_t n_records;
	double iterations; /* records for each instruction that all iterations have */
	double insns;
	double time, time_ns; /* NAN: not known */
	double width;
	double chain;
	double *chain_parts;
	struct loop_address *addresses;
	double mispredictions;
	double branch_waits; /* part of that: beyond what code without misses takes to a branch */
	double data, walks;  /* latencies beyond those of a hit */
	double by_level[N_SOURCE_LEVELS];
	double latency; /* of all accesses, from issue on */
	double stores;	/* of lines to store into, by what the catalog says */
	double time_share;
};

static const struct insn_sums *insn_sums_of(const struct judged *j, size_t i)
{
	uint32_t slot = j->f->slots[j->region->head + i];
	static const struct insn_sums none;

	return slot == NO_SLOT || j->f->regions[j->region->head + i] != j->number
		       ? &none
		       : &j->sums->slots[slot];
}

static double mean_of(const struct insn_latency *l, double otherwise)
{
	return l->n == 0 ? otherwise : (double)l->cycles / l->n;
}

static uint32_t place_of(const struct judged *j, size_t i)
{
	uint32_t slot = j->f->slots[j->region->head + i];

	return slot == NO_SLOT ? UINT32_MAX : j->all->slots.items[slot].place;
}

static uint32_t word_of(const struct judged *j, size_t i)
{
	return j->f->words == NULL ? 0 : j->f->words[j->region->head + i];
}

/* Is it a prefetch of the program? */
static bool is_prefetch_word(uint32_t word)
{
	return (word & 0xffc00000) == 0xf9800000 || (word & 0xffe00c00) == 0xf8a00800 ||
	       (word & 0xffe00c00) == 0xf8800000;
}

/* Loads, atomics; a prefetch is none. */
static bool loads_data(const struct insn_sums *s)
{
	uint64_t n = 0;

	for (int level = SOURCE_L1; level < N_SOURCE_LEVELS; level++)
		n += s->n_level[level];
	return n > 0;
}

static void count_iterations(struct judged *j)
{
	uint64_t n_spine = 0, n_insns = 0;

	for (size_t i = 0; i < j->n; i++) {
		size_t at = j->region->head + i;

		if (j->f->regions[at] != j->number)
			continue;
		j->n_records += j->f->counts[at];
		n_spine += j->f->is_spine[at] ? j->f->counts[at] : 0;
		n_insns += j->f->is_spine[at];
	}
	j->iterations =
		j->region->is_loop && n_insns > 0 ? ratio(n_spine, n_insns) : (double)j->n_records;
	j->insns = j->iterations == 0 ? 0 : (double)j->n_records / j->iterations;
}

static double seconds_of(const struct pair_sums *p)
{
	return (double)p->half_ns / 2e9;
}

/* What a record stands for takes as long as it is to the next one. */
static void measure_time(struct judged *j)
{
	const struct pair_sums *mine = &j->sums->regions[j->number];
	const struct pair_sums *function = &j->sums->functions[j->region->function];
	struct spe_interval_range interval = spe_interval_range(j->all->session);
	uint64_t n_function = 0;
	double inside = 0;

	for (size_t i = 0; i < j->f->n; i++)
		n_function += j->f->counts[i];
	j->time_share = j->sums->all.half_ns == 0 ? NAN
						  : ratio(function->half_ns, j->sums->all.half_ns) *
							    ratio(j->n_records, n_function);
	j->time = j->time_ns = NAN;
	/* Between records that passed a filter there may be any number of operations. */
	if (mine->n < LEAST_PAIRS || interval.longest == 0 || spe_filters_hide(j->all->session))
		return;
	j->time_ns = seconds_of(mine) * 1e9 / (double)mine->n / (double)interval.longest * j->insns;
	j->time = j->time_ns * assumed_ghz;
	/* Of the function's time by what its regions take, not by their records. */
	for (size_t r = 0; r < j->all->regions.n; r++)
		if (j->all->regions.items[r].function == j->region->function)
			inside += seconds_of(&j->sums->regions[r]);
	if (inside > 0)
		j->time_share = ratio(function->half_ns, j->sums->all.half_ns) *
				fmin(1, seconds_of(mine) / inside);
}

/* The body with what is inside of it as often as it is executed: numbers of instructions. */
struct body {
	const struct judged *j;
	size_t numbers[CHAIN_MOST_INSNS];
	size_t n;
};

static void put_body(struct body *b, size_t from, size_t to, size_t next_inner)
{
	const struct region *r = b->j->region;

	for (size_t i = from; i <= to; i++) {
		size_t inner = next_inner, trips;

		while (inner < r->inner.n && r->inner.items[inner].head != i)
			inner++;
		if (inner == r->inner.n) {
			if (b->n < CHAIN_MOST_INSNS)
				b->numbers[b->n++] = i - r->head;
			continue;
		}
		trips = (size_t)fmax(1, round(r->inner.items[inner].trips));
		for (size_t k = 0; k < trips && b->n < CHAIN_MOST_INSNS; k++)
			put_body(b, i, r->inner.items[inner].branch, inner + 1);
		i = r->inner.items[inner].branch;
	}
}

static struct loop_insn insn_of(const struct judged *j, size_t i)
{
	const struct insn_sums *s = insn_sums_of(j, i);

	return (struct loop_insn){
		.word = word_of(j, i),
		.latency =
			mean_of(&s->access, loads_data(s) ? CHAIN_LATENCY_LOAD : CHAIN_LATENCY_ALU),
		.is_rare = j->f->is_rare[j->region->head + i],
	};
}

/* Steps of registers that the function sets to constants before the loop. */
static void find_steps_of_registers(struct judged *j)
{
	uint64_t head = j->f->address + 4 * j->region->head;
	struct function_code code = { 0 };
	const struct isa_followed *followed =
		function_code_at(&code, j->all->session->symbols, j->f->module, head, ISA_A64);

	for (size_t i = 0; i < j->n && followed != NULL; i++) {
		struct loop_address *a = &j->addresses[i];
		struct isa_value v = isa_followed_register(followed, head, a->step_reg);

		if (a->times == 0 || v.root != ISA_CONSTANT || v.step != 0)
			continue;
		a->step += (int64_t)((uint64_t)a->times * v.offset);
		a->knows_step = true;
	}
	function_code_release(&code);
}

static void find_chain(struct judged *j)
{
	struct body body = { .j = j };
	struct loop_insn *code;
	double *parts;

	j->chain_parts = mem_zalloc(j->n + 1, sizeof(*j->chain_parts));
	j->addresses = mem_zalloc(j->n + 1, sizeof(*j->addresses));
	if (!j->region->is_loop || j->n > CHAIN_MOST_INSNS)
		return;
	put_body(&body, j->region->head, j->region->branch, 0);
	code = mem_zalloc((j->n > body.n ? j->n : body.n) + 1, sizeof(*code));
	parts = mem_zalloc(body.n + 1, sizeof(*parts));
	for (size_t i = 0; i < body.n; i++)
		code[i] = insn_of(j, body.numbers[i]);
	j->chain = chain_find(code, body.n, parts);
	for (size_t i = 0; i < body.n; i++)
		j->chain_parts[body.numbers[i]] += parts[i];
	for (size_t i = 0; i < j->n; i++)
		code[i] = insn_of(j, i);
	chain_addresses(code, j->n, j->addresses);
	find_steps_of_registers(j);
	free(parts);
	free(code);
}

/* No record tells how long a line to store into takes. */
static double store_cycles(const struct judged *j, const struct insn_sums *s)
{
	return j->all->cpu.refill_cycles * (double)s->n_refills +
	       j->all->cpu.llc_miss_cycles * (double)s->n_llc_misses;
}

static void add_latencies(struct judged *j)
{
	double n_mispredicted = 0;

	for (size_t i = 0; i < j->n && j->iterations > 0; i++) {
		const struct insn_sums *s = insn_sums_of(j, i);
		double each = (double)s->n / j->iterations, access = mean_of(&s->access, 0);
		double walks = fmax(0, mean_of(&s->xlat, TRANSLATED) - TRANSLATED) * each;
		bool is_access = s->xlat.n > 0 || loads_data(s);

		j->mispredictions += ((double)s->mispredicted_cycles +
				      j->all->cpu.restart_cycles * (double)s->n_mispredicted) /
				     j->iterations;
		n_mispredicted += (double)s->n_mispredicted / j->iterations;
		if (!is_access)
			continue;
		j->walks += walks;
		j->latency += access * each;
		if (!loads_data(s)) {
			j->stores += store_cycles(j, s) / j->iterations;
			continue;
		}
		j->data += fmax(0, (access - HIT_CYCLES) * each - walks);
		for (int level = SOURCE_L2; level < N_SOURCE_LEVELS; level++)
			j->by_level[level] += (double)s->level_cycles[level] / j->iterations;
	}
	j->branch_waits =
		j->mispredictions <= 0
			? 0
			: fmax(0, 1 - n_mispredicted * (j->all->cpu.restart_cycles + SHORT_WAIT) /
						  j->mispredictions);
	j->width = j->insns / j->all->cpu.width;
}

/*
 * Is it about as fast as the core's width allows? Units of the core limit some loops to less than
 * the width, and nothing is known of these.
 */
static bool is_near_width(const struct judged *j)
{
	double time = isnan(j->time) ? fmax(j->chain, j->width) : j->time;

	return j->width >= least_width * time;
}

/* Is it the chain around the loop that takes the time? */
static bool limits(const struct judged *j)
{
	double time = isnan(j->time) ? fmax(j->chain, j->width) : j->time;

	return j->chain >= least_chain * time && j->chain > 1.2 * j->width;
}

/* A cause that is being weighed. */
struct cause {
	enum bottleneck_cause cause;
	double cycles;
	size_t insn; /* of the region */
};

/* The instruction that has most of something. */
static size_t heaviest(const struct judged *j, double (*weight)(const struct judged *, size_t))
{
	size_t best = 0;
	double most = -1;

	for (size_t i = 0; i < j->n; i++) {
		double w = place_of(j, i) == UINT32_MAX ? -1 : weight(j, i);

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

static double weight_data(const struct judged *j, size_t i)
{
	const struct insn_sums *s = insn_sums_of(j, i);

	return loads_data(s) ? (double)s->access.cycles - (double)s->xlat.cycles : 0;
}

static double weight_walks(const struct judged *j, size_t i)
{
	return (double)insn_sums_of(j, i)->xlat.cycles;
}

static double weight_mispredicted(const struct judged *j, size_t i)
{
	const struct insn_sums *s = insn_sums_of(j, i);

	return (double)s->mispredicted_cycles +
	       j->all->cpu.restart_cycles * (double)s->n_mispredicted;
}

static double weight_stores(const struct judged *j, size_t i)
{
	const struct insn_sums *s = insn_sums_of(j, i);

	return loads_data(s) || s->xlat.n == 0 ? 0 : store_cycles(j, s);
}

/* What the chain is made of: loads, of which `beyond` is what the L1D does not take; translations. */
struct chain_parts {
	double loads, beyond, walks;
};

static struct chain_parts split_chain(const struct judged *j)
{
	struct chain_parts out = { 0 };

	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = insn_sums_of(j, i);
		double part = j->chain_parts[i], walks;

		if (part == 0 || !loads_data(s))
			continue;
		walks = fmin(part, fmax(0, mean_of(&s->xlat, TRANSLATED) - TRANSLATED));
		out.walks += walks;
		out.loads += part - walks;
		out.beyond += fmax(0, part - walks - HIT_CYCLES);
	}
	return out;
}

enum { MOST_CAUSES = 8 };

static size_t weigh_causes(const struct judged *j, struct cause *out)
{
	double time = isnan(j->time) ? fmax(j->chain, j->width) : j->time;
	double busy = fmax(j->chain < time ? j->chain : 0, j->width), left, waits, branch_waits;
	struct chain_parts chain = split_chain(j);
	bool is_of_data = 2 * chain.beyond >= chain.loads && 3 * chain.loads >= 2 * j->chain;
	double data = is_of_data ? j->chain - chain.walks : chain.beyond, scale;
	size_t n = 0;

	/*
	 * What SPE shows as latency ends later than the result is there: no more than the time. Without
	 * the chain the core's width is left; a loop that is near it would gain little.
	 */
	if (limits(j)) {
		scale = fmin(1, time / j->chain);
		if (!is_near_width(j))
			out[n++] = (struct cause){ BOTTLENECK_CHAIN,
						   fmin(scale * (j->chain - data - chain.walks),
							time - j->width),
						   heaviest(j, weight_chain) };
		out[n++] =
			(struct cause){ BOTTLENECK_DATA, scale * data, heaviest(j, weight_chain) };
		out[n++] = (struct cause){ BOTTLENECK_WALKS, scale * chain.walks,
					   heaviest(j, weight_walks) };
		busy = fmin(time, j->chain);
	}
	if (isnan(j->time))
		return n;
	left = fmax(0, time - busy);
	/* A branch that waits long for data, and then is mispredicted, is the data's. */
	scale = fmin(j->mispredictions, limits(j) ? left : time);
	branch_waits = j->data > 0 && !limits(j) ? scale * j->branch_waits : 0;
	out[n++] = (struct cause){ BOTTLENECK_MISPREDICTIONS, scale - branch_waits,
				   heaviest(j, weight_mispredicted) };
	left = fmax(0, left - scale);
	waits = j->data + j->walks + j->stores;
	scale = waits > 0 ? fmin(left, waits) / waits : 0;
	if (!limits(j)) {
		out[n++] = (struct cause){ BOTTLENECK_DATA,
					   scale * j->data + fmin(branch_waits, j->data),
					   heaviest(j, weight_data) };
		out[n++] = (struct cause){ BOTTLENECK_WALKS, scale * j->walks,
					   heaviest(j, weight_walks) };
	}
	out[n++] =
		(struct cause){ BOTTLENECK_STORES, scale * j->stores, heaviest(j, weight_stores) };
	return n;
}

static enum source_level heaviest_level(const struct insn_sums *s)
{
	int best = SOURCE_L2;

	for (int level = SOURCE_L2; level < N_SOURCE_LEVELS; level++)
		if (s->level_cycles[level] > s->level_cycles[best])
			best = level;
	return (enum source_level)best;
}

/* Records of all loads of the chain, and those with data of a level. */
static void count_chain(const struct judged *j, struct bottleneck *out)
{
	out->loop.n_here = out->loop.n_of = 0;
	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = insn_sums_of(j, i);

		if (j->chain_parts[i] == 0 || !loads_data(s))
			continue;
		out->loop.n_here += s->n_level[out->level];
		out->loop.n_of += s->n;
	}
}

static unsigned bytes_of(const struct judged *j, size_t i)
{
	struct isa_access access = { 0 };

	return place_of(j, i) != UINT32_MAX &&
			       symbols_access(j->all->session->symbols,
					      session_place(j->all->session, place_of(j, i)),
					      &access)
		       ? access.bytes
		       : 0;
}

/* Bytes that an iteration accesses with the same base and step: of how much of each line? */
static uint64_t bytes_beside(const struct judged *j, const struct loop_address *a)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *other = &j->addresses[i];

		if (other->move == ADDRESS_STEPS && other->base == a->base &&
		    other->step == a->step && !is_prefetch_word(word_of(j, i)))
			bytes += bytes_of(j, i);
	}
	return bytes;
}

/* The walk of an address that steps, and how far. */
static enum finding_walk walk_in_steps(const struct judged *j, size_t i, int64_t *out_stride)
{
	const struct loop_address *a = &j->addresses[i];
	const struct insn_sums *s = insn_sums_of(j, i);
	uint64_t stride = (uint64_t)(a->step < 0 ? -a->step : a->step);

	*out_stride = a->knows_step ? a->step : 0;
	/* Where the step is not known, how often it comes to another line tells. */
	if (!a->knows_step)
		stride = 2 * s->n_refills > s->n ? LINE + 1 : 1;
	if (stride < LINE || (a->knows_step && 2 * bytes_beside(j, a) >= stride))
		return WALK_SEQUENTIAL;
	return s->addresses.divisor > 0 && s->addresses.divisor < LINE ? WALK_COLUMNS : WALK_STRIDE;
}

static void describe_walk(const struct judged *j, size_t i, struct finding_loop *out)
{
	const struct insn_sums *s = insn_sums_of(j, i);

	out->element_bytes = bytes_of(j, i);
	if (!j->region->is_loop)
		return;
	if (j->chain_parts[i] > 0 && limits(j)) {
		out->walk = WALK_CHASE;
		if (addr_pattern_walk(&s->addresses, false) != ADDR_WALK_STRIDE)
			return;
		/* Where each leads to is in order all the same, and can be told ahead of time. */
		out->stride = (int64_t)s->addresses.divisor;
		out->walk = out->stride < LINE ? WALK_SEQUENTIAL : WALK_STRIDE;
		return;
	}
	if (j->addresses[i].move == ADDRESS_LOADED)
		out->walk = WALK_INDIRECT;
	else if (j->addresses[i].move == ADDRESS_COMPUTED)
		out->walk = WALK_COMPUTED;
	else if (j->addresses[i].move == ADDRESS_STEPS)
		out->walk = walk_in_steps(j, i, &out->stride);
}

/* Of a chain: does it go along columns, too? Interchanged loops have one chain for each of them. */
static void describe_columns(const struct judged *j, struct finding_loop *out)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = insn_sums_of(j, i);
		int64_t stride;

		if (j->addresses[i].move != ADDRESS_STEPS || s->n < LEAST_HERE ||
		    2 * s->n_refills < s->n || walk_in_steps(j, i, &stride) != WALK_COLUMNS)
			continue;
		describe_walk(j, i, out);
		return;
	}
}

/*
 * A prefetch of the loop that moves as the load does, whose data still miss the L1D. Hardware
 * tells it of some (LATE-PREFETCH); with others the line is seen on its way.
 */
static bool describe_prefetch(const struct judged *j, size_t load, struct bottleneck *out)
{
	const struct insn_sums *s = insn_sums_of(j, load);
	const struct loop_address *a = &j->addresses[load];

	if (out->loop.walk == WALK_CHASE || (2 * s->n_refills < s->n && 10 * s->n_late < s->n))
		return false;
	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *p = &j->addresses[i];

		if (!is_prefetch_word(word_of(j, i)) || p->move != a->move || p->step != a->step)
			continue;
		out->prefetch = place_of(j, i);
		out->loop.n_here = s->n_refills > s->n_late ? s->n_refills : s->n_late;
		if (p->has_offset && a->has_offset && p->base == a->base && a->step != 0)
			out->loop.distance = (p->offset - a->offset) / a->step;
		if (!isnan(j->time))
			out->loop.lacking =
				(int64_t)ceil(mean_of(&s->access, 0) / fmax(j->time, 1));
		return true;
	}
	return false;
}

static void fill_common(const struct judged *j, const struct cause *c, struct bottleneck *out)
{
	const struct pair_sums *mine = &j->sums->regions[j->number], *all = &j->sums->all;
	double time = isnan(j->time) ? fmax(j->chain, j->width) : j->time;
	double mean = ratio(mine->half_ns, mine->n), rest_n = (double)(all->n - mine->n);
	double rest = rest_n > 0 ? (double)(all->half_ns - mine->half_ns) / rest_n : 0;

	*out = (struct bottleneck){
		.cause = c->cause,
		.place = place_of(j, c->insn),
		.loop_place = place_of(j, j->n - 1),
		.prefetch = UINT32_MAX,
		.time_share = j->time_share,
		.cost = time > 0 ? fmin(1, c->cycles / time) : 0,
		.n = mine->n,
		.n_all = all->n,
		.spread =
			mean > 0 ? 2 * (double)mine->squares / (double)mine->n / (mean * mean) : 1,
		.rest_spread = rest > 0 ? 2 * (double)(all->squares - mine->squares) / rest_n /
						  (rest * rest)
					: 1,
		.loop = {
			.is_loop = j->region->is_loop,
			.n_insns = j->insns,
			.iteration_ns = j->time_ns,
			.chain_cycles = j->chain,
			.width = j->all->cpu.width,
			.access_cycles = mean_of(&insn_sums_of(j, c->insn)->access, 0),
			.part = NAN,
		},
	};
}

/* UDIV, SDIV; FDIV, FSQRT of scalars; FDIV of vectors. */
static bool is_division(uint32_t word)
{
	return (word & 0x7fe0f800) == 0x1ac00800 || (word & 0xff20fc00) == 0x1e201800 ||
	       (word & 0xff3ffc00) == 0x1e21c000 || (word & 0xbfa0fc00) == 0x2e20fc00;
}

static void add_cause(struct judged *j, struct bottlenecks *all, const struct cause *c)
{
	const struct insn_sums *s = insn_sums_of(j, c->insn);
	struct bottleneck b;

	fill_common(j, c, &b);
	if (b.cost < least_cost || b.place == UINT32_MAX)
		return;
	switch (c->cause) {
	case BOTTLENECK_DATA:
		b.level = heaviest_level(s);
		b.loop.level = source_level_name(b.level);
		b.loop.n_here = s->n_level[b.level];
		b.loop.n_of = s->n;
		b.loop.part = j->latency > 0 ? fmin(1, j->by_level[b.level] / j->latency) : 0;
		describe_walk(j, c->insn, &b.loop);
		if (b.loop.walk == WALK_CHASE)
			count_chain(j, &b);
		if (describe_prefetch(j, c->insn, &b))
			b.cause = BOTTLENECK_PREFETCH;
		break;
	case BOTTLENECK_WALKS:
		b.loop.n_here = s->n_walks;
		b.loop.n_of = s->n;
		b.loop.part = j->latency > 0 ? fmin(1, j->walks / j->latency) : 0;
		break;
	case BOTTLENECK_MISPREDICTIONS:
		b.loop.n_here = s->n_mispredicted;
		b.loop.n_of = s->n;
		break;
	case BOTTLENECK_STORES:
		b.loop.n_here = s->n_refills;
		b.loop.n_of = s->n;
		describe_walk(j, c->insn, &b.loop);
		break;
	default:
		b.is_division = is_division(word_of(j, c->insn));
		b.loop.walk = loads_data(s) ? WALK_CHASE : WALK_UNKNOWN;
		if (b.loop.walk == WALK_UNKNOWN)
			describe_columns(j, &b.loop);
		b.loop.n_here = s->n;
		b.loop.n_of = j->n_records;
	}
	if (b.loop.n_here >= LEAST_HERE)
		*vec_add(&all->found) = b;
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

		if (!isa_registers_of(word_of(j, i), &r) || r.is_vector || r.is_call)
			return false;
		if (a->move == ADDRESS_LOADED || a->move == ADDRESS_COMPUTED)
			return false; /* gathered */
		if (a->move != ADDRESS_STEPS || !a->knows_step || a->step == 0 || a->step > 8 ||
		    a->step < -8 || (double)insn_sums_of(j, i)->n <= most)
			continue;
		has_elements = true;
		most = (double)insn_sums_of(j, i)->n;
		*out_access = i;
	}
	return has_elements;
}

static void add_scalar(struct judged *j, struct bottlenecks *all)
{
	struct cause c = { BOTTLENECK_SCALAR, j->width, 0 };
	struct bottleneck b;

	if (!j->region->is_loop || isnan(j->time) || !is_near_width(j) || !is_scalar(j, &c.insn))
		return;
	fill_common(j, &c, &b);
	if (b.place == UINT32_MAX)
		return;
	b.loop.n_here = insn_sums_of(j, c.insn)->n;
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

	count_iterations(&j);
	measure_time(&j);
	if (j.n_records < LEAST_RECORDS || isnan(j.time_share))
		return;
	find_chain(&j);
	add_latencies(&j);
	n = weigh_causes(&j, causes);
	for (size_t i = 0; i < n; i++)
		add_cause(&j, all, &causes[i]);
	add_scalar(&j, all);
	if (!isnan(j.time) && r->is_loop)
		explained[r->function] += j.n_records;
	free(j.chain_parts);
	free(j.addresses);
}

void bottlenecks_find(struct bottlenecks *all)
{
	uint64_t *explained = mem_zalloc(all->functions.n + 1, sizeof(*explained));

	for (uint32_t i = 0; i < all->regions.n; i++)
		judge_region(all, i, explained);
	for (size_t f = 0; f < all->functions.n; f++) {
		uint64_t n = 0;

		for (size_t i = 0; i < all->functions.items[f].n; i++)
			n += all->functions.items[f].counts[i];
		all->is_explained[f] = 2 * explained[f] > n;
	}
	if (all->found.n > 1)
		qsort_r(all->found.items, all->found.n, sizeof(*all->found.items),
			compare_bottlenecks, all);
	free(explained);
}
