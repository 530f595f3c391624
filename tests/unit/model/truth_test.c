/* SPDX-License-Identifier: Apache-2.0 */
/* The truth: what is counted, and its json, read back by another reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/alloc.h"
#include "model/results.h"
#include "spe/packet.h"

#define EV(name) ((uint64_t)1 << SPE_EV_##name)

static json_t *parse(const struct truth *t)
{
	struct text text = { 0 };
	json_error_t error;
	json_t *root;

	text_char(&text, '{');
	truth_json(t, &text);
	text_char(&text, '}');
	root = json_loadb(text.bytes, text.n, 0, &error);
	if (root == NULL)
		fail_msg("%d: %s", error.line, error.text);
	text_release(&text);
	return root;
}

/* A number at a path such as "transfers", 0, "from", "offset". */
static json_int_t number_at(const json_t *list, size_t i, const char *a, const char *b)
{
	const json_t *item = json_object_get(json_array_get(list, i), a);

	return json_integer_value(b == NULL ? item : json_object_get(item, b));
}

static const char *text_at(const json_t *list, size_t i, const char *a, const char *b)
{
	const json_t *item = json_object_get(json_array_get(list, i), a);

	return json_string_value(b == NULL ? item : json_object_get(item, b));
}

static void check_source(const json_t *root, const char *name, int n, int total)
{
	const json_t *source = json_object_get(json_object_get(root, "sources"), name);

	assert_int_equal(json_integer_value(json_object_get(source, "n")), n);
	assert_int_equal(json_integer_value(json_object_get(source, "total")), total);
}

static void instructions_add_up(void **state)
{
	struct truth *t = truth_new();
	const struct insn load = { .pc = 0x400, .op_class = SPE_OP_LDST };
	const struct insn other = { .pc = 0x404 };
	struct counts before = { 0 }, after = { 0 };
	json_t *root, *list;

	(void)state;
	for (int i = 0; i < 10; i++)
		truth_instruction(t, &load,
				  &(struct truth_execution){
					  .events = EV(RETIRED) | (i < 3 ? EV(L1D_REFILL) : 0),
					  .total = 10,
					  .issue = 4,
					  .xlat = 1,
					  .cycles = 2,
					  .has_source = true,
					  .source = i < 3 ? SOURCE_L2 : SOURCE_L1,
				  });
	assert_int_equal(
		truth_instruction(t, &other, &(struct truth_execution){ .events = EV(RETIRED) }),
		1);
	before.n[COUNT_L1D_CACHE_RD] = 3;
	after.n[COUNT_L1D_CACHE_RD] = 6;
	after.n[COUNT_L1D_CACHE_WR] = 4;
	counts_add_new(truth_counts(t, 1), &after, &before);
	counts_add_new(truth_counts(t, 1), &after, &before);
	after.n[COUNT_L1D_CACHE_RD] += 3;
	after.n[COUNT_L1D_CACHE_WR] += 4;
	counts_add_new(truth_counts(t, 1), &after, &before);
	root = parse(t);
	list = json_object_get(root, "instructions");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(text_at(list, 0, "pc", NULL), "0x400");
	assert_int_equal(number_at(list, 0, "n", NULL), 10);
	assert_int_equal(number_at(list, 0, "total", NULL), 100);
	assert_int_equal(number_at(list, 0, "issue", NULL), 40);
	assert_int_equal(number_at(list, 0, "xlat", NULL), 10);
	assert_int_equal(number_at(list, 0, "cycles", NULL), 20);
	assert_int_equal(number_at(list, 0, "events", "L1D-REFILL"), 3);
	assert_int_equal(number_at(list, 0, "sources", "L2"), 3);
	assert_int_equal(number_at(list, 0, "sources", "L1D"), 7);
	assert_int_equal(number_at(list, 1, "n", NULL), 1);
	assert_int_equal(number_at(list, 1, "counts", "L1D_CACHE"), 14);
	assert_int_equal(number_at(list, 1, "counts", "L1D_CACHE_WR"), 8);
	check_source(root, "L2", 3, 30);
	check_source(root, "L1D", 7, 70);
	json_decref(root);
	truth_free(t);
}

/*
 * Cycles of the commit stage, in thousandths, of a load, what it holds up, a branch that flushes.
 */
static void cycles_are_where_the_commit_waits(void **state)
{
	static const struct {
		uint64_t pc;
		struct truth_execution e;
	} steps[] = {
		{ 0x400, { .cycles = 10 } },		  /* 9 waiting, a third of the last */
		{ 0x404, { 0 } },			  /* taken in the same cycle, … */
		{ 0x408, { .flushes = true } },		  /* … as this one */
		{ 0x40c, { .cycles = 20, .empty = 12 } }, /* 12 of the branch, 7 and a half */
		{ 0x400, { 0 } },			  /* the other half */
		{ 0x40c, { .cycles = 8, .empty = 5 } },	  /* the fetch: of who comes after */
		{ 0x404, { .cycles = 5, .cpu = 1 } },	  /* elsewhere */
		{ 0x408, { .cycles = 1 } },
	};
	static const uint64_t wanted[] = { 9000 + 334 + 500, 333 + 5000, 333 + 12000 + 1000,
					   7000 + 500 + 8000 };
	struct truth *t = truth_new();
	uint64_t sum = 0, cycles = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		truth_instruction(t, &(struct insn){ .pc = steps[i].pc }, &steps[i].e);
		cycles += steps[i].e.cycles;
	}
	truth_end(t);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(t->insns.items[i].commit_millicycles, wanted[i]);
		sum += wanted[i];
	}
	assert_int_equal(sum, cycles * 1000);
	truth_free(t);
}

static void blocks_and_calls_are_counted(void **state)
{
	struct truth *t = truth_new();
	json_t *root, *blocks, *calls, *edges;

	(void)state;
	truth_block(t, 0x400, 0x410);
	truth_block(t, 0x400, 0x410);
	truth_block(t, 0x400, 0x420);
	truth_call(t, 0x40c, 0x500);
	truth_edge(t, 0x40c, 0x500, false);
	truth_edge(t, 0x40c, 0x500, true);
	truth_edge(t, 0x40c, 0x600, false);
	root = parse(t);
	edges = json_object_get(root, "edges");
	assert_int_equal(json_array_size(edges), 2);
	assert_string_equal(text_at(edges, 1, "to", NULL), "0x600");
	assert_int_equal(number_at(edges, 0, "n", NULL), 2);
	assert_int_equal(number_at(edges, 0, "mispredicted", NULL), 1);
	blocks = json_object_get(root, "blocks");
	calls = json_object_get(root, "calls");
	assert_int_equal(json_array_size(blocks), 2);
	assert_int_equal(number_at(blocks, 0, "n", NULL), 2);
	assert_string_equal(text_at(blocks, 1, "end", NULL), "0x420");
	assert_int_equal(json_array_size(calls), 1);
	assert_string_equal(text_at(calls, 0, "to", NULL), "0x500");
	json_decref(root);
	truth_free(t);
}

/* Two CPUs use different words of a line: who took it from whom, and where in it both were. */
static void transfers_have_two_sides(void **state)
{
	struct truth *t = truth_new();
	struct truth_access a = {
		.cpu = 0, .tid = 10, .pc = 0x400, .va = 0x8008, .is_store = true
	};
	struct truth_access b = { .cpu = 1, .tid = 11, .pc = 0x500, .va = 0x8020, .peers = 1 << 0 };
	struct truth_access never = { .cpu = 2, .tid = 12, .pc = 0x600, .va = 0x9000, .peers = 2 };
	json_t *root, *list;

	(void)state;
	truth_access(t, &a);
	truth_access(t, &b);
	a.peers = 1 << 1;
	truth_access(t, &a);
	truth_access(t, &b);
	truth_access(t, &never); /* CPU 1 had that line, but did not use it */
	root = parse(t);
	list = json_object_get(root, "transfers");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(text_at(list, 0, "line", NULL), "0x8000");
	assert_int_equal(number_at(list, 0, "n", NULL), 2);
	assert_int_equal(number_at(list, 0, "from", "tid"), 10);
	assert_int_equal(number_at(list, 0, "from", "offset"), 8);
	assert_string_equal(text_at(list, 0, "from", "op"), "store");
	assert_int_equal(number_at(list, 0, "to", "offset"), 0x20);
	assert_string_equal(text_at(list, 0, "to", "op"), "load");
	assert_int_equal(number_at(list, 1, "n", NULL), 1);
	json_decref(root);
	truth_free(t);
}

/* The counts of two CPUs of four, and their sums. */
static void counts_are_named_and_added(void **state)
{
	char path[] = "/tmp/cyclops-counts-XXXXXX";
	struct counts counts[4] = { 0 };
	struct config c = {
		.counts = path,
		.model = "Neoverse \"N1\"",
		.version = "0.1",
		.name = "back\\slash",
		.params = { .core_mhz = 2000, .n_cpus = 4 },
	};
	json_error_t error;
	json_t *root, *events;
	struct err err;

	(void)state;
	close(mkstemp(path));
	counts[1].n[COUNT_INST_RETIRED] = 100;
	counts[1].n[COUNT_L1D_CACHE_RD] = 30;
	counts[1].n[COUNT_L1D_CACHE_WR] = 12;
	counts[1].n[COUNT_CPU_CYCLES] = 3900;
	counts[3].n[COUNT_INST_RETIRED] = 11;
	counts[3].n[COUNT_CPU_CYCLES] = 500;
	counts[3].n[COUNT_IDLE_CYCLES] = 3500;
	assert_int_equal(results_write_counts(&c, counts, NULL, &err), 0);
	root = json_load_file(path, 0, &error);
	unlink(path);
	assert_non_null(root);
	events = json_object_get(root, "events");
	assert_true(json_is_true(json_object_get(root, "modelled")));
	assert_string_equal(json_string_value(json_object_get(root, "program")), "back\\slash");
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(events, "INST_RETIRED"), "count")),
			 111);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(events, "L1D_CACHE"), "count")),
		42);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(events, "L1D_CACHE"),
							    "running_ns")),
			 2000);
	assert_int_equal(json_array_size(json_object_get(root, "cpus")), 2);
	json_decref(root);
	c.counts = "/nonexistent/counts.json";
	assert_int_equal(results_write_counts(&c, counts, NULL, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_add_up),
		cmocka_unit_test(cycles_are_where_the_commit_waits),
		cmocka_unit_test(blocks_and_calls_are_counted),
		cmocka_unit_test(transfers_have_two_sides),
		cmocka_unit_test(counts_are_named_and_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
