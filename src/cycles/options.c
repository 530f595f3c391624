/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/cpu.h"

static const struct option options[] = {
	{ "penalty", 0, OPTION_LIST, offsetof(struct cycle_options, penalties), "EVENT=CYCLES",
	  "cycles that an event costs on this machine" },
	{ "ghz", 0, OPTION_TEXT, offsetof(struct cycle_options, ghz), "F",
	  "frequency of the cores, for penalties in ns" },
	{ "template", 0, OPTION_TEXT, offsetof(struct cycle_options, tree), "NAME|FILE",
	  "the tree: one of 'list penalties', or a file (catalog/schema.md)" },
};

struct option_set cycle_option_set(struct cycle_options *into)
{
	return (struct option_set){ "Cycle accounting:", options, COUNT(options), into };
}

bool cycle_options_given(const struct cycle_options *o)
{
	return o->tree != NULL || o->ghz != NULL || o->penalties.n > 0;
}

int cycle_options_check(struct cycle_options *o, struct err *err)
{
	return o->ghz == NULL ? 0 : core_clock_parse(o->ghz, &o->clock, err);
}

int cycle_options_tree(const struct cycle_options *o, const struct session *s,
		       struct cycle_template **out, struct err *err)
{
	return cycle_template_choose(
		o->tree, s->cpu != NULL ? cpu_id(s->cpu) : "",
		strings_get(capture_strings(s->capture), capture_info(s->capture)->cpuid), out,
		err);
}

/* EVENT=CYCLES */
static int set_penalty(const struct cycle_template *t, const char *text, double *penalties,
		       struct err *err)
{
	const char *equals = strrchr(text, '=');
	char name[128], *end = NULL;
	double cycles;
	int node;

	if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof(name))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty: found '%.60s', wanted EVENT=CYCLES", text);
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	cycles = strtod(equals + 1, &end);
	if (end == equals + 1 || *end != '\0' || !(cycles >= 0) || cycles > 1e9)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty %.60s: wanted a number of cycles behind the '='", text);
	node = cycle_template_node(t, name);
	if (node == NO_NODE || t->nodes[node].kind != NODE_EVENT)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--penalty: the tree of %s has no event '%.60s'; see 'cyclops list "
			       "penalties --cpu %s'",
			       t->name, name, t->id);
	penalties[node] = cycles;
	return 0;
}

double *cycle_options_penalties(const struct cycle_options *o, const struct cycle_template *tree,
				struct err *err)
{
	double *penalties = mem_zalloc(tree->n_nodes, sizeof(*penalties));
	int rc = 0;

	for (size_t i = 0; i < tree->n_nodes; i++)
		penalties[i] = cycle_node_penalty(tree, (int)i, o->clock.hz / 1e9);
	for (size_t i = 0; i < o->penalties.n && rc == 0; i++)
		rc = set_penalty(tree, o->penalties.items[i], penalties, err);
	if (rc == 0)
		return penalties;
	free(penalties);
	return NULL;
}

double cycle_options_assumed_ghz(const struct cycle_options *o, const struct cycle_template *tree)
{
	for (size_t i = 0; i < tree->n_nodes && o->clock.hz <= 0; i++)
		if (tree->nodes[i].is_in_ns && tree->nodes[i].adds)
			return tree->reference_ghz;
	return 0;
}
