/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear equations with the matrix of a graph: weights of edges off the diagonal, their sums on it. Node 0
 * is the ground, whose value is 0. Solved by Cholesky factors in an order of least degree, which fills
 * little where the graph is nearly a chain, as control flow graphs are.
 */
#ifndef CYCLOPS_FEEDBACK_FLOW_LAPLACIAN_H
#define CYCLOPS_FEEDBACK_FLOW_LAPLACIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* The non-zeros of a matrix, and the order in which nodes are eliminated. Zeroed is empty. */
struct laplacian {
	uint32_t n;	    /* nodes without the ground; node i is row i - 1 */
	uint32_t *position; /* by row: when it is eliminated */
	uint32_t *row_at;   /* the other way round */
	size_t *first;	    /* by position: its factors are rows[first] … rows[next first - 1] */
	VEC_OF(uint32_t) rows; /* positions, ascending for each column */
	double *factors, *diagonal;
	double *weights; /* at each node, by position */
	size_t *place;	 /* by position: where it is in the column that is worked on */
};

/* Plans for the edges; false, and nothing to release, if factors would take too much memory or time. */
bool laplacian_init(struct laplacian *, uint32_t n_nodes, const uint32_t (*edges)[2],
		    size_t n_edges);
void laplacian_release(struct laplacian *);

/*
 * Solves for weights of the same edges: x by node, from `b` by node; [0] is not read, and x[0] is 0. A part
 * of the graph that no weight ties to the ground gets zeros where its equations do not tell.
 */
void laplacian_solve(struct laplacian *, const uint32_t (*edges)[2], const double *weights,
		     size_t n_edges, const double *b, double *x);

#endif
