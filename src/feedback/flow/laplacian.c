/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/flow/laplacian.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"

/* Of a plan: factors, and multiplications to find them. */
enum { MOST_FACTORS = 4 << 20, MOST_WORK = 32 << 20 };

/* Pivots below this part of the weights at the node are none: nothing ties it to the ground. */
static const double least_pivot = 1e-13;

/* The rows that are not yet eliminated, and their neighbours among them. */
struct elimination {
	struct neighbours {
		uint32_t *items;
		size_t n, cap;
	} * rows;
	uint32_t n;
	uint32_t *seen, stamp; /* is a row in the list that is being made? */
	/* rows by number of neighbours, as lists; the first may be out of date */
	uint32_t *head, *next, *previous;
	uint32_t none;
};

static void list_remove(struct elimination *e, uint32_t row)
{
	if (e->previous[row] != e->none)
		e->next[e->previous[row]] = e->next[row];
	else
		e->head[e->rows[row].n] = e->next[row];
	if (e->next[row] != e->none)
		e->previous[e->next[row]] = e->previous[row];
}

static void list_add(struct elimination *e, uint32_t row)
{
	uint32_t *head = &e->head[e->rows[row].n];

	e->previous[row] = e->none;
	e->next[row] = *head;
	if (*head != e->none)
		e->previous[*head] = row;
	*head = row;
}

static void add_neighbour(struct neighbours *to, uint32_t row)
{
	to->items = vec_grow_(to->items, to->n, &to->cap, 1, sizeof(*to->items));
	to->items[to->n++] = row;
}

static void elimination_init(struct elimination *e, uint32_t n, const uint32_t (*edges)[2],
			     size_t n_edges)
{
	*e = (struct elimination){ .n = n, .none = n };
	e->rows = mem_zalloc(n + 1, sizeof(*e->rows));
	e->seen = mem_zalloc(n + 1, sizeof(*e->seen));
	e->head = mem_alloc(n + 1, sizeof(*e->head));
	e->next = mem_alloc(n + 1, sizeof(*e->next));
	e->previous = mem_alloc(n + 1, sizeof(*e->previous));
	for (size_t i = 0; i < n_edges; i++) {
		uint32_t a = edges[i][0], b = edges[i][1];

		if (a == 0 || b == 0 || a == b)
			continue;
		add_neighbour(&e->rows[a - 1], b - 1);
		add_neighbour(&e->rows[b - 1], a - 1);
	}
	for (uint32_t i = 0; i <= n; i++)
		e->head[i] = e->none;
	for (uint32_t i = 0; i < n; i++) {
		struct neighbours *r = &e->rows[i];
		size_t n_kept = 0;

		e->stamp++;
		for (size_t k = 0; k < r->n; k++) {
			if (e->seen[r->items[k]] == e->stamp)
				continue;
			e->seen[r->items[k]] = e->stamp;
			r->items[n_kept++] = r->items[k];
		}
		r->n = n_kept;
		list_add(e, i);
	}
}

static void elimination_release(struct elimination *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		vec_free_(e->rows[i].items);
	free(e->rows);
	free(e->seen);
	free(e->head);
	free(e->next);
	free(e->previous);
}

/* Row `gone` is eliminated: its neighbours become neighbours of each other. */
static void eliminate(struct elimination *e, uint32_t gone)
{
	const struct neighbours *of = &e->rows[gone];

	list_remove(e, gone);
	for (size_t i = 0; i < of->n; i++) {
		uint32_t row = of->items[i];
		struct neighbours *r = &e->rows[row];
		size_t n_kept = 0;

		list_remove(e, row);
		e->stamp++;
		e->seen[row] = e->stamp;
		for (size_t k = 0; k < r->n; k++) {
			if (r->items[k] == gone)
				continue;
			e->seen[r->items[k]] = e->stamp;
			r->items[n_kept++] = r->items[k];
		}
		r->n = n_kept;
		for (size_t k = 0; k < of->n; k++)
			if (e->seen[of->items[k]] != e->stamp)
				add_neighbour(r, of->items[k]);
		list_add(e, row);
	}
}

static int compare_positions(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

bool laplacian_init(struct laplacian *l, uint32_t n_nodes, const uint32_t (*edges)[2],
		    size_t n_edges)
{
	struct elimination e;
	uint32_t n = n_nodes - 1, least = 0;
	size_t work = 0;

	*l = (struct laplacian){ .n = n };
	l->position = mem_alloc(n + 1, sizeof(*l->position));
	l->row_at = mem_alloc(n + 1, sizeof(*l->row_at));
	l->first = mem_zalloc(n + 1, sizeof(*l->first));
	elimination_init(&e, n, edges, n_edges);
	for (uint32_t at = 0; at < n; at++) {
		uint32_t row;

		while (e.head[least] == e.none)
			least++;
		row = e.head[least];
		work += e.rows[row].n * e.rows[row].n;
		if (l->rows.n + e.rows[row].n > MOST_FACTORS || work > MOST_WORK) {
			elimination_release(&e);
			laplacian_release(l);
			return false;
		}
		l->position[row] = at;
		l->row_at[at] = row;
		l->first[at] = l->rows.n;
		for (size_t i = 0; i < e.rows[row].n; i++)
			*vec_add(&l->rows) = e.rows[row].items[i];
		eliminate(&e, row);
		vec_free_(e.rows[row].items);
		e.rows[row] = (struct neighbours){ 0 };
		least = least > 0 ? least - 1 : 0;
	}
	l->first[n] = l->rows.n;
	elimination_release(&e);
	for (size_t i = 0; i < l->rows.n; i++)
		l->rows.items[i] = l->position[l->rows.items[i]];
	for (uint32_t at = 0; at < n; at++)
		if (l->first[at + 1] - l->first[at] > 1)
			qsort(l->rows.items + l->first[at], l->first[at + 1] - l->first[at],
			      sizeof(*l->rows.items), compare_positions);
	l->factors = mem_alloc(l->rows.n + 1, sizeof(*l->factors));
	l->diagonal = mem_alloc(n + 1, sizeof(*l->diagonal));
	l->weights = mem_zalloc(n + 1, sizeof(*l->weights));
	l->place = mem_zalloc(n + 1, sizeof(*l->place));
	return true;
}

void laplacian_release(struct laplacian *l)
{
	free(l->position);
	free(l->row_at);
	free(l->first);
	vec_release(&l->rows);
	free(l->factors);
	free(l->diagonal);
	free(l->weights);
	free(l->place);
	*l = (struct laplacian){ 0 };
}

/* Notes where rows are in column `at`. All rows that the caller asks for are in it. */
static void open_column(struct laplacian *l, uint32_t at)
{
	for (size_t i = l->first[at]; i < l->first[at + 1]; i++)
		l->place[l->rows.items[i]] = i;
}

static size_t find_row(const struct laplacian *l, uint32_t column, uint32_t row)
{
	return bisect(l->first[column], l->first[column + 1], i, l->rows.items[i] < row);
}

static void fill_in(struct laplacian *l, const uint32_t (*edges)[2], const double *weights,
		    size_t n_edges)
{
	memset(l->factors, 0, (l->rows.n + 1) * sizeof(*l->factors));
	memset(l->diagonal, 0, (l->n + 1) * sizeof(*l->diagonal));
	for (size_t i = 0; i < n_edges; i++) {
		uint32_t a = edges[i][0], b = edges[i][1];
		uint32_t at = a > 0 ? l->position[a - 1] : 0, to = b > 0 ? l->position[b - 1] : 0;

		if (a == b)
			continue;
		if (a > 0)
			l->diagonal[at] += weights[i];
		if (b > 0)
			l->diagonal[to] += weights[i];
		if (a > 0 && b > 0)
			l->factors[at < to ? find_row(l, at, to) : find_row(l, to, at)] -=
				weights[i];
	}
	memcpy(l->weights, l->diagonal, l->n * sizeof(*l->weights));
}

static void factorize(struct laplacian *l)
{
	for (uint32_t at = 0; at < l->n; at++) {
		double pivot = l->diagonal[at];
		size_t first = l->first[at], end = l->first[at + 1];

		if (pivot <= l->weights[at] * least_pivot) {
			l->diagonal[at] = 0;
			for (size_t i = first; i < end; i++)
				l->factors[i] = 0;
			continue;
		}
		for (size_t i = first; i < end; i++) {
			uint32_t row = l->rows.items[i];
			double part = l->factors[i] / pivot;

			if (l->factors[i] == 0)
				continue;
			l->diagonal[row] -= part * l->factors[i];
			open_column(l, row);
			for (size_t k = i + 1; k < end; k++)
				l->factors[l->place[l->rows.items[k]]] -= part * l->factors[k];
		}
		for (size_t i = first; i < end; i++)
			l->factors[i] /= pivot;
	}
}

void laplacian_solve(struct laplacian *l, const uint32_t (*edges)[2], const double *weights,
		     size_t n_edges, const double *b, double *x)
{
	double *y = mem_alloc(l->n + 1, sizeof(*y));

	fill_in(l, edges, weights, n_edges);
	factorize(l);
	for (uint32_t at = 0; at < l->n; at++)
		y[at] = b[l->row_at[at] + 1];
	for (uint32_t at = 0; at < l->n; at++)
		for (size_t i = l->first[at]; i < l->first[at + 1]; i++)
			y[l->rows.items[i]] -= l->factors[i] * y[at];
	for (uint32_t at = 0; at < l->n; at++)
		y[at] = l->diagonal[at] > 0 ? y[at] / l->diagonal[at] : 0;
	for (uint32_t at = l->n; at-- > 0;)
		for (size_t i = l->first[at]; i < l->first[at + 1]; i++)
			y[at] -= l->factors[i] * y[l->rows.items[i]];
	x[0] = 0;
	for (uint32_t at = 0; at < l->n; at++)
		x[l->row_at[at] + 1] = y[at];
	free(y);
}
