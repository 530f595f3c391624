/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's chains c and cells x of records. The share of c in a cell is
 *
 *	prior(c) · likelihood(class of x | c) · likelihood(gap of x | c)	(to a sum of 1)
 *
 * scaled, in turns, so that all cells together give each chain what it has of the samples: of refills in the
 * cells of misses, of instructions in all. Likelihoods are counted on the records next to samples.
 *
 * A sample of cycles falls on slow code more often than on fast code, by the time that passes for the same
 * number of operations, which is the time between the records around it: it is weighted by the inverse.
 *
 * Where a chain takes turns with others faster than records come, the time around a record says nothing of it. Of the
 * operations that did not miss, each is taken to need what the one in the middle needs, and the rest of their latency
 * to pass where time passes, as samples of cycles say. The shares of cells are tilted until the latency of the chains
 * comes to that.
 */
#include "callers/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	ROUNDS = 3,		/* of scaling */
	TURNS = 40,		/* of tilting, at most */
	INSTRUCTIONS_LEAST = 5, /* samples; with fewer, those of cycles are used */
};

/* Records that a likelihood is smoothed by: as many, spread as those of all chains. */
static const double smoothing = 2;

/* Tilting ends when no share of latency is further off, and goes by a part of the way. */
static const double near_enough = 0.003, stride = 0.25, steepest = 3;

/* Of the way to the most latency that a chain can have, or to the least: the part within which 95 % are. */
static const double likely_part = 0.7;

/* The least prior of a chain that samples have seen, as a part of what it has elsewhere. */
static const double least_prior = 1e-3;

/* A group while it is worked on. Arrays by chain have `n`, arrays by feature and chain n * values. */
struct working {
	const struct caller_group *g;
	const struct neighbours *neighbours;
	size_t n;	 /* chains */
	uint32_t *cells; /* of the group, in order of class and gap */
	size_t n_cells;
	double *shares;		     /* by cell and chain */
	double records[CHAINS_MOST]; /* share of all records; … */
	double misses[CHAINS_MOST],
		others[CHAINS_MOST]; /* of those that missed, and of the others */
	double time[CHAINS_MOST];    /* of samples of cycles */
	bool is_of_time;	     /* `records` comes of samples of cycles */
	bool has_misses;	     /* `misses` and `others` are known by themselves */
	double by_class[CELL_CLASSES][CHAINS_MOST], by_gap[CELL_GAPS][CHAINS_MOST];
	double of_class[CHAINS_MOST], of_gap[CHAINS_MOST]; /* sums */
	double n_labels, squares; /* of the samples that `records` comes from */
	double n_refills, n_time;
	double refills; /* of those that missed, the part that samples of refills stand for */
	double miss_labels[CHAINS_MOST]; /* records that missed, beside samples of the others */
	double locality;
	double doubts[CHAINS_MOST]; /* 0 … 1: how little the time around records tells of each */
	/* Shares of latency: if all that did not miss had one mean; if it passed as the time does; between them. */
	double by_number[CHAINS_MOST], by_waits[CHAINS_MOST], wanted[CHAINS_MOST];
	double base; /* how much of the first is in `wanted` */
	uint64_t n_records, n_missed;
};

static const uint64_t *cell_words(const struct working *w, size_t i)
{
	return tuples_get(&w->neighbours->cells, w->cells[i]);
}

static unsigned class_of(const struct working *w, size_t i)
{
	return (unsigned)(cell_words(w, i)[1] / CELL_GAPS);
}

static unsigned gap_of(const struct working *w, size_t i)
{
	return (unsigned)(cell_words(w, i)[1] % CELL_GAPS);
}

static const struct cell_sums *sums_of(const struct working *w, size_t i)
{
	return &w->neighbours->sums.items[w->cells[i]];
}

/* Is the cell's latency shared by the misses of the chains? */
static bool is_miss_cell(const struct working *w, size_t i)
{
	return w->has_misses && class_of(w, i) == CELL_MISS;
}

static void normalise(double *shares, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += shares[i];
	for (size_t i = 0; i < n && sum > 0; i++)
		shares[i] /= sum;
}

static const struct stack_seen *stack_at(const struct working *w, size_t i)
{
	return &w->neighbours->groups->seen->list.items[w->g->stacks.items[i]];
}

static const struct neighbour *neighbour_at(const struct working *w, size_t i)
{
	return &w->neighbours->of_stacks[w->g->stacks.items[i]];
}

static bool has_neighbour(const struct neighbour *n)
{
	return n->distance_ns != UINT64_MAX && n->cell.gap_ns > 0;
}

/* What a sample weighs, beside others of its kind: the events that it stands for; of cycles, for the operations in them. */
static double weight_of(const struct working *w, size_t i)
{
	const struct stack_seen *s = stack_at(w, i);
	const struct neighbour *n = neighbour_at(w, i);

	if (s->kind != STACK_OF_TIME)
		return (double)s->period;
	return has_neighbour(n) ? (double)s->period / (double)n->cell.gap_ns : 0;
}

/* Sums and numbers of the group's samples by kind. */
struct kind_sums {
	double n[N_STACK_KINDS], weight[N_STACK_KINDS], squares[N_STACK_KINDS];
};

static void count_samples(struct working *w, struct kind_sums *k)
{
	for (size_t i = 0; i < w->g->stacks.n; i++) {
		const struct stack_seen *s = stack_at(w, i);
		double weight = weight_of(w, i);

		k->n[s->kind] += weight > 0;
		k->weight[s->kind] += weight;
		k->squares[s->kind] += weight * weight;
		if (s->kind == STACK_OF_TIME)
			w->time[w->g->chains.items[i]] += (double)s->period;
		if (s->kind == STACK_OF_REFILLS)
			w->misses[w->g->chains.items[i]] += weight;
	}
	w->n_time = k->n[STACK_OF_TIME];
	w->n_refills = k->n[STACK_OF_REFILLS];
	normalise(w->time, w->n);
	normalise(w->misses, w->n);
}

/* Of the records that missed: as many as there are refills, 0 … 1; 1 if that is not known. */
static double part_with_refills(const struct working *w, const struct kind_sums *k)
{
	double missed =
		k->weight[STACK_OF_INSTRUCTIONS] / (double)w->n_records * (double)w->n_missed;

	return missed > k->weight[STACK_OF_REFILLS] ? k->weight[STACK_OF_REFILLS] / missed : 1;
}

/* The shares of all records, and what the records beside samples are like. */
static void learn(struct working *w, const struct kind_sums *k)
{
	enum stack_kind from =
		k->n[STACK_OF_INSTRUCTIONS] >= INSTRUCTIONS_LEAST || k->n[STACK_OF_TIME] == 0
			? STACK_OF_INSTRUCTIONS
			: STACK_OF_TIME;

	for (size_t i = 0; i < w->g->stacks.n; i++) {
		enum stack_kind kind = stack_at(w, i)->kind;
		uint8_t chain = w->g->chains.items[i];
		const struct neighbour *n = neighbour_at(w, i);
		double weight;

		if (kind == STACK_OF_REFILLS || k->weight[kind] == 0)
			continue;
		weight = weight_of(w, i) * k->n[kind] / k->weight[kind];
		if (kind == from)
			w->records[chain] += weight;
		if (!has_neighbour(n))
			continue;
		w->by_gap[n->cell.gap][chain] += weight;
		w->of_gap[chain] += weight;
		if (n->cell.class == CELL_MISS)
			w->miss_labels[chain] += weight;
		if (w->has_misses && n->cell.class == CELL_MISS)
			continue;
		w->by_class[n->cell.class][chain] += weight;
		w->of_class[chain] += weight;
	}
	w->is_of_time = from == STACK_OF_TIME;
	w->n_labels = k->n[from];
	w->squares = k->squares[from] > 0
			     ? k->squares[from] * k->n[from] / (k->weight[from] * k->weight[from])
			     : 1;
	normalise(w->records, w->n);
}

/* Splits the shares of all records into those of misses and of others. */
static void split_misses(struct working *w)
{
	double missed = w->n_records > 0 ? (double)w->n_missed / (double)w->n_records : 0;

	for (size_t c = 0; c < w->n; c++) {
		double rest = w->records[c] - missed * w->misses[c];

		if (!w->has_misses)
			w->misses[c] = w->records[c];
		if (w->records[c] == 0 && w->misses[c] > 0)
			w->records[c] = least_prior;
		w->others[c] = !w->has_misses			    ? w->records[c]
			       : rest > least_prior * w->records[c] ? rest
								    : least_prior * w->records[c];
	}
	normalise(w->others, w->n);
}

/* Of records with this value of a feature: how often the chain has it, beside others. */
static double likelihood(const double *of_value, const double *of_all, size_t n, size_t chain)
{
	double value = 0, all = 0;

	for (size_t c = 0; c < n; c++) {
		value += of_value[c];
		all += of_all[c];
	}
	if (all == 0)
		return 1;
	value = (value + 1e-6) / all;
	return (of_value[chain] + smoothing * value) / (of_all[chain] + smoothing) / value;
}

static void share_cells(struct working *w)
{
	for (size_t i = 0; i < w->n_cells; i++) {
		unsigned class = class_of(w, i), gap = gap_of(w, i);
		bool is_miss = class == CELL_MISS;
		double *shares = w->shares + i * w->n;

		for (size_t c = 0; c < w->n; c++) {
			shares[c] = is_miss ? w->misses[c] : w->others[c];
			if (gap != CELL_GAPS - 1)
				shares[c] *= likelihood(w->by_gap[gap], w->of_gap, w->n, c);
			if (!is_miss || !w->has_misses)
				shares[c] *= likelihood(w->by_class[class], w->of_class, w->n, c);
		}
		normalise(shares, w->n);
	}
}

/* Scales the shares of those cells so that their records come to `wanted`. */
static void scale_cells(struct working *w, const double *wanted, bool of_misses, bool of_others)
{
	double sums[CHAINS_MOST] = { 0 }, n = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		if (!(class_of(w, i) == CELL_MISS ? of_misses : of_others))
			continue;
		n += (double)sums_of(w, i)->n;
		for (size_t c = 0; c < w->n; c++)
			sums[c] += (double)sums_of(w, i)->n * w->shares[i * w->n + c];
	}
	for (size_t i = 0; i < w->n_cells; i++) {
		double *shares = w->shares + i * w->n;

		if (!(class_of(w, i) == CELL_MISS ? of_misses : of_others))
			continue;
		for (size_t c = 0; c < w->n; c++)
			shares[c] *= sums[c] > 0 ? wanted[c] * n / sums[c] : 0;
		normalise(shares, w->n);
	}
}

/* How well the gap around a record of `n` in `all` tells that it is one: 0 nothing, 1 all. */
static double locality_of(double own, double n, double all)
{
	double chance = n / all;

	return chance >= 1 ? 1 : own > chance ? (own - chance) / (1 - chance) : 0;
}

/*
 * Fills `locality` and `doubts`: of each labelled record, by all others with its gap: the mean share of its own
 * chain, beyond what chance gives.
 */
static void judge_gaps(struct working *w)
{
	double own[CHAINS_MOST] = { 0 }, all = 0, all_own = 0, squares = 0;

	for (size_t c = 0; c < w->n; c++)
		all += w->of_gap[c];
	for (unsigned gap = 0; gap < CELL_GAPS && all >= 2; gap++) {
		double sum = 0;

		for (size_t c = 0; c < w->n; c++)
			sum += w->by_gap[gap][c];
		for (size_t c = 0; c < w->n; c++) {
			double n = w->by_gap[gap][c];

			own[c] += n * (fmax(n - 1, 0) + smoothing * w->of_gap[c] / all) /
				  (fmax(sum - 1, 0) + smoothing);
		}
	}
	for (size_t c = 0; c < w->n; c++) {
		double n = w->of_gap[c];
		double locality = n >= 2 ? locality_of(own[c] / n, n, all) : 0;

		w->doubts[c] = fmax(1 - 2 * locality, 0);
		all_own += own[c];
		squares += n * n;
	}
	w->locality = all >= 2 ? locality_of(all_own / all, squares / all, all) : 0;
}

/* A cell with the mean latency of its records. */
struct ranked_cell {
	double latency;
	size_t cell;
};

static int compare_latencies(const void *left, const void *right)
{
	const struct ranked_cell *a = left, *b = right;

	if (a->latency != b->latency)
		return a->latency > b->latency ? -1 : 1;
	return (a->cell > b->cell) - (a->cell < b->cell);
}

/* By chain: its share of latency. */
static void share_latency(const struct working *w, const double *shares, double *out)
{
	memset(out, 0, w->n * sizeof(*out));
	for (size_t i = 0; i < w->n_cells; i++)
		for (size_t c = 0; c < w->n; c++)
			out[c] += (double)sums_of(w, i)->cycles * shares[i * w->n + c];
	normalise(out, w->n);
}

/* Of the operations that did not miss: the latency of the one in the middle, as a part of the mean. */
static double median_of_mean(const struct working *w)
{
	struct ranked_cell *cells = mem_alloc(w->n_cells + 1, sizeof(*cells));
	double records = 0, cycles = 0, seen = 0, median = 0;
	size_t n = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		const struct cell_sums *sums = sums_of(w, i);

		if (is_miss_cell(w, i))
			continue;
		cells[n++] = (struct ranked_cell){ (double)sums->cycles / (double)sums->n, i };
		records += (double)sums->n;
		cycles += (double)sums->cycles;
	}
	if (n > 1)
		qsort(cells, n, sizeof(*cells), compare_latencies);
	for (size_t i = 0; i < n && seen < records / 2; i++) {
		seen += (double)sums_of(w, cells[i].cell)->n;
		median = cells[i].latency;
	}
	free(cells);
	return median * records < cycles ? median * records / cycles : 1;
}

/* Fills `by_number`, `by_waits` and `wanted`. Where no time was sampled, what missed stands for it. */
static void bound_latency(struct working *w)
{
	const double *waits = w->n_time > 0 ? w->time : w->misses;
	const double *others = w->has_misses ? w->others : w->records;
	double rest = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		if (!is_miss_cell(w, i))
			rest += (double)sums_of(w, i)->cycles;
		for (size_t c = 0; c < w->n && is_miss_cell(w, i); c++)
			w->by_number[c] += (double)sums_of(w, i)->cycles * w->shares[i * w->n + c];
	}
	w->base = median_of_mean(w);
	for (size_t c = 0; c < w->n; c++) {
		w->by_waits[c] = w->by_number[c] + rest * waits[c];
		w->by_number[c] += rest * others[c];
		w->wanted[c] = w->base * w->by_number[c] + (1 - w->base) * w->by_waits[c];
	}
	normalise(w->by_number, w->n);
	normalise(w->by_waits, w->n);
	normalise(w->wanted, w->n);
}

/* Gives slow cells to chains with power > 0, fast ones to those with power < 0. */
static void tilt_cells(struct working *w, const double *from, const double *power)
{
	for (size_t i = 0; i < w->n_cells; i++) {
		const struct cell_sums *sums = sums_of(w, i);
		double latency = log1p((double)sums->cycles / (double)sums->n);

		for (size_t c = 0; c < w->n && !is_miss_cell(w, i); c++)
			w->shares[i * w->n + c] = from[i * w->n + c] * exp(power[c] * latency);
		normalise(w->shares + i * w->n, w->n);
	}
}

/* Scales the shares so that they come to those of the samples. */
static void scale_all(struct working *w)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		scale_cells(w, w->has_misses ? w->others : w->records, !w->has_misses, true);
		if (w->has_misses)
			scale_cells(w, w->misses, true, false);
	}
}

/* Where the time around records does not tell, moves shares until those of latency are the wanted ones. */
static void fit_latency(struct working *w)
{
	double latency[CHAINS_MOST], wanted[CHAINS_MOST], power[CHAINS_MOST] = { 0 };
	size_t n = w->n_cells * w->n;
	double *from = mem_alloc(n, sizeof(*from));
	double off = 0;

	memcpy(from, w->shares, n * sizeof(*from));
	share_latency(w, w->shares, latency);
	for (size_t c = 0; c < w->n; c++) {
		wanted[c] = latency[c] + w->doubts[c] * (w->wanted[c] - latency[c]);
	}
	normalise(wanted, w->n);
	for (size_t c = 0; c < w->n; c++)
		off = fmax(off, fabs(wanted[c] - latency[c]));
	for (unsigned turn = 0; turn < TURNS && off > near_enough; turn++) {
		for (size_t c = 0; c < w->n; c++)
			if (latency[c] > 0 && wanted[c] > 0)
				power[c] += stride * log(wanted[c] / latency[c]);
		for (size_t c = 0; c < w->n; c++)
			power[c] = fmin(fmax(power[c], -steepest), steepest);
		tilt_cells(w, from, power);
		scale_all(w);
		share_latency(w, w->shares, latency);
		off = 0;
		for (size_t c = 0; c < w->n; c++)
			off = fmax(off, fabs(wanted[c] - latency[c]));
	}
	free(from);
}

/* Half of the 95 % interval of a share of which `n` samples speak (Agresti and Coull). */
static double error_by_chance(double share, double n)
{
	double more = n + 4, p = (share * n + 2) / more;

	return 1.96 * sqrt(p * (1 - p) / more);
}

/* The most that the shares of any of the chains together may differ. */
static double distance(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(a[i] - b[i]) / 2;
	return sum;
}

/* The share, of any of the chains together, that chance puts off most: the one next to a half. */
static double least_certain(const double *shares, size_t n)
{
	double most = 0;

	for (size_t c = 0; c < n; c++)
		most = shares[c] > most ? shares[c] : most;
	return most > 0.5 ? most : 0.5;
}

/*
 * Records that missed without a refill of their own waited for data on its way, which may be another chain's: then
 * they are shared as records beside samples are. By how many points the share of misses is off at most.
 */
static double doubt_of_misses(const struct working *w)
{
	double by_labels[CHAINS_MOST];

	for (size_t c = 0; c < w->n; c++)
		by_labels[c] = w->records[c] * likelihood(w->miss_labels, w->of_gap, w->n, c);
	normalise(by_labels, w->n);
	return (1 - w->refills) * distance(by_labels, w->misses, w->n);
}

/*
 * Where time does not tell: how far the latency of a chain may be from what is estimated. It is no less than if
 * its records were the fastest that did not miss, no more than if they were the slowest.
 */
static double doubt_of_latency(const struct working *w, const double *latency)
{
	struct ranked_cell *cells = mem_alloc(w->n_cells + 1, sizeof(*cells));
	double misses[CHAINS_MOST] = { 0 }, all = 0, rest = 0, most = 0;
	const double *others = w->has_misses ? w->others : w->records;
	size_t n = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		const struct cell_sums *sums = sums_of(w, i);

		all += (double)sums->cycles;
		if (!is_miss_cell(w, i)) {
			rest += (double)sums->n;
			cells[n++] =
				(struct ranked_cell){ (double)sums->cycles / (double)sums->n, i };
		}
		for (size_t c = 0; c < w->n && is_miss_cell(w, i); c++)
			misses[c] += (double)sums->cycles * w->shares[i * w->n + c];
	}
	if (n > 1)
		qsort(cells, n, sizeof(*cells), compare_latencies);
	for (size_t c = 0; c < w->n && all > 0; c++) {
		double slow = misses[c], fast = misses[c];
		double slow_left = others[c] * rest, fast_left = slow_left, off;

		for (size_t i = 0; i < n; i++) {
			double n_slow = (double)sums_of(w, cells[i].cell)->n;
			double n_fast = (double)sums_of(w, cells[n - 1 - i].cell)->n;

			slow += fmin(n_slow, slow_left) * cells[i].latency;
			fast += fmin(n_fast, fast_left) * cells[n - 1 - i].latency;
			slow_left -= fmin(n_slow, slow_left);
			fast_left -= fmin(n_fast, fast_left);
		}
		off = fmax(slow / all - latency[c], latency[c] - fast / all) * likely_part;
		off = fmax(off, fmax(fabs(w->by_number[c] - latency[c]),
				     fabs(w->by_waits[c] - latency[c])));
		most = fmax(most, w->doubts[c] * off);
	}
	free(cells);
	return most;
}

/*
 * So many samples would be as certain about a share of the records as `n_stacks` samples are, if the records are
 * `n_records`: which of a caller's operations were recorded is chance, and which chain is drawn for a record.
 */
static double certain_as(double n_stacks, double n_records)
{
	return n_stacks > 0 && n_records > 0 ? 1 / (1 / n_stacks + 2 / n_records) : 0;
}

/* So many records of one latency would have a sum as certain as that of all. */
static double records_by_latency(const struct working *w)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < w->n_cells; i++) {
		double cycles = (double)sums_of(w, i)->cycles;

		sum += cycles;
		squares += cycles * cycles / (double)sums_of(w, i)->n;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

static void judge(const struct working *w, struct callers_known *out)
{
	double n = w->n_labels / w->squares, unknown = 1 - w->locality;
	double latency[CHAINS_MOST];
	double most = least_certain(w->records, w->n);
	double of_records = error_by_chance(most, certain_as(n, (double)w->n_records));
	double of_latency = error_by_chance(most, certain_as(n, records_by_latency(w)));
	double of_misses = error_by_chance(most, certain_as(n, (double)w->n_missed));

	share_latency(w, w->shares, latency);
	out->error[CALLERS_OF_RECORDS] = of_records;
	out->error[CALLERS_OF_LATENCY] = hypot(of_latency, doubt_of_latency(w, latency));
	out->error[CALLERS_OF_MISSES] = of_misses;
	if (w->n == 1)
		return;
	/* without samples of instructions or of refills, a share may be anything */
	if (w->is_of_time) {
		out->error[CALLERS_OF_RECORDS] = hypot(of_records, unknown * most);
		out->error[CALLERS_OF_LATENCY] = hypot(of_latency, unknown * most);
	}
	if (w->has_misses)
		out->error[CALLERS_OF_MISSES] =
			hypot(error_by_chance(least_certain(w->misses, w->n),
					      certain_as(w->n_refills, (double)w->n_missed)),
			      doubt_of_misses(w));
	else if (w->n_missed > 0)
		out->error[CALLERS_OF_MISSES] = hypot(of_misses, unknown * most);
}

/* Keeps the shares of the group's cells as sums. */
static void keep_shares(struct chain_shares *s, const struct working *w)
{
	for (size_t i = 0; i < w->n_cells; i++) {
		double sum = 0;

		s->first[w->cells[i]] = s->sums.n;
		for (size_t c = 0; c < w->n; c++) {
			sum += w->shares[i * w->n + c];
			*vec_add(&s->sums) = (float)sum;
		}
	}
}

static void work_out(struct chain_shares *s, struct working *w, struct callers_known *out)
{
	struct kind_sums kinds = { 0 };

	for (size_t i = 0; i < w->n_cells; i++) {
		w->n_records += sums_of(w, i)->n;
		w->n_missed += class_of(w, i) == CELL_MISS ? sums_of(w, i)->n : 0;
	}
	*out = (struct callers_known){
		.place = stack_at(w, 0)->place,
		.is_by_thread = w->g->is_by_thread,
		.id = w->g->id,
		.n_stacks = w->g->stacks.n,
		.n_records = w->n_records,
	};
	if (w->n_cells == 0)
		return;
	w->shares = mem_zalloc(w->n_cells * w->n, sizeof(*w->shares));
	count_samples(w, &kinds);
	w->has_misses = w->n_refills > 0 && w->n_missed > 0;
	w->refills = part_with_refills(w, &kinds);
	learn(w, &kinds);
	split_misses(w);
	share_cells(w);
	scale_all(w);
	judge_gaps(w);
	bound_latency(w);
	fit_latency(w);
	judge(w, out);
	keep_shares(s, w);
	free(w->shares);
}

/* Cells by group, class and gap: their own numbers depend on who saw them first. */
static int compare_cells(const void *left, const void *right, void *context)
{
	const struct tuples *cells = context;
	const uint64_t *a = tuples_get(cells, *(const uint32_t *)left);
	const uint64_t *b = tuples_get(cells, *(const uint32_t *)right);

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return (a[1] > b[1]) - (a[1] < b[1]);
}

static void add_known(struct callers_known *all, const struct callers_known *one)
{
	all->n_records += one->n_records;
	all->n_stacks += one->n_records > 0 ? one->n_stacks : 0;
	for (size_t q = 0; q < N_CALLERS_QUANTITIES; q++)
		all->error[q] += one->error[q] * (double)one->n_records;
}

void chain_shares_init(struct chain_shares *s, const struct neighbours *neighbours)
{
	const struct caller_groups *groups = neighbours->groups;
	uint32_t n_cells = neighbours->cells.n;
	uint32_t *order = mem_alloc(n_cells + 1, sizeof(*order));
	struct working *w = mem_alloc(1, sizeof(*w));
	size_t at = 0;

	*s = (struct chain_shares){ .neighbours = neighbours };
	s->first = mem_zalloc(n_cells + 1, sizeof(*s->first));
	s->known = mem_zalloc(groups->list.n + 1, sizeof(*s->known));
	for (uint32_t i = 0; i < n_cells; i++)
		order[i] = i;
	qsort_r(order, n_cells, sizeof(*order), compare_cells,
		(void *)(uintptr_t)&neighbours->cells);
	for (size_t i = 0; i < groups->list.n; i++) {
		*w = (struct working){
			.g = &groups->list.items[i],
			.neighbours = neighbours,
			.n = groups->list.items[i].list.n,
			.cells = order + at,
		};
		while (at < n_cells && tuples_get(&neighbours->cells, order[at])[0] == i)
			at++;
		w->n_cells = (size_t)(order + at - w->cells);
		work_out(s, w, &s->known[i]);
		add_known(&s->all, &s->known[i]);
	}
	for (size_t q = 0; q < N_CALLERS_QUANTITIES && s->all.n_records > 0; q++)
		s->all.error[q] /= (double)s->all.n_records;
	free(order);
	free(w);
}

void chain_shares_release(struct chain_shares *s)
{
	free(s->first);
	free(s->known);
	vec_release(&s->sums);
	*s = (struct chain_shares){ 0 };
}
