/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/flow/flow.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "feedback/flow/laplacian.h"

enum {
	MOST_ROUNDS = 40, /* of weights */
	MOST_STEPS = 60,  /* of Newton's method */
	MOST_HALVINGS = 40,
};

static const double settled = 0.01;   /* standard errors: executions change less in a round */
static const double balanced = 1e-10; /* part of the largest flow that may be missing at a node */
static const double least_records = 0.5; /* an edge's variance is never less than that of so many */
static const double unobserved_times = 1000; /* the variance of an unobserved edge to the largest */
static const double least_of_largest = 1e-9; /* of variances: else digits are lost */

/* One problem of least squares: minimise the sum of (executions - wanted)² / (2 variance). */
struct least_squares {
	const struct flow_edge *edges;
	size_t n_edges;
	uint32_t n_nodes;
	uint32_t (*ends)[2];
	double *wanted, *variance;
	double *potential;	    /* by node; [0] is 0 */
	double *flow, *excess;	    /* of these potentials; by edge, by node */
	bool *is_free;		    /* an edge whose flow is not held at 0 */
	double *weights, *step, *b; /* scratch */
	struct laplacian matrix;
};

/* The flow of potentials, and what is missing at the nodes. Returns the value to be minimised. */
static double flow_of(struct least_squares *q, const double *potential)
{
	double value = 0;

	for (uint32_t i = 0; i < q->n_nodes; i++)
		q->excess[i] = 0;
	for (size_t i = 0; i < q->n_edges; i++) {
		const struct flow_edge *e = &q->edges[i];
		double flow =
			q->wanted[i] + q->variance[i] * (potential[e->to] - potential[e->from]);

		q->is_free[i] = flow >= 0;
		q->flow[i] = flow > 0 ? flow : 0;
		q->excess[e->to] += q->flow[i];
		q->excess[e->from] -= q->flow[i];
		value += q->flow[i] * q->flow[i] / (2 * q->variance[i]);
	}
	return value;
}

static bool is_balanced(const struct least_squares *q)
{
	double largest = 0, missing = 0;

	for (size_t i = 0; i < q->n_edges; i++)
		largest = fmax(largest, q->flow[i]);
	for (uint32_t i = 1; i < q->n_nodes; i++)
		missing = fmax(missing, fabs(q->excess[i]));
	return missing <= largest * balanced;
}

/* Goes along `step` as far as that is of use. False if it is of none. */
static bool take_step(struct least_squares *q, double value, double *out_value)
{
	double *before = q->b, slope = 0;

	for (uint32_t i = 1; i < q->n_nodes; i++) {
		before[i] = q->potential[i];
		slope += q->excess[i] * q->step[i];
	}
	for (int i = 0; i < MOST_HALVINGS; i++) {
		double length = ldexp(1, -i);

		for (uint32_t k = 1; k < q->n_nodes; k++)
			q->potential[k] = before[k] + length * q->step[k];
		*out_value = flow_of(q, q->potential);
		if (*out_value <= value + 1e-4 * length * slope)
			return true;
	}
	for (uint32_t k = 1; k < q->n_nodes; k++)
		q->potential[k] = before[k];
	*out_value = flow_of(q, q->potential);
	return false;
}

static void solve(struct least_squares *q)
{
	double value = flow_of(q, q->potential);

	for (int i = 0; i < MOST_STEPS && !is_balanced(q); i++) {
		/* an edge that is held at 0 stays so for a small step: it ties nothing */
		for (size_t k = 0; k < q->n_edges; k++)
			q->weights[k] = q->is_free[k] ? q->variance[k] : 0;
		for (uint32_t k = 0; k < q->n_nodes; k++)
			q->b[k] = -q->excess[k];
		laplacian_solve(&q->matrix, (const uint32_t(*)[2])q->ends, q->weights, q->n_edges,
				q->b, q->step);
		if (!take_step(q, value, &value))
			return;
	}
}

/* The variance of what an edge says, if it is executed so often. */
static double edge_variance(const struct flow_edge *e, double executions)
{
	return fmax(executions, least_records / e->rate) / e->rate;
}

static void set_variances(struct least_squares *q, const struct flow_edge *edges)
{
	double largest = 0;

	for (size_t i = 0; i < q->n_edges; i++) {
		if (edges[i].rate <= 0)
			continue;
		q->variance[i] = edge_variance(&edges[i], edges[i].executions);
		largest = fmax(largest, q->variance[i]);
	}
	for (size_t i = 0; i < q->n_edges; i++) {
		if (edges[i].rate > 0) {
			q->variance[i] = fmax(q->variance[i], least_of_largest * largest);
			continue;
		}
		q->variance[i] = largest > 0 ? unobserved_times * largest : 1;
		q->wanted[i] = edges[i].executions;
	}
}

/* Takes the flow over. Returns by how many standard errors the edge changed that changed most. */
static double take_flow(const struct least_squares *q, struct flow_edge *edges)
{
	double most = 0;

	for (size_t i = 0; i < q->n_edges; i++) {
		double change = fabs(q->flow[i] - edges[i].executions);

		if (edges[i].rate > 0)
			most = fmax(most, change / sqrt(edge_variance(&edges[i], q->flow[i])));
		edges[i].executions = q->flow[i];
	}
	return most;
}

static void least_squares_init(struct least_squares *q, const struct flow_edge *edges,
			       size_t n_edges, uint32_t n_nodes)
{
	*q = (struct least_squares){ .edges = edges, .n_edges = n_edges, .n_nodes = n_nodes };
	q->ends = mem_alloc(n_edges + 1, sizeof(*q->ends));
	q->wanted = mem_zalloc(n_edges + 1, sizeof(*q->wanted));
	q->variance = mem_zalloc(n_edges + 1, sizeof(*q->variance));
	q->flow = mem_zalloc(n_edges + 1, sizeof(*q->flow));
	q->is_free = mem_zalloc(n_edges + 1, sizeof(*q->is_free));
	q->weights = mem_zalloc(n_edges + 1, sizeof(*q->weights));
	q->potential = mem_zalloc(n_nodes, sizeof(*q->potential));
	q->excess = mem_zalloc(n_nodes, sizeof(*q->excess));
	q->step = mem_zalloc(n_nodes, sizeof(*q->step));
	q->b = mem_zalloc(n_nodes, sizeof(*q->b));
	for (size_t i = 0; i < n_edges; i++) {
		q->ends[i][0] = edges[i].from;
		q->ends[i][1] = edges[i].to;
		q->wanted[i] = edges[i].executions;
	}
}

static void least_squares_release(struct least_squares *q)
{
	free(q->ends);
	free(q->wanted);
	free(q->variance);
	free(q->flow);
	free(q->is_free);
	free(q->weights);
	free(q->potential);
	free(q->excess);
	free(q->step);
	free(q->b);
	laplacian_release(&q->matrix);
}

bool flow_fit(struct flow_edge *edges, size_t n_edges, uint32_t n_nodes)
{
	struct least_squares q;
	bool is_fitted;

	for (size_t i = 0; i < n_edges; i++)
		edges[i].executions = edges[i].rate > 0 ? edges[i].n / edges[i].rate : 0;
	least_squares_init(&q, edges, n_edges, n_nodes);
	is_fitted = laplacian_init(&q.matrix, n_nodes, (const uint32_t(*)[2])q.ends, n_edges);
	for (int i = 0; i < MOST_ROUNDS && is_fitted; i++) {
		set_variances(&q, edges);
		/* potentials are of the weights before: what they say is still a good beginning */
		solve(&q);
		if (take_flow(&q, edges) < settled)
			break;
	}
	least_squares_release(&q);
	return is_fitted;
}
