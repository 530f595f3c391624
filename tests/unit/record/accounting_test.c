/* SPDX-License-Identifier: Apache-2.0 */
/* The events of cycle accounting, chosen for a kernel made of memory. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "record/accounting.h"
#include "record/attr.h"
#include "recording_world.h"

static const struct pmu core = {
	.name = "armv8_pmuv3_0", .type = 8, .is_core = true, .is_arm = true
};

static bool is_prime_slowly(uint64_t n)
{
	for (uint64_t d = 2; d < n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

/* One sample of each event that costs something stands for as many cycles as one of cycles, or nearly so. */
static void periods(void **state)
{
	static const uint64_t of_cycles[] = { 2000003, 100003 };
	struct cycle_template *t;

	(void)state;
	for (size_t at = 0; (t = cycle_template_at(at)) != NULL; at++) {
		for (size_t k = 0; k < COUNT(of_cycles); k++)
			for (size_t i = 0; i < t->n_nodes; i++) {
				double penalty = cycle_node_penalty(t, (int)i, 0);
				uint64_t period = accounting_period(t, (int)i, of_cycles[k]);

				if (t->nodes[i].kind != NODE_EVENT)
					continue;
				assert_true(period <= of_cycles[k]);
				if (of_cycles[k] == of_cycles[1])
					assert_true(is_prime_slowly(period));
				if (penalty > 1 &&
				    fabs((double)period * penalty / (double)of_cycles[k] - 1) > 0.1)
					fail_msg("%s: %s: %llu x %g", t->id, t->nodes[i].name,
						 (unsigned long long)period, penalty);
			}
		assert_int_equal(accounting_period(t, t->cycles, 2000000), 2000003);
		cycle_template_free(t);
	}
}

static const struct record_event *event_named(const struct record_events *events, const char *name)
{
	for (size_t i = 0; i < events->list.n; i++)
		if (strcmp(events->list.items[i].name, name) == 0)
			return &events->list.items[i];
	return NULL;
}

/* A kernel that does not know some events. */
struct choosy {
	struct fake_kernel fake;
	uint64_t refused; /* the number of an event; 0: none */
};

static int choosy_open(void *context, const struct event_request *r)
{
	struct choosy *c = context;

	if (r->attr->type == core.type && r->attr->config == c->refused)
		return -ENOENT;
	c->fake.n_events = 0; /* all are closed at once */
	return c->fake.kernel.open(&c->fake, r);
}

static int choosy_close(void *context, int fd)
{
	struct choosy *c = context;

	return c->fake.kernel.close(&c->fake, fd);
}

static struct kernel choosy_kernel(struct choosy *c)
{
	fake_kernel_init(&c->fake);
	return (struct kernel){ .context = c, .open = choosy_open, .close = choosy_close };
}

static void events_of_a_tree(void **state)
{
	static const struct {
		const char *name;
		bool is_needed;
	} cases[] = {
		{ "CPU_CYCLES", true },
		{ "STALL_BACKEND", true }, /* a cap */
		{ "STALL_FRONTEND", true },
		{ "INST_SPEC", true }, /* of formulas */
		{ "L1D_CACHE_REFILL_RD", true },
		{ "BR_MIS_PRED_RETIRED", true },
		{ "LD_SPEC", true }, /* of a port */
		{ "BR_MIS_PRED", false },
		{ "LL_CACHE_MISS_RD", false },
		{ "BUS_CYCLES", false },
	};
	struct choosy choosy = { 0 };
	struct kernel kernel = choosy_kernel(&choosy);
	struct accounting a = { .core = &core, .kernel = &kernel, .n_free = 6 };
	struct cycle_template *tree = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cycle_template_find("neoverse-n1", &tree, &err), 0);
	a.tree = tree;
	for (int all = 0; all < 2; all++) {
		struct record_events events = { 0 };
		struct record_options options = { .program = (char *[]){ NULL } };
		struct accounting_plan plan;
		struct pmus pmus = { 0 };
		struct diags diags = { 0 };

		a.with_all = all;
		a.follows_children = all;
		assert_int_equal(accounting_add(&a, &events, &plan, &diags, &err), 0);
		assert_int_equal(diags.list.n, 0);
		assert_int_equal(plan.n_events, events.list.n);
		assert_int_equal(plan.n_counters, events.list.n - 1);
		assert_int_equal(record_attrs_complete(&events, &options, &pmus, "", &err), 0);
		for (size_t i = 0; i < COUNT(cases); i++) {
			const struct record_event *e = event_named(&events, cases[i].name);
			int node = cycle_template_node(tree, cases[i].name);

			if ((e != NULL) != (all || cases[i].is_needed))
				fail_msg("%s is %srecorded", cases[i].name,
					 e != NULL ? "" : "not ");
			if (e == NULL)
				continue;
			assert_int_equal(e->attr.type, core.type);
			assert_int_equal(e->attr.config, tree->nodes[node].code);
			assert_int_equal(e->attr.sample_period,
					 accounting_period(tree, node, 2000003));
			assert_true(e->attr.sample_type >> SAMPLE_READ & 1);
			assert_false(e->attr.read_format >> READ_GROUP & 1);
			assert_true(e->attr.read_format >> READ_TIME_ENABLED & 1);
			assert_true(e->attr.read_format >> READ_TIME_RUNNING & 1);
			assert_int_equal(attr_has(&e->attr, ATTR_INHERIT), all);
		}
		diags_release(&diags);
		record_events_release(&events);
		pmus_release(&pmus);
	}
	cycle_template_free(tree);
}

/* What the machine lacks is left out and said, or the branches would have a part that is always 0. */
static void refused_events(void **state)
{
	struct choosy choosy = { .refused = 0x34 };
	struct kernel kernel = choosy_kernel(&choosy);
	struct accounting a = { .core = &core, .kernel = &kernel };
	struct record_events events = { 0 };
	struct cycle_template *tree = NULL;
	struct accounting_plan plan;
	struct diags diags = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(cycle_template_find("neoverse-n1", &tree, &err), 0);
	a.tree = tree;
	assert_int_equal(accounting_add(&a, &events, &plan, &diags, &err), 0);
	assert_null(event_named(&events, "DTLB_WALK"));
	assert_non_null(event_named(&events, "L1D_TLB_REFILL_RD"));
	assert_int_equal(diags.list.n, 1);
	assert_non_null(strstr(diags.list.items[0].text, "DTLB_WALK"));
	diags_release(&diags);
	record_events_release(&events);

	choosy.refused = 0x11;
	events = (struct record_events){ 0 };
	assert_int_equal(accounting_add(&a, &events, &plan, &diags, &err), -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	record_events_release(&events);
	cycle_template_free(tree);
}

/* Before Linux 6.12 no event with read values is inherited. */
static void inherited_reads(void **state)
{
	struct fake_kernel k;

	(void)state;
	fake_kernel_init(&k);
	assert_true(accounting_reads_inherited(&k.kernel));
	k.refusals[0].error = EINVAL;
	k.refusals[0].flags = BIT(ATTR_INHERIT);
	assert_false(accounting_reads_inherited(&k.kernel));
	fake_kernel_release(&k);
}

/* The part of the time that each event was counted, on all CPUs and of all threads. */
static void counted_parts(void **state)
{
	struct text text = { 0 };
	double least, most;
	struct world w;
	struct err err;

	(void)state;
	world_make(&w, false);
	w.events.list.items[0].is_of_account = true;
	w.events.list.items[0].attr.read_format |= BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING);
	*vec_add(&w.events.list) = (struct record_event){
		.name = "b", .attr = w.events.list.items[0].attr, .leader = 1, .is_of_account = true
	};
	assert_int_equal(world_open(&w, 1, &err), 0);
	for (int i = 0; i < w.kernel.n_events; i++) {
		w.kernel.events[i].enabled_ns = 1000;
		w.kernel.events[i].running_ns = i % 2 == 0 ? 100u * (unsigned)i : 900;
		w.kernel.events[i].n_lost = 3;
	}
	recording_counted(&w.recording, &least, &most);
	assert_true(fabs(least - (0 + 200 + 400 + 600) / 4000.0) < 1e-12);
	assert_true(fabs(most - 0.9) < 1e-12);
	world_write(&w);
	assert_int_equal(recording_write_lost(&w.recording, w.writer), 3 * w.kernel.n_events);
	accounting_sum_up(&(struct accounting_plan){ 20, 19, 6 }, least, most, &text);
	text_char(&text, '\0');
	assert_string_equal(text.bytes,
			    "20 events need 19 counters beside that of cycles; 6 are free: "
			    "each was counted 30 to 90 % of the time");
	text_release(&text);
	w.kernel.fails_read = true;
	recording_counted(&w.recording, &least, &most);
	assert_true(least == 0 && most == 0);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods),	  cmocka_unit_test(events_of_a_tree),
		cmocka_unit_test(refused_events), cmocka_unit_test(inherited_reads),
		cmocka_unit_test(counted_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
