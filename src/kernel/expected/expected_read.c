/* SPDX-License-Identifier: Apache-2.0 */
/* Reads expected.json. Whatever it names must exist, so that a mistake is found when it is read. */
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/json_read.h"
#include "kernel/expected/expected.h"

enum { SCHEMA = 1, NAME_MAX = 64 };

struct reader {
	struct arena *memory;
	const json_t *sets; /* lists of events by name */
	struct err *err;
};

/* "aarch64" … as a bit; 0: none of this name. */
static unsigned architecture_named(const char *name)
{
	static const unsigned all[] = { ON_AARCH64, ON_X86_64, ON_ARM };

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(microbenchmark_architecture_name(all[i]), name) == 0)
			return all[i];
	return 0;
}

/* A list of names as a set; `otherwise` if it is missing. */
static int read_architectures(const struct reader *r, const json_t *object, const char *key,
			      unsigned otherwise, unsigned *out)
{
	const json_t *list, *entry;
	size_t i;

	if (json_read_list(object, key, &list, r->err) < 0)
		return -1;
	*out = list == NULL ? otherwise : 0;
	json_array_foreach(list, i, entry)
	{
		unsigned one =
			json_is_string(entry) ? architecture_named(json_string_value(entry)) : 0;

		if (one == 0)
			return json_wrong(key, entry, "aarch64, x86_64 or arm", r->err);
		*out |= one;
	}
	return 0;
}

static bool is_parameter(const struct microbenchmark *kernel, const char *name)
{
	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (strcmp(microbenchmark_parameters[p].name, name) == 0)
			return microbenchmark_takes(kernel, p);
	return false;
}

/* A formula whose names are parameters of the microbenchmark. */
static int read_expected_count(const struct reader *r, const json_t *row, const char *key,
			       const struct microbenchmark *kernel, struct formula *out)
{
	const char *text;

	if (json_read_text(r->memory, row, key, &text, r->err) < 0 ||
	    formula_parse(text, r->memory, out, r->err) < 0)
		return -1;
	for (size_t i = 0; i < out->n_names; i++)
		if (!is_parameter(kernel, out->names[i]))
			return err_set(r->err, ERR_FORMAT, ERR_NOWHERE,
				       "%s: '%.40s' is no parameter of %s", key, out->names[i],
				       kernel->name);
	return 0;
}

static int read_kind(const struct reader *r, const json_t *row, enum expected_kind *out)
{
	const json_t *value = json_object_get(row, "kind");

	for (enum expected_kind k = 0; k < N_EXPECTED_KINDS; k++)
		if (json_is_string(value) &&
		    strcmp(json_string_value(value), expected_kind_name(k)) == 0) {
			*out = k;
			return 0;
		}
	return json_wrong("kind", value, "exact, lines, never or range", r->err);
}

/* What the events of a row have in common. */
static int read_row(const struct reader *r, const json_t *row, const struct microbenchmark *kernel,
		    struct expectation *out)
{
	if (read_kind(r, row, &out->kind) < 0 ||
	    read_architectures(r, row, "architectures", ON_ALL, &out->architectures) < 0)
		return -1;
	if (out->kind == EXPECTED_NEVER)
		return 0;
	if (out->kind == EXPECTED_RANGE)
		return read_expected_count(r, row, "least", kernel, &out->least) < 0 ||
				       read_expected_count(r, row, "most", kernel, &out->most) < 0
			       ? -1
			       : 0;
	if (read_expected_count(r, row, "count", kernel, &out->least) < 0)
		return -1;
	out->most = out->least;
	return 0;
}

/* The events that an entry stands for: a name, or "@" and the name of a set. NULL: there is none. */
static const json_t *events_of(const struct reader *r, const json_t *entry)
{
	const char *name = json_string_value(entry);
	const json_t *set;

	if (name == NULL || name[0] == '\0')
		return NULL;
	if (name[0] != '@')
		return entry;
	set = json_object_get(r->sets, name + 1);
	return json_is_array(set) ? set : NULL;
}

/* The number of events of all rows, at least. */
static size_t count_events(const struct reader *r, const json_t *rows)
{
	const json_t *row, *entry;
	size_t i, k, n = 0;

	json_array_foreach(rows, i, row)
	{
		const json_t *entries = json_object_get(row, "events");

		json_array_foreach(entries, k, entry)
		{
			const json_t *events = events_of(r, entry);

			n += json_is_array(events) ? json_array_size(events) : 1;
		}
	}
	return n;
}

static int add_event(const struct reader *r, const json_t *name, const struct expectation *common,
		     struct expectation *all, size_t *n)
{
	if (!json_is_string(name) || json_string_length(name) == 0)
		return json_wrong("events", name, "a name", r->err);
	all[*n] = *common;
	all[(*n)++].event =
		arena_strndup(r->memory, json_string_value(name), json_string_length(name));
	return 0;
}

/* One entry of a row's events. */
static int add_events(const struct reader *r, const json_t *entry, const struct expectation *common,
		      struct expectation *all, size_t *n)
{
	const json_t *events = events_of(r, entry), *name;
	size_t i;

	if (events == NULL)
		return json_wrong("events", entry, "a name, or @ and the name of a set", r->err);
	if (!json_is_array(events))
		return add_event(r, events, common, all, n);
	json_array_foreach(events, i, name)
	{
		if (add_event(r, name, common, all, n) < 0)
			return -1;
	}
	return 0;
}

static int read_expectations(const struct reader *r, const json_t *object, struct expected_case *c)
{
	struct expectation *all, common;
	const json_t *rows, *row, *entry;
	size_t i, k;

	if (json_read_list(object, "expect", &rows, r->err) < 0)
		return -1;
	all = json_array_memory(r->memory, count_events(r, rows), sizeof(*all));
	c->expectations = all;
	json_array_foreach(rows, i, row)
	{
		const json_t *entries = json_object_get(row, "events");

		common = (struct expectation){ 0 };
		if (!json_is_array(entries) || json_array_size(entries) == 0)
			return json_wrong("events", entries, "a list of names", r->err);
		if (read_row(r, row, c->kernel, &common) < 0)
			return err_within(r->err, "row %zu", i + 1);
		json_array_foreach(entries, k, entry)
		{
			if (add_events(r, entry, &common, all, &c->n_expectations) < 0)
				return -1;
		}
	}
	return 0;
}

/* A parameter in its limits. */
static int read_value(const struct reader *r, const struct microbenchmark *kernel, const char *name,
		      const json_t *value, struct expected_value *out)
{
	uint64_t values[N_PARAMETERS];

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return json_wrong(name, value, "a number", r->err);
	out->value = (uint64_t)json_integer_value(value);
	if (microbenchmark_set(kernel, name, out->value, values, r->err) < 0)
		return -1;
	while (strcmp(microbenchmark_parameters[out->parameter].name, name) != 0)
		out->parameter++;
	return 0;
}

static int read_values(const struct reader *r, json_t *object, struct expected_case *c)
{
	json_t *parameters = json_object_get(object, "parameters"), *value;
	struct expected_value *all;
	const char *name;

	if (parameters == NULL)
		return 0;
	if (!json_is_object(parameters))
		return json_wrong("parameters", parameters, "an object of numbers", r->err);
	all = json_array_memory(r->memory, json_object_size(parameters), sizeof(*all));
	c->values = all;
	json_object_foreach(parameters, name, value)
	{
		if (read_value(r, c->kernel, name, value, &all[c->n_values]) < 0)
			return -1;
		c->n_values++;
	}
	return 0;
}

static int read_level(const struct reader *r, const json_t *object, struct expected_case *c)
{
	const json_t *value = json_object_get(object, "level");

	if (value == NULL)
		return 0;
	for (size_t i = 0; microbenchmark_level_name(i) != NULL; i++)
		if (json_is_string(value) &&
		    strcmp(microbenchmark_level_name(i), json_string_value(value)) == 0)
			c->level = microbenchmark_level_name(i);
	if (c->level == NULL || c->kernel->n_arrays == 0)
		return json_wrong("level", value, "a level that the kernel has", r->err);
	return 0;
}

static int read_case(const struct reader *r, json_t *object, struct expected_case *c)
{
	const char *kernel;

	if (json_read_text(r->memory, object, "name", &c->name, r->err) < 0 ||
	    json_read_text(r->memory, object, "kernel", &kernel, r->err) < 0)
		return -1;
	c->kernel = microbenchmark_find(kernel);
	if (c->kernel == NULL)
		return json_wrong("kernel", json_object_get(object, "kernel"), "a microbenchmark",
				  r->err);
	c->what = c->kernel->iteration;
	if (json_object_get(object, "what") != NULL &&
	    json_read_text(r->memory, object, "what", &c->what, r->err) < 0)
		return -1;
	return read_level(r, object, c) < 0 || read_values(r, object, c) < 0 ||
			       read_expectations(r, object, c) < 0
		       ? -1
		       : 0;
}

static int read_tolerances(const struct reader *r, const json_t *root, struct expected *out)
{
	const json_t *object = json_object_get(root, "tolerances");

	for (enum expected_kind k = 0; k < N_EXPECTED_KINDS; k++) {
		const json_t *value = json_object_get(object, expected_kind_name(k));

		if (!json_is_number(value) || json_number_value(value) < 0 ||
		    json_number_value(value) >= 1)
			return json_wrong(expected_kind_name(k), value, "a share of 1", r->err);
		out->tolerances[k] = json_number_value(value);
	}
	object = json_object_get(root, "overhead");
	if (!json_is_number(object) || json_number_value(object) < 0)
		return json_wrong("overhead", object, "a number of counts", r->err);
	out->overhead = json_number_value(object);
	return 0;
}

static int read_root(const struct reader *r, const json_t *root, struct expected *out)
{
	const json_t *schema = json_object_get(root, "schema"), *list;
	struct expected_case *cases;
	json_t *object;
	size_t i;

	if (!json_is_integer(schema) || json_integer_value(schema) != SCHEMA)
		return json_wrong("schema", schema, "1", r->err);
	if (read_tolerances(r, root, out) < 0 ||
	    read_architectures(r, root, "unverified", 0, &out->unverified) < 0 ||
	    json_read_list(root, "cases", &list, r->err) < 0)
		return -1;
	cases = json_array_memory(r->memory, json_array_size(list), sizeof(*cases));
	out->cases = cases;
	json_array_foreach((json_t *)(uintptr_t)list, i, object)
	{
		if (read_case(r, object, &cases[i]) < 0)
			return err_within(r->err, "case %zu%s%.40s", i + 1,
					  cases[i].name != NULL ? ", " : "",
					  cases[i].name != NULL ? cases[i].name : "");
		out->n_cases++;
	}
	return 0;
}

int expected_read(const char *text, size_t size, struct expected *out, struct err *err)
{
	struct reader r = { &out->memory, NULL, err };
	json_error_t where;
	json_t *root;
	int rc;

	*out = (struct expected){ 0 };
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
	if (root == NULL)
		return err_set(err, ERR_FORMAT, (uint64_t)where.position,
			       "expected counts: line %d: %s", where.line, where.text);
	r.sets = json_object_get(root, "sets");
	rc = read_root(&r, root, out);
	json_decref(root);
	return rc < 0 ? err_within(err, "expected counts") : 0;
}
