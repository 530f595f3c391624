/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Their shape:
 *
 *	{"product_configuration": {"product_name": …, "implementer": "0x41", "part_num": "0xd0c",
 *				   "num_slots": 5, …},
 *	 "events": {NAME: {"code": "0x0003", "title": …, "impdef": false or
 *			   "product_defined": false, …}, …},
 *	 "metrics": {NAME: {"title": …, "formula": …, "units": …, "sample_events": […]}, …},
 *	 "groups": {"metrics": {NAME: {"title": …, "metrics": […]}, …}, …},
 *	 "methodologies": {"topdown_methodology": {
 *		"metric_grouping": {"stage_1": […], "stage_2": […]},
 *		"decision_tree": {"root_nodes": […], "metrics": [
 *			{"name": …, "group": …, "next_items": […], "sample_events": […]}, …]}}}}
 *
 * Older files have "topdown_methodology" at the top. An event of the system, or one that is not
 * made public, has no code: it is left out, and so are metrics made of it. What the files do not
 * say, such as whether a metric should be low, follows from its unit.
 */
#include "cpu/telemetry.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/json_read.h"

enum { ID_MAX = 96 };

/* Borrowed parts of a file. */
struct file {
	json_t *events, *groups;
	const json_t *all_metrics;
	json_t *metrics; /* those that a core's PMU can count; owned */
};

bool telemetry_is_it(const json_t *root)
{
	return json_is_object(json_object_get(root, "product_configuration")) &&
	       json_is_object(json_object_get(root, "events"));
}

static void set_text(json_t *object, const char *key, const json_t *from, const char *from_key)
{
	const char *text = json_string_value(json_object_get(from, from_key));

	if (text != NULL)
		json_object_set_new(object, key, json_string(text));
}

/* Makes an id of a name: "neoverse-n1" of "Neoverse N1". */
static void make_id(const char *name, char *out)
{
	size_t n = 0;

	for (; *name != '\0' && n < ID_MAX - 1; name++)
		out[n++] =
			isalnum((unsigned char)*name) ? (char)tolower((unsigned char)*name) : '-';
	out[n] = '\0';
}

static const char *event_class_of(const char *event)
{
	if (strcmp(event, "CPU_CYCLES") == 0)
		return "cycles";
	return strncmp(event, "STALL_", 6) == 0 ? "stall" : "other";
}

/* Has the event a number, so that a core's PMU can count it? */
static bool has_code(const json_t *event)
{
	const json_t *code = json_object_get(event, "code");

	return code != NULL && !json_is_null(code);
}

static bool is_impdef(const json_t *event)
{
	return json_is_true(json_object_get(event, "impdef")) ||
	       json_is_true(json_object_get(event, "product_defined"));
}

static json_t *convert_events(json_t *events)
{
	json_t *out = json_array();
	const char *name;
	json_t *from;

	json_object_foreach(events, name, from)
	{
		size_t len = strlen(name);
		json_t *event;

		if (json_is_object(from) && !has_code(from))
			continue;
		event = json_object();
		json_object_set_new(event, "name", json_string(name));
		set_text(event, "code", from, "code");
		json_object_set_new(event, "class", json_string(event_class_of(name)));
		set_text(event, "description", from, "title");
		if (is_impdef(from))
			json_object_set_new(event, "impdef", json_true());
		if (len > 8 && strcmp(name + len - 8, "_RETIRED") == 0)
			json_object_set_new(event, "stage", json_string("retired"));
		else if (len > 5 && strcmp(name + len - 5, "_SPEC") == 0)
			json_object_set_new(event, "stage", json_string("speculative"));
		json_array_append_new(out, event);
	}
	return out;
}

/*
 * The factor in formulas that a unit implies, and whether high values are good. First match wins.
 */
static const struct unit {
	const char *begins;
	int scale;
	const char *better;
} units[] = {
	{ "percent of slots", 100, "lower" }, { "percent of cycles", 100, "lower" },
	{ "percent", 100, "neutral" },	      { "MPKI", 1000, "lower" },
	{ "per branch", 1, "lower" },	      { "per cache access", 1, "lower" },
	{ "per TLB access", 1, "lower" },     { "", 1, "neutral" },
};

/* Metrics with these words are good if high, whatever their unit. */
static const char *const good_words[] = { "retiring", "ipc", "_hit_" };

static void set_unit(json_t *metric, const char *name, const char *unit)
{
	const struct unit *u = units;
	const char *better;

	while (strncmp(unit, u->begins, strlen(u->begins)) != 0)
		u++;
	better = u->better;
	for (size_t i = 0; i < COUNT(good_words); i++)
		if (strstr(name, good_words[i]) != NULL)
			better = "higher";
	json_object_set_new(metric, "unit", json_string(unit));
	json_object_set_new(metric, "scale", json_integer(u->scale));
	json_object_set_new(metric, "better", json_string(better));
}

/* The length of the name at the start of `at`; 0 if there is none. */
static size_t word_length(const char *at)
{
	size_t n = 0;

	if (isdigit((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

/* Does a formula use an event without a number? */
static bool is_uncountable(const char *formula, const json_t *events)
{
	char name[ID_MAX];

	for (const char *at = formula; *at != '\0';) {
		size_t n = word_length(at);
		const json_t *event;

		if (n == 0 || n >= sizeof(name)) {
			at += n > 0 ? n : 1 + strspn(at + 1, "0123456789.");
			continue;
		}
		memcpy(name, at, n);
		name[n] = '\0';
		event = json_object_get(events, name);
		if (event != NULL && json_is_object(event) && !has_code(event))
			return true;
		at += n;
	}
	return false;
}

/* Copies the metrics that a core's PMU can count. To be given back with json_decref(). */
static json_t *without_uncountable(const json_t *metrics, const json_t *events)
{
	json_t *out = json_copy((json_t *)(uintptr_t)metrics);
	const char *name;
	json_t *metric;
	void *next;

	json_object_foreach_safe(out, next, name, metric)
	{
		const char *formula = json_string_value(json_object_get(metric, "formula"));

		if (formula != NULL && is_uncountable(formula, events))
			json_object_del(out, name);
	}
	return out;
}

/* Is it a metric of the file that was left out? */
static bool is_dropped(const struct file *file, const json_t *metric)
{
	const char *name = json_string_value(metric);

	return name != NULL && json_object_get(file->all_metrics, name) != NULL &&
	       json_object_get(file->metrics, name) == NULL;
}

/* The names of a list without those of events and metrics that were left out. */
static json_t *countable_names(const struct file *file, json_t *names)
{
	json_t *out;

	if (!json_is_array(names))
		return json_incref(names);
	out = json_array();
	for (size_t i = 0; i < json_array_size(names); i++) {
		json_t *item = json_array_get(names, i);
		const char *name = json_string_value(item);
		const json_t *event = name == NULL ? NULL : json_object_get(file->events, name);

		if (!is_dropped(file, item) && !(json_is_object(event) && !has_code(event)))
			json_array_append(out, item);
	}
	return out;
}

static void set_list(const struct file *file, json_t *object, const char *key, const json_t *from,
		     const char *from_key)
{
	json_t *list = json_object_get(from, from_key);

	if (list != NULL)
		json_object_set_new(object, key, countable_names(file, list));
}

static json_t *convert_metrics(const struct file *file)
{
	json_t *out = json_array();
	const char *name;
	json_t *from;

	json_object_foreach(file->metrics, name, from)
	{
		const char *unit = json_string_value(json_object_get(from, "units"));
		json_t *metric = json_object();

		json_object_set_new(metric, "name", json_string(name));
		set_text(metric, "label", from, "title");
		set_text(metric, "expr", from, "formula");
		set_unit(metric, name, unit != NULL ? unit : "");
		json_object_set_new(metric, "origin", json_string("Arm telemetry file"));
		set_list(file, metric, "sample_events", from, "sample_events");
		json_array_append_new(out, metric);
	}
	return out;
}

static json_t *convert_groups(const struct file *file)
{
	json_t *out = json_array();
	const char *name;
	json_t *from;

	json_object_foreach(file->groups, name, from)
	{
		json_t *group = json_object();

		json_object_set_new(group, "name", json_string(name));
		set_text(group, "label", from, "title");
		set_list(file, group, "metrics", from, "metrics");
		json_array_append_new(out, group);
	}
	return out;
}

/* Splits the items after a node into metrics and groups. */
static void split_items(const struct file *file, json_t *names, json_t *node)
{
	json_t *next_metrics = json_array(), *next_groups = json_array();
	json_t *items = countable_names(file, names);

	for (size_t i = 0; i < json_array_size(items); i++) {
		json_t *item = json_array_get(items, i);
		const char *name = json_string_value(item);
		bool is_group = name != NULL && json_object_get(file->groups, name) != NULL;

		json_array_append(is_group ? next_groups : next_metrics, item);
	}
	json_object_set_new(node, "next_metrics", next_metrics);
	json_object_set_new(node, "next_groups", next_groups);
	json_decref(items);
}

static json_t *convert_nodes(const struct file *file, const json_t *list)
{
	json_t *out = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *from = json_array_get(list, i);
		json_t *node;

		if (is_dropped(file, json_object_get(from, "name")))
			continue;
		node = json_object();
		set_text(node, "metric", from, "name");
		set_text(node, "group", from, "group");
		split_items(file, json_object_get(from, "next_items"), node);
		set_list(file, node, "sample_events", from, "sample_events");
		json_array_append_new(out, node);
	}
	return out;
}

static json_t *convert_topdown(const struct file *file, const json_t *root)
{
	const json_t *method =
		json_object_get(json_object_get(root, "methodologies"), "topdown_methodology");
	const json_t *stages, *tree;
	json_t *out;

	if (method == NULL)
		method = json_object_get(root, "topdown_methodology");
	if (method == NULL)
		return json_null();
	stages = json_object_get(method, "metric_grouping");
	tree = json_object_get(method, "decision_tree");
	out = json_object();
	set_list(file, out, "stage_1", stages, "stage_1");
	set_list(file, out, "stage_2", stages, "stage_2");
	set_list(file, out, "roots", tree, "root_nodes");
	json_object_set_new(out, "nodes", convert_nodes(file, json_object_get(tree, "metrics")));
	return out;
}

static json_t *convert_match(const json_t *product)
{
	json_t *match = json_object();

	set_text(match, "implementer", product, "implementer");
	set_text(match, "part", product, "part_num");
	return json_pack("[o]", match);
}

json_t *telemetry_convert(const json_t *root, const char *id, struct err *err)
{
	const json_t *product = json_object_get(root, "product_configuration");
	const char *name = json_string_value(json_object_get(product, "product_name"));
	const json_t *slots = json_object_get(product, "num_slots");
	struct file file = {
		.events = json_object_get(root, "events"),
		.groups = json_object_get(json_object_get(root, "groups"), "metrics"),
		.all_metrics = json_object_get(root, "metrics"),
	};
	char made[ID_MAX];
	json_t *out;

	if (name == NULL || name[0] == '\0') {
		json_wrong("product_name", json_object_get(product, "product_name"), "a name", err);
		return NULL;
	}
	file.metrics = without_uncountable(file.all_metrics, file.events);
	make_id(name, made);
	out = json_object();
	json_object_set_new(out, "schema", json_integer(1));
	json_object_set_new(out, "id", json_string(id != NULL ? id : made));
	json_object_set_new(out, "name", json_string(name));
	json_object_set_new(out, "match", convert_match(product));
	/* The file of the Neoverse N1 has a number of slots, but the PMU has no event for them. */
	if (json_is_integer(slots) && json_object_get(file.events, "STALL_SLOT") != NULL)
		json_object_set_new(out, "slots", json_integer(json_integer_value(slots)));
	json_object_set_new(out, "events", convert_events(file.events));
	json_object_set_new(out, "metrics", convert_metrics(&file));
	json_object_set_new(out, "groups", convert_groups(&file));
	json_object_set_new(out, "topdown", convert_topdown(&file, root));
	json_object_set_new(out, "drilldown", json_object());
	json_object_set_new(out, "variants", json_array());
	json_decref(file.metrics);
	return out;
}
