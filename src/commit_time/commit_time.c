/* SPDX-License-Identifier: Apache-2.0 */
/* From the walk and the two scans to shares of time. */
#include "commit_time/commit_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commit_time/inside.h"
#include "cpu/pmu.h"
#include "scan/spe_filters.h"

enum {
	NAMELESS_BYTES = 4096, /* of code without names: a function */
	MOST_WINDOW = 1024,
	LEAST_PAIRS = 100, /* that tell the time of functions */
	HIT_CYCLES = 4,	   /* of a load that finds its data in the L1D */
};

/* Of an operation: a function that the walk gives no time has some. */
static const double least_cycles = 0.01;

/* Where the catalog does not know: about a Neoverse N1. */
static const struct commit_cpu usual = {
	.width = 4,
	.window = 128,
	.refill_cycles = 11,
	.l2_cycles = 11,
	.memory_cycles = 283,
	.line_gap = 11,
};

static void read_cpu(const struct session *s, struct commit_cpu *out)
{
	const struct cpu *cpu = s->cpu != NULL ? s->cpu : catalog_cpu_find(s->catalog, CPU_ANY_ARM);
	struct cpu_pmu *pmu;
	struct err err;
	double l1, memory;

	*out = usual;
	if (cpu_costs_open(s->catalog, cpu, &pmu, &err) < 0)
		return;
	l1 = cpu_penalty_cycles(pmu, "l1d_miss");
	memory = l1 + cpu_penalty_cycles(pmu, "l2_miss") + cpu_penalty_cycles(pmu, "llc_miss");
	out->width = (unsigned)cpu_most_ipc(pmu);
	if (pmu->reorder_entries > 0)
		out->window =
			pmu->reorder_entries < MOST_WINDOW ? pmu->reorder_entries : MOST_WINDOW;
	if (cpu_penalty_cycles(pmu, "mispredict") > 0)
		out->refill_cycles = (unsigned)cpu_penalty_cycles(pmu, "mispredict");
	if (l1 > 0)
		out->l2_cycles = HIT_CYCLES + (unsigned)l1;
	if (memory > l1)
		out->memory_cycles = HIT_CYCLES + (unsigned)memory;
	if (pmu->outstanding_lines > 0)
		out->line_gap = out->memory_cycles / pmu->outstanding_lines;
	cpu_pmu_free(pmu);
}

struct commit_time *commit_time_new(struct session *s, const struct select *select,
				    const char **out_obstacle)
{
	struct commit_time *t;

	*out_obstacle = spe_filters_obstacle(s, select);
	if (*out_obstacle != NULL)
		return NULL;
	t = mem_zalloc(1, sizeof(*t));
	t->session = s;
	read_cpu(s, &t->cpu);
	return t;
}

void commit_time_free(struct commit_time *t)
{
	if (t == NULL)
		return;
	free(t->function_of);
	free(t->weights);
	free(t->records);
	free(t->shares);
	free(t);
}

struct analysis commit_time_first(const struct commit_time *t)
{
	return (struct analysis){ .class = &commit_records_class, .options = t };
}

struct analysis commit_time_second(const struct commit_time *t)
{
	return (struct analysis){ .class = &commit_pairs_class, .options = t };
}

/* A function's key: module and offset of its start; of code without names, of its page. */
static void function_key(const struct commit_time *t, const struct names *names, uint32_t place,
			 uint64_t key[2])
{
	struct place at = session_place(t->session, place);
	const struct symbol *symbol = &names->symbols[place];

	key[0] = at.module.v;
	key[1] = symbol->function.v != 0 ? at.offset - symbol->function_offset
					 : at.offset - at.offset % NAMELESS_BYTES;
}

struct ranked {
	uint32_t number;
	uint64_t n;
	const uint64_t *key;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	if (a->key[0] != b->key[0])
		return (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
	return (a->key[1] > b->key[1]) - (a->key[1] < b->key[1]);
}

/* Numbers functions by records: the first are told apart. */
static void number_functions(struct commit_time *t, const struct names *names,
			     const struct commit_records *records)
{
	VEC_OF(struct ranked) list = { 0 };
	uint32_t *of_place = mem_alloc(t->n_places + 1, sizeof(*of_place)), *rank;
	struct tuples keys;

	tuples_init(&keys, 2);
	for (uint32_t i = 0; i < t->n_places && i < records->places.n; i++) {
		uint64_t key[2];

		if (records->places.items[i].n == 0)
			continue;
		function_key(t, names, i, key);
		of_place[i] = tuples_add(&keys, key);
		if (of_place[i] == list.n)
			vec_add(&list)->number = of_place[i];
		list.items[of_place[i]].n += records->places.items[i].n;
	}
	for (size_t i = 0; i < list.n; i++)
		list.items[i].key = tuples_get(&keys, (uint32_t)i);
	if (list.n > 1)
		qsort(list.items, list.n, sizeof(*list.items), compare_ranked);
	rank = mem_alloc(list.n + 1, sizeof(*rank));
	for (uint32_t i = 0; i < list.n; i++)
		rank[list.items[i].number] = i;
	for (uint32_t i = 0; i < t->n_places; i++) {
		bool has_records = i < records->places.n && records->places.items[i].n > 0;

		t->function_of[i] = has_records && rank[of_place[i]] < OTHER_FUNCTIONS
					    ? (uint16_t)rank[of_place[i]]
					    : OTHER_FUNCTIONS;
	}
	tuples_release(&keys);
	vec_release(&list);
	free(of_place);
	free(rank);
}

/* Records × cycles for each execution; of code where the walk was not, as the walk's mean. */
static void weigh(struct commit_time *t, const struct program *p)
{
	double cycles = 0, n = 0, all = 0, mean;

	for (size_t i = 0; i < p->nodes.n; i++) {
		cycles += p->nodes.items[i].cycles;
		n += (double)p->nodes.items[i].n_executed;
	}
	mean = n > 0 ? cycles / n : 1;
	for (uint32_t k = 0; k < t->n_places; k++) {
		uint32_t i = p->order[k];
		const struct node *node =
			p->nodes_of[i] == NO_NODE ? NULL : &p->nodes.items[p->nodes_of[i]];
		double records = i < p->records->places.n ? p->records->places.items[i].n : 0;
		double each = node == NULL || node->n_executed == 0
				      ? mean
				      : node->cycles / (double)node->n_executed;

		all += records;
		t->records[i] = (uint32_t)records;
		t->weights[i] = records * each;
		t->function_weights[t->function_of[i]] += t->weights[i];
		t->function_records[t->function_of[i]] += records;
	}
	t->known = all > 0 ? (double)p->n_records / all : 0;
}

/*
 * A thread may have waited between two records, of which captures without switch records say
 * nothing. Then the time is many times what the walk says of the operations, at 1 GHz.
 */
static void limit_gaps(struct commit_time *t)
{
	enum { SLOWER = 16, USUAL_INTERVAL = 4096 };
	uint64_t interval = spe_interval_range(t->session).longest;

	for (int f = 0; f < MOST_FUNCTIONS; f++) {
		double cycles = t->function_records[f] > 0
					? t->function_weights[f] / t->function_records[f]
					: 0;

		t->longest_ns[f] = (uint64_t)(SLOWER * fmax(cycles, 1) *
					      (double)(interval > 0 ? interval : USUAL_INTERVAL));
	}
}

void commit_time_walk(struct commit_time *t, const struct names *names, void *first_result)
{
	struct commit_records *records = first_result;
	struct program p;

	t->n_places = place_numbers_n(t->session->places);
	t->function_of = mem_zalloc(t->n_places + 1, sizeof(*t->function_of));
	t->weights = mem_zalloc(t->n_places + 1, sizeof(*t->weights));
	t->records = mem_zalloc(t->n_places + 1, sizeof(*t->records));
	t->shares = mem_zalloc(t->n_places + 1, sizeof(*t->shares));
	program_init(&p, t->session, records, &t->cpu);
	number_functions(t, names, records);
	program_walk(&p);
	weigh(t, &p);
	limit_gaps(t);
	program_release(&p);
	commit_records_class.free(records);
}

/* Splits time between functions by so many operations of each, by what the walk says they take. */
static void split(const struct commit_time *t, const double *operations, double ns, double *times)
{
	double parts[MOST_FUNCTIONS], whole = 0;

	for (int f = 0; f < MOST_FUNCTIONS; f++) {
		parts[f] = 0;
		if (operations[f] == 0 || t->function_records[f] == 0)
			continue;
		parts[f] = operations[f] *
			   (t->function_weights[f] / t->function_records[f] + least_cycles);
		whole += parts[f];
	}
	for (int f = 0; f < MOST_FUNCTIONS && whole > 0; f++)
		times[f] += ns * parts[f] / whole;
}

/* The time of each function, in ns; false if there are too few pairs. */
static bool function_times(const struct commit_time *t, const struct commit_pairs *p, double *times)
{
	double(*near)[MOST_FUNCTIONS] = mem_zalloc(MOST_FUNCTIONS, sizeof(*near));
	double operations[MOST_FUNCTIONS], n_all = 0;

	for (int i = 0; i < MOST_FUNCTIONS; i++) {
		double n = 0;

		for (int k = 0; k < MOST_FUNCTIONS; k++)
			n += (double)(p->n[i][k] + p->n[k][i]);
		for (int k = 0; k < MOST_FUNCTIONS && n > 0; k++)
			near[i][k] = (double)(p->n[i][k] + p->n[k][i]) / n;
		n_all += n;
	}
	for (int i = 0; i < MOST_FUNCTIONS; i++) {
		for (int k = 0; k < MOST_FUNCTIONS; k++) {
			if (p->n[i][k] == 0)
				continue;
			for (int f = 0; f < MOST_FUNCTIONS; f++)
				operations[f] = near[i][f] + near[k][f];
			split(t, operations, (double)p->ns[i][k], times);
		}
	}
	free(near);
	return n_all >= 2 * LEAST_PAIRS;
}

const char *commit_time_finish(struct commit_time *t, void *second_result)
{
	struct commit_pairs *pairs = second_result;
	double times[MOST_FUNCTIONS] = { 0 }, whole = 0;

	if (!function_times(t, pairs, times))
		memcpy(times, t->function_weights, sizeof(times));
	for (int f = 0; f < MOST_FUNCTIONS; f++)
		whole += t->function_weights[f] > 0 ? times[f] : 0;
	for (uint32_t i = 0; i < t->n_places && whole > 0; i++) {
		unsigned f = t->function_of[i];

		if (t->weights[i] > 0)
			t->shares[i] = times[f] / whole * t->weights[i] / t->function_weights[f];
	}
	commit_pairs_class.free(pairs);
	return t->known > 0 ? NULL
			    : "no A64 code of what was sampled is here (--symfs, --debug-dir)";
}

uint64_t commit_time_share(const struct commit_time *t, uint32_t place, uint64_t n)
{
	if (place >= t->n_places || t->records[place] == 0)
		return 0;
	return (uint64_t)(t->shares[place] * ((double)n / t->records[place]) *
			  (double)COMMIT_TIME_WHOLE);
}

void commit_time_note(const struct commit_time *time, const char *obstacle, struct table *t)
{
	const double nearly_all = 0.95;

	if (obstacle != NULL) {
		table_note(t, "no estimate of the time: %s", obstacle);
		return;
	}
	table_note(t, "time estimate: an estimate from latencies and code; waits for instructions "
		      "and locks "
		      "are not in records");
	if (time->known < nearly_all)
		table_note(t,
			   "%.0f %% of the SPE records are of code that is not here: their time "
			   "is a guess",
			   100 * (1 - time->known));
}
