/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions of a control flow graph that agree with what was sampled: as many go into each node as
 * come out of it, and none is negative.
 *
 * An edge with `n` records, of which each execution makes `rate` on average, was executed n / rate
 * times, give or take chance (Poisson). Of all flows this finds the most likely one. It is found by
 * weighted least squares, repeated with the variances of the flow found before; each by Newton's method
 * on the potentials of the nodes (the dual problem).
 */
#ifndef CYCLOPS_FEEDBACK_FLOW_FLOW_H
#define CYCLOPS_FEEDBACK_FLOW_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_OUTSIDE = 0 }; /* the node outside of the graph: what comes in and goes out */

struct flow_edge {
	uint32_t from, to; /* nodes */
	double n;	   /* records, or their weight in records; not negative */
	double rate;	   /* records for each execution; 0: the edge cannot be observed */
	double executions; /* the result */
};

/*
 * Fits the edges of a graph of nodes 0 … n_nodes - 1, where 0 is FLOW_OUTSIDE. Edges that cannot be observed
 * get what the others leave, or 0. False if the graph is too large or too dense: then the
 * executions are what each edge says for itself.
 */
bool flow_fit(struct flow_edge *, size_t n_edges, uint32_t n_nodes);

#endif
