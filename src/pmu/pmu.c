/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define DEVICES "/sys/bus/event_source/devices"

static const char *pmu_keep(struct pmus *pmus, const char *text)
{
	return arena_strndup(&pmus->memory, text, strlen(text));
}

static void read_formats(struct pmus *pmus, const char *root, struct pmu *pmu)
{
	struct system_names names =
		system_list(root, &pmus->memory, DEVICES "/%s/format", pmu->name);
	char line[SYSTEM_LINE_MAX];

	pmu->formats = arena_alloc(&pmus->memory, (names.n + 1) * sizeof(*pmu->formats));
	for (size_t i = 0; i < names.n; i++) {
		struct pmu_format *format = &pmu->formats[pmu->n_formats];

		if (!system_line(root, line, sizeof(line), DEVICES "/%s/format/%s", pmu->name,
				 names.items[i]) ||
		    !pmu_format_parse(line, format))
			continue;
		format->name = names.items[i];
		pmu->n_formats++;
	}
}

/*
 * Reads the file of a named event. NAME.scale and NAME.unit belong to event NAME; other names with
 * a dot are no events.
 */
static void read_alias(struct pmus *pmus, const char *root, struct pmu *pmu, const char *name)
{
	struct pmu_alias alias = { .name = name, .scale = 1 };
	char line[SYSTEM_LINE_MAX];

	if (strchr(name, '.') != NULL ||
	    !system_line(root, line, sizeof(line), DEVICES "/%s/events/%s", pmu->name, name) ||
	    line[0] == '\0')
		return;
	alias.terms = pmu_keep(pmus, line);
	if (system_line(root, line, sizeof(line), DEVICES "/%s/events/%s.unit", pmu->name, name) &&
	    line[0] != '\0')
		alias.unit = pmu_keep(pmus, line);
	if (system_line(root, line, sizeof(line), DEVICES "/%s/events/%s.scale", pmu->name, name)) {
		double scale = strtod(line, NULL);

		alias.scale = scale > 0 && scale < 1e30 ? scale : 1;
	}
	pmu->aliases[pmu->n_aliases++] = alias;
}

static void read_named_events(struct pmus *pmus, const char *root, struct pmu *pmu)
{
	struct system_names names =
		system_list(root, &pmus->memory, DEVICES "/%s/events", pmu->name);

	pmu->aliases = arena_alloc(&pmus->memory, (names.n + 1) * sizeof(*pmu->aliases));
	for (size_t i = 0; i < names.n; i++)
		read_alias(pmus, root, pmu, names.items[i]);
}

static void read_caps(struct pmus *pmus, const char *root, struct pmu *pmu)
{
	struct system_names names = system_list(root, &pmus->memory, DEVICES "/%s/caps", pmu->name);
	char line[SYSTEM_LINE_MAX];

	pmu->caps = arena_alloc(&pmus->memory, (names.n + 1) * sizeof(*pmu->caps));
	for (size_t i = 0; i < names.n; i++)
		if (system_line(root, line, sizeof(line), DEVICES "/%s/caps/%s", pmu->name,
				names.items[i]))
			pmu->caps[pmu->n_caps++] = (struct pmu_cap){
				.name = names.items[i],
				.value = pmu_keep(pmus, line),
			};
}

static void find_kind(struct pmu *pmu, bool has_cpus, bool has_cpumask)
{
	pmu->is_core = pmu_is_core(pmu->name, &pmu->is_arm);
	pmu->is_uncore = has_cpumask && !has_cpus && !pmu->is_core;
}

/*
 * Core and SPE PMUs have a file "cpus". A file "cpumask" lists the CPUs to open an uncore PMU on.
 */
static void pmu_read_cpus(struct pmus *pmus, const char *root, struct pmu *pmu)
{
	char line[SYSTEM_LINE_MAX];
	struct err ignored;
	bool has_cpus = system_line(root, line, sizeof(line), DEVICES "/%s/cpus", pmu->name) &&
			cpu_list_parse(line, &pmus->memory, &pmu->cpus, &ignored) == 0;
	bool has_cpumask =
		!has_cpus &&
		system_line(root, line, sizeof(line), DEVICES "/%s/cpumask", pmu->name) &&
		cpu_list_parse(line, &pmus->memory, &pmu->cpus, &ignored) == 0;

	find_kind(pmu, has_cpus, has_cpumask);
}

void pmus_read(struct pmus *pmus, const char *root)
{
	struct system_names names = system_list(root, &pmus->memory, DEVICES);

	pmus->root = root;
	for (size_t i = 0; i < names.n; i++) {
		struct pmu *pmu;
		int64_t type;

		if (!system_number(root, &type, DEVICES "/%s/type", names.items[i]) || type < 0 ||
		    type > UINT32_MAX)
			continue;
		pmu = vec_add(&pmus->list);
		pmu->name = names.items[i];
		pmu->type = (uint32_t)type;
		pmu_read_cpus(pmus, root, pmu);
	}
}

void pmus_release(struct pmus *pmus)
{
	vec_release(&pmus->list);
	arena_release(&pmus->memory);
}

static const struct pmu *pmu_load(struct pmus *pmus, struct pmu *pmu)
{
	if (pmu->is_loaded)
		return pmu;
	read_formats(pmus, pmus->root, pmu);
	read_named_events(pmus, pmus->root, pmu);
	read_caps(pmus, pmus->root, pmu);
	pmu->is_loaded = true;
	return pmu;
}

const struct pmu *pmus_at(struct pmus *pmus, size_t index)
{
	return index < pmus->list.n ? pmu_load(pmus, &pmus->list.items[index]) : NULL;
}

const struct pmu *pmus_find(struct pmus *pmus, const char *name)
{
	for (size_t i = 0; i < pmus->list.n; i++)
		if (strcmp(pmus->list.items[i].name, name) == 0)
			return pmus_at(pmus, i);
	return NULL;
}

const struct pmu *pmus_core(struct pmus *pmus, size_t index)
{
	for (size_t i = 0; i < pmus->list.n; i++)
		if (pmus->list.items[i].is_core && index-- == 0)
			return pmus_at(pmus, i);
	return NULL;
}

const struct pmu *pmus_core_of_cpu(struct pmus *pmus, uint32_t cpu)
{
	const struct pmu *pmu;

	for (size_t i = 0; (pmu = pmus_core(pmus, i)) != NULL; i++)
		if (pmu->cpus.n == 0 || cpu_list_has(&pmu->cpus, cpu))
			return pmu;
	return NULL;
}

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->n_formats; i++)
		if (strcmp(pmu->formats[i].name, name) == 0)
			return &pmu->formats[i];
	return NULL;
}

const struct pmu_alias *pmu_alias_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->n_aliases; i++)
		if (strcasecmp(pmu->aliases[i].name, name) == 0)
			return &pmu->aliases[i];
	return NULL;
}

const char *pmu_cap_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->n_caps; i++)
		if (strcmp(pmu->caps[i].name, name) == 0)
			return pmu->caps[i].value;
	return NULL;
}

uint64_t pmu_cap_number(const struct pmu *pmu, const char *name, uint64_t otherwise)
{
	const char *text = pmu_cap_find(pmu, name);
	char *end;
	uint64_t value;

	if (text == NULL)
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 0);
	return end == text || errno != 0 ? otherwise : value;
}

/* Is it an event that PMCEID0_EL0 or PMCEID1_EL0 reports? Sysfs names only those. */
static bool is_common_event(uint64_t code)
{
	return code < 0x40 || (code >= 0x4000 && code < 0x4040);
}

bool pmu_lists_event(const struct pmu *pmu, uint64_t code)
{
	return pmu->is_arm && pmu->n_aliases > 0 && is_common_event(code);
}

void pmu_forget_events(struct pmus *pmus, const struct pmu *pmu, const uint64_t *codes, size_t n)
{
	uint64_t *copy = arena_alloc(&pmus->memory, (n + 1) * sizeof(*copy));

	if (n > 0)
		memcpy(copy, codes, n * sizeof(*copy));
	for (size_t i = 0; i < pmus->list.n; i++) {
		if (&pmus->list.items[i] != pmu)
			continue;
		pmus->list.items[i].dead = copy;
		pmus->list.items[i].n_dead = n;
	}
}

bool pmu_has_event(const struct pmu *pmu, uint64_t code)
{
	for (size_t i = 0; i < pmu->n_dead; i++)
		if (pmu->dead[i] == code)
			return false;
	if (!pmu_lists_event(pmu, code))
		return true;
	for (size_t i = 0; i < pmu->n_aliases; i++) {
		const char *terms = pmu->aliases[i].terms;

		if (strncmp(terms, "event=", 6) == 0 && strtoull(terms + 6, NULL, 0) == code)
			return true;
	}
	return false;
}
