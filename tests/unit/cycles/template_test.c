/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of cycle accounting: the embedded ones, and what is wrong with users' own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cycles/tree/template.h"
#include "cycles/tree/template_write.h"

/* A tree with all that a template can have, on its own line each: tests replace lines. */
static const char *const lines[] = {
	"{ \"schema\": 1, \"id\": \"mine\", \"name\": \"Mine\", \"source\": \"a test\",",
	" \"match\": {\"cpu\": [\"my-cpu\"], \"vendor\": \"GenuineIntel\", \"family\": 6, "
	"\"models\": [44]},",
	" \"slots\": 4, \"reference_ghz\": 2.5,",
	" \"cycles\": \"C\", \"stalled\": \"ALL\", \"instructions\": \"I\", \"nodes\": [",
	"{\"name\": \"C\", \"kind\": \"event\", \"code\": \"0x11\", \"in_cycles\": true},",
	"{\"name\": \"I\", \"kind\": \"event\", \"code\": \"0x8\", \"period\": 1009, \"precise\": "
	"1},",
	"{\"name\": \"S\", \"kind\": \"event\", \"code\": \"0x24\", \"in_cycles\": true},",
	"{\"name\": \"ALL\", \"kind\": \"formula\", \"formula\": {\"kind\": \"sum\", \"of\": "
	"[\"S\"]}},",
	"{\"name\": \"load\", \"kind\": \"branch\", \"side\": \"stall\", \"cap\": \"S\"},",
	"{\"name\": \"M\", \"kind\": \"event\", \"parent\": \"load\", \"code\": \"0x52\", "
	"\"penalty\": 30,"
	" \"unit\": \"ns\", \"adds\": true, \"source\": \"estimate; a test\"},",
	"{\"name\": \"port\", \"kind\": \"formula\", \"formula\": {\"kind\": \"busiest\", "
	"\"cycles\": \"C\","
	" \"ports\": [{\"name\": \"p0\", \"events\": [\"I\", \"M\"], \"pipes\": 2}]}}",
	"]}",
};

/* The tree with line `at` replaced; -1: as it is. */
static char *tree_with(int at, const char *line)
{
	size_t n = 1;
	char *text;

	for (size_t i = 0; i < COUNT(lines); i++)
		n += strlen(lines[i]) + 1;
	text = mem_zalloc(n + strlen(line), 1);
	for (size_t i = 0; i < COUNT(lines); i++) {
		strcat(text, (int)i == at ? line : lines[i]);
		strcat(text, "\n");
	}
	return text;
}

static void whole(void **state)
{
	char *text = tree_with(-1, "");
	struct cycle_template *t = NULL;
	const struct cycle_node *m;
	struct err err = { 0 };

	(void)state;
	if (cycle_template_read("mine.json", text, strlen(text), &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(t->id, "mine");
	assert_int_equal(t->n_nodes, 7);
	assert_int_equal(t->cycles, 0);
	assert_int_equal(t->stalled, 3);
	assert_int_equal(t->instructions, 1);
	m = &t->nodes[cycle_template_node(t, "m")];
	assert_string_equal(m->name, "M");
	assert_int_equal(m->depth, 1);
	assert_true(m->adds && m->is_in_ns && m->is_estimate);
	assert_true(cycle_node_penalty(t, 5, 0) == 75);
	assert_true(cycle_node_penalty(t, 5, 3) == 90);
	assert_int_equal(t->nodes[4].cap, 2);
	assert_true(t->nodes[4].is_stall && !t->nodes[0].is_stall);
	assert_int_equal(t->nodes[6].ports[0].n_events, 2);
	assert_true(cycle_node_is_below(t, 5, 4));
	assert_false(cycle_node_is_below(t, 4, 5));
	assert_int_equal(cycle_template_node(t, "no such"), NO_NODE);
	cycle_template_free(t);
	free(text);
}

/* What is wrong, and a part of what is said. */
static void faults(void **state)
{
	static const struct {
		int line;
		const char *text, *said;
	} cases[] = {
		{ 0, "{ \"schema\": 2,", "schema: found 2, wanted 1" },
		{ 0, "{ \"schema\": 1, \"id\": \"\",", "id: found \"\", wanted a text" },
		{ 2, "\"slots\": 0,", "slots: found 0, wanted a number above 0" },
		{ 2, "\"slots\": 4,", "reference_ghz: missing" },
		{ 1, "\"match\": {\"vendor\": \"X\", \"family\": \"6\"},", "family" },
		{ 1, "\"match\": {\"cpu\": [7]},", "cpu: found 7" },
		{ 3,
		  "\"cycles\": \"Q\", \"stalled\": \"ALL\", \"instructions\": \"I\", \"nodes\": [",
		  "cycles: found \"Q\", wanted the name of a node" },
		{ 4, "{\"name\": \"C\", \"kind\": \"event\"},", "node 'C': code: missing" },
		{ 4, "{\"name\": \"C\", \"kind\": \"evnt\"},", "kind: found \"evnt\"" },
		{ 5, "{\"name\": \"c\", \"kind\": \"event\", \"code\": \"1\"},",
		  "'c' stands twice" },
		{ 5, "{\"name\": \"I\", \"kind\": \"event\", \"code\": \"0x8\", \"period\": 0},",
		  "period: found 0" },
		{ 5, "{\"name\": \"I\", \"kind\": \"event\", \"code\": \"0x8\", \"precise\": 9},",
		  "precise: found 9" },
		{ 5, "{\"name\": \"I\", \"kind\": \"event\", \"code\": \"0x8\", \"adds\": true},",
		  "adds: found true, wanted a node with a parent" },
		{ 6,
		  "{\"name\": \"S\", \"kind\": \"event\", \"parent\": \"load\", \"code\": \"1\"},",
		  "parent: found \"load\", wanted" },
		{ 7,
		  "{\"name\": \"ALL\", \"kind\": \"formula\", \"formula\": {\"kind\": \"sum\"}},",
		  "of: missing" },
		{ 7,
		  "{\"name\": \"ALL\", \"kind\": \"formula\", \"formula\": {\"kind\": \"sum\", "
		  "\"of\": "
		  "[\"all\"]}},",
		  "node 'ALL' depends on itself" },
		{ 7,
		  "{\"name\": \"ALL\", \"kind\": \"formula\", \"formula\": {\"kind\": \"root\"}},",
		  "formula: found" },
		{ 8, "{\"name\": \"load\", \"kind\": \"branch\", \"cap\": \"ALL\"},",
		  "cap: found \"ALL\", wanted an event" },
		{ 8, "{\"name\": \"load\", \"kind\": \"branch\", \"side\": \"left\"},", "side" },
		{ 9,
		  "{\"name\": \"M\", \"kind\": \"event\", \"parent\": \"load\", \"code\": "
		  "\"0x52\", "
		  "\"adds\": true},",
		  "penalty: missing, wanted cycles of an event that adds" },
		{ 9,
		  "{\"name\": \"M\", \"kind\": \"event\", \"parent\": \"load\", \"code\": "
		  "\"0x52\", "
		  "\"penalty\": 3},",
		  "unit: missing, wanted cycles or ns" },
		{ 10,
		  "{\"name\": \"p\", \"kind\": \"formula\", \"formula\": {\"kind\": \"busiest\", "
		  "\"cycles\": \"C\"}}",
		  "ports" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = tree_with(cases[i].line, cases[i].text);
		struct cycle_template *t = NULL;
		struct err err = { 0 };

		assert_int_equal(cycle_template_read("mine.json", text, strlen(text), &t, &err),
				 -1);
		assert_null(t);
		if (strstr(err.text, cases[i].said) == NULL)
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.text,
				 cases[i].said);
		free(text);
	}
}

/* An event whose cost nobody knows: it may be a part of a branch, which is a lower bound then. */
static void unpriced(void **state)
{
	char *text = tree_with(9, "{\"name\": \"M\", \"kind\": \"event\", \"parent\": \"load\", "
				  "\"code\": \"0x52\", \"penalty\": null, \"adds\": true},");
	struct cycle_template *t = NULL;
	struct err err = { 0 };

	(void)state;
	if (cycle_template_read("mine.json", text, strlen(text), &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(t->nodes[5].is_unpriced && t->nodes[5].adds && t->nodes[5].penalty == 0);
	cycle_template_free(t);
	free(text);
}

static void cut_anywhere(void **state)
{
	char *text = tree_with(-1, "");
	size_t size = strlen(text) - 1; /* without the newline at the end */

	(void)state;
	for (size_t n = 0; n < size; n++) {
		struct cycle_template *t = NULL;
		struct err err = { 0 };

		assert_int_equal(cycle_template_read("mine.json", text, n, &t, &err), -1);
		assert_non_null(strstr(err.text, "not JSON"));
	}
	free(text);
}

static void of_cpus(void **state)
{
	static const struct {
		const char *cpu, *cpuid, *id; /* NULL: none */
	} cases[] = {
		{ "neoverse-n1", "", "neoverse-n1" },
		{ "neoverse-v2", "0x00000000410fd4f0", "neoverse-v2" },
		{ "", "GenuineIntel,6,44,2", "westmere-ep" },
		{ "", "GenuineIntel,6,69,1", "haswell" },
		{ "", "GenuineIntel,6,63,2", "haswell-ep" },
		{ "", "GenuineIntel,7,44,2", NULL },
		{ "", "AuthenticAMD,6,44,2", NULL },
		{ "", "GenuineIntel,6", NULL },
		{ "cortex-a72", "", "cortex-a72" },
		{ "cortex-a76", "", "cortex-a76" },
		{ "neoverse-v3", "", "neoverse-v3" },
		{ "", "GenuineIntel,6,85,7", "skylake-x" },
		{ "", "GenuineIntel,6,94,3", NULL },
		{ "cortex-a53", "", NULL },
		{ "", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cycle_template *t = NULL;
		struct err err = { 0 };
		int rc = cycle_template_of_cpu(cases[i].cpu, cases[i].cpuid, &t, &err);

		assert_int_equal(rc, cases[i].id != NULL ? 0 : -1);
		if (rc == 0)
			assert_string_equal(t->id, cases[i].id);
		else
			assert_int_equal(err.code, ERR_NO_DATA);
		cycle_template_free(t);
	}
}

static void by_name(void **state)
{
	struct cycle_template *t = NULL;
	struct err err = { 0 };
	size_t n = 0;

	(void)state;
	assert_int_equal(cycle_template_find("Haswell-EP", &t, &err), 0);
	assert_string_equal(t->name, "Haswell-EP");
	cycle_template_free(t);
	assert_int_equal(cycle_template_find("haswell-", &t, &err), -1);
	assert_non_null(strstr(err.text, "there are: cortex-a72, cortex-a76, haswell-ep"));
	while ((t = cycle_template_at(n)) != NULL) {
		assert_true(t->n_nodes > 30);
		cycle_template_free(t);
		n++;
	}
	assert_int_equal(n, 15);
}

/* Measured penalties replace those of a tree, in its units; the rest of the tree stays. */
static void written(void **state)
{
	static const struct measured_penalty penalties[] = {
		{ "L1D_CACHE_REFILL_RD", 10.004, "measured: a test" },
		{ "L2D_CACHE_REFILL_RD", 87, "measured: another" },
		{ "L1I_CACHE_REFILL", 0, "measured: costs nothing" },
	};
	const struct measured_penalties measured = { penalties,	   COUNT(penalties),
						     "my machine", "2026-01-02",
						     2.5,	   false };
	const struct measured_penalty wrong = { "load_latency", 1, "a branch" };
	const struct measured_penalties none = {
		&wrong, 1, "my machine", "2026-01-02", 2.5, false
	};
	struct cycle_template *t = NULL, *old = NULL;
	struct text text = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cycle_template_write("neoverse-n1", &measured, &text, &err), 0);
	if (cycle_template_read("written", text.bytes, text.n, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(cycle_template_find("neoverse-n1", &old, &err), 0);
	assert_string_equal(t->id, "neoverse-n1-measured");
	assert_true(t->reference_ghz == 2.5);
	assert_int_equal(t->n_nodes, old->n_nodes);
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];

		assert_string_equal(n->name, old->nodes[i].name);
		assert_int_equal(n->is_in_ns, old->nodes[i].is_in_ns);
		if (n->source == NULL || strstr(n->source, "measured: ") != n->source)
			assert_true(n->penalty == old->nodes[i].penalty);
	}
	assert_true(cycle_node_penalty(t, cycle_template_node(t, penalties[0].event), 0) == 10);
	assert_true(cycle_node_penalty(t, cycle_template_node(t, penalties[1].event), 0) == 87);
	assert_true(cycle_node_penalty(t, cycle_template_node(t, penalties[2].event), 0) == 0.01);
	assert_false(t->nodes[cycle_template_node(t, "L1I_CACHE_REFILL")].is_estimate);
	cycle_template_free(t);
	cycle_template_free(old);
	text_reset(&text);
	assert_int_equal(cycle_template_write("neoverse-n1", &none, &text, &err), -1);
	assert_non_null(strstr(err.text, "has no event 'load_latency'"));
	assert_int_equal(cycle_template_write("no-cpu", &measured, &text, &err), -1);
	text_release(&text);
}

/* Whatever the tree, what is written of it can be read. */
static void all_can_be_written(void **state)
{
	struct cycle_template *t, *again = NULL;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; (t = cycle_template_at(i)) != NULL; i++) {
		const struct measured_penalties none = { NULL, 0, "m", "2026-01-02", 1, true };
		struct text text = { 0 };

		assert_int_equal(cycle_template_write(t->id, &none, &text, &err), 0);
		if (cycle_template_read(t->id, text.bytes, text.n, &again, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(again->n_nodes, t->n_nodes);
		cycle_template_free(again);
		cycle_template_free(t);
		text_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),	cmocka_unit_test(faults),
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(of_cpus),
		cmocka_unit_test(by_name),	cmocka_unit_test(unpriced),
		cmocka_unit_test(written),	cmocka_unit_test(all_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
