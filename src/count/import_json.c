/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counts as a JSON object: of the machine model (docs/model.md) or of cyclops stat. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "count/import_inside.h"

static const struct {
	const char *word;
	enum count_state state;
} states[] = {
	{ "not-counted", COUNT_NOT_COUNTED },
	{ "not-supported", COUNT_NOT_SUPPORTED },
	{ "forbidden", COUNT_FORBIDDEN },
};

static uint64_t number_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	double n = json_number_value(value);

	if (json_is_integer(value))
		return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
	return n > 0 && n < 0x1p64 ? (uint64_t)n : 0;
}

static const char *copied_member(const json_t *object, const char *name, struct counts *c)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value == NULL ? NULL : arena_strndup(&c->memory, value, strlen(value));
}

static uint8_t import_state(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "state"));

	for (size_t i = 0; word != NULL && i < COUNT(states); i++)
		if (strcmp(states[i].word, word) == 0)
			return (uint8_t)states[i].state;
	return json_is_number(json_object_get(object, "count")) ? COUNT_COUNTED : COUNT_NOT_COUNTED;
}

/* What the events of an object belong to. */
struct events_of {
	int32_t cpu;	 /* COUNT_ANY: all */
	const char *pmu; /* NULL: not known */
};

static void read_json_event(const char *name, const json_t *object, struct events_of of,
			    struct counts *out)
{
	struct count *c = counts_add(out, name);

	c->cpu = of.cpu;
	c->pmu = of.pmu;
	c->state = import_state(object);
	c->value = json_number_value(json_object_get(object, "count"));
	c->enabled_ns = number_member(object, "enabled_ns");
	c->running_ns = number_member(object, "running_ns");
	c->spread = json_number_value(json_object_get(object, "spread"));
	c->unit = copied_member(object, "unit", out);
	if (c->running_ns > c->enabled_ns)
		c->enabled_ns = c->running_ns;
}

static void import_json_read_events(json_t *events, struct events_of of, struct counts *out)
{
	const char *name;
	json_t *event;

	json_object_foreach(events, name, event) if (json_is_object(event) && name[0] != '\0')
		read_json_event(name, event, of, out);
}

/* Reads the counts of each CPU, which the model has, too. */
static void import_json_read_cpus(const json_t *cpus, struct counts *out)
{
	for (size_t i = 0; i < json_array_size(cpus); i++) {
		const json_t *object = json_array_get(cpus, i);
		uint64_t cpu = number_member(object, "cpu");

		struct events_of of = { .cpu = cpu <= INT32_MAX ? (int32_t)cpu : COUNT_ANY };

		import_json_read_events(json_object_get(object, "events"), of, out);
	}
}

/* The row of cyclops stat's table "run", or of one of its cores' types; NULL: there is none. */
static const json_t *run_of(const json_t *root, const char *table)
{
	return json_array_get(json_object_get(root, table), 0);
}

/* Machines with several types of cores have tables for each: "events@PMU", "run@PMU". */
static void read_types(json_t *root, struct counts *out)
{
	static const char events[] = "events@";
	const char *name;
	json_t *object;

	json_object_foreach(root, name, object)
	{
		const char *pmu = strchr(name, '@');
		char run[256];

		if (strncmp(name, events, sizeof(events) - 1) != 0 || pmu[1] == '\0')
			continue;
		snprintf(run, sizeof(run), "run%s", pmu);
		pmu = arena_strndup(&out->memory, pmu + 1, strlen(pmu + 1));
		*vec_add(&out->pmus) = (struct count_pmu){
			.name = pmu,
			.cpu = copied_member(run_of(root, run), "cpu_id", out),
		};
		import_json_read_events(object, (struct events_of){ COUNT_ANY, pmu }, out);
		out->has_own_times = true;
	}
}

static void read_head(const json_t *root, struct counts *out)
{
	const char *midr = json_string_value(json_object_get(root, "midr"));
	const json_t *run = run_of(root, "run");

	out->is_modelled = json_is_true(json_object_get(root, "modelled"));
	out->command = copied_member(root, "program", out);
	out->elapsed_ns = number_member(root, "time_ns");
	out->source = out->command != NULL ? "cyclops model" : "cyclops stat";
	if (out->command == NULL) {
		out->command = copied_member(run, "program", out);
		out->elapsed_ns = number_member(run, "time_ns");
		out->n_gave_up = number_member(run, "voluntary_switches");
		out->n_put_off = number_member(run, "involuntary_switches");
		out->has_no_pmu = json_is_false(json_object_get(run, "has_pmu"));
		out->status = (int)(number_member(run, "exit_status") & 0xff);
	}
	if (midr != NULL)
		out->midr = strtoull(midr, NULL, 0);
	out->cpu = copied_member(run, "cpu_id", out);
}

static int read_json(const char *bytes, size_t size, struct counts *out, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(bytes, size, 0, &error);
	const json_t *cpus;
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "counts: line %d, column %d: %s",
			       error.line, error.column, error.text);
	read_head(root, out);
	cpus = json_object_get(root, "cpus");
	if (json_array_size(cpus) > 0)
		import_json_read_cpus(cpus, out);
	else
		import_json_read_events(json_object_get(root, "events"),
					(struct events_of){ COUNT_ANY, NULL }, out);
	read_types(root, out);
	rc = import_region_rows(json_object_get(root, "regions"), false, out, err);
	json_decref(root);
	return rc;
}

/* Is it a JSON object with events? In perf's lines "event" is a text. */
static bool is_json(const char *bytes, size_t size)
{
	struct slice all = slice_trim((struct slice){ bytes, size });

	return all.n > 0 && all.at[0] == '{' &&
	       (slice_has(all, "\"events\"") || slice_has(all, "\"events@")) &&
	       !slice_has(all, "\"counter-value\"");
}

const struct import_format import_json = { "cyclops stat", is_json, read_json };
