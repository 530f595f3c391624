/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/events.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "measure/event_table.h"
#include "pmu/event_names.h"
#include "pmu/pmu.h"
#include "system/system.h"

#define DEVICES "/sys/bus/event_source/devices"

/* Is the CPU in a list such as "0-3,8"? */
static bool is_listed(const char *list, unsigned cpu)
{
	for (const char *at = list; *at >= '0' && *at <= '9';) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		at = end + (*end == ',');
	}
	return false;
}

static void pmu_describe(struct measure_pmu *out, const char *root, const char *name, unsigned cpu)
{
	int64_t type, midr;

	if (strlen(name) >= sizeof(out->name) ||
	    !system_number(root, &type, DEVICES "/%s/type", name))
		return;
	memcpy(out->name, name, strlen(name));
	out->type = (uint32_t)type;
	out->has_user_reads = out->is_arm && system_has(root, DEVICES "/%s/format/rdpmc", name);
	if (system_number(root, &midr, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
			  cpu))
		out->midr = (uint64_t)midr & UINT32_MAX;
}

void measure_pmu_read(struct measure_pmu *out, const char *root, unsigned cpu)
{
	char path[SYSTEM_PATH_MAX], cpus[SYSTEM_LINE_MAX];
	const struct dirent *entry;
	unsigned n_core_pmus = 0;
	DIR *devices;

	*out = (struct measure_pmu){ 0 };
	snprintf(path, sizeof(path), "%s%s", root, DEVICES);
	devices = opendir(path);
	while (devices != NULL && (entry = readdir(devices)) != NULL) {
		bool is_arm;

		if (!pmu_is_core(entry->d_name, &is_arm))
			continue;
		n_core_pmus++;
		if (system_line(root, cpus, sizeof(cpus), DEVICES "/%s/cpus", entry->d_name) &&
		    !is_listed(cpus, cpu))
			continue;
		out->is_arm = is_arm;
		pmu_describe(out, root, entry->d_name, cpu);
	}
	if (devices != NULL)
		closedir(devices);
	out->is_mixed = n_core_pmus > 1;
}

/* The index of the CPU in the table of events; -1: the catalog has nothing for it. */
static int table_cpu(const struct measure_pmu *pmu)
{
	unsigned implementer = pmu->midr >> 24 & 0xff, part = pmu->midr >> 4 & 0xfff;

	for (unsigned i = 0; pmu->midr != 0 && i < measure_n_parts; i++)
		if (measure_parts[i].implementer == implementer && measure_parts[i].part == part)
			return measure_parts[i].cpu;
	return pmu->midr != 0 && strncmp(pmu->name, "armv8_", 6) == 0 ? (int)measure_any_cpu : -1;
}

static bool find_code(const struct measure_pmu *pmu, const char *name, uint64_t *out)
{
	int cpu = table_cpu(pmu);

	for (unsigned i = 0; cpu >= 0 && i < measure_n_codes; i++) {
		const struct measure_code *c = &measure_codes[i];

		if (!(c->cpus[cpu / 64] >> cpu % 64 & 1) || strcasecmp(c->name, name) != 0)
			continue;
		*out = c->code;
		return true;
	}
	return false;
}

/* Places one term "event=0x3c" of an event that sysfs names. */
static bool place_sysfs_term(struct attr *attr, const struct measure_pmu *pmu, const char *root,
			     char *term)
{
	uint64_t *words[PMU_CONFIG_WORDS] = { &attr->config, &attr->config1, &attr->config2,
					      &attr->config3, &attr->config4 };
	char *value = strchr(term, '='), *end = NULL;
	char line[SYSTEM_LINE_MAX];
	struct pmu_format format;
	uint64_t number = 1;

	if (value != NULL) {
		*value++ = '\0';
		number = strtoull(value, &end, 0);
		if (end == value || *end != '\0')
			return false;
	}
	if (!system_line(root, line, sizeof(line), DEVICES "/%s/format/%s", pmu->name, term) ||
	    !pmu_format_parse(line, &format) || number > pmu_format_max(&format))
		return false;
	*words[format.word] |= pmu_format_place(&format, number);
	return true;
}

/* Finds an event that sysfs names: as it stands, or in lower case as Arm's are. */
static bool find_sysfs_event(struct attr *attr, const struct measure_pmu *pmu, const char *root,
			     const char *name)
{
	char lower[MEASURE_NAME], terms[SYSTEM_LINE_MAX];
	char *save = NULL;

	for (size_t i = 0; i < sizeof(lower); i++) {
		lower[i] = name[i];
		if (name[i] == '\0')
			break;
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
	}
	if (pmu->name[0] == '\0' || strchr(name, '/') != NULL || strchr(name, '.') != NULL ||
	    (!system_line(root, terms, sizeof(terms), DEVICES "/%s/events/%s", pmu->name, name) &&
	     !system_line(root, terms, sizeof(terms), DEVICES "/%s/events/%s", pmu->name, lower)))
		return false;
	for (char *term = strtok_r(terms, ",", &save); term != NULL;
	     term = strtok_r(NULL, ",", &save))
		if (!place_sysfs_term(attr, pmu, root, term))
			return false;
	return true;
}

/* "r1f": hexadecimal digits behind an r. */
static bool raw_number(const char *name, uint64_t *out)
{
	char *end;

	if (name[0] != 'r' || name[1] == '\0' ||
	    name[1 + strspn(name + 1, "0123456789abcdefABCDEF")] != '\0')
		return false;
	*out = strtoull(name + 1, &end, 16);
	return true;
}

/* Fills the attr by the name; false if nobody knows it. */
static bool resolve(struct measure_event *e, const struct measure_pmu *pmu, const char *root)
{
	const struct generic_event *generic = generic_event_find(e->name);
	uint32_t type = pmu->name[0] != '\0' ? pmu->type : (uint32_t)ATTR_TYPE_RAW, cache;
	uint64_t of_pmu = pmu->is_mixed ? (uint64_t)pmu->type << 32 : 0;
	uint64_t code;

	e->is_hardware = true;
	if (generic != NULL) {
		e->is_hardware = generic->type != ATTR_TYPE_SOFTWARE;
		e->attr.type = generic->type;
		e->attr.config = generic->config | (e->is_hardware ? of_pmu : 0);
		return true;
	}
	if (cache_event_find(e->name, &cache)) {
		e->attr.type = ATTR_TYPE_HW_CACHE;
		e->attr.config = cache | of_pmu;
		return true;
	}
	e->attr.type = type;
	if (find_code(pmu, e->name, &code) || raw_number(e->name, &code)) {
		e->attr.config = code;
		return true;
	}
	return find_sysfs_event(&e->attr, pmu, root, e->name);
}

static bool is_cycles(const struct measure_event *e, const struct measure_pmu *pmu)
{
	return (e->attr.type == ATTR_TYPE_HARDWARE && (e->attr.config & UINT32_MAX) == 0) ||
	       (pmu->is_arm && e->attr.type == pmu->type && e->attr.config == 0x11) ||
	       strcasecmp(e->name, "CPU_CYCLES") == 0;
}

static bool read_modifiers(struct measure_event *e, const char *text, size_t n)
{
	bool user = memchr(text, 'u', n) != NULL, kernel = memchr(text, 'k', n) != NULL;

	if (n == 0 || strspn(text, "uk") < n)
		return false;
	e->has_privilege = true;
	if (!user)
		attr_set(&e->attr, ATTR_EXCLUDE_USER);
	if (!kernel) {
		attr_set(&e->attr, ATTR_EXCLUDE_KERNEL);
		attr_set(&e->attr, ATTR_EXCLUDE_HV);
	}
	return true;
}

/* Adds one event to the last set. */
static int add_event(struct measure_events *events, const char *text, size_t length,
		     const struct measure_pmu *pmu, const char *root, struct err *err)
{
	const char *colon = memchr(text, ':', length);
	size_t name_length = colon == NULL ? length : (size_t)(colon - text);
	struct measure_event *e = &events->items[events->n];

	if (events->n == MEASURE_EVENTS)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE,
			       "events: more than %d in all sets, with the cycles of each",
			       MEASURE_EVENTS - 1);
	if (name_length == 0 || name_length >= sizeof(e->name))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "events: a name is %s in '%s'",
			       name_length == 0 ? "missing" : "too long", text);
	*e = (struct measure_event){ .set = (uint8_t)(events->n_sets - 1) };
	memcpy(e->name, text, name_length);
	for (size_t i = 0; i < name_length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "events: a character that no name has in '%s'", text);
	if (colon != NULL && !read_modifiers(e, colon + 1, length - name_length - 1))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "event '%.*s': a modifier is u, k or uk", (int)length, text);
	if (!resolve(e, pmu, root)) {
		e->state = MEASURE_NOT_SUPPORTED;
		snprintf(e->why, sizeof(e->why),
			 "there is no event '%.*s' here%s; rNN takes a raw number",
			 (int)name_length, text,
			 pmu->name[0] == '\0' ? ", and no PMU to have it" : "");
	}
	events->n++;
	events->sets[e->set].n++;
	return 0;
}

static int begin_set(struct measure_events *events, struct err *err)
{
	if (events->n_sets == MEASURE_SETS)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "events: more than %d sets",
			       MEASURE_SETS);
	events->sets[events->n_sets].first = events->n;
	events->sets[events->n_sets++].n = 0;
	return 0;
}

/* Puts cycles in front of the last set, unless it has them. */
static int end_set(struct measure_events *events, const struct measure_pmu *pmu, const char *root,
		   struct err *err)
{
	unsigned first = events->sets[events->n_sets - 1].first;
	struct measure_event cycles;

	for (unsigned i = first; i < events->n; i++)
		if (is_cycles(&events->items[i], pmu) && !events->items[i].has_privilege)
			return 0;
	if (add_event(events, "cycles", strlen("cycles"), pmu, root, err) < 0)
		return -1;
	cycles = events->items[events->n - 1];
	cycles.is_added = true;
	memmove(&events->items[first + 1], &events->items[first],
		(events->n - 1 - first) * sizeof(cycles));
	events->items[first] = cycles;
	return 0;
}

int measure_events_parse(struct measure_events *events, const char *text,
			 const struct measure_pmu *pmu, const char *root, struct err *err)
{
	bool in_braces = false;

	*events = (struct measure_events){ .n = 1 };
	snprintf(events->items[MEASURE_DURATION].name, MEASURE_NAME, "duration_time");
	if (*text != '{' && begin_set(events, err) < 0)
		return -1;
	for (const char *at = text;;) {
		size_t length;

		if (*at == '{' && !in_braces) {
			if (at != text && end_set(events, pmu, root, err) < 0)
				return -1;
			if (begin_set(events, err) < 0)
				return -1;
			in_braces = true;
			at++;
		}
		length = strcspn(at, ",{}");
		if ((length != strlen("duration_time") ||
		     strncmp(at, "duration_time", length) != 0) &&
		    add_event(events, at, length, pmu, root, err) < 0)
			return -1;
		at += length;
		if (*at == '}' && in_braces) {
			in_braces = false;
			at++;
			if (*at == ',' && at[1] != '{')
				return err_set(err, ERR_USAGE, ERR_NOWHERE,
					       "events: behind a set only another set: '%s'", text);
		}
		if (*at == '\0' && !in_braces)
			return end_set(events, pmu, root, err);
		if (*at != ',')
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "events: a brace at the wrong place in '%s'", text);
		at++;
	}
}
