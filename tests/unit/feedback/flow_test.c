/* SPDX-License-Identifier: Apache-2.0 */
/* Flows through graphs that are made up here: they conserve, are not negative, and agree with the evidence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "feedback/flow/flow.h"

enum { MOST_EDGES = 8 };

/* A graph; `want` NAN: any number. */
struct example {
	const char *what;
	uint32_t n_nodes;
	struct {
		struct flow_edge edge;
		double want;
	} edges[MOST_EDGES];
};

#define OBSERVED(from, to, n, rate)                                                                \
	{                                                                                          \
		from, to, n, rate, 0                                                               \
	}
#define HIDDEN(from, to)                                                                           \
	{                                                                                          \
		from, to, 0, 0, 0                                                                  \
	}

static const struct example examples[] = {
	{ "what is seen once holds on the whole way",
	  4,
	  { { HIDDEN(0, 1), 300 },
	    { OBSERVED(1, 2, 30, 0.1), 300 },
	    { HIDDEN(2, 3), 300 },
	    { HIDDEN(3, 0), 300 } } },
	{ "two observations of one way: as many records as both have, by both rates",
	  3,
	  { { OBSERVED(0, 1, 30, 0.1), 900 },
	    { OBSERVED(1, 2, 240, 0.2), 900 },
	    { HIDDEN(2, 0), 900 } } },
	{ "what was not seen of a branch is left over",
	  3,
	  { { OBSERVED(0, 1, 1000, 1), 1000 },
	    { OBSERVED(1, 2, 300, 1), 300 },
	    { HIDDEN(1, 0), 700 },
	    { HIDDEN(2, 0), 300 } } },
	{ "a side that leaves nothing is 0, not negative",
	  3,
	  { { OBSERVED(0, 1, 100, 1), 110 },
	    { OBSERVED(1, 2, 120, 1), 110 },
	    { HIDDEN(1, 0), 0 },
	    { HIDDEN(2, 0), 110 } } },
	{ "a loop, of which the way back is derived",
	  4,
	  { { OBSERVED(0, 1, 10, 1), 10 },
	    { OBSERVED(1, 2, 1000, 1), 1000 },
	    { HIDDEN(2, 1), 990 },
	    { OBSERVED(2, 3, 10, 1), 10 },
	    { HIDDEN(3, 0), 10 } } },
	{ "nothing was seen",
	  3,
	  { { HIDDEN(0, 1), 0 }, { HIDDEN(1, 2), 0 }, { HIDDEN(2, 0), 0 } } },
	{ "an edge that leads nowhere takes nothing",
	  3,
	  { { OBSERVED(0, 1, 50, 1), 50 },
	    { OBSERVED(1, 0, 50, 1), 50 },
	    { OBSERVED(1, 2, 20, 1), 0 } } },
	{ "a part that is not tied to the outside goes round",
	  3,
	  { { OBSERVED(1, 2, 40, 0.5), 80 }, { OBSERVED(2, 1, 40, 0.5), 80 } } },
	{ "an edge from a node to itself",
	  2,
	  { { OBSERVED(0, 1, 7, 1), 7 },
	    { OBSERVED(1, 1, 90, 1), 90 },
	    { OBSERVED(1, 0, 7, 1), 7 } } },
	{ "records of an edge without a rate are not looked at",
	  2,
	  { { OBSERVED(0, 1, 99, 0), 5 }, { OBSERVED(1, 0, 5, 1), 5 } } },
};

static void check_flow(const struct flow_edge *edges, size_t n, uint32_t n_nodes, const char *what)
{
	double *excess = mem_zalloc(n_nodes, sizeof(*excess)), largest = 1;

	for (size_t i = 0; i < n; i++) {
		if (!(edges[i].executions >= 0))
			fail_msg("%s: edge %zu has %g", what, i, edges[i].executions);
		excess[edges[i].to] += edges[i].executions;
		excess[edges[i].from] -= edges[i].executions;
		largest = fmax(largest, edges[i].executions);
	}
	for (uint32_t i = 1; i < n_nodes; i++)
		if (fabs(excess[i]) > 1e-6 * largest)
			fail_msg("%s: node %u: %g too many", what, i, excess[i]);
	free(excess);
}

static void examples_are_solved(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		const struct example *x = &examples[i];
		struct flow_edge edges[MOST_EDGES];
		size_t n = 0;

		while (n < MOST_EDGES && (x->edges[n].edge.from != 0 || x->edges[n].edge.to != 0)) {
			edges[n] = x->edges[n].edge;
			n++;
		}
		assert_true(flow_fit(edges, n, x->n_nodes));
		check_flow(edges, n, x->n_nodes, x->what);
		for (size_t k = 0; k < n; k++)
			if (fabs(edges[k].executions - x->edges[k].want) >
			    0.02 * (1 + x->edges[k].want))
				fail_msg("%s: edge %zu: %g, wanted %g", x->what, k,
					 edges[k].executions, x->edges[k].want);
	}
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 33) % n);
}

/* About `mean`, as a count of records would be. */
static double random_count(uint64_t *seed, double mean)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += random_below(seed, 1 << 20) / (double)(1 << 20);
	return fmax(0, floor(mean + sqrt(mean) * (sum - 6) + 0.5));
}

typedef VEC_OF(struct flow_edge) edge_list;

/* Blocks in a row with branches on and back, as a function has them; a walk through it is the truth. */
static void make_function(uint64_t *seed, uint32_t n_blocks, edge_list *out, double **out_truth)
{
	uint32_t *way = mem_alloc(n_blocks + 1, sizeof(*way));

	for (uint32_t b = 1; b <= n_blocks; b++) {
		uint32_t next = b < n_blocks ? b + 1 : FLOW_OUTSIDE;

		way[b] = (uint32_t)out->n;
		*vec_add(out) = (struct flow_edge){ .from = b, .to = next };
		*vec_add(out) =
			(struct flow_edge){ .from = b, .to = 1 + random_below(seed, n_blocks) };
	}
	*vec_add(out) = (struct flow_edge){ .from = FLOW_OUTSIDE, .to = 1 };
	*out_truth = mem_zalloc(out->n, sizeof(**out_truth));
	for (uint32_t walks = 0; walks < 20; walks++) {
		uint32_t at = 1;

		(*out_truth)[out->n - 1]++;
		for (uint32_t steps = 0; at != FLOW_OUTSIDE; steps++) {
			bool is_taken = steps < 50 * n_blocks && random_below(seed, 3) == 0;
			uint32_t edge = way[at] + is_taken;

			(*out_truth)[edge]++;
			at = out->items[edge].to;
		}
	}
	free(way);
}

/* Of random functions, the evidence of most edges. */
static void random_functions_come_near_the_truth(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 5, 30, 300 };
	static const double rate = 0.02;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t random = seed;
		uint32_t n_blocks = sizes[seed % COUNT(sizes)];
		edge_list edges = { 0 };
		double *truth, found = 0, given = 0;
		size_t n = 0;

		make_function(&random, n_blocks, &edges, &truth);
		for (size_t i = 0; i < edges.n; i++) {
			edges.items[i].rate = random_below(&random, 4) == 0 ? 0 : rate;
			edges.items[i].n = random_count(&random, truth[i] * edges.items[i].rate);
		}
		assert_true(flow_fit(edges.items, edges.n, n_blocks + 1));
		check_flow(edges.items, edges.n, n_blocks + 1, "random");
		for (size_t i = 0; i < edges.n; i++) {
			const struct flow_edge *e = &edges.items[i];
			double error = sqrt(fmax(truth[i], 0.5 / rate) / rate);

			if (e->rate == 0)
				continue;
			if (fabs(e->executions - truth[i]) > 4 * error)
				fail_msg("seed %llu: edge %zu: %g, wanted %g ± %g",
					 (unsigned long long)seed, i, e->executions, truth[i],
					 error);
			found += pow((e->executions - truth[i]) / error, 2);
			given += pow((e->n / e->rate - truth[i]) / error, 2);
			n++;
		}
		/* the fit is nearer to the truth than what it was made of */
		if (n > 50)
			assert_true(found < given);
		free(truth);
		vec_release(&edges);
	}
}

/* A graph whose factors would not fit is left alone, with what each edge says. */
static void dense_graphs_are_refused(void **state)
{
	enum { SIDE = 3000 };
	edge_list edges = { 0 };
	uint64_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < 100 * SIDE; i++)
		*vec_add(&edges) = (struct flow_edge){ .from = 1 + random_below(&random, SIDE),
						       .to = 1 + random_below(&random, SIDE),
						       .n = 3,
						       .rate = 0.5 };
	assert_false(flow_fit(edges.items, edges.n, SIDE + 1));
	assert_true(edges.items[0].executions == 6);
	vec_release(&edges);
}

/* A long chain with numbers of many sizes: of a function of a hundred thousand blocks. */
static void long_chains_are_solved(void **state)
{
	enum { LENGTH = 100000 };
	edge_list edges = { 0 };

	(void)state;
	for (uint32_t i = 0; i <= LENGTH; i++)
		*vec_add(&edges) = (struct flow_edge){ .from = i,
						       .to = i < LENGTH ? i + 1 : FLOW_OUTSIDE,
						       .n = i % 100 == 0 ? 5e6 : 0,
						       .rate = i % 100 == 0 ? 1e-3 : 0 };
	assert_true(flow_fit(edges.items, edges.n, LENGTH + 1));
	check_flow(edges.items, edges.n, LENGTH + 1, "chain");
	assert_true(fabs(edges.items[777].executions / 5e9 - 1) < 1e-6);
	vec_release(&edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_are_solved),
		cmocka_unit_test(random_functions_come_near_the_truth),
		cmocka_unit_test(dense_graphs_are_refused),
		cmocka_unit_test(long_chains_are_solved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
