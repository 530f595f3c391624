/* SPDX-License-Identifier: Apache-2.0 */
/* Templates as a whole: finding them, asking them, checking that they are no circle. */
#include "cycles/tree/template.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/embedded.h"
#include "base/mapped.h"
#include "base/text.h"
#include "cycles/tree/inside.h"

extern const struct embedded_file cycles_files[];

void cycle_template_free(struct cycle_template *t)
{
	if (t == NULL)
		return;
	arena_release(&t->memory->arena);
	free(t->memory);
	free(t);
}

int cycle_template_open(const char *path, struct cycle_template **out, struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	*out = NULL;
	if (mapped_open(&file, path, err) < 0)
		return -1;
	rc = cycle_template_read(path, (const char *)file.bytes, file.size, out, err);
	mapped_release(&file);
	return rc;
}

struct cycle_template *cycle_template_at(size_t index)
{
	const struct embedded_file *f = cycles_files;
	struct cycle_template *t = NULL;
	struct err err;
	int rc;

	for (; index > 0 && f->name != NULL; index--)
		f++;
	if (f->name == NULL)
		return NULL;
	rc = cycle_template_read(f->name, f->bytes, f->size, &t, &err);
	assert(rc == 0); /* the tests read them all */
	(void)rc;
	return t;
}

int cycle_template_find(const char *id, struct cycle_template **out, struct err *err)
{
	struct text known = { 0 };
	struct cycle_template *t;

	*out = NULL;
	for (size_t i = 0; (t = cycle_template_at(i)) != NULL; i++) {
		if (strcasecmp(t->id, id) == 0) {
			*out = t;
			text_release(&known);
			return 0;
		}
		text_part(&known);
		text_str(&known, t->id);
		cycle_template_free(t);
	}
	err_set(err, ERR_USAGE, ERR_NOWHERE, "no cycle accounting tree '%.60s'; there are: %.*s",
		id, (int)known.n, known.bytes);
	text_release(&known);
	return -1;
}

/* Does CPUID's text, "GenuineIntel,6,44,2", name one of its models? */
static bool is_for_cpuid(const struct cycle_template *t, const char *cpuid)
{
	unsigned family, model;
	char vendor[33];

	if (t->vendor == NULL || sscanf(cpuid, "%32[^,],%u,%u", vendor, &family, &model) != 3 ||
	    strcmp(vendor, t->vendor) != 0 || family != t->family)
		return false;
	for (size_t i = 0; i < t->n_models; i++)
		if (t->models[i] == model)
			return true;
	return false;
}

static bool is_for(const struct cycle_template *t, const char *cpu, const char *cpuid)
{
	for (size_t i = 0; i < t->n_cpus; i++)
		if (strcmp(t->cpus[i], cpu) == 0)
			return true;
	return is_for_cpuid(t, cpuid);
}

int cycle_template_of_cpu(const char *cpu, const char *cpuid, struct cycle_template **out,
			  struct err *err)
{
	struct cycle_template *t;

	*out = NULL;
	for (size_t i = 0; (t = cycle_template_at(i)) != NULL; i++) {
		if (is_for(t, cpu, cpuid)) {
			*out = t;
			return 0;
		}
		cycle_template_free(t);
	}
	return err_set(
		err, ERR_NO_DATA, ERR_NOWHERE,
		"no cycle accounting tree for this CPU (%s): what its events cost in cycles is not "
		"known. --template takes a tree of 'cyclops list penalties', or a file",
		cpu[0] != '\0'	   ? cpu
		: cpuid[0] != '\0' ? cpuid
				   : "not known");
}

int cycle_template_choose(const char *name, const char *cpu, const char *cpuid,
			  struct cycle_template **out, struct err *err)
{
	struct err unused;

	if (name == NULL || name[0] == '\0')
		return cycle_template_of_cpu(cpu, cpuid, out, err);
	if (cycle_template_find(name, out, &unused) == 0)
		return 0;
	if (access(name, F_OK) != 0)
		return cycle_template_find(name, out, err);
	return cycle_template_open(name, out, err);
}

int cycle_template_node(const struct cycle_template *t, const char *name)
{
	for (size_t i = 0; i < t->n_nodes; i++)
		if (strcasecmp(t->nodes[i].name, name) == 0)
			return (int)i;
	return NO_NODE;
}

bool cycle_node_is_below(const struct cycle_template *t, int node, int above)
{
	for (int at = t->nodes[node].parent; at != NO_NODE; at = t->nodes[at].parent)
		if (at == above)
			return true;
	return false;
}

static bool is_of_port(const struct cycle_node *formula, int node)
{
	for (size_t i = 0; i < formula->n_ports; i++)
		for (size_t k = 0; k < formula->ports[i].n_events; k++)
			if (formula->ports[i].events[k] == node)
				return true;
	return false;
}

bool cycle_node_is_needed(const struct cycle_template *t, int node)
{
	const struct cycle_node *n = &t->nodes[node];

	if (n->kind != NODE_EVENT)
		return false;
	if (n->adds || n->is_cycles || node == t->cycles || node == t->stalled ||
	    node == t->instructions)
		return true;
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *other = &t->nodes[i];

		if (other->cap == node || is_of_port(other, node))
			return true;
		if (other->formula == FORMULA_HALTED || other->formula == FORMULA_COLLISIONS)
			continue; /* of counts only */
		for (size_t k = 0; k < other->n_operands; k++)
			if (other->operands[k] == node)
				return true;
	}
	return false;
}

double cycle_node_penalty(const struct cycle_template *t, int node, double ghz)
{
	const struct cycle_node *n = &t->nodes[node];

	return n->is_in_ns ? n->penalty * (ghz > 0 ? ghz : t->reference_ghz) : n->penalty;
}

/* Marks while nodes are followed: a node that is met again while it is open depends on itself. */
enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

static int follow(const struct cycle_template *t, int node, enum mark *marks, struct err *err)
{
	const struct cycle_node *n = &t->nodes[node];
	int rc = 0;

	if (marks[node] == MARK_OPEN)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "node '%.60s' depends on itself",
			       n->name);
	if (marks[node] == MARK_DONE)
		return 0;
	marks[node] = MARK_OPEN;
	for (size_t i = 0; i < n->n_operands && rc == 0; i++)
		if (n->operands[i] != NO_NODE)
			rc = follow(t, n->operands[i], marks, err);
	for (size_t i = (size_t)node + 1; n->kind == NODE_BRANCH && i < t->n_nodes && rc == 0; i++)
		if (t->nodes[i].parent == node && t->nodes[i].adds)
			rc = follow(t, (int)i, marks, err);
	marks[node] = MARK_DONE;
	return rc;
}

int cycle_template_check(const struct cycle_template *t, struct err *err)
{
	enum mark *marks = mem_zalloc(t->n_nodes, sizeof(*marks));
	int rc = 0;

	for (size_t i = 0; i < t->n_nodes && rc == 0; i++)
		rc = follow(t, (int)i, marks, err);
	free(marks);
	return rc;
}
