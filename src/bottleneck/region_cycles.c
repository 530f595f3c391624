/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an iteration of a region takes, and what its parts take: the chain around the loop, the
 * width of the core, latencies of data, walks and stores, mispredicted branches.
 */
#include "bottleneck/judged.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "isa/registers.h"
#include "scan/spe_filters.h"
#include "session/interval.h"
#include "variables/function_code.h"

enum {
	LEAST_RECORDS = 30, /* of a region */
	LEAST_PAIRS = 10,   /* that tell its time */
	SHORT_WAIT = 30,    /* a branch that is mispredicted is dispatched so long before */
};

/* Parts of the time: a chain that limits has more than that, a loop near the width, divisions, too. */
static const double least_chain = 0.75, least_width = 0.6, least_divisions = 0.5;

const struct insn_sums *judged_sums(const struct judged *j, size_t i)
{
	uint32_t slot = j->f->slots[j->region->head + i];
	static const struct insn_sums none;

	return slot == NO_SLOT || j->f->regions[j->region->head + i] != j->number
		       ? &none
		       : &j->sums->slots[slot];
}

uint32_t judged_place(const struct judged *j, size_t i)
{
	uint32_t slot = j->f->slots[j->region->head + i];

	return slot == NO_SLOT ? UINT32_MAX : j->all->slots.items[slot].place;
}

uint32_t judged_word(const struct judged *j, size_t i)
{
	return j->f->words == NULL ? 0 : j->f->words[j->region->head + i];
}

bool is_prefetch_word(uint32_t word)
{
	return (word & 0xffc00000) == 0xf9800000 || (word & 0xffe00c00) == 0xf8a00800 ||
	       (word & 0xffe00c00) == 0xf8800000;
}

bool loads_data(const struct insn_sums *s)
{
	return s->n_loads > 0;
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

/* What a record stands for takes as long as it is to the next one, but for those that were lost between. */
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
	j->least_time = j->most_time = 1;
	/* Between records that passed a filter there may be any number of operations. */
	if (mine->n < LEAST_PAIRS || interval.longest == 0 || spe_filters_hide(j->all->session))
		return;
	j->time_ns = (1 - interval.lost.share) * seconds_of(mine) * 1e9 / (double)mine->n /
		     (double)interval.longest * j->insns;
	j->most_time = 1 / (1 - interval.lost.share);
	j->least_time = interval.lost.is_unknown
				? 0
				: j->most_time / (1 + interval.lost.most / (double)mine->n);
	j->time = j->time_ns * j->all->clock.hz / 1e9;
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
	const struct insn_sums *s = judged_sums(j, i);

	return (struct loop_insn){
		.word = judged_word(j, i),
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

/* How often a loop inside goes round in each iteration of the region; 0: it has loops inside itself. */
static double trips_of_innermost(const struct region *r, size_t number)
{
	const struct inner_loop *loop = &r->inner.items[number];
	double trips = 1;

	for (size_t i = 0; i < r->inner.n; i++) {
		const struct inner_loop *other = &r->inner.items[i];

		if (other->head <= loop->head && other->branch >= loop->branch)
			trips *= fmax(1, other->trips);
		else if (other->head >= loop->head && other->branch <= loop->branch)
			return 0;
	}
	return trips;
}

/*
 * A loop inside that takes more instructions than the core has under way is over before the next
 * iteration of the region is there: then the chains of such loops add up, even if none goes around
 * the region. `code` is the body once.
 */
static void find_inner_chains(struct judged *j, const struct loop_insn *code)
{
	const struct region *r = j->region;
	double *parts = mem_zalloc(j->n + 1, sizeof(*parts)), cycles = 0, register_cycles = 0;
	struct loop_address *addresses = mem_alloc(j->n + 1, sizeof(*addresses));
	bool *is_slot = mem_zalloc(j->n + 1, sizeof(*is_slot));

	for (size_t i = 0; i < j->n; i++)
		addresses[i] = j->addresses[i];
	for (size_t k = 0; k < r->inner.n; k++) {
		const struct inner_loop *inner = &r->inner.items[k];
		size_t from = inner->head - r->head, n = inner->branch - inner->head + 1;
		double trips = trips_of_innermost(r, k);

		if (trips * (double)n < j->all->cpu.window)
			continue;
		cycles += trips * chain_find(code + from, n, parts + from);
		register_cycles += trips * chain_find_in_registers(code + from, n, is_slot + from);
		for (size_t i = from; i < from + n; i++)
			parts[i] *= trips;
		chain_addresses(code + from, n, addresses + from);
	}
	if (cycles > j->chain) {
		free(j->chain_parts);
		free(j->addresses);
		free(j->is_slot);
		j->chain = cycles;
		j->register_chain = register_cycles;
		j->chain_parts = parts;
		j->addresses = addresses;
		j->is_slot = is_slot;
		return;
	}
	free(parts);
	free(addresses);
	free(is_slot);
}

static void find_chain(struct judged *j)
{
	struct body body = { .j = j };
	struct loop_insn *code;
	double *parts;
	bool *is_slot;

	j->is_slot = mem_zalloc(j->n + 1, sizeof(*j->is_slot));
	j->chain_parts = mem_zalloc(j->n + 1, sizeof(*j->chain_parts));
	j->addresses = mem_zalloc(j->n + 1, sizeof(*j->addresses));
	if (!j->region->is_loop || j->n > CHAIN_MOST_INSNS)
		return;
	put_body(&body, j->region->head, j->region->branch, 0);
	code = mem_zalloc((j->n > body.n ? j->n : body.n) + 1, sizeof(*code));
	parts = mem_zalloc(body.n + 1, sizeof(*parts));
	is_slot = mem_zalloc(body.n + 1, sizeof(*is_slot));
	for (size_t i = 0; i < body.n; i++)
		code[i] = insn_of(j, body.numbers[i]);
	j->chain = chain_find(code, body.n, parts);
	j->register_chain = chain_find_in_registers(code, body.n, is_slot);
	for (size_t i = 0; i < body.n; i++) {
		j->chain_parts[body.numbers[i]] += parts[i];
		j->is_slot[body.numbers[i]] |= is_slot[i];
	}
	for (size_t i = 0; i < j->n; i++)
		code[i] = insn_of(j, i);
	chain_addresses(code, j->n, j->addresses);
	find_inner_chains(j, code);
	find_steps_of_registers(j);
	free(is_slot);
	free(parts);
	free(code);
}

double judged_store_cycles(const struct judged *j, const struct insn_sums *s)
{
	return j->all->cpu.refill_cycles * (double)s->n_refills +
	       j->all->cpu.llc_miss_cycles * (double)s->n_llc_misses;
}

static void add_latencies(struct judged *j)
{
	for (size_t i = 0; i < j->n && j->iterations > 0; i++) {
		const struct insn_sums *s = judged_sums(j, i);
		double each = (double)s->n / j->iterations, access = mean_of(&s->access, 0);
		double walks = fmax(0, mean_of(&s->xlat, TRANSLATED) - TRANSLATED) * each;
		bool is_access = s->xlat.n > 0 || loads_data(s);

		j->n_slots += j->is_slot[i] ? each : 0;

		j->mispredictions += ((double)s->mispredicted_cycles +
				      j->all->cpu.restart_cycles * (double)s->n_mispredicted) /
				     j->iterations;
		j->n_mispredicted += (double)s->n_mispredicted / j->iterations;
		if (!is_access)
			continue;
		j->walks += walks;
		j->latency += access * each;
		if (!loads_data(s)) {
			*(is_prefetch_word(judged_word(j, i)) ? &j->prefetches : &j->stores) +=
				judged_store_cycles(j, s) / j->iterations;
			continue;
		}
		if (!j->is_slot[i]) /* that waits for a store */
			j->data += fmax(0, (access - HIT_CYCLES) * each - walks);
		for (int level = SOURCE_L2; level < N_SOURCE_LEVELS; level++)
			j->by_level[level] += (double)s->level_cycles[level] / j->iterations;
	}
	j->branch_waits =
		j->mispredictions <= 0
			? 0
			: fmax(0, 1 - j->n_mispredicted *
						  (j->all->cpu.restart_cycles + SHORT_WAIT) /
						  j->mispredictions);
	j->restarts = j->n_mispredicted * j->all->cpu.restart_cycles;
	j->width = j->insns / j->all->cpu.width;
}

double judged_time(const struct judged *j)
{
	return isnan(j->time) ? fmax(fmax(j->chain, j->width), j->divisions) : j->time;
}

/* Units of the core limit some loops to less than the width, and nothing is known of these. */
bool is_near_width(const struct judged *j)
{
	double time = judged_time(j);

	return j->width >= least_width * time;
}

bool is_chain_limited(const struct judged *j)
{
	double time = judged_time(j);

	return j->chain >= least_chain * time && j->chain > 1.2 * j->width;
}

/*
 * How many general or vector registers the loop uses. Where it is most of them, those were too few, and
 * a value was spilled.
 */
static size_t registers_used(const struct judged *j, bool are_vectors)
{
	bool is_used[ISA_N_REGS] = { false };
	size_t first = are_vectors ? ISA_REG_VECTOR : 0, n = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct isa_registers r;

		if (!isa_registers_of(judged_word(j, i), &r))
			continue;
		for (unsigned k = 0; k < r.n_reads; k++)
			is_used[r.reads[k]] = true;
		for (unsigned k = 0; k < r.n_writes; k++)
			is_used[r.writes[k]] = true;
	}
	for (size_t i = first; i < first + (are_vectors ? 32 : ISA_REG_STACK); i++)
		n += is_used[i];
	return n;
}

/* Of 31 general registers the ABI leaves some 28; all 32 vector registers are free to use. */
enum { MOST_GENERAL = 20, MOST_VECTOR = 24 };

bool is_forwarding_limited(const struct judged *j)
{
	const double least_forwarded = 0.25; /* of the chain */

	return is_chain_limited(j) && j->chain - j->register_chain >= least_forwarded * j->chain &&
	       registers_used(j, false) <= MOST_GENERAL && registers_used(j, true) <= MOST_VECTOR;
}

bool is_division_limited(const struct judged *j)
{
	return !is_chain_limited(j) && j->divisions > 0 &&
	       j->divisions >= least_divisions * judged_time(j);
}

bool judged_measure(struct judged *j)
{
	count_iterations(j);
	measure_time(j);
	if (j->n_records < LEAST_RECORDS || isnan(j->time_share))
		return false;
	find_chain(j);
	add_latencies(j);
	judged_measure_units(j);
	return true;
}

void judged_release(struct judged *j)
{
	free(j->chain_parts);
	free(j->addresses);
	free(j->is_slot);
}
