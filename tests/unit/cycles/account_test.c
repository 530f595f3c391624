/* SPDX-License-Identifier: Apache-2.0 */
/* What counts come to in the tree: sums, errors, what is missing, formulas, caps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/tree/account.h"
#include "cycles/tree/node_table.h"

/* A tree and what was counted for it. */
struct bench {
	struct cycle_template *t;
	struct cycle_count counts[CYCLE_MOST_NODES];
	struct cycle_value values[CYCLE_MOST_NODES];
	double penalties[CYCLE_MOST_NODES];
	struct cycle_account_options options;
};

static struct bench *bench_new(const char *id)
{
	struct bench *b = mem_zalloc(1, sizeof(*b));
	struct err err;

	if (cycle_template_find(id, &b->t, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < b->t->n_nodes; i++)
		b->penalties[i] = cycle_node_penalty(b->t, (int)i, 0);
	b->options.penalties = b->penalties;
	return b;
}

static void bench_free(struct bench *b)
{
	cycle_template_free(b->t);
	free(b);
}

static void set(struct bench *b, const char *name, double events)
{
	int node = cycle_template_node(b->t, name);

	assert_true(node != NO_NODE);
	b->counts[node] = (struct cycle_count){ .is_collected = true, .events = events };
}

/* Samples of equal weight. */
static void set_samples(struct bench *b, const char *name, uint64_t n, double weight)
{
	set(b, name, (double)n * weight);
	b->counts[cycle_template_node(b->t, name)].n_samples = n;
	b->counts[cycle_template_node(b->t, name)].variance = (double)n * weight * weight;
}

static const struct cycle_value *get(struct bench *b, const char *name)
{
	cycle_account(b->t, b->counts, &b->options, b->values);
	return &b->values[cycle_template_node(b->t, name)];
}

static void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * fabs(wanted) + 1e-12)
		fail_msg("%.17g, wanted %.17g", value, wanted);
}

/* The counts that Arm published of the stride benchmark: costs overlap, so the cap is below them. */
static void published_stride(void **state)
{
	struct bench *b = bench_new("neoverse-n1");
	const struct cycle_value *load;

	(void)state;
	set(b, "CPU_CYCLES", 43809490290.0);
	set(b, "STALL_BACKEND", 36777347524.0);
	set(b, "STALL_FRONTEND", 4020406.0);
	set(b, "L1D_CACHE_REFILL_RD", 1.069e9);
	set(b, "L2D_CACHE_REFILL_RD", 0.786e9);
	set(b, "L1D_TLB_REFILL_RD", 0);
	set(b, "DTLB_WALK", 0);
	load = get(b, "load_latency");
	assert_near(load->cycles, 1.069e9 * 7 + 0.786e9 * 91);
	assert_true(fabs(load->cycles / 43809490290.0 - 1.80) < 0.005);
	assert_near(load->cap, 36777347524.0);
	assert_near(cycle_capped(load), 36777347524.0);
	assert_true(fabs(load->cycles / load->cap - 2.15) < 0.005);
	assert_false(load->is_lower_bound);
	bench_free(b);
}

/* Without one of the events that cost something, its branch is a lower bound, and its leaf no 0. */
static void missing_leaf(void **state)
{
	static const char *const parts[] = { "L1D_CACHE_REFILL_RD", "L2D_CACHE_REFILL_RD",
					     "L1D_TLB_REFILL_RD", "DTLB_WALK" };
	struct bench *b = bench_new("neoverse-n1");

	(void)state;
	for (size_t missing = 0; missing <= COUNT(parts); missing++) {
		for (size_t i = 0; i < COUNT(parts); i++) {
			set(b, parts[i], 100);
			if (i == missing)
				memset(&b->counts[cycle_template_node(b->t, parts[i])], 0,
				       sizeof(b->counts[0]));
		}
		assert_int_equal(get(b, "load_latency")->is_lower_bound, missing < COUNT(parts));
		assert_int_equal(get(b, "load_latency")->state, CYCLE_MEASURED);
		if (missing < COUNT(parts))
			assert_int_equal(get(b, parts[missing])->state, CYCLE_NOT_COLLECTED);
	}
	assert_int_equal(get(b, "instruction_latency")->state, CYCLE_GAP);
	assert_int_equal(get(b, "bandwidth_saturated")->state, CYCLE_GAP);
	memset(b->counts, 0, sizeof(b->counts));
	assert_int_equal(get(b, "load_latency")->state, CYCLE_NOT_COLLECTED);
	assert_false(get(b, "load_latency")->is_lower_bound);
	bench_free(b);
}

/* Does a branch have a part that is what the others leave of a total? Its sum is that total. */
static bool has_remainder(const struct cycle_template *t, int branch)
{
	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].parent == branch && t->nodes[i].adds &&
		    t->nodes[i].kind == NODE_FORMULA && t->nodes[i].formula == FORMULA_REMAINDER)
			return true;
	return false;
}

/* The node and all branches that it is a part of: never a number that seems to be all. */
static void check_missing(struct bench *b, int missing)
{
	const struct cycle_template *t = b->t;
	struct cycle_count kept = b->counts[missing];

	b->counts[missing] = (struct cycle_count){ 0 };
	cycle_account(t, b->counts, &b->options, b->values);
	assert_int_equal(b->values[missing].state, CYCLE_NOT_COLLECTED);
	for (int node = missing; t->nodes[node].adds; node = t->nodes[node].parent) {
		const struct cycle_value *v = &b->values[t->nodes[node].parent];
		const char *name = t->nodes[missing].name;

		if (has_remainder(t, t->nodes[node].parent))
			break;
		if (v->state == CYCLE_MEASURED && node_mark(v) != MARK_INCOMPLETE)
			fail_msg("%s: without %s %s is a number", t->id, name,
				 t->nodes[t->nodes[node].parent].name);
	}
	b->counts[missing] = kept;
}

/* Each tree, without each of the events that cost something in turn; of many samples and of few. */
static void each_missing(void **state)
{
	struct cycle_template *t;
	size_t n_checked = 0;

	(void)state;
	for (size_t at = 0; (t = cycle_template_at(at)) != NULL; at++) {
		for (uint64_t n_samples = 1; n_samples <= 100; n_samples += 99) {
			struct bench *b = bench_new(t->id);

			for (size_t i = 0; i < t->n_nodes; i++)
				if (t->nodes[i].kind == NODE_EVENT)
					set_samples(b, t->nodes[i].name, n_samples, 10);
			for (size_t i = 0; i < t->n_nodes; i++)
				if (t->nodes[i].kind == NODE_EVENT && t->nodes[i].adds) {
					check_missing(b, (int)i);
					n_checked++;
				}
			bench_free(b);
		}
		cycle_template_free(t);
	}
	assert_true(n_checked > 100);
}

/* What nobody knows the cost of: the branch is a lower bound, or nothing, until a user says it. */
static void unpriced(void **state)
{
	struct bench *b = bench_new("cortex-a76");
	int walk = cycle_template_node(b->t, "DTLB_WALK");

	(void)state;
	set(b, "L1D_TLB_REFILL_RD", 100);
	set(b, "DTLB_WALK", 10);
	assert_near(get(b, "dtlb_latency")->cycles, 500);
	assert_int_equal(node_mark(get(b, "dtlb_latency")), MARK_INCOMPLETE);
	b->penalties[walk] = 30;
	assert_near(get(b, "dtlb_latency")->cycles, 800);
	assert_int_equal(node_mark(get(b, "dtlb_latency")), MARK_EXACT);
	bench_free(b);

	b = bench_new("cortex-a72");
	set(b, "L1D_CACHE_REFILL_RD", 100);
	assert_int_equal(get(b, "load_latency")->state, CYCLE_GAP);
	bench_free(b);
}

/* A refill after a misprediction stalls the front end: it is charged once. */
static void front_end(void **state)
{
	struct bench *b = bench_new("neoverse-v1");

	(void)state;
	set(b, "STALL_FRONTEND", 1000);
	set(b, "BR_MIS_PRED_RETIRED", 40);
	assert_near(get(b, "branch_misprediction")->cycles, 440);
	assert_near(get(b, "instruction_starvation")->cycles, 560);
	assert_near(get(b, "front_end")->cycles, 1000);
	assert_false(get(b, "front_end")->is_lower_bound);

	/* more than there is: the remainder is clamped, and the cap holds */
	set(b, "BR_MIS_PRED_RETIRED", 100);
	assert_near(get(b, "instruction_starvation")->cycles, 0);
	assert_near(get(b, "instruction_starvation")->raw, -100);
	assert_true(get(b, "instruction_starvation")->is_clamped);
	assert_near(cycle_capped(get(b, "front_end")), 1000);

	/* one part not collected: the other is an upper limit, the whole is known */
	memset(&b->counts[cycle_template_node(b->t, "BR_MIS_PRED_RETIRED")], 0,
	       sizeof(b->counts[0]));
	assert_true(get(b, "instruction_starvation")->is_upper_bound);
	assert_near(get(b, "front_end")->cycles, 1000);
	assert_false(get(b, "front_end")->is_lower_bound);

	/* at an instruction no difference is shown, but the whole is */
	set(b, "BR_MIS_PRED_RETIRED", 40);
	b->options.is_fine = true;
	assert_int_equal(get(b, "instruction_starvation")->state, CYCLE_TOO_FINE);
	assert_near(get(b, "front_end")->cycles, 1000);
	assert_true(get(b, "front_end")->cap < 0);
	bench_free(b);
}

static void errors_in_quadrature(void **state)
{
	struct bench *b = bench_new("neoverse-n1");

	(void)state;
	set_samples(b, "L1D_CACHE_REFILL_RD", 9, 200); /* 7 x 3 x 200 */
	set_samples(b, "DTLB_WALK", 4, 100);	       /* 30 x 2 x 100 */
	assert_near(get(b, "L1D_CACHE_REFILL_RD")->se, 4200);
	assert_near(get(b, "DTLB_WALK")->se, 6000);
	assert_near(get(b, "load_latency")->se, sqrt(4200.0 * 4200 + 6000.0 * 6000));
	assert_near(get(b, "load_latency")->cycles, 9 * 1400 + 4 * 3000);
	assert_int_equal(get(b, "load_latency")->n_samples, 13);
	assert_true(get(b, "L1D_CACHE_REFILL_RD")->is_sparse);
	assert_false(get(b, "load_latency")->is_sparse);
	bench_free(b);
}

static void formulas(void **state)
{
	struct bench *b = bench_new("haswell");
	const struct cycle_value *v;

	(void)state;
	/* wrong path: at the rate of the whole capture, never below 0 */
	set(b, "uops_issued:any", 3000);
	set(b, "uops_retired:retire_slots", 2400);
	set(b, "uops_issued:any:c=1", 1000);
	assert_near(cycle_issued_per_cycle(b->t, b->counts), 3);
	assert_int_equal(get(b, "Wrong_path_cycles")->state, CYCLE_NOT_COLLECTED);
	b->options.issued_per_cycle = 2.5;
	assert_near(get(b, "Wrong_path_cycles")->cycles, 240);
	set(b, "uops_retired:retire_slots", 3100);
	assert_near(get(b, "Wrong_path_cycles")->cycles, 0);
	assert_near(get(b, "Wrong_path_cycles")->raw, -40);

	/* mean length of the periods in which the scheduler is empty */
	set(b, "rs_events:empty_cycles", 500);
	set(b, "rs_events:empty_cycles:c=1:i=1:e=1", 100);
	assert_near(get(b, "Avg_RS_empty_duration")->cycles, 5);

	/* the busiest of all eight ports, not the last one */
	set(b, "unhalted_core_cycles", 1000);
	for (int port = 0; port < 8; port++) {
		char name[32];

		snprintf(name, sizeof(name), "uops_executed_port:port_%d", port);
		set(b, name, port == 6 ? 900 : 850);
	}
	v = get(b, "port_saturation");
	assert_near(v->cycles, 900);
	assert_int_equal(v->port, 6);
	set(b, "unhalted_core_cycles", 1200);
	assert_near(get(b, "port_saturation")->cycles, 0);

	/* slots that are empty in cycles that retire */
	set(b, "uops_retired:stall_cycles", 200);
	set(b, "uops_retired:retire_slots", 1600);
	assert_near(get(b, "underutilization")->cycles, 1200 - 200 - 400);
	b->options.is_fine = true;
	assert_int_equal(get(b, "underutilization")->state, CYCLE_TOO_FINE);
	bench_free(b);
}

static void not_explained(void **state)
{
	struct bench *b = bench_new("neoverse-n1");
	double cycles = -1;

	(void)state;
	get(b, "CPU_CYCLES");
	assert_false(cycle_not_explained(b->t, b->values, &cycles));
	set(b, "STALL_FRONTEND", 100);
	set(b, "STALL_BACKEND", 300);
	set(b, "L1D_CACHE_REFILL_RD", 10);
	get(b, "CPU_CYCLES");
	assert_true(cycle_not_explained(b->t, b->values, &cycles));
	assert_near(cycles, 400 - 100 - 70);
	set(b, "L1D_CACHE_REFILL_RD", 100);
	get(b, "CPU_CYCLES");
	assert_true(cycle_not_explained(b->t, b->values, &cycles));
	assert_near(cycles, 0);
	bench_free(b);
}

/* A part that is what others leave of a total: the branch has the error and the samples of the total. */
static void error_of_remainder(void **state)
{
	struct bench *b = bench_new("neoverse-v1");

	(void)state;
	set_samples(b, "STALL_FRONTEND", 25, 40);
	set_samples(b, "BR_MIS_PRED_RETIRED", 4, 10);
	assert_near(get(b, "instruction_starvation")->se, hypot(5 * 40, 2 * 10 * 11));
	assert_near(get(b, "front_end")->cycles, 1000);
	assert_near(get(b, "front_end")->se, 5 * 40);
	assert_false(get(b, "front_end")->is_sparse);
	assert_true(get(b, "branch_misprediction")->is_sparse);
	bench_free(b);
}

/* What only counts tell: of samples it is a gap. */
static void of_counts(void **state)
{
	struct bench *b = bench_new("ivybridge");

	(void)state;
	set(b, "unhalted_core_cycles", 3000);
	set(b, "cpu_clk_unhalted:ref_p", 100); /* 1000 ns */
	set(b, "uops_issued:any:c=1", 1000);
	set(b, "resource_stalls:any", 1000);
	assert_int_equal(get(b, "halted")->state, CYCLE_GAP);
	assert_int_equal(get(b, "smt_collisions")->state, CYCLE_GAP);
	b->options.is_counted = true;
	assert_int_equal(get(b, "halted")->state, CYCLE_NOT_COLLECTED);
	b->options.wall_ns = 1500;
	assert_near(get(b, "halted")->cycles, 1500);
	assert_near(get(b, "smt_collisions")->cycles, 500); /* a half of 2000, squared */
	assert_true(get(b, "smt_collisions")->is_estimate);
	b->options.wall_ns = 900; /* of more than one CPU */
	assert_int_equal(get(b, "halted")->state, CYCLE_NOT_COLLECTED);
	set(b, "resource_stalls:any", 2500);
	assert_int_equal(get(b, "smt_collisions")->state, CYCLE_NOT_COLLECTED);
	bench_free(b);
}

/* Each template, with one of each event: nothing is asked that the tree cannot answer. */
static void all_templates(void **state)
{
	struct cycle_template *t;

	(void)state;
	for (size_t i = 0; (t = cycle_template_at(i)) != NULL; i++) {
		struct bench *b = bench_new(t->id);
		double left;

		for (size_t n = 0; n < t->n_nodes; n++)
			if (t->nodes[n].kind == NODE_EVENT)
				set(b, t->nodes[n].name, 1);
		b->options.issued_per_cycle = 1;
		get(b, t->nodes[0].name);
		for (size_t n = 0; n < t->n_nodes; n++)
			if (b->values[n].state != CYCLE_MEASURED && b->values[n].state != CYCLE_GAP)
				fail_msg("%s: %s is in state %d", t->id, t->nodes[n].name,
					 b->values[n].state);
		assert_int_equal(cycle_not_explained(t, b->values, &left),
				 b->values[t->stalled].state == CYCLE_MEASURED);
		bench_free(b);
		cycle_template_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_counts),	    cmocka_unit_test(error_of_remainder),
		cmocka_unit_test(published_stride), cmocka_unit_test(missing_leaf),
		cmocka_unit_test(each_missing),	    cmocka_unit_test(unpriced),
		cmocka_unit_test(front_end),	    cmocka_unit_test(errors_in_quadrature),
		cmocka_unit_test(formulas),	    cmocka_unit_test(not_explained),
		cmocka_unit_test(all_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
