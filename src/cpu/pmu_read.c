/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a CPU file into a struct cpu_pmu. Format: catalog/schema.md. A name in a list, a formula or
 * the tree that does not exist is an error, so that mistakes in a catalog file are found.
 */
#include "cpu/pmu_read.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cpu/internal.h"
#include "cpu/json_read.h"

static const char *const better_words[] = {
	[BETTER_NEUTRAL] = "neutral",
	[BETTER_HIGHER] = "higher",
	[BETTER_LOWER] = "lower",
};

static const char *const stage_words[] = {
	[EVENT_STAGE_RETIRED] = "retired",
	[EVENT_STAGE_SPECULATIVE] = "speculative",
};

static const char *pmu_read_copy(struct cpu_pmu *pmu, const char *text)
{
	return arena_strndup(&pmu->memory, text, strlen(text));
}

static void *pmu_array(struct cpu_pmu *pmu, size_t n, size_t size)
{
	return json_array_memory(&pmu->memory, n, size);
}

static_assert(offsetof(struct cpu_event, name) == 0 && offsetof(struct cpu_metric, name) == 0 &&
		      offsetof(struct cpu_group, name) == 0,
	      "names stand first: names_in_order()");

static int compare_names(const void *a, const void *b)
{
	const struct cpu_name *x = a, *y = b;
	int order = strcasecmp(x->name, y->name);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* The names of a list, in order. Its items are of `size` bytes and begin with their name. */
static struct cpu_name *names_in_order(struct cpu_pmu *pmu, const void *items, size_t n,
				       size_t size)
{
	struct cpu_name *names = pmu_array(pmu, n, sizeof(*names));

	for (size_t i = 0; i < n; i++) {
		const char *const *name = (const void *)((const char *)items + i * size);

		names[i] = (struct cpu_name){ *name, i };
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), compare_names);
	return names;
}

/* The index of a word; 0 if it is missing or unknown. */
static unsigned word_number(const json_t *object, const char *key, const char *const *words,
			    size_t n)
{
	const char *word = json_string_value(json_object_get(object, key));

	for (unsigned i = 1; word != NULL && i < n; i++)
		if (words[i] != NULL && strcmp(word, words[i]) == 0)
			return i;
	return 0;
}

/* A text, or `otherwise` if it is missing. */
static const char *text_or(struct cpu_pmu *pmu, const json_t *object, const char *key,
			   const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? otherwise : pmu_read_copy(pmu, text);
}

static unsigned number_or_0(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 && n < 1 << 20 ? (unsigned)n : 0;
}

static int unknown_name(const char *key, const char *what, const char *name, struct err *err)
{
	return err_set(err, ERR_FORMAT, ERR_NOWHERE, "%s: there is no %s '%.80s'", key, what, name);
}

/* Name number `i` of a list; NULL and an error if it is no text. */
static const char *pmu_read_name_at(const json_t *list, size_t i, const char *key, struct err *err)
{
	const json_t *item = json_array_get(list, i);

	if (!json_is_string(item))
		json_wrong(key, item, "names", err);
	return json_string_value(item);
}

static int read_events_named(struct cpu_pmu *pmu, const json_t *list, const char *key,
			     struct event_list *out, struct err *err)
{
	out->items = pmu_array(pmu, json_array_size(list), sizeof(struct cpu_event *));
	for (out->n = 0; out->n < json_array_size(list); out->n++) {
		const char *name = pmu_read_name_at(list, out->n, key, err);

		if (name == NULL)
			return -1;
		out->items[out->n] = cpu_event_find(pmu, name);
		if (out->items[out->n] == NULL)
			return unknown_name(key, "event", name, err);
	}
	return 0;
}

static int read_metrics_named(struct cpu_pmu *pmu, const json_t *list, const char *key,
			      struct metric_list *out, struct err *err)
{
	out->items = pmu_array(pmu, json_array_size(list), sizeof(struct cpu_metric *));
	for (out->n = 0; out->n < json_array_size(list); out->n++) {
		const char *name = pmu_read_name_at(list, out->n, key, err);

		if (name == NULL)
			return -1;
		out->items[out->n] = cpu_metric_find(pmu, name);
		if (out->items[out->n] == NULL)
			return unknown_name(key, "metric", name, err);
	}
	return 0;
}

static int read_groups_named(struct cpu_pmu *pmu, const json_t *list, const char *key,
			     struct group_list *out, struct err *err)
{
	out->items = pmu_array(pmu, json_array_size(list), sizeof(struct cpu_group *));
	for (out->n = 0; out->n < json_array_size(list); out->n++) {
		const char *name = pmu_read_name_at(list, out->n, key, err);

		if (name == NULL)
			return -1;
		out->items[out->n] = cpu_group_find(pmu, name);
		if (out->items[out->n] == NULL)
			return unknown_name(key, "group", name, err);
	}
	return 0;
}

static int pmu_read_event(struct cpu_pmu *pmu, const json_t *object, struct cpu_event *out,
			  struct err *err)
{
	uint64_t code = 0;

	if (json_read_text(&pmu->memory, object, "name", &out->name, err) < 0 ||
	    json_read_code(object, "code", UINT64_MAX, &code, err) < 0)
		return -1;
	out->code = code;
	out->class = text_or(pmu, object, "class", "other");
	out->note = text_or(pmu, object, "note", NULL);
	out->description = text_or(pmu, object, "description", NULL);
	out->linux_name = text_or(pmu, object, "linux_name", NULL);
	out->stage =
		(enum event_stage)word_number(object, "stage", stage_words, COUNT(stage_words));
	out->is_impdef = json_is_true(json_object_get(object, "impdef"));
	return 0;
}

static int pmu_read_events(struct cpu_pmu *pmu, const json_t *list, struct err *err)
{
	pmu->events = pmu_array(pmu, json_array_size(list), sizeof(*pmu->events));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct cpu_event event = { 0 };

		if (pmu_read_event(pmu, json_array_get(list, i), &event, err) < 0)
			return err_within(err, "events[%zu]", i);
		pmu->events[pmu->n_events++] = event;
	}
	pmu->event_names = names_in_order(pmu, pmu->events, pmu->n_events, sizeof(*pmu->events));
	return 0;
}

/* Looks up the events of a formula and sets needs_slots. */
static int bind_formula(struct cpu_pmu *pmu, struct cpu_metric *m, struct err *err)
{
	m->events = (struct event_list){ 0 };
	m->events.items = pmu_array(pmu, m->formula.n_names, sizeof(*m->events.items));
	m->needs_slots = false;
	for (size_t i = 0; i < m->formula.n_names; i++) {
		const char *name = m->formula.names[i];
		const struct cpu_event *event = cpu_event_find(pmu, name);

		if (event != NULL)
			m->events.items[m->events.n++] = event;
		else if (strcmp(name, CPU_SLOTS) == 0)
			m->needs_slots = true;
		else
			return unknown_name("expr", "event", name, err);
	}
	return 0;
}

static int set_formula(struct cpu_pmu *pmu, struct cpu_metric *m, const json_t *text,
		       struct err *err)
{
	if (!json_is_string(text))
		return json_wrong("expr", text, "a formula", err);
	if (formula_parse(json_string_value(text), &pmu->memory, &m->formula, err) < 0 ||
	    bind_formula(pmu, m, err) < 0)
		return err_within(err, "metric '%s'", m->name);
	return 0;
}

static int read_metric(struct cpu_pmu *pmu, const json_t *object, struct cpu_metric *out,
		       struct err *err)
{
	const json_t *scale = json_object_get(object, "scale");
	const json_t *samples = NULL;

	if (json_read_text(&pmu->memory, object, "name", &out->name, err) < 0 ||
	    json_read_list(object, "sample_events", &samples, err) < 0)
		return -1;
	out->label = text_or(pmu, object, "label", out->name);
	out->unit = text_or(pmu, object, "unit", "");
	out->origin = text_or(pmu, object, "origin", "catalog file");
	out->scale = json_is_number(scale) ? json_number_value(scale) : 1;
	out->better = (enum metric_better)word_number(object, "better", better_words,
						      COUNT(better_words));
	if (set_formula(pmu, out, json_object_get(object, "expr"), err) < 0)
		return -1;
	return read_events_named(pmu, samples, "sample_events", &out->samples, err);
}

/*
 * Sampling ratios of SPE from the SAMPLE_* events (Arm, "Statistical Profiling Extension:
 * Performance Analysis Methodology", table 2.2). The formulas are in the catalog.
 */
static const struct spe_ratio {
	const char *name, *label, *unit;
} spe_ratios[] = {
	{ "spe_sampling_ratio", "operations that SPE selected, of all", "per operation" },
	{ "spe_filter_ratio", "samples kept by the filters, of those selected",
	  "per selected operation" },
	{ "spe_collision_ratio",
	  "samples lost because the one before was under way, of all "
	  "operations",
	  "per operation" },
};

/* Lists of events that Arm did not publish may lack them. */
static bool has_sample_events(const struct cpu_pmu *pmu)
{
	static const char *const names[] = { "SAMPLE_POP", "SAMPLE_FEED", "SAMPLE_FILTRATE",
					     "SAMPLE_COLLISION" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (cpu_event_find(pmu, names[i]) == NULL)
			return false;
	return true;
}

static int read_spe_ratios(struct cpu_pmu *pmu, const json_t *spe, struct err *err)
{
	json_t *ratios = json_object_get(spe, "ratios");

	for (size_t i = 0; has_sample_events(pmu) && i < COUNT(spe_ratios); i++) {
		struct cpu_metric m = {
			.name = spe_ratios[i].name,
			.label = spe_ratios[i].label,
			.unit = spe_ratios[i].unit,
			.origin = "SPE white paper",
			.scale = 1,
		};
		const json_t *text = json_object_get(ratios, m.name);

		if (text == NULL)
			continue;
		if (set_formula(pmu, &m, text, err) < 0)
			return err_within(err, "spe.ratios");
		pmu->metrics[pmu->n_metrics++] = m;
		pmu->n_spe_ratios++;
	}
	return 0;
}

static int read_metrics(struct cpu_pmu *pmu, const json_t *list, struct err *err)
{
	pmu->metrics =
		pmu_array(pmu, json_array_size(list) + COUNT(spe_ratios), sizeof(*pmu->metrics));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct cpu_metric metric = { 0 };

		if (read_metric(pmu, json_array_get(list, i), &metric, err) < 0)
			return err_within(err, "metrics[%zu]", i);
		pmu->metrics[pmu->n_metrics++] = metric;
	}
	return 0;
}

static int read_metric_groups(struct cpu_pmu *pmu, const json_t *list, struct err *err)
{
	pmu->groups = pmu_array(pmu, json_array_size(list) + 1, sizeof(*pmu->groups));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		struct cpu_group group = { 0 };
		const json_t *metrics = NULL;

		if (json_read_text(&pmu->memory, object, "name", &group.name, err) < 0 ||
		    json_read_list(object, "metrics", &metrics, err) < 0 ||
		    read_metrics_named(pmu, metrics, "metrics", &group.metrics, err) < 0)
			return err_within(err, "groups[%zu]", i);
		group.label = text_or(pmu, object, "label", group.name);
		pmu->groups[pmu->n_groups++] = group;
	}
	return 0;
}

static void add_spe_group(struct cpu_pmu *pmu)
{
	struct cpu_group group = { .name = "SPE_Sampling", .label = "SPE Sampling" };

	group.metrics.items = pmu_array(pmu, pmu->n_spe_ratios, sizeof(*group.metrics.items));
	for (; group.metrics.n < pmu->n_spe_ratios; group.metrics.n++)
		group.metrics.items[group.metrics.n] =
			&pmu->metrics[pmu->n_metrics - pmu->n_spe_ratios + group.metrics.n];
	if (group.metrics.n > 0)
		pmu->groups[pmu->n_groups++] = group;
}

static int read_node(struct cpu_pmu *pmu, const json_t *object, struct cpu_node *out,
		     struct err *err)
{
	const json_t *metrics = NULL, *groups = NULL, *samples = NULL;
	const char *metric = json_string_value(json_object_get(object, "metric"));
	const char *group = json_string_value(json_object_get(object, "group"));

	if (metric == NULL)
		return json_wrong("metric", json_object_get(object, "metric"), "a name", err);
	out->metric = cpu_metric_find(pmu, metric);
	if (out->metric == NULL)
		return unknown_name("metric", "metric", metric, err);
	out->group = group == NULL ? NULL : cpu_group_find(pmu, group);
	if (group != NULL && out->group == NULL)
		return unknown_name("group", "group", group, err);
	if (json_read_list(object, "next_metrics", &metrics, err) < 0 ||
	    json_read_list(object, "next_groups", &groups, err) < 0 ||
	    json_read_list(object, "sample_events", &samples, err) < 0 ||
	    read_metrics_named(pmu, metrics, "next_metrics", &out->next_metrics, err) < 0 ||
	    read_groups_named(pmu, groups, "next_groups", &out->next_groups, err) < 0)
		return -1;
	return read_events_named(pmu, samples, "sample_events", &out->samples, err);
}

static int read_nodes(struct cpu_pmu *pmu, const json_t *tree, struct err *err)
{
	struct cpu_topdown *t = &pmu->topdown;
	const json_t *list = NULL;

	if (json_read_list(tree, "nodes", &list, err) < 0)
		return -1;
	t->nodes = pmu_array(pmu, json_array_size(list), sizeof(*t->nodes));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct cpu_node node = { 0 };

		if (read_node(pmu, json_array_get(list, i), &node, err) < 0)
			return err_within(err, "nodes[%zu]", i);
		t->nodes[t->n_nodes++] = node;
	}
	return 0;
}

static int read_topdown(struct cpu_pmu *pmu, const json_t *tree, struct err *err)
{
	struct cpu_topdown *t = &pmu->topdown;
	const json_t *stage_1 = NULL, *stage_2 = NULL, *roots = NULL, *unreachable = NULL;

	if (tree == NULL || json_is_null(tree))
		return 0;
	if (!json_is_object(tree))
		return json_wrong("topdown", tree, "an object or null", err);
	if (json_read_list(tree, "stage_1", &stage_1, err) < 0 ||
	    json_read_list(tree, "stage_2", &stage_2, err) < 0 ||
	    json_read_list(tree, "roots", &roots, err) < 0 ||
	    json_read_list(tree, "unreachable", &unreachable, err) < 0 ||
	    read_groups_named(pmu, stage_1, "stage_1", &t->stage_1, err) < 0 ||
	    read_groups_named(pmu, stage_2, "stage_2", &t->stage_2, err) < 0 ||
	    read_metrics_named(pmu, roots, "roots", &t->roots, err) < 0 ||
	    read_metrics_named(pmu, unreachable, "unreachable", &t->unreachable, err) < 0 ||
	    read_nodes(pmu, tree, err) < 0)
		return err_within(err, "topdown");
	return 0;
}

/* Reads events to sample for metrics that do not list their own. */
static int read_drilldown(struct cpu_pmu *pmu, const json_t *object, struct err *err)
{
	for (size_t i = 0; i < pmu->n_metrics; i++) {
		struct cpu_metric *m = &pmu->metrics[i];
		const json_t *list = NULL;

		if (m->samples.n > 0)
			continue;
		if (json_read_list(object, m->name, &list, err) < 0 ||
		    read_events_named(pmu, list, m->name, &m->samples, err) < 0)
			return err_within(err, "drilldown");
	}
	return 0;
}

/* Variant and revision of a MIDR, as in the catalog. */
static unsigned long revision_of(uint64_t midr)
{
	return midr & 0xf0000f;
}

static int read_variant(struct cpu_pmu *pmu, const json_t *object, uint64_t midr, struct err *err)
{
	json_t *formulas = json_object_get(object, "expr");
	uint64_t min = 0, max = 0;
	const char *name;
	json_t *text;

	if (json_read_code(object, "midr_min", 0xffffff, &min, err) < 0 ||
	    json_read_code(object, "midr_max", 0xffffff, &max, err) < 0)
		return -1;
	if (midr == 0 || revision_of(midr) < min || revision_of(midr) > max)
		return 0;
	json_object_foreach(formulas, name, text)
	{
		const struct cpu_metric *found = cpu_metric_find(pmu, name);

		if (found == NULL)
			return unknown_name("expr", "metric", name, err);
		if (set_formula(pmu, &pmu->metrics[found - pmu->metrics], text, err) < 0)
			return -1;
		pmu->is_other_revision = true;
	}
	return 0;
}

static int read_variants(struct cpu_pmu *pmu, const json_t *list, uint64_t midr, struct err *err)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_variant(pmu, json_array_get(list, i), midr, err) < 0)
			return err_within(err, "variants[%zu]", i);
	return 0;
}

static void read_linux_names(struct cpu_pmu *pmu, const json_t *list)
{
	pmu->linux_names = pmu_array(pmu, json_array_size(list), sizeof(*pmu->linux_names));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (name != NULL)
			pmu->linux_names[pmu->n_linux_names++] = pmu_read_copy(pmu, name);
	}
}

/* Finds the events of cycles and instructions: those of the formula of ipc. */
static void find_cycles_and_instructions(struct cpu_pmu *pmu)
{
	const struct cpu_metric *ipc = cpu_metric_find(pmu, "ipc");

	pmu->cycles = cpu_event_find(pmu, "CPU_CYCLES");
	pmu->instructions = cpu_event_find(pmu, "INST_RETIRED");
	if (ipc == NULL || ipc->events.n < 2)
		return;
	pmu->instructions = ipc->events.items[0];
	pmu->cycles = ipc->events.items[1];
}

int cpu_pmu_read(struct cpu_pmu *pmu, const json_t *object, uint64_t midr, struct err *err)
{
	const json_t *counters = json_object_get(object, "counters");
	const json_t *events = NULL, *metrics = NULL, *groups = NULL, *variants = NULL;

	if (json_read_list(object, "events", &events, err) < 0 ||
	    json_read_list(object, "metrics", &metrics, err) < 0 ||
	    json_read_list(object, "groups", &groups, err) < 0 ||
	    json_read_list(object, "variants", &variants, err) < 0 ||
	    pmu_read_events(pmu, events, err) < 0 || read_metrics(pmu, metrics, err) < 0 ||
	    read_spe_ratios(pmu, json_object_get(object, "spe"), err) < 0)
		return -1;
	pmu->metric_names =
		names_in_order(pmu, pmu->metrics, pmu->n_metrics, sizeof(*pmu->metrics));
	if (read_metric_groups(pmu, groups, err) < 0)
		return -1;
	add_spe_group(pmu);
	pmu->group_names = names_in_order(pmu, pmu->groups, pmu->n_groups, sizeof(*pmu->groups));
	if (read_topdown(pmu, json_object_get(object, "topdown"), err) < 0 ||
	    read_drilldown(pmu, json_object_get(object, "drilldown"), err) < 0 ||
	    read_variants(pmu, variants, midr, err) < 0 ||
	    thresholds_read(&pmu->memory, json_object_get(object, "thresholds"), &pmu->thresholds,
			    err) < 0)
		return -1;
	pmu->midr = midr;
	pmu->has_other_revisions = json_array_size(variants) > 0;
	pmu->n_programmable = number_or_0(counters, "programmable");
	pmu->n_fixed_cycles = number_or_0(counters, "fixed_cycles");
	pmu->counter_bits = number_or_0(counters, "width_bits");
	pmu->dispatch_width = number_or_0(object, "dispatch_width");
	pmu->reorder_entries = number_or_0(object, "reorder_entries");
	pmu->outstanding_lines = number_or_0(object, "outstanding_lines");
	pmu->l1i_lines = number_or_0(object, "l1i_lines");
	pmu->itlb_entries = number_or_0(object, "itlb_entries");
	pmu->dtlb_entries = number_or_0(object, "dtlb_entries");
	pmu->l2tlb_entries = number_or_0(object, "l2tlb_entries");
	pmu->fetch_width = number_or_0(object, "fetch_width");
	pmu->slots = number_or_0(object, "slots");
	pmu->is_arm = strncmp(text_or(pmu, object, "arch", "arm"), "arm", 3) == 0;
	pmu->is_generic = strcmp(text_or(pmu, object, "arch", ""), "any") == 0;
	pmu->note = text_or(pmu, object, "note", NULL);
	read_linux_names(pmu, json_object_get(object, "linux_pmu_names"));
	find_cycles_and_instructions(pmu);
	return 0;
}
