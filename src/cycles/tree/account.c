/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/tree/account.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* One object of an answer, being computed. Nodes are computed when they are first asked for. */
struct account {
	const struct cycle_template *t;
	const struct cycle_count *counts;
	const struct cycle_account_options *options;
	struct cycle_value *values;
	bool is_done[CYCLE_MOST_NODES];
};

static const struct cycle_value *value_of(struct account *, int node);

/* What an operand of a formula stands for: cycles of a branch or formula, else a number of events. */
static double operand(struct account *a, int node, double *variance)
{
	const struct cycle_value *v = value_of(a, node);
	bool is_event = a->t->nodes[node].kind == NODE_EVENT;

	*variance += is_event ? a->counts[node].variance : v->se * v->se;
	return is_event ? v->events : v->cycles;
}

static void set_event(struct account *a, int node, struct cycle_value *v)
{
	const struct cycle_count *count = &a->counts[node];
	double penalty = a->t->nodes[node].is_cycles ? 1 : a->options->penalties[node];

	if (!count->is_collected) {
		v->state = count->reads_0 ? CYCLE_NOT_COUNTED : CYCLE_NOT_COLLECTED;
		return;
	}
	v->is_unscaled = count->is_unscaled;
	v->events = count->events;
	v->n_samples = count->n_samples;
	v->cycles = v->raw = count->events * penalty;
	v->se = sqrt(count->variance) * penalty;
	v->is_sparse = count->variance > 0 && count->n_samples < CYCLE_SPARSE;
}

/* The child of a branch that is what others leave of a total; NO_NODE: it has none. */
static int remainder_of(const struct cycle_template *t, int branch)
{
	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].parent == branch && t->nodes[i].adds &&
		    t->nodes[i].kind == NODE_FORMULA && t->nodes[i].formula == FORMULA_REMAINDER)
			return (int)i;
	return NO_NODE;
}

static void set_cap(struct account *a, int node, struct cycle_value *v)
{
	int cap = a->t->nodes[node].cap;

	v->cap = -1;
	if (cap != NO_NODE && !a->options->is_fine && a->counts[cap].is_collected)
		v->cap = a->counts[cap].events;
}

/*
 * A branch with a remainder is its total: what its other children lack, the remainder has. At the
 * level of instructions there is no remainder, but its total can still be shown.
 */
static bool set_whole(struct account *a, int node, struct cycle_value *v)
{
	int rest = remainder_of(a->t, node);
	int total = rest == NO_NODE ? NO_NODE : a->t->nodes[rest].operands[REMAINDER_TOTAL];

	if (total == NO_NODE || !a->options->is_fine || !a->counts[total].is_collected)
		return false;
	*v = *value_of(a, total);
	v->cap = -1;
	return true;
}

/* A remainder varies with its total, against the others: their sum varies as the total alone. */
static void take_error_of_total(struct account *a, int node, struct cycle_value *v)
{
	int rest = remainder_of(a->t, node);
	const struct cycle_value *total;

	if (rest == NO_NODE || value_of(a, rest)->state != CYCLE_MEASURED ||
	    value_of(a, rest)->is_clamped)
		return;
	total = value_of(a, a->t->nodes[rest].operands[REMAINDER_TOTAL]);
	v->se = total->se;
	v->n_samples = total->n_samples;
	v->is_sparse = total->is_sparse;
}

static void set_branch(struct account *a, int node, struct cycle_value *v)
{
	const struct cycle_template *t = a->t;
	bool is_whole = false;
	size_t n_parts = 0, n_known = 0;
	double variance = 0;

	if (set_whole(a, node, v))
		return;
	for (size_t i = (size_t)node + 1; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];
		const struct cycle_value *part;

		if (n->parent != node || !n->adds)
			continue;
		if (n->is_unpriced && a->options->penalties[i] <= 0) {
			v->is_lower_bound = true;
			continue;
		}
		part = value_of(a, (int)i);
		n_parts++;
		if (part->state == CYCLE_TOO_FINE)
			continue;
		if (part->state != CYCLE_MEASURED) {
			v->is_lower_bound = true;
			continue;
		}
		n_known++;
		v->cycles += part->cycles;
		variance += part->se * part->se;
		v->n_samples += part->n_samples;
		v->is_lower_bound |= part->is_lower_bound;
		v->is_unscaled |= part->is_unscaled;
		is_whole |= n->kind == NODE_FORMULA && n->formula == FORMULA_REMAINDER;
	}
	if (is_whole)
		v->is_lower_bound = false;
	v->raw = v->cycles;
	v->se = sqrt(variance);
	v->is_sparse = variance > 0 && v->n_samples < CYCLE_SPARSE;
	take_error_of_total(a, node, v);
	set_cap(a, node, v);
	if (n_known == 0) {
		v->is_lower_bound = false;
		v->state = n_parts == 0 ? CYCLE_GAP : CYCLE_NOT_COLLECTED;
	}
}

/* Are all operands that a formula cannot do without measured? */
static bool has_operands(struct account *a, const struct cycle_node *n)
{
	size_t needed = n->formula == FORMULA_REMAINDER ? 1 : n->n_operands;

	for (size_t i = 0; i < needed; i++)
		if (n->operands[i] != NO_NODE &&
		    value_of(a, n->operands[i])->state != CYCLE_MEASURED)
			return false;
	return true;
}

static void set_wrong_path(struct account *a, const struct cycle_node *n, struct cycle_value *v,
			   double *variance)
{
	bool has_rate = n->operands[WRONG_PATH_ISSUING] != NO_NODE;
	double rate = has_rate ? a->options->issued_per_cycle : a->t->slots;
	double issued = operand(a, n->operands[WRONG_PATH_ISSUED], variance);
	double retired = operand(a, n->operands[WRONG_PATH_RETIRED], variance);

	if (rate <= 0) {
		v->state = CYCLE_NOT_COLLECTED;
		return;
	}
	v->raw = (issued - retired) / rate;
	*variance /= rate * rate;
}

/* What the total keeps when the others are taken from it. */
static void set_remainder(struct account *a, const struct cycle_node *n, struct cycle_value *v,
			  double *variance)
{
	v->raw = operand(a, n->operands[REMAINDER_TOTAL], variance);
	for (size_t i = REMAINDER_LESS; i < n->n_operands; i++) {
		const struct cycle_value *less = value_of(a, n->operands[i]);

		v->is_upper_bound |= less->state != CYCLE_MEASURED || less->is_lower_bound;
		if (less->state == CYCLE_MEASURED)
			v->raw -= operand(a, n->operands[i], variance);
	}
}

/* Cycles of the busiest of all ports that were counted; 0 if none is saturated. */
static void set_busiest(struct account *a, const struct cycle_node *n, struct cycle_value *v,
			double *variance)
{
	double unused = 0;
	double cycles = operand(a, n->operands[BUSIEST_CYCLES], &unused);
	bool is_any_counted = false;

	for (size_t i = 0; i < n->n_ports; i++) {
		const struct cycle_port *port = &n->ports[i];
		double busy = 0, port_variance = 0;
		bool is_counted = true;

		for (size_t j = 0; j < port->n_events; j++) {
			is_counted &= a->counts[port->events[j]].is_collected;
			busy += operand(a, port->events[j], &port_variance) / port->pipes;
		}
		is_any_counted |= is_counted;
		v->is_lower_bound |= !is_counted; /* that port may be busier */
		if (!is_counted || busy <= v->raw)
			continue;
		v->raw = busy;
		v->port = (int)i;
		*variance = port_variance / (port->pipes * port->pipes);
	}
	if (!is_any_counted) {
		v->is_lower_bound = false;
		v->state = CYCLE_NOT_COLLECTED;
	}
	if (v->raw < CYCLE_PORT_SATURATED * cycles) {
		v->raw = 0;
		v->port = -1;
		*variance = 0;
	}
}

/* If the other thread of the core is like this one, both issue in so many cycles. */
static void set_collisions(struct account *a, const struct cycle_node *n, struct cycle_value *v,
			   double *variance)
{
	double issuing_variance = 0, others = 0;
	double issuing = operand(a, n->operands[COLLISIONS_ISSUING], &issuing_variance);
	double ready = operand(a, n->operands[COLLISIONS_CYCLES], &others) -
		       operand(a, n->operands[COLLISIONS_STALLED], &others);
	double part;

	if (ready <= 0 || issuing > ready) {
		v->state = CYCLE_NOT_COLLECTED;
		return;
	}
	part = issuing / ready;
	v->is_estimate = true;
	v->raw = part * part * ready;
	*variance = 4 * part * part * issuing_variance + part * part * part * part * others;
}

/* Fails to tell if several CPUs counted: together they run for longer than the wall time. */
static void set_halted(struct account *a, const struct cycle_node *n, struct cycle_value *v,
		       double *variance)
{
	double unused = 0;
	double run_ns = operand(a, n->operands[HALTED_REFERENCE], &unused) * n->tick_ns;
	double cycles = operand(a, n->operands[HALTED_CYCLES], variance);
	double wall_ns = a->options->wall_ns;

	if (wall_ns <= 0 || run_ns <= 0 || run_ns > wall_ns) {
		v->state = CYCLE_NOT_COLLECTED;
		return;
	}
	v->raw = (wall_ns - run_ns) / run_ns * cycles;
	*variance *= (wall_ns - run_ns) / run_ns * (wall_ns - run_ns) / run_ns;
}

static void set_formula(struct account *a, int node, struct cycle_value *v)
{
	const struct cycle_node *n = &a->t->nodes[node];
	const int *of = n->operands;
	double slots = a->t->slots, variance = 0;

	if (n->formula != FORMULA_SUM && a->options->is_fine) {
		v->state = CYCLE_TOO_FINE;
		return;
	}
	if (!a->options->is_counted &&
	    (n->formula == FORMULA_COLLISIONS || n->formula == FORMULA_HALTED)) {
		v->state = CYCLE_GAP;
		return;
	}
	if (!has_operands(a, n)) {
		v->state = CYCLE_NOT_COLLECTED;
		return;
	}
	switch (n->formula) {
	case FORMULA_SUM:
		for (size_t i = 0; i < n->n_operands; i++)
			v->raw += operand(a, of[i], &variance);
		break;
	case FORMULA_WRONG_PATH:
		set_wrong_path(a, n, v, &variance);
		break;
	case FORMULA_AVERAGE: {
		double number_variance = 0;
		double total = operand(a, of[AVERAGE_TOTAL], &variance);
		double number = operand(a, of[AVERAGE_NUMBER], &number_variance);

		v->raw = number > 0 ? total / number : 0;
		variance = number > 0 ? (variance + v->raw * v->raw * number_variance) /
						(number * number)
				      : 0;
		break;
	}
	case FORMULA_BUSIEST:
		set_busiest(a, n, v, &variance);
		break;
	case FORMULA_UNDERUSE:
		v->raw = operand(a, of[UNDERUSE_CYCLES], &variance) -
			 operand(a, of[UNDERUSE_STALLED], &variance);
		{
			double retired_variance = 0;

			v->raw -= operand(a, of[UNDERUSE_RETIRED], &retired_variance) / slots;
			variance += retired_variance / (slots * slots);
		}
		break;
	case FORMULA_EMPTY_SLOTS:
		v->raw = operand(a, of[EMPTY_SLOTS_EMPTY], &variance) / slots;
		variance /= slots * slots;
		v->raw -= operand(a, of[EMPTY_SLOTS_STALLED], &variance);
		break;
	case FORMULA_REMAINDER:
		set_remainder(a, n, v, &variance);
		break;
	case FORMULA_COLLISIONS:
		set_collisions(a, n, v, &variance);
		break;
	case FORMULA_HALTED:
		set_halted(a, n, v, &variance);
		break;
	case N_FORMULA_KINDS:
		break;
	}
	for (size_t i = 0; i < n->n_operands; i++)
		v->is_unscaled |= of[i] != NO_NODE && value_of(a, of[i])->is_unscaled;
	v->is_clamped = v->raw < 0;
	v->cycles = v->is_clamped ? 0 : v->raw;
	v->se = sqrt(variance);
}

static const struct cycle_value *value_of(struct account *a, int node)
{
	struct cycle_value *v = &a->values[node];

	if (a->is_done[node])
		return v;
	a->is_done[node] = true;
	*v = (struct cycle_value){ .cap = -1, .port = -1 };
	if (a->t->nodes[node].kind == NODE_EVENT)
		set_event(a, node, v);
	else if (a->t->nodes[node].kind == NODE_BRANCH)
		set_branch(a, node, v);
	else
		set_formula(a, node, v);
	return v;
}

void cycle_account(const struct cycle_template *t, const struct cycle_count *counts,
		   const struct cycle_account_options *options, struct cycle_value *out)
{
	struct account a = { .t = t, .counts = counts, .options = options, .values = out };

	for (size_t i = 0; i < t->n_nodes; i++)
		value_of(&a, (int)i);
}

double cycle_issued_per_cycle(const struct cycle_template *t, const struct cycle_count *counts)
{
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];
		const struct cycle_count *issued, *issuing;

		if (n->kind != NODE_FORMULA || n->formula != FORMULA_WRONG_PATH ||
		    n->operands[WRONG_PATH_ISSUING] == NO_NODE)
			continue;
		issued = &counts[n->operands[WRONG_PATH_ISSUED]];
		issuing = &counts[n->operands[WRONG_PATH_ISSUING]];
		if (issued->is_collected && issuing->is_collected && issuing->events > 0)
			return issued->events / issuing->events;
	}
	return 0;
}

double cycle_capped(const struct cycle_value *v)
{
	return v->cap >= 0 && v->cap < v->cycles ? v->cap : v->cycles;
}

bool cycle_not_explained(const struct cycle_template *t, const struct cycle_value *values,
			 double *out)
{
	const struct cycle_value *stalled = &values[t->stalled];
	double explained = 0;

	*out = 0;
	if (stalled->state != CYCLE_MEASURED)
		return false;
	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].is_stall && values[i].state == CYCLE_MEASURED)
			explained += values[i].cycles;
	*out = stalled->cycles > explained ? stalled->cycles - explained : 0;
	return true;
}
