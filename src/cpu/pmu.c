/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/pmu.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "cpu/internal.h"
#include "cpu/pmu_read.h"

/* The file of a CPU, or its short form, which scripts/catalog-costs.py makes. */
enum facts { FACTS_ALL, FACTS_COSTS };

/*
 * The embedded file of a CPU; an empty object if there is none. To be given back with
 * json_decref().
 */
static json_t *embedded_facts(const char *id, enum facts which)
{
	const struct embedded_file *file;
	char name[128];
	json_t *object = NULL;

	snprintf(name, sizeof(name), "%s%s.json", id, which == FACTS_COSTS ? ".costs" : "");
	file = embedded_find(catalog_files, name);
	if (file != NULL)
		object = json_loadb(file->bytes, file->size, 0, NULL);
	return object != NULL ? object : json_object();
}

/* What the short form lacks, also where --catalog has it. */
static const char *const long_keys[] = { "metrics",  "groups",	   "topdown", "drilldown",
					 "variants", "thresholds", "spe" };

/* The embedded file with the changes of --catalog. To be given back with json_decref(). */
static json_t *changed_facts(const struct catalog *c, const char *id, enum facts which)
{
	json_t *object = embedded_facts(id, which);

	for (size_t i = 0; i < c->changes.n; i++)
		if (strcmp(c->changes.items[i].id, id) == 0)
			json_object_update(object, c->changes.items[i].object);
	for (size_t i = 0; i < COUNT(long_keys) && which == FACTS_COSTS; i++)
		json_object_del(object, long_keys[i]);
	return object;
}

/* Has the CPU a PMUv3? Arm CPUs have, unless their file says otherwise. */
static bool is_pmuv3(const json_t *object)
{
	const char *arch = json_string_value(json_object_get(object, "arch"));
	const char *kind = json_string_value(json_object_get(object, "pmu_arch"));

	return kind != NULL ? strcmp(kind, "pmuv3") == 0
			    : arch == NULL || strncmp(arch, "arm", 3) == 0;
}

/* Copies what `object` lacks from another CPU's file. */
static void add_missing(const json_t *other, json_t *object)
{
	static const char *const keys[] = { "events",	 "metrics",  "groups",	 "topdown",
					    "drilldown", "variants", "penalties" };

	for (size_t i = 0; i < COUNT(keys); i++) {
		json_t *value = json_object_get(other, keys[i]);
		const json_t *own = json_object_get(object, keys[i]);

		if (value != NULL && json_array_size(own) == 0 && json_object_size(own) == 0)
			json_object_set(object, keys[i], value);
	}
}

/* What holds of most cores stands in for what the file of this one lacks. */
static void add_missing_sizes(const json_t *any_arm, json_t *object)
{
	static const char *const keys[] = { "l1i_lines", "itlb_entries" };

	for (size_t i = 0; i < COUNT(keys); i++)
		if (!json_is_integer(json_object_get(object, keys[i])))
			json_object_set(object, keys[i], json_object_get(any_arm, keys[i]));
}

/*
 * Completes the facts of a CPU from a similar CPU that its file names. Without events of its own it
 * gets those of any PMUv3 core; returns whether it did.
 */
static bool complete_facts(const struct catalog *c, enum facts which, const json_t *any_arm,
			   json_t *object)
{
	const char *other_id = json_string_value(json_object_get(object, "same_as"));
	json_t *other = other_id == NULL ? NULL : changed_facts(c, other_id, which);

	if (other != NULL)
		add_missing(other, object);
	json_decref(other);
	if (any_arm != NULL)
		add_missing_sizes(any_arm, object);
	if (any_arm == NULL || json_object_get(object, "pmu_arch") == NULL ||
	    json_array_size(json_object_get(object, "events")) > 0)
		return false;
	add_missing(any_arm, object);
	return true;
}

/* What events count, by the architecture's name. Only lists of events need it, so the index lacks it. */
static json_t *embedded_descriptions(void)
{
	const struct embedded_file *file = embedded_find(catalog_files, "events.json");
	json_t *root = file == NULL ? NULL : json_loadb(file->bytes, file->size, 0, NULL);
	json_t *descriptions = json_incref(json_object_get(root, "event_descriptions"));

	json_decref(root);
	return descriptions;
}

/* Events are described by the architecture's name, unless a file of the CPU says more. */
static void describe_events(const struct catalog *c, struct cpu_pmu *pmu)
{
	json_t *embedded = embedded_descriptions();

	for (size_t i = 0; i < pmu->n_events; i++) {
		struct cpu_event *e = &pmu->events[i];
		const char *text = json_string_value(json_object_get(c->descriptions, e->name));

		if (text == NULL)
			text = json_string_value(json_object_get(embedded, e->name));
		if (e->description == NULL && text != NULL)
			e->description = arena_strndup(&pmu->memory, text, strlen(text));
	}
	json_decref(embedded);
}

static int open_facts(const struct catalog *c, const struct cpu *cpu, enum facts which,
		      uint64_t midr, struct cpu_pmu **out, struct err *err)
{
	struct cpu_pmu *pmu = mem_zalloc(1, sizeof(*pmu));
	json_t *facts = changed_facts(c, cpu->id, which);
	json_t *any_arm = is_pmuv3(facts) ? changed_facts(c, CPU_ANY_ARM, which) : NULL;
	int rc;

	pmu->cpu = cpu;
	pmu->thresholds = c->thresholds;
	pmu->is_architectural = complete_facts(c, which, any_arm, facts);
	rc = cpu_pmu_read(pmu, facts, midr, err);
	if (rc == 0 && which == FACTS_ALL)
		describe_events(c, pmu);
	if (rc == 0)
		rc = cpu_pmu_read_costs(pmu, facts, any_arm, err);
	json_decref(any_arm);
	json_decref(facts);
	if (rc < 0) {
		cpu_pmu_free(pmu);
		return err_within(err, "catalog: cpu '%s'", cpu->id);
	}
	*out = pmu;
	return 0;
}

int cpu_pmu_open(const struct catalog *c, const struct cpu *cpu, uint64_t midr,
		 struct cpu_pmu **out, struct err *err)
{
	return open_facts(c, cpu, FACTS_ALL, midr, out, err);
}

int cpu_costs_open(const struct catalog *c, const struct cpu *cpu, struct cpu_pmu **out,
		   struct err *err)
{
	return open_facts(c, cpu, FACTS_COSTS, 0, out, err);
}

struct cpu_counts cpu_pmu_counts(const struct cpu_pmu *pmu)
{
	return (struct cpu_counts){
		.n_events = pmu->n_events,
		.n_metrics = pmu->n_metrics,
		.n_programmable = pmu->n_programmable,
		.slots = pmu->slots,
		.is_architectural = pmu->is_architectural,
		.unit = pmu->topdown.roots.n > 0 ? pmu->topdown.roots.items[0]->unit : "",
	};
}

const struct cpu_counts *cpu_counts_known(const struct catalog *c, const struct cpu *cpu)
{
	return c->changes.n == 0 && cpu->counts.unit != NULL ? &cpu->counts : NULL;
}

void cpu_pmu_free(struct cpu_pmu *pmu)
{
	if (pmu == NULL)
		return;
	arena_release(&pmu->memory);
	free(pmu);
}

double cpu_most_ipc(const struct cpu_pmu *pmu)
{
	/* macro-operation fusion: a compare and its branch may be one operation */
	const double fused = 1.25;
	enum { WIDEST = 10 };

	if (pmu->fetch_width > 0)
		return pmu->fetch_width;
	return fused * (pmu->dispatch_width > 0 ? pmu->dispatch_width : WIDEST);
}

/* Where the name stands in the list that it is of; `n`: nowhere. Of names that are equal the first. */
static size_t find_name(const struct cpu_name *names, size_t n, const char *name)
{
	size_t first = bisect(0, n, i, strcasecmp(names[i].name, name) < 0);

	return first < n && strcasecmp(names[first].name, name) == 0 ? names[first].at : n;
}

const struct cpu_event *cpu_event_find(const struct cpu_pmu *pmu, const char *name)
{
	size_t at = find_name(pmu->event_names, pmu->n_events, name);

	return at < pmu->n_events ? &pmu->events[at] : NULL;
}

const struct cpu_metric *cpu_metric_find(const struct cpu_pmu *pmu, const char *name)
{
	size_t at = find_name(pmu->metric_names, pmu->n_metrics, name);

	return at < pmu->n_metrics ? &pmu->metrics[at] : NULL;
}

const struct cpu_group *cpu_group_find(const struct cpu_pmu *pmu, const char *name)
{
	size_t at = find_name(pmu->group_names, pmu->n_groups, name);

	return at < pmu->n_groups ? &pmu->groups[at] : NULL;
}

const struct cpu_event *cpu_event_of_code(const struct cpu_pmu *pmu, uint64_t code)
{
	for (size_t i = 0; i < pmu->n_events; i++)
		if (pmu->events[i].code == code)
			return &pmu->events[i];
	return NULL;
}

const struct cpu_node *cpu_node_of(const struct cpu_pmu *pmu, const struct cpu_metric *metric)
{
	for (size_t i = 0; i < pmu->topdown.n_nodes; i++)
		if (pmu->topdown.nodes[i].metric == metric)
			return &pmu->topdown.nodes[i];
	return NULL;
}
