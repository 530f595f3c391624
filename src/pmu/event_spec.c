/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/event_spec.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "pmu/event_names.h"
#include "pmu/event_terms.h"

enum { WORD_MAX = 256 };

/* The state of parsing a list. */
struct parser {
	struct event_specs *out;
	struct pmus *pmus;
	const struct event_finder *finder;
	uint32_t group; /* 0: outside braces */
	struct err *err;
};

static int bad_event(const struct parser *p, const char *event, const char *why)
{
	return err_set(p->err, ERR_USAGE, ERR_NOWHERE, "event '%s': %s", event, why);
}

static struct event_spec *add_spec(struct event_specs *specs, const char *name,
				   const struct pmu *pmu, uint32_t type, uint64_t config)
{
	struct event_spec *spec = vec_add(&specs->list);

	spec->name = arena_strndup(&specs->memory, name, strlen(name));
	spec->pmu = pmu;
	spec->attr.type = type;
	spec->attr.config = config;
	spec->scale = 1;
	return spec;
}

struct event_spec *event_specs_add_code(struct event_specs *specs, const char *name,
					const struct pmu *pmu, uint64_t code)
{
	return add_spec(specs, name, pmu, pmu != NULL ? pmu->type : (uint32_t)ATTR_TYPE_RAW, code);
}

/* What the letters of modifiers set. */
struct privileges {
	bool user, kernel, hypervisor, host, guest, pinned;
	unsigned precise;
};

static int read_privilege_letters(const struct parser *p, const char *event, const char *text,
				  struct privileges *out)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case 'u':
			out->user = true;
			break;
		case 'k':
			out->kernel = true;
			break;
		case 'h':
			out->hypervisor = true;
			break;
		case 'H':
			out->host = true;
			break;
		case 'G':
			out->guest = true;
			break;
		case 'D':
			out->pinned = true;
			break;
		case 'p':
			if (++out->precise <= 3)
				break;
			return bad_event(p, event, "more than three p for precision");
		default:
			return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
				       "event '%s': no modifier '%c'; there are u, k, h, H, G, p, "
				       "D",
				       event, *text);
		}
	}
	return 0;
}

static void apply_modifiers(struct event_spec *spec, const struct privileges *m)
{
	uint64_t flags = 0;

	if (m->user || m->kernel || m->hypervisor) {
		flags |= m->user ? 0 : 1ull << ATTR_EXCLUDE_USER;
		flags |= m->kernel ? 0 : 1ull << ATTR_EXCLUDE_KERNEL;
		flags |= m->hypervisor ? 0 : 1ull << ATTR_EXCLUDE_HV;
		spec->has_privilege = true;
	}
	if (m->host != m->guest)
		flags |= 1ull << (m->host ? ATTR_EXCLUDE_GUEST : ATTR_EXCLUDE_HOST);
	flags |= (uint64_t)m->precise << ATTR_PRECISE_IP;
	spec->attr.flags |= flags;
	spec->is_pinned |= m->pinned;
}

/* Applies modifiers to the events from number `from` on. */
static int modify(const struct parser *p, size_t from, const char *event, const char *text)
{
	struct privileges modifiers = { 0 };

	if (read_privilege_letters(p, event, text, &modifiers) < 0)
		return -1;
	for (size_t i = from; i < p->out->list.n; i++)
		apply_modifiers(&p->out->list.items[i], &modifiers);
	return 0;
}

/* Is it the PMU asked for, or a numbered instance of it, such as "arm_cmn_3" of "arm_cmn"? */
static bool is_one_of(const char *pmu, const char *asked)
{
	size_t length = strlen(asked);

	return strncmp(pmu, asked, length) == 0 && pmu[length] == '_' && pmu[length + 1] != '\0' &&
	       strspn(pmu + length + 1, "0123456789") == strlen(pmu + length + 1);
}

static const char *pmu_name_at(const void *context, size_t i)
{
	const struct pmus *pmus = context;

	return i < pmus->list.n ? pmus->list.items[i].name : NULL;
}

/* Adds an event "pmu/terms/", whose modifiers are cut off. */
static int parse_pmu_event(const struct parser *p, const char *event, const char *name,
			   const char *terms)
{
	const struct pmu *exact = pmus_find(p->pmus, name);
	size_t n_before = p->out->list.n;
	char words[256];

	for (size_t i = 0; i < p->pmus->list.n; i++) {
		const char *its_name = p->pmus->list.items[i].name;
		const struct pmu *pmu;

		if (exact != NULL ? strcmp(its_name, name) != 0 : !is_one_of(its_name, name))
			continue;
		pmu = pmus_at(p->pmus, i);
		if (event_terms_place(add_spec(p->out, event, pmu, pmu->type, 0), terms, p->err) <
		    0)
			return -1;
	}
	if (p->out->list.n > n_before)
		return 0;
	return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
		       "event '%s': this machine has no PMU '%s'; it has %s", event, name,
		       list_words(pmu_name_at, p->pmus, words, sizeof(words)));
}

/*
 * Adds a generic event. On mixed cores it is added for each core PMU, with the PMU's type in the
 * upper half of config.
 */
static void add_generic(const struct parser *p, const char *name, uint32_t type, uint64_t config)
{
	bool is_mixed = pmus_core(p->pmus, 1) != NULL;
	const struct pmu *pmu;
	size_t i = 0;

	if (type == ATTR_TYPE_SOFTWARE || type == ATTR_TYPE_TRACEPOINT || !is_mixed) {
		pmu = type == ATTR_TYPE_SOFTWARE || type == ATTR_TYPE_TRACEPOINT
			      ? NULL
			      : pmus_core(p->pmus, 0);
		add_spec(p->out, name, pmu, type, config);
		return;
	}
	for (; (pmu = pmus_core(p->pmus, i)) != NULL; i++)
		add_spec(p->out, name, pmu, type, config | (uint64_t)pmu->type << 32);
}

/* Adds a raw event for each core PMU; with ATTR_TYPE_RAW if there is none. */
static void add_raw(const struct parser *p, const char *name, uint64_t config)
{
	const struct pmu *pmu = pmus_core(p->pmus, 0);

	if (pmu == NULL)
		add_spec(p->out, name, NULL, ATTR_TYPE_RAW, config);
	for (size_t i = 0; (pmu = pmus_core(p->pmus, i)) != NULL; i++)
		add_spec(p->out, name, pmu, pmu->type, config);
}

/* Adds an event of the catalog, or one that sysfs names, on each core PMU that has it. */
static int add_core_event(const struct parser *p, const char *name)
{
	const struct pmu *pmu;

	for (size_t i = 0; (pmu = pmus_core(p->pmus, i)) != NULL; i++) {
		const struct pmu_alias *alias = pmu_alias_find(pmu, name);
		uint64_t code;

		if (p->finder != NULL && p->finder->find(p->finder->context, pmu, name, &code))
			event_specs_add_code(p->out, name, pmu, code);
		else if (alias != NULL &&
			 event_alias_place(add_spec(p->out, name, pmu, pmu->type, 0), alias,
					   p->err) < 0)
			return -1;
	}
	return 0;
}

/* Adds an event of another PMU, on all PMUs that name it. */
static int add_other_event(const struct parser *p, const char *name)
{
	const struct pmu *pmu;

	for (size_t i = 0; (pmu = pmus_at(p->pmus, i)) != NULL; i++) {
		const struct pmu_alias *alias = pmu_alias_find(pmu, name);

		if (alias == NULL || pmu->is_core)
			continue;
		if (event_alias_place(add_spec(p->out, name, pmu, pmu->type, 0), alias, p->err) < 0)
			return -1;
	}
	return 0;
}

/* Where tracefs may be mounted. */
static const char *const tracing[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* "system:name" */
static bool may_be_tracepoint(const char *name)
{
	size_t length = strcspn(name, ":");

	return length > 0 && name[length] != '\0' && name[length + 1] != '\0' &&
	       strchr(name, '/') == NULL && strstr(name, "..") == NULL;
}

/* Adds a tracepoint; its number is read from tracefs. */
static bool add_tracepoint(const struct parser *p, const char *name)
{
	size_t length = strcspn(name, ":");
	int64_t id;

	if (!may_be_tracepoint(name))
		return false;
	for (size_t i = 0; i < COUNT(tracing); i++) {
		if (!system_number(p->pmus->root, &id, "%s/events/%.*s/%s/id", tracing[i],
				   (int)length, name, name + length + 1))
			continue;
		add_spec(p->out, name, NULL, ATTR_TYPE_TRACEPOINT, (uint64_t)id);
		return true;
	}
	return false;
}

/* Fills the error for an unknown tracepoint: tracefs is not there, not readable, or lacks it. */
static int unknown_tracepoint(const struct parser *p, const char *name)
{
	bool may_read = true;

	for (size_t i = 0; i < COUNT(tracing); i++) {
		enum system_access access = system_access(p->pmus->root, "%s/events", tracing[i]);

		if (access == SYSTEM_READABLE)
			return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
				       "there is no tracepoint '%s': %s/events does not have it",
				       name, tracing[i]);
		may_read &= access != SYSTEM_FORBIDDEN;
	}
	if (!may_read)
		return err_set(p->err, ERR_IO, ERR_NOWHERE,
			       "tracepoint '%s': no right to read %s; become root, or as root: "
			       "mount -o remount,mode=755 %s",
			       name, tracing[0], tracing[0]);
	return err_set(p->err, ERR_IO, ERR_NOWHERE,
		       "tracepoint '%s': the tracing file system is not mounted; as root: "
		       "mount -t tracefs tracefs %s",
		       name, tracing[0]);
}

/* Words for "did you mean": generic names, then those of the core PMUs. NULL behind the last. */
static const char *known_name_at(const void *context, size_t i)
{
	const struct pmus *pmus = context;
	size_t n = 0;

	while (event_generic_name(n) != NULL)
		n++;
	if (i < n)
		return event_generic_name(i);
	i -= n;
	for (size_t k = 0; k < pmus->list.n; k++) {
		const struct pmu *pmu = &pmus->list.items[k];

		if (!pmu->is_core)
			continue;
		if (i < pmu->n_aliases)
			return pmu->aliases[i].name;
		i -= pmu->n_aliases;
	}
	return NULL;
}

/* The known event with the most similar name, or NULL. Events of core PMUs need a PMU here. */
static const char *nearest_event(const struct parser *p, const char *name)
{
	const char *nearest = nearest_word(name, known_name_at, p->pmus);
	const struct generic_event *generic = nearest != NULL ? generic_event_find(nearest) : NULL;
	bool needs_pmu = generic != NULL && generic->type == ATTR_TYPE_HARDWARE;

	return needs_pmu && pmus_core(p->pmus, 0) == NULL ? NULL : nearest;
}

/* Is the text before the colon an event? Then the error is in the modifiers. */
static bool begins_with_event(const struct parser *p, const char *name)
{
	size_t length = strcspn(name, ":");
	const char *known;

	for (size_t i = 0; (known = known_name_at(p->pmus, i)) != NULL; i++)
		if (strlen(known) == length && strncmp(known, name, length) == 0)
			return true;
	return false;
}

static int unknown_event(const struct parser *p, const char *name)
{
	const char *nearest = nearest_event(p, name);

	if (may_be_tracepoint(name) && !begins_with_event(p, name))
		return unknown_tracepoint(p, name);
	if (nearest != NULL)
		return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
			       "there is no event '%s' here; did you mean '%s'?", name, nearest);
	if (pmus_core(p->pmus, 0) == NULL)
		return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
			       "there is no event '%s' here, and no PMU to have it (cyclops doctor "
			       "says why); the kernel's own events are there, such as page-faults",
			       name);
	return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
		       "there is no event '%s' here; cyclops list events shows those there are, "
		       "and rNN takes a raw number",
		       name);
}

/* "r1f": hexadecimal digits behind an r. */
static bool is_raw(const char *name)
{
	return name[0] == 'r' && strspn(name + 1, "0123456789abcdefABCDEF") == strlen(name + 1);
}

static int parse_named_event(const struct parser *p, const char *name)
{
	const struct generic_event *generic = generic_event_find(name);
	size_t n_before = p->out->list.n;
	uint64_t raw;
	uint32_t cache;

	if (generic != NULL)
		add_generic(p, name, generic->type, generic->config);
	else if (cache_event_find(name, &cache))
		add_generic(p, name, ATTR_TYPE_HW_CACHE, cache);
	else if (add_core_event(p, name) < 0)
		return -1;
	if (p->out->list.n > n_before)
		return 0;
	if (is_raw(name) && event_number(name + 1, 16, &raw))
		add_raw(p, name, raw);
	else if (!add_tracepoint(p, name) && add_other_event(p, name) < 0)
		return -1;
	return p->out->list.n > n_before ? 0 : unknown_event(p, name);
}

/* Cuts off the modifiers: what is behind the last colon, if all of it are modifier letters. */
static char *split_modifiers(char *event)
{
	char *colon = strrchr(event, ':');

	if (colon == NULL || colon[1] == '\0' || strspn(colon + 1, "ukhHGpD") != strlen(colon + 1))
		return event + strlen(event);
	*colon = '\0';
	return colon + 1;
}

/* Parses one event. Its text is changed. */
static int parse_event_spec(const struct parser *p, char *event)
{
	size_t n_before = p->out->list.n;
	char *slash = strchr(event, '/');
	char *second = slash == NULL ? NULL : strchr(slash + 1, '/');
	const char *modifiers = "";
	char name[WORD_MAX];

	if (slash != NULL && second == NULL)
		return bad_event(p, event, "a '/' is missing behind its terms");
	if (slash == NULL) {
		modifiers = split_modifiers(event);
		if (parse_named_event(p, event) < 0)
			return -1;
	} else {
		modifiers = arena_strndup(&p->out->memory, second + 1, strlen(second + 1));
		modifiers += *modifiers == ':';
		second[1] = '\0';
		if ((size_t)(slash - event) >= sizeof(name))
			return bad_event(p, event, "the name of the PMU is too long");
		snprintf(name, sizeof(name), "%.*s", (int)(slash - event), event);
		*second = '\0';
		slash = arena_strndup(&p->out->memory, slash + 1, strlen(slash + 1));
		*second = '/';
		if (parse_pmu_event(p, event, name, slash) < 0)
			return -1;
	}
	for (size_t i = n_before; i < p->out->list.n; i++)
		p->out->list.items[i].group = p->group;
	return modify(p, n_before, event, modifiers);
}

size_t event_text_length(const char *text)
{
	bool is_inside = false;
	size_t n = 0;

	for (; text[n] != '\0'; n++) {
		if (text[n] == '/')
			is_inside = !is_inside;
		else if (!is_inside && strchr(",{}", text[n]) != NULL)
			break;
	}
	return n;
}

static int parse_next(const struct parser *p, const char **at)
{
	size_t length = event_text_length(*at);
	char *event = arena_strndup(&p->out->memory, *at, length);

	if (length == 0)
		return bad_event(p, *at, "the name of an event is missing");
	*at += length;
	return parse_event_spec(p, event);
}

/* Ends a group, whose closing brace may be followed by modifiers for all its events. */
static int close_group(struct parser *p, size_t first, const char **at)
{
	size_t length = event_text_length(*at);
	const char *modifiers = arena_strndup(&p->out->memory, *at, length);

	*at += length;
	p->group = 0;
	if (*modifiers == '\0')
		return 0;
	if (*modifiers != ':')
		return bad_event(p, modifiers, "a comma is missing behind the group");
	return modify(p, first, modifiers, modifiers + 1);
}

int event_specs_parse(struct event_specs *specs, const char *text, struct pmus *pmus,
		      const struct event_finder *finder, struct err *err)
{
	struct parser p = { .out = specs, .pmus = pmus, .finder = finder, .err = err };
	const char *at = text;
	size_t group_start = 0;

	do {
		if (*at == '{' && p.group == 0) {
			p.group = ++specs->n_groups;
			group_start = specs->list.n;
			at++;
		}
		if (parse_next(&p, &at) < 0)
			return -1;
		if (*at == '}' && p.group != 0) {
			at++;
			if (close_group(&p, group_start, &at) < 0)
				return -1;
		}
		if (*at != ',' && *at != '\0')
			return bad_event(&p, text, "a brace at the wrong place");
	} while (*at++ == ',');
	return p.group == 0 ? 0 : bad_event(&p, text, "a '}' is missing");
}

bool event_takes_counter(const struct event_spec *spec)
{
	return spec->attr.type == ATTR_TYPE_HARDWARE || spec->attr.type == ATTR_TYPE_HW_CACHE ||
	       spec->attr.type == ATTR_TYPE_RAW || (spec->pmu != NULL && spec->pmu->is_core);
}

void event_specs_release(struct event_specs *specs)
{
	vec_release(&specs->list);
	arena_release(&specs->memory);
	specs->n_groups = 0;
}
