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
 * Where callers take turns faster than records come, time says nothing of the caller of a slow record. Two
 * answers bound it then: slow records have callers as others do; or the slowest are of the caller with the
 * most misses. The shares are the mean of both, their error half of the distance.
 */
#include "callers/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	ROUNDS = 3,		/* of scaling */
	INSTRUCTIONS_LEAST = 5, /* samples; with fewer, those of cycles are used */
};

/* Records that a likelihood is smoothed by: as many, spread as those of all chains. */
static const double smoothing = 2;

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
	double locality;
	double *apart; /* by cell and chain: the shares if the slowest records are of the chains with the most misses */
	double doubt; /* 0 … 1: how little the time around records tells */
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

/*
 * How well the gap around a record tells the chain: 0 nothing, 1 all. Of each labelled record, by all
 * others: the mean share of its own chain, beyond what chance gives.
 */
static double locality_of(const struct working *w)
{
	double own = 0, chance = 0, all = 0;

	for (size_t c = 0; c < w->n; c++)
		all += w->of_gap[c];
	if (all < 2)
		return 0;
	for (size_t c = 0; c < w->n; c++)
		chance += w->of_gap[c] / all * (w->of_gap[c] / all);
	for (unsigned gap = 0; gap < CELL_GAPS; gap++) {
		double sum = 0;

		for (size_t c = 0; c < w->n; c++)
			sum += w->by_gap[gap][c];
		for (size_t c = 0; c < w->n && sum > 0; c++) {
			double n = w->by_gap[gap][c];
			double others = n > 1 ? n - 1 : 0;

			own += n / all * (others + smoothing * w->of_gap[c] / all) /
			       ((sum > 1 ? sum - 1 : 0) + smoothing);
		}
	}
	return chance < 1 && own > chance ? (own - chance) / (1 - chance) : chance < 1 ? 0 : 1;
}

/* Chains in order of misses by record, most first. */
struct ranked_chain {
	double misses;
	size_t chain;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_chain *a = left, *b = right;

	if (a->misses != b->misses)
		return a->misses > b->misses ? -1 : 1;
	return (a->chain > b->chain) - (a->chain < b->chain);
}

static void rank_chains(const struct working *w, struct ranked_chain *out)
{
	const double few = 10; /* samples that ratios are smoothed by */

	for (size_t c = 0; c < w->n; c++)
		out[c] = (struct ranked_chain){
			.misses = (w->misses[c] * w->n_refills + few * w->records[c]) /
				  (w->records[c] + 1e-9),
			.chain = c,
		};
	qsort(out, w->n, sizeof(*out), compare_ranked);
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

/*
 * Fills `apart`: the slowest of the records that did not miss belong to the first chain, as many as it has,
 * the next to the second … Misses are shared as they are.
 */
static void set_apart(struct working *w)
{
	struct ranked_chain chains[CHAINS_MOST];
	struct ranked_cell *cells = mem_zalloc(w->n_cells + 1, sizeof(*cells));
	double left[CHAINS_MOST];
	size_t n = 0, next = 0;

	rank_chains(w, chains);
	memcpy(w->apart, w->shares, w->n_cells * w->n * sizeof(*w->shares));
	for (size_t i = 0; i < w->n_cells; i++)
		if (!w->has_misses || class_of(w, i) != CELL_MISS)
			cells[n++] = (struct ranked_cell){
				(double)sums_of(w, i)->cycles / (double)sums_of(w, i)->n, i
			};
	if (n > 1)
		qsort(cells, n, sizeof(*cells), compare_latencies);
	for (size_t c = 0; c < w->n; c++)
		left[c] = (w->has_misses ? w->others[c] : w->records[c]) *
			  (double)(w->n_records - (w->has_misses ? w->n_missed : 0));
	for (size_t i = 0; i < n; i++) {
		double *shares = w->apart + cells[i].cell * w->n;
		double wanted = (double)sums_of(w, cells[i].cell)->n, n_all = wanted;

		memset(shares, 0, w->n * sizeof(*shares));
		while (wanted > 0 && next < w->n) {
			size_t chain = chains[next].chain;
			double taken = left[chain] < wanted ? left[chain] : wanted;

			shares[chain] += taken / n_all;
			left[chain] -= taken;
			wanted -= taken;
			next += wanted > 0;
		}
		if (wanted > 0) /* rounding */
			shares[chains[w->n - 1].chain] += wanted / n_all;
	}
	free(cells);
}

/* Moves the shares between both answers, where time does not tell. */
static void mix_apart(struct working *w)
{
	double part = w->has_misses ? w->doubt / 2 : 0;

	for (size_t i = 0; i < w->n_cells * w->n; i++)
		w->shares[i] += part * (w->apart[i] - w->shares[i]);
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

static void judge(const struct working *w, struct callers_known *out)
{
	double n = w->n_labels / w->squares, unknown = 1 - w->locality;
	double latency[CHAINS_MOST], apart[CHAINS_MOST];
	double most = least_certain(w->records, w->n);
	double chance = error_by_chance(most, n), slow, time;

	share_latency(w, w->shares, latency);
	share_latency(w, w->apart, apart);
	slow = distance(apart, latency, w->n) * w->doubt;
	time = w->n_time > 0 ? distance(latency, w->time, w->n) * unknown : 0;
	out->error[CALLERS_OF_RECORDS] = out->error[CALLERS_OF_MISSES] = chance;
	out->error[CALLERS_OF_LATENCY] = hypot(chance, slow > time ? slow : time);
	if (w->n == 1)
		return;
	/* without samples of instructions or of refills, a share may be anything */
	if (w->is_of_time)
		out->error[CALLERS_OF_RECORDS] = out->error[CALLERS_OF_LATENCY] =
			hypot(chance, unknown * most);
	if (w->has_misses)
		out->error[CALLERS_OF_MISSES] =
			error_by_chance(least_certain(w->misses, w->n), w->n_refills);
	else if (w->n_missed > 0)
		out->error[CALLERS_OF_MISSES] = hypot(chance, unknown * most);
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
	w->apart = mem_zalloc(w->n_cells * w->n, sizeof(*w->apart));
	count_samples(w, &kinds);
	w->has_misses = w->n_refills > 0 && w->n_missed > 0;
	learn(w, &kinds);
	split_misses(w);
	share_cells(w);
	for (unsigned i = 0; i < ROUNDS; i++) {
		scale_cells(w, w->has_misses ? w->others : w->records, !w->has_misses, true);
		if (w->has_misses)
			scale_cells(w, w->misses, true, false);
	}
	w->locality = locality_of(w);
	w->doubt = w->locality < 0.5 ? 1 - 2 * w->locality : 0;
	set_apart(w);
	mix_apart(w);
	judge(w, out);
	keep_shares(s, w);
	free(w->shares);
	free(w->apart);
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
