/* SPDX-License-Identifier: Apache-2.0 */
/* The file has a node on each line, as those of catalog/cycles/ have, so that two can be compared. */
#include "cycles/tree/template_write.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/embedded.h"
#include "cycles/tree/template.h"

extern const struct embedded_file cycles_files[];

enum { DIGITS = 6 }; /* of numbers; penalties are rounded to hundredths before */

static json_t *penalty_of(const struct measured_penalties *m, const struct cycle_node *node,
			  const struct measured_penalty *p)
{
	double value = node->is_in_ns ? p->cycles / m->ghz : p->cycles;

	/* 0 has no meaning in the format: it costs nothing */
	value = value < 0.01 ? 0.01 : round(value * 100) / 100;
	return json_real(value);
}

/* The penalty, its unit and its source. */
static int set_penalty(json_t *nodes, const struct cycle_template *t,
		       const struct measured_penalties *m, const struct measured_penalty *p,
		       struct err *err)
{
	int node = cycle_template_node(t, p->event);
	json_t *object = node == NO_NODE ? NULL : json_array_get(nodes, (size_t)node);

	if (object == NULL || t->nodes[node].kind != NODE_EVENT)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "the tree of %s has no event '%.60s'",
			       t->name, p->event);
	json_object_set_new(object, "penalty", penalty_of(m, &t->nodes[node], p));
	json_object_set_new(object, "unit", json_string(t->nodes[node].is_in_ns ? "ns" : "cycles"));
	json_object_set_new(object, "source", json_string(p->source));
	return 0;
}

/* What is said of the whole tree: whose it is, and which of its penalties were measured. */
static void set_head(json_t *root, const struct cycle_template *t,
		     const struct measured_penalties *m)
{
	json_t *measured = json_object();
	struct text text = { 0 };

	text_format(&text, "%s-%s", t->id, m->is_modelled ? "modelled" : "measured");
	json_object_set_new(root, "id", json_stringn(text.bytes, text.n));
	text_reset(&text);
	text_format(&text, "%s, measured on %s%s", t->name,
		    m->is_modelled ? "the machine model of " : "", m->machine);
	json_object_set_new(root, "name", json_stringn(text.bytes, text.n));
	text_reset(&text);
	text_format(&text, "%zu penalties measured by cyclops kernel --calibrate; others: %s", m->n,
		    t->source);
	json_object_set_new(root, "source", json_stringn(text.bytes, text.n));
	text_release(&text);
	json_object_set_new(root, "reference_ghz", json_real(round(m->ghz * 1000) / 1000));
	json_object_set_new(measured, "machine", json_string(m->machine));
	json_object_set_new(measured, "modelled", json_boolean(m->is_modelled));
	json_object_set_new(measured, "date", json_string(m->date));
	json_object_set_new(measured, "ghz", json_real(round(m->ghz * 1000) / 1000));
	json_object_set_new(root, "measured", measured);
}

static void write_value(struct text *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));

	text_str(out, text);
	free(text);
}

static void write_tree(struct text *out, const json_t *root)
{
	const json_t *nodes = json_object_get(root, "nodes");
	const char *key;
	json_t *value;

	text_str(out, "{\n");
	json_object_foreach((json_t *)(uintptr_t)root, key, value)
	{
		if (value == nodes)
			continue;
		text_format(out, " \"%s\": ", key);
		write_value(out, value);
		text_str(out, ",\n");
	}
	text_str(out, " \"nodes\": [");
	for (size_t i = 0; i < json_array_size(nodes); i++) {
		text_str(out, i > 0 ? ",\n  " : "\n  ");
		write_value(out, json_array_get(nodes, i));
	}
	text_str(out, "\n ]\n}\n");
}

int cycle_template_write(const char *id, const struct measured_penalties *m, struct text *out,
			 struct err *err)
{
	const struct embedded_file *file = cycles_files;
	struct cycle_template *t = NULL;
	json_t *root;
	int rc = 0;

	if (cycle_template_find(id, &t, err) < 0)
		return -1;
	while (strncmp(file->name, t->id, strlen(t->id)) != 0 || file->name[strlen(t->id)] != '.')
		file++; /* files are named by their ids (tests/unit/cycles) */
	root = json_loadb(file->bytes, file->size, 0, NULL);
	for (size_t i = 0; i < m->n && rc == 0; i++)
		rc = set_penalty(json_object_get(root, "nodes"), t, m, &m->list[i], err);
	if (rc == 0) {
		set_head(root, t, m);
		write_tree(out, root);
	}
	json_decref(root);
	cycle_template_free(t);
	return rc;
}
