/* SPDX-License-Identifier: Apache-2.0 */
#include "model/settings.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/embedded.h"
#include "base/mapped.h"
#include "base/path.h"
#include "model/sampled_events.h"

extern const struct embedded_file model_files[];

/*
 * Call stacks beside SPE records, whose callers are estimated from them: what takes time, what executes, what
 * misses. Primes, so as not to keep step with loops.
 */
static const char *const stack_samplers[] = { "cpu_cycles:20011", "inst_retired:20011",
					      "l1d_cache_refill:1009" };

/* Appends an entry. The value may hold anything but a NUL. */
static void add_text_setting(struct text *out, const char *key, const char *value)
{
	text_str(out, key);
	text_char(out, '=');
	text_str(out, value);
	text_char(out, '\0');
}

static void add_number_setting(struct text *out, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_text_setting(out, key, text);
}

static int add_parameter(const json_t *parameter, const char *path, struct text *out,
			 struct err *err)
{
	const char *name = json_string_value(json_object_get(parameter, "name"));
	const json_t *value = json_object_get(parameter, "value");
	char key[96];

	if (name == NULL || (!json_is_string(value) && !json_is_integer(value)))
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: parameter '%.40s' wants a name, and a value that is a number",
			       path, name != NULL ? name : "");
	snprintf(key, sizeof(key), "param.%s", name);
	if (json_is_string(value))
		add_text_setting(out, key, json_string_value(value));
	else
		add_number_setting(out, key, (uint64_t)json_integer_value(value));
	return 0;
}

static int copy_text(const json_t *root, const char *key, const char *path, size_t size, char *out,
		     struct err *err)
{
	const char *text = json_string_value(json_object_get(root, key));

	if (text == NULL || strlen(text) >= size)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "%s: '%s' is missing, or no text of less than %zu bytes", path, key,
			       size);
	snprintf(out, size, "%s", text);
	return 0;
}

static int read_model(const json_t *root, const char *path, struct text *out,
		      struct model_facts *facts, struct err *err)
{
	const json_t *parameters = json_object_get(root, "parameters");

	if (json_integer_value(json_object_get(root, "schema")) != 1)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: wanted a model of schema 1",
			       path);
	if (copy_text(root, "name", path, sizeof(facts->name), facts->name, err) < 0 ||
	    copy_text(root, "cpu", path, sizeof(facts->cpu), facts->cpu, err) < 0 ||
	    copy_text(root, "emulator_cpu", path, sizeof(facts->emulator_cpu), facts->emulator_cpu,
		      err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(parameters); i++)
		if (add_parameter(json_array_get(parameters, i), path, out, err) < 0)
			return -1;
	add_text_setting(out, "model", facts->name);
	return 0;
}

static int parse_model(const char *bytes, size_t size, const char *path, struct text *out,
		       struct model_facts *facts, struct err *err)
{
	json_error_t syntax;
	json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &syntax);
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, (uint64_t)syntax.position, "%s:%d: %s", path,
			       syntax.line, syntax.text);
	rc = read_model(root, path, out, facts, err);
	json_decref(root);
	return rc;
}

/* `model` is the id of an embedded model, or the path of a file. */
static int load_model(const char *model, struct text *out, struct model_facts *facts,
		      struct err *err)
{
	const struct embedded_file *embedded;
	struct mapped file = { 0 };
	char name[80];
	int rc;

	snprintf(name, sizeof(name), "%s.json", model);
	embedded = embedded_find(model_files, name);
	if (embedded != NULL)
		return parse_model(embedded->bytes, embedded->size, name, out, facts, err);
	if (mapped_open(&file, model, err) < 0)
		return err_within(err, "--model wants a model that is built in (such as "
				       "neoverse-n1) or a file");
	rc = parse_model((const char *)file.bytes, file.size, model, out, facts, err);
	mapped_release(&file);
	return rc;
}

static int add_parameter_settings(const char *const *sets, struct text *out, struct err *err)
{
	for (size_t i = 0; sets != NULL && sets[i] != NULL; i++) {
		if (strchr(sets[i], '=') == NULL)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--set: found '%s', wanted NAME=VALUE", sets[i]);
		text_str(out, "param.");
		text_str(out, sets[i]);
		text_char(out, '\0');
	}
	return 0;
}

/* The samples of the PMU. */
static int add_samples(const struct model_options *o, const char *cpu, struct text *out,
		       struct err *err)
{
	struct pmu_sampling s = { .n_counters = o->counters };
	int rc = 0;

	for (size_t i = 0; rc == 0 && o->samples != NULL && o->samples[i] != NULL; i++)
		rc = sampled_event_read(o->samples[i], cpu, &s, err);
	if (rc == 0 && s.events.n == 0 && o->has_chains && !o->without_spe)
		for (size_t i = 0; rc == 0 && i < COUNT(stack_samplers); i++)
			rc = sampled_event_read(stack_samplers[i], cpu, &s, err);
	if (rc == 0 && o->branch_stack != NULL)
		rc = branch_recording_read(o->branch_stack, &s.branches, err);
	if (rc == 0 && s.events.n == 0 &&
	    (s.branches.depth > 0 || s.n_counters > 0 || o->has_chains))
		rc = err_set(err, ERR_USAGE, ERR_NOWHERE,
			     "%s is about samples of the PMU; --sample EVENT:PERIOD takes them",
			     s.branches.depth > 0 ? "--branch-stack"
			     : o->has_chains	  ? "--stacks"
						  : "--counters");
	for (size_t i = 0; rc == 0 && i < s.events.n; i++) {
		const struct sample_event *e = &s.events.items[i];

		text_format(out, "sample=%s:%" PRIu64 ":%" PRIu64 ":%" PRIu32 ":%d", e->event->name,
			    e->code, e->period, e->skid, e->is_precise);
		text_char(out, '\0');
	}
	if (rc == 0) {
		add_number_setting(out, "counters", s.n_counters);
		add_number_setting(out, "branch_stack", s.branches.depth);
		add_number_setting(out, "branch_filter", s.branches.filter);
		add_number_setting(out, "call_chains", o->has_chains);
		add_number_setting(out, "without_spe", o->without_spe);
	}
	vec_release(&s.events);
	return rc;
}

/* Resolves links in the root, because recorded paths have none. */
static int add_root_setting(const char *root, struct text *out, struct err *err)
{
	char *real = realpath(root, NULL);

	if (real == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--root: there is no folder '%s'",
			       root);
	add_text_setting(out, "root", strcmp(real, "/") == 0 ? "" : real);
	free(real);
	return 0;
}

int model_settings(const struct model_options *o, struct text *out, struct model_facts *facts,
		   struct err *err)
{
	if (load_model(o->model != NULL ? o->model : "neoverse-n1", out, facts, err) < 0 ||
	    add_parameter_settings(o->sets, out, err) < 0)
		return -1;
	if (add_samples(o, facts->cpu, out, err) < 0)
		return -1;
	if (o->root != NULL && add_root_setting(o->root, out, err) < 0)
		return -1;
	add_text_setting(out, "output", o->output);
	if (o->counts != NULL)
		add_text_setting(out, "counts", o->counts);
	if (o->truth != NULL)
		add_text_setting(out, "truth", o->truth);
	if (o->gains != NULL)
		add_text_setting(out, "gains", o->gains);
	for (size_t i = 0; i < o->n_ideals; i++) {
		text_str(out, "ideal=");
		ideal_write(&o->ideals[i], out);
		text_char(out, '\0');
	}
	add_text_setting(out, "name", path_base(o->program[0]));
	add_text_setting(out, "version", o->version);
	for (size_t i = 0; o->command[i] != NULL; i++)
		add_text_setting(out, "argument", o->command[i]);
	add_number_setting(out, "seed", o->seed);
	add_number_setting(out, "interval", o->interval);
	add_number_setting(out, "jitter", !o->without_jitter);
	add_number_setting(out, "loads", o->loads);
	add_number_setting(out, "stores", o->stores);
	add_number_setting(out, "branches", o->branches);
	add_number_setting(out, "min_latency", o->min_latency);
	add_number_setting(out, "event_filter", o->event_filter);
	return 0;
}
