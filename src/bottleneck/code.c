/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all code takes, and how much of that the back end may have. What the back end is to blame for
 * shows in latencies: dispatch stops only when the window or a queue is full, and then its oldest
 * operation has been there for longer than the few cycles that filling takes. So the sum of all
 * latencies beyond those few cycles is the most that it can have; latencies overlap, so mostly it has
 * much less. Where that, mispredicted branches and the width of the core do not reach what an operation
 * takes, operations were not there in time.
 */
#include <stdlib.h>

#include "access/kind.h"
#include "base/alloc.h"
#include "base/radix.h"
#include "bottleneck/inside.h"
#include "estimate/shares.h"
#include "scan/spe_filters.h"
#include "session/interval.h"
#include "spe/packet.h"

enum {
	SHORT_CYCLES =
		10, /* from dispatch to the end, of what waits for nothing; to fill a queue */
	TOTALS = UINT16_MAX + 1,
	LEAST_GAPS = 100,
	FULL_RARELY = 1000, /* one in so many counters may be full */
	LINE = 64,
	PAGE = 4096,
};

/* Where the frequency is not known: the slowest of the servers', which makes times short in cycles. */
static const double least_hz = 2e9;

/* Part of the window that others fill while an operation is under way, for it to stop dispatch. */
static const double large_window = 0.75;

/* Part of the records whose lines and pages are counted. */
static const double most_records = 0.9;

static void spread_add(struct spread *s, uint64_t number, uint64_t times)
{
	unsigned shift = number < 8 ? 0 : 60 - (unsigned)__builtin_clzll(number);
	size_t bucket = number < 8 ? (size_t)number : (shift + 1) * 8 + (number >> shift & 7);

	s->n[bucket] += times;
	s->sum[bucket] += times * number;
}

static void spread_merge(struct spread *s, const struct spread *from)
{
	for (size_t i = 0; i < SPREAD_BUCKETS; i++) {
		s->n[i] += from->n[i];
		s->sum[i] += from->sum[i];
	}
}

void code_sums_add_gap(struct code_sums *s, uint64_t ns)
{
	spread_add(&s->gap_ns, ns, 1);
}

void code_sums_init(struct code_sums *s)
{
	s->totals = mem_zalloc(TOTALS, sizeof(*s->totals));
}

void code_sums_release(struct code_sums *s)
{
	free(s->totals);
	s->totals = NULL;
}

/* Operations come as they like, so there is no decision here that would be taken wrong half of the time. */
void code_sums_add(struct code_sums *s, const struct batch *b)
{
	uint64_t n_full = 0, n_mispredicted = 0, n_store_refills = 0, n_store_llc_misses = 0;
	unsigned all_totals = s->all_totals;

	for (size_t row = 0; row < b->n; row++) {
		uint32_t has = b->has[row];
		bool has_total = (has & HAS_TOTAL) != 0, has_op = (has & HAS_OP) != 0;
		uint64_t events = b->events[row] & -(uint64_t)((has & HAS_EVENTS) != 0);
		unsigned total = b->total[row] & -(unsigned)has_total;
		bool is_branch = has_op & (b->op_class[row] == SPE_OP_BRANCH);
		bool is_store = has_op & (b->op_class[row] == SPE_OP_LDST) &
				(memory_kind_of_payload(b->op[row]) == MEMORY_STORE);

		s->totals[total] += has_total;
		all_totals |= total;
		n_full += !has_total | latency_is_full(total);
		n_mispredicted += is_branch & (events >> SPE_EV_MISPREDICTED);
		n_store_refills += is_store & (events >> SPE_EV_L1D_REFILL);
		n_store_llc_misses += is_store & (events >> SPE_EV_LLC_MISS);
	}
	s->n += b->n;
	s->all_totals = all_totals;
	s->n_full += n_full;
	s->n_mispredicted += n_mispredicted;
	s->n_store_refills += n_store_refills;
	s->n_store_llc_misses += n_store_llc_misses;
}

void code_sums_finish(struct code_sums *s)
{
	for (uint64_t cycles = 0; cycles <= s->all_totals; cycles++)
		if (s->totals[cycles] > 0)
			spread_add(&s->cycles, cycles, s->totals[cycles]);
	code_sums_release(s);
}

void code_sums_merge(struct code_sums *s, const struct code_sums *from)
{
	s->n += from->n;
	s->n_full += from->n_full;
	s->n_mispredicted += from->n_mispredicted;
	s->n_store_refills += from->n_store_refills;
	s->n_store_llc_misses += from->n_store_llc_misses;
	spread_merge(&s->cycles, &from->cycles);
	spread_merge(&s->gap_ns, &from->gap_ns);
}

static uint64_t spread_count(const struct spread *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < SPREAD_BUCKETS; i++)
		n += s->n[i];
	return n;
}

static double spread_median(const struct spread *s, uint64_t n)
{
	uint64_t below = 0;
	size_t i = 0;

	while (2 * (below + s->n[i]) < n)
		below += s->n[i++];
	return ratio(s->sum[i], s->n[i]);
}

/* The part above `least` of all that are above it; `kept` of that is left out of each. */
static double spread_sum_above(const struct spread *s, double least, double kept)
{
	double sum = 0;

	for (size_t i = 0; i < SPREAD_BUCKETS; i++)
		if (s->n[i] > 0 && ratio(s->sum[i], s->n[i]) > least)
			sum += (double)s->sum[i] - kept * (double)s->n[i];
	return sum;
}

/*
 * The mean or the median, whichever is less: lost records and time that was not sampled, such as the
 * kernel's, make some of them longer.
 */
static double usual_gap(const struct spread *s, uint64_t n)
{
	double median = spread_median(s, n), mean = 0;

	for (size_t i = 0; i < SPREAD_BUCKETS; i++)
		mean += ratio(s->sum[i], n);
	return mean < median ? mean : median;
}

static const char *find_obstacle(const struct bottlenecks *all, const struct code_sums *s,
				 uint64_t n)
{
	if (spe_filters_hide(all->session))
		return "operations were filtered when recorded";
	if (spe_interval_range(all->session).longest == 0)
		return "the sampling interval is not known (--interval)";
	if (n < LEAST_GAPS)
		return "too few records follow each other in a thread, with times";
	if (s->n_full * FULL_RARELY > s->n)
		return "latencies are full or not recorded";
	return all->cpu.width > 0 ? NULL : "the width of the core is not known";
}

void code_measure_time(struct bottlenecks *all)
{
	const struct bottleneck_sums *sums = all->analysis.result;
	const struct code_sums *s = &sums->code;
	const struct bottleneck_cpu *cpu = &all->cpu;
	struct spe_interval_range interval = spe_interval_range(all->session);
	struct bottleneck_code *out = &all->code;
	double others;

	out->n = spread_count(&s->gap_ns);
	out->l1i_lines = cpu->l1i_lines;
	out->itlb_entries = cpu->itlb_entries;
	out->is_clock_assumed = all->clock.basis == CLOCK_UNKNOWN;
	out->hz = out->is_clock_assumed ? least_hz : all->clock.hz;
	out->obstacle = find_obstacle(all, s, out->n);
	if (out->obstacle != NULL)
		return;
	out->cycles = usual_gap(&s->gap_ns, out->n) * out->hz / 1e9 /
		      ((double)interval.longest * (interval.most > 0 ? interval.most : 1));
	others =
		1 / cpu->width + ((cpu->restart_cycles + SHORT_CYCLES) * (double)s->n_mispredicted +
				  cpu->refill_cycles * (double)s->n_store_refills +
				  cpu->llc_miss_cycles * (double)s->n_store_llc_misses) /
					 (double)s->n;
	out->explained =
		others + spread_sum_above(&s->cycles, SHORT_CYCLES, SHORT_CYCLES) / (double)s->n;
	out->explained_in_window =
		others + spread_sum_above(&s->cycles, large_window * cpu->window * out->cycles, 0) /
				 (double)s->n;
}

/* Records by block of code: lines, or pages. */
struct blocks {
	struct place last; /* offset: number of the block in its module */
	uint64_t *n_records;
	size_t n;
};

/* Adds records to the last block, if they are of it, else to a new one. */
static void blocks_add(struct blocks *b, struct place place, unsigned block_bytes,
		       uint64_t n_records)
{
	place.offset /= block_bytes;
	if (b->n == 0 || b->last.module.v != place.module.v || b->last.offset != place.offset)
		b->n_records[b->n++] = 0;
	b->last = place;
	b->n_records[b->n - 1] += n_records;
}

/* How many have most of the records. */
static uint64_t count_most(const struct blocks *b, uint64_t n_records)
{
	uint32_t *order = mem_alloc(b->n + 1, sizeof(*order));
	uint64_t sum = 0;
	size_t left = b->n;

	for (size_t i = 0; i < b->n; i++)
		order[i] = (uint32_t)i;
	radix_sort(order, b->n, b->n_records);
	while (left > 0 && (double)sum < most_records * (double)n_records)
		sum += b->n_records[order[--left]];
	free(order);
	return b->n - left;
}

void code_measure_footprint(struct bottlenecks *all, const struct names *names,
			    const struct place_sums *places)
{
	struct blocks lines = { .n_records = mem_alloc(names->n + 1, sizeof(uint64_t)) };
	struct blocks pages = { .n_records = mem_alloc(names->n + 1, sizeof(uint64_t)) };
	uint64_t n_records = 0;

	for (uint32_t i = 0; i < names->n; i++) {
		uint64_t n = places[names->numbers[i]].n;

		if (n == 0)
			continue;
		n_records += n;
		blocks_add(&lines, names->places[i], LINE, n);
		blocks_add(&pages, names->places[i], PAGE, n);
	}
	all->code.n_lines = count_most(&lines, n_records);
	all->code.n_pages = count_most(&pages, n_records);
	free(lines.n_records);
	free(pages.n_records);
}
