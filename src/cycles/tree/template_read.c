/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a template. It may be a user's own file, so everything in it is checked. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cpu/json_read.h"
#include "cycles/tree/inside.h"

/* By enum formula_kind: its word, and the keys of its operands. */
static const struct {
	const char *word;
	const char *operands[FORMULA_OPERANDS];
	size_t n_required;
} formulas[N_FORMULA_KINDS] = {
	[FORMULA_SUM] = { "sum", { NULL }, 0 },
	[FORMULA_WRONG_PATH] = { "wrong-path", { "issued", "retired", "issuing" }, 2 },
	[FORMULA_AVERAGE] = { "average", { "total", "number" }, 2 },
	[FORMULA_BUSIEST] = { "busiest", { "cycles" }, 1 },
	[FORMULA_UNDERUSE] = { "underuse", { "cycles", "stalled", "retired" }, 3 },
	[FORMULA_EMPTY_SLOTS] = { "empty-slots", { "slots", "stalled" }, 2 },
	[FORMULA_REMAINDER] = { "remainder", { "total" }, 1 },
	[FORMULA_COLLISIONS] = { "collisions", { "issuing", "cycles", "stalled" }, 3 },
	[FORMULA_HALTED] = { "halted", { "reference", "cycles" }, 2 },
};

/* A positive number that is not too large to be counted with. */
static int read_positive(const json_t *object, const char *key, double *out, struct err *err)
{
	const json_t *value = json_object_get(object, key);
	double number = json_is_number(value) ? json_number_value(value) : 0;

	if (!(number > 0) || number > 1e12)
		return json_wrong(key, value, "a number above 0", err);
	*out = number;
	return 0;
}

static int read_optional_text(struct arena *memory, const json_t *object, const char *key,
			      const char **out, struct err *err)
{
	*out = NULL;
	return json_object_get(object, key) == NULL ? 0
						    : json_read_text(memory, object, key, out, err);
}

static int read_flag(const json_t *object, const char *key, bool *out, struct err *err)
{
	const json_t *value = json_object_get(object, key);

	if (value != NULL && !json_is_boolean(value))
		return json_wrong(key, value, "true or false", err);
	*out = json_is_true(value);
	return 0;
}

/* A node that `value` names. */
static int read_node(const struct cycle_template *t, const char *key, const json_t *value, int *out,
		     struct err *err)
{
	const char *name = json_string_value(value);

	if (name == NULL)
		return json_wrong(key, value, "the name of a node", err);
	*out = cycle_template_node(t, name);
	if (*out == NO_NODE)
		return json_wrong(key, value, "the name of a node of this tree", err);
	return 0;
}

static int read_cap(const struct cycle_template *t, const json_t *object, struct cycle_node *n,
		    struct err *err)
{
	const json_t *value = json_object_get(object, "cap");

	n->cap = NO_NODE;
	if (value == NULL)
		return 0;
	if (read_node(t, "cap", value, &n->cap, err) < 0)
		return -1;
	if (t->nodes[n->cap].kind != NODE_EVENT)
		return json_wrong("cap", value, "an event", err);
	return 0;
}

static int read_penalty(struct arena *memory, const json_t *object, struct cycle_node *n,
			struct err *err)
{
	static const char estimate[] = "estimate";
	const json_t *unit = json_object_get(object, "unit");
	const char *word = json_string_value(unit);

	if (read_optional_text(memory, object, "source", &n->source, err) < 0)
		return -1;
	n->is_estimate = n->source != NULL && strncmp(n->source, estimate, strlen(estimate)) == 0;
	n->is_unpriced = json_is_null(json_object_get(object, "penalty"));
	if (json_object_get(object, "penalty") == NULL || n->is_unpriced)
		return 0;
	if (read_positive(object, "penalty", &n->penalty, err) < 0)
		return -1;
	if (word == NULL || (strcmp(word, "cycles") != 0 && strcmp(word, "ns") != 0))
		return json_wrong("unit", unit, "cycles or ns", err);
	n->is_in_ns = strcmp(word, "ns") == 0;
	return 0;
}

static int read_event(struct arena *memory, const json_t *object, struct cycle_node *n,
		      struct err *err)
{
	const json_t *period = json_object_get(object, "period");
	const json_t *precise = json_object_get(object, "precise");
	uint64_t code = 0;

	if (json_read_code(object, "code", UINT32_MAX, &code, err) < 0 ||
	    read_flag(object, "in_cycles", &n->is_cycles, err) < 0)
		return -1;
	n->code = code;
	if (period != NULL && (!json_is_integer(period) || json_integer_value(period) <= 0))
		return json_wrong("period", period, "a whole number above 0", err);
	n->period = (uint64_t)json_integer_value(period);
	if (precise != NULL && (!json_is_integer(precise) || json_integer_value(precise) < 0 ||
				json_integer_value(precise) > 3))
		return json_wrong("precise", precise, "0 to 3", err);
	n->precise = (unsigned)json_integer_value(precise);
	return read_penalty(memory, object, n, err);
}

static int read_port(const struct cycle_template *t, const json_t *object, struct cycle_port *port,
		     struct err *err)
{
	struct arena *memory = &t->memory->arena;
	const json_t *events = NULL;

	if (json_read_text(memory, object, "name", &port->name, err) < 0 ||
	    read_positive(object, "pipes", &port->pipes, err) < 0 ||
	    json_read_list(object, "events", &events, err) < 0)
		return -1;
	port->n_events = json_array_size(events);
	if (port->n_events == 0 || port->n_events > FORMULA_OPERANDS)
		return json_wrong("events", events, "1 to 4 events", err);
	for (size_t i = 0; i < port->n_events; i++)
		if (read_node(t, "events", json_array_get(events, i), &port->events[i], err) < 0)
			return -1;
	return 0;
}

static int read_ports(const struct cycle_template *t, const json_t *object, struct cycle_node *n,
		      struct err *err)
{
	const json_t *ports = NULL;

	if (json_read_list(object, "ports", &ports, err) < 0)
		return -1;
	n->n_ports = json_array_size(ports);
	if (n->n_ports == 0)
		return json_wrong("ports", ports, "a list of ports", err);
	n->ports = json_array_memory(&t->memory->arena, n->n_ports, sizeof(*n->ports));
	for (size_t i = 0; i < n->n_ports; i++)
		if (read_port(t, json_array_get(ports, i), &n->ports[i], err) < 0)
			return err_within(err, "port %zu", i + 1);
	return 0;
}

/* Appends the nodes of a list to the operands. */
static int read_operands(const struct cycle_template *t, const json_t *object, const char *key,
			 struct cycle_node *n, struct err *err)
{
	const json_t *list = NULL;

	if (json_read_list(object, key, &list, err) < 0)
		return -1;
	if (json_array_size(list) == 0 || n->n_operands + json_array_size(list) > FORMULA_OPERANDS)
		return json_wrong(key, list, "1 to 4 nodes", err);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_node(t, key, json_array_get(list, i), &n->operands[n->n_operands++], err) <
		    0)
			return -1;
	return 0;
}

static int read_formula(const struct cycle_template *t, const json_t *node, struct cycle_node *n,
			struct err *err)
{
	const json_t *object = json_object_get(node, "formula");
	const char *word = json_string_value(json_object_get(object, "kind"));
	size_t kind = 0;

	while (kind < N_FORMULA_KINDS && (word == NULL || strcmp(word, formulas[kind].word) != 0))
		kind++;
	if (kind == N_FORMULA_KINDS)
		return json_wrong("formula", object, "an object with a known kind", err);
	n->formula = (enum formula_kind)kind;
	for (size_t i = 0; i < FORMULA_OPERANDS && formulas[kind].operands[i] != NULL; i++) {
		const char *key = formulas[kind].operands[i];
		const json_t *value = json_object_get(object, key);

		n->operands[n->n_operands] = NO_NODE;
		if ((value != NULL || i < formulas[kind].n_required) &&
		    read_node(t, key, value, &n->operands[n->n_operands], err) < 0)
			return -1;
		n->n_operands++;
	}
	if (n->formula == FORMULA_SUM)
		return read_operands(t, object, "of", n, err);
	if (n->formula == FORMULA_REMAINDER)
		return read_operands(t, object, "less", n, err);
	if (n->formula == FORMULA_HALTED)
		return read_positive(object, "tick_ns", &n->tick_ns, err);
	return n->formula == FORMULA_BUSIEST ? read_ports(t, object, n, err) : 0;
}

/* Name, kind and parent: what other nodes refer to. */
static int read_head(struct cycle_template *t, const json_t *object, size_t index, struct err *err)
{
	static const char *const kinds[] = { "event", "branch", "formula" };
	struct cycle_node *n = &t->nodes[index];
	const json_t *kind = json_object_get(object, "kind");
	const json_t *parent = json_object_get(object, "parent");
	const char *word = json_string_value(kind);
	size_t k = 0;

	n->parent = NO_NODE;
	if (json_read_text(&t->memory->arena, object, "name", &n->name, err) < 0)
		return -1;
	for (size_t i = 0; i < index; i++)
		if (strcasecmp(t->nodes[i].name, n->name) == 0)
			return err_set(err, ERR_FORMAT, ERR_NOWHERE, "'%.60s' stands twice",
				       n->name);
	while (k < COUNT(kinds) && (word == NULL || strcmp(word, kinds[k]) != 0))
		k++;
	if (k == COUNT(kinds))
		return json_wrong("kind", kind, "event, branch or formula", err);
	n->kind = (enum node_kind)k;
	if (parent == NULL)
		return 0;
	t->n_nodes = index; /* parents stand before their children */
	return read_node(t, "parent", parent, &n->parent, err);
}

static int read_rest(struct cycle_template *t, const json_t *object, size_t index, struct err *err)
{
	struct cycle_node *n = &t->nodes[index];
	const json_t *side = json_object_get(object, "side");
	const char *word = json_string_value(side);

	n->depth = n->parent == NO_NODE ? 0 : t->nodes[n->parent].depth + 1;
	if (side != NULL &&
	    (word == NULL || (strcmp(word, "stall") != 0 && strcmp(word, "work") != 0)))
		return json_wrong("side", side, "stall or work", err);
	n->is_stall = word != NULL && strcmp(word, "stall") == 0;
	if (read_optional_text(&t->memory->arena, object, "note", &n->note, err) < 0 ||
	    read_optional_text(&t->memory->arena, object, "title", &n->title, err) < 0 ||
	    read_flag(object, "adds", &n->adds, err) < 0 || read_cap(t, object, n, err) < 0)
		return -1;
	if (n->adds && n->parent == NO_NODE)
		return json_wrong("adds", json_object_get(object, "adds"), "a node with a parent",
				  err);
	if (n->kind == NODE_FORMULA)
		return read_formula(t, object, n, err);
	if (n->kind == NODE_EVENT && read_event(&t->memory->arena, object, n, err) < 0)
		return -1;
	if (n->kind == NODE_EVENT && n->adds && n->penalty == 0 && !n->is_unpriced)
		return json_wrong("penalty", NULL, "cycles of an event that adds to its branch",
				  err);
	return 0;
}

static int read_nodes(struct cycle_template *t, const json_t *object, struct err *err)
{
	const json_t *list = NULL;
	size_t n;

	if (json_read_list(object, "nodes", &list, err) < 0)
		return -1;
	n = json_array_size(list);
	if (n == 0 || n > CYCLE_MOST_NODES)
		return json_wrong("nodes", n == 0 ? list : NULL, "a list of 1 to 512 nodes", err);
	t->nodes = json_array_memory(&t->memory->arena, n, sizeof(*t->nodes));
	for (size_t i = 0; i < n; i++)
		if (read_head(t, json_array_get(list, i), i, err) < 0)
			return err_within(err, "node %zu", i + 1);
	t->n_nodes = n;
	for (size_t i = 0; i < n; i++)
		if (read_rest(t, json_array_get(list, i), i, err) < 0)
			return err_within(err, "node '%.60s'", t->nodes[i].name);
	return cycle_template_check(t, err);
}

static int read_cpus(struct cycle_template *t, const json_t *match, struct err *err)
{
	const json_t *cpus = NULL;

	if (json_read_list(match, "cpu", &cpus, err) < 0)
		return -1;
	t->n_cpus = json_array_size(cpus);
	t->cpus = json_array_memory(&t->memory->arena, t->n_cpus, sizeof(*t->cpus));
	for (size_t i = 0; i < t->n_cpus; i++) {
		const json_t *id = json_array_get(cpus, i);

		if (!json_is_string(id))
			return json_wrong("cpu", id, "ids of CPUs", err);
		t->cpus[i] = arena_strndup(&t->memory->arena, json_string_value(id),
					   json_string_length(id));
	}
	return 0;
}

static int read_models(struct cycle_template *t, const json_t *match, struct err *err)
{
	const json_t *family = json_object_get(match, "family");
	const json_t *models = NULL;

	if (json_object_get(match, "vendor") == NULL)
		return 0;
	if (json_read_text(&t->memory->arena, match, "vendor", &t->vendor, err) < 0 ||
	    json_read_list(match, "models", &models, err) < 0)
		return -1;
	if (!json_is_integer(family))
		return json_wrong("family", family, "a number", err);
	t->family = (unsigned)json_integer_value(family);
	t->n_models = json_array_size(models);
	t->models = json_array_memory(&t->memory->arena, t->n_models, sizeof(*t->models));
	for (size_t i = 0; i < t->n_models; i++) {
		if (!json_is_integer(json_array_get(models, i)))
			return json_wrong("models", models, "a list of numbers", err);
		t->models[i] = (unsigned)json_integer_value(json_array_get(models, i));
	}
	return 0;
}

/* Penalties in ns need the clock at which they are shown. */
static int read_reference(struct cycle_template *t, const json_t *object, struct err *err)
{
	if (json_object_get(object, "reference_ghz") != NULL)
		return read_positive(object, "reference_ghz", &t->reference_ghz, err);
	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].is_in_ns)
			return json_wrong("reference_ghz", NULL,
					  "a number, because penalties are in ns", err);
	return 0;
}

static int read_template(struct cycle_template *t, const json_t *object, struct err *err)
{
	struct arena *memory = &t->memory->arena;
	const json_t *schema = json_object_get(object, "schema");
	const json_t *match = json_object_get(object, "match");

	if (!json_is_integer(schema) || json_integer_value(schema) != 1)
		return json_wrong("schema", schema, "1", err);
	if (json_read_text(memory, object, "id", &t->id, err) < 0 ||
	    json_read_text(memory, object, "name", &t->name, err) < 0 ||
	    json_read_text(memory, object, "source", &t->source, err) < 0 ||
	    read_positive(object, "slots", &t->slots, err) < 0 || read_cpus(t, match, err) < 0 ||
	    read_models(t, match, err) < 0 || read_nodes(t, object, err) < 0)
		return -1;
	if (read_node(t, "cycles", json_object_get(object, "cycles"), &t->cycles, err) < 0 ||
	    read_node(t, "stalled", json_object_get(object, "stalled"), &t->stalled, err) < 0 ||
	    read_node(t, "instructions", json_object_get(object, "instructions"), &t->instructions,
		      err) < 0)
		return -1;
	return read_reference(t, object, err);
}

int cycle_template_read(const char *name, const char *bytes, size_t size,
			struct cycle_template **out, struct err *err)
{
	struct cycle_template *t = mem_zalloc(1, sizeof(*t));
	json_error_t where;
	json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &where);
	int rc;

	t->memory = mem_zalloc(1, sizeof(*t->memory));
	*out = NULL;
	if (root == NULL)
		rc = err_set(err, ERR_FORMAT, (uint64_t)where.position, "not JSON: %s", where.text);
	else
		rc = read_template(t, root, err);
	json_decref(root);
	if (rc < 0) {
		cycle_template_free(t);
		return err_within(err, "%s", name);
	}
	*out = t;
	return 0;
}
