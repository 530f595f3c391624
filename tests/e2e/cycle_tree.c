/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an embedded tree of cycle accounting makes of numbers of events: for cycle_tree.py.
 *
 * usage: cycle-tree TREE ISSUED_PER_CYCLE EVENT... < NUMBERS
 *
 * Each line of NUMBERS has a number for each event. Prints the names of all nodes, then their
 * cycles for each line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/tree/account.h"

static int read_counts(const int *nodes, size_t n, struct cycle_count *counts)
{
	for (size_t i = 0; i < n; i++) {
		double events;

		if (scanf("%lf", &events) != 1)
			return -1;
		counts[nodes[i]] = (struct cycle_count){ .is_collected = true, .events = events };
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct cycle_template *t = NULL;
	struct err err;
	size_t n = (size_t)argc - 3;
	struct cycle_count *counts;
	struct cycle_value *values;
	double *penalties;
	int *nodes;

	if (argc < 4 || cycle_template_find(argv[1], &t, &err) < 0)
		return 2;
	counts = mem_zalloc(t->n_nodes, sizeof(*counts));
	values = mem_zalloc(t->n_nodes, sizeof(*values));
	penalties = mem_zalloc(t->n_nodes, sizeof(*penalties));
	nodes = mem_zalloc(n, sizeof(*nodes));
	for (size_t i = 0; i < t->n_nodes; i++) {
		penalties[i] = cycle_node_penalty(t, (int)i, 0);
		printf("%s%c", t->nodes[i].name, i + 1 < t->n_nodes ? '\t' : '\n');
	}
	for (size_t i = 0; i < n; i++)
		if ((nodes[i] = cycle_template_node(t, argv[i + 3])) == NO_NODE)
			return 2;
	while (read_counts(nodes, n, counts) == 0) {
		const struct cycle_account_options options = {
			.penalties = penalties,
			.issued_per_cycle = strtod(argv[2], NULL),
		};

		cycle_account(t, counts, &options, values);
		for (size_t i = 0; i < t->n_nodes; i++)
			printf("%.17g%c", values[i].cycles, i + 1 < t->n_nodes ? '\t' : '\n');
	}
	free(counts);
	free(values);
	free(penalties);
	free(nodes);
	cycle_template_free(t);
	return 0;
}
