/* SPDX-License-Identifier: Apache-2.0 */
#include "record/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pmu/event_terms.h"

enum { PRECISE_MAX = 3 };

/* Modifiers that only recording knows, and those together with the modifiers of counting. */
static const char own_modifiers[] = "PSeI";
static const char all_modifiers[] = "PSeIukhHGpD";

struct parser {
	struct record_events *events;
	struct pmus *pmus;
	const struct event_finder *finder;
	const char *at; /* what is left of the list */
	struct err *err;
};

/* The offset of the modifiers: behind the last colon, or behind the slash that ends terms. */
static size_t modifiers_at(const char *event, size_t len)
{
	size_t at = len;

	while (at > 0 && memchr(all_modifiers, event[at - 1], sizeof(all_modifiers) - 1) != NULL)
		at--;
	return at > 0 && (event[at - 1] == ':' || event[at - 1] == '/') ? at : len;
}

static void apply_own(struct record_event *e, char letter)
{
	if (letter == 'P') {
		e->wants_precise = true;
		e->attr.flags |= (uint64_t)PRECISE_MAX << ATTR_PRECISE_IP;
	} else if (letter == 'S') {
		e->samples_by_leader = true;
	} else {
		attr_set(&e->attr, letter == 'e' ? ATTR_EXCLUSIVE : ATTR_EXCLUDE_IDLE);
	}
}

/*
 * Applies the modifiers of recording to the events from `first` on. Appends the other letters to
 * `rest`.
 */
static void take_own(struct parser *p, size_t first, const char *letters, size_t n,
		     struct text *rest)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr(own_modifiers, letters[i]) == NULL) {
			text_char(rest, letters[i]);
			continue;
		}
		for (size_t k = first; k < p->events->list.n; k++)
			apply_own(&p->events->list.items[k], letters[i]);
	}
}

static struct record_event *record_events_add_event(struct parser *p, const char *name, size_t len)
{
	struct record_event *e = vec_add(&p->events->list);

	e->name = arena_strndup(&p->events->names, name, len);
	e->leader = p->events->list.n - 1;
	return e;
}

/* Reads the access of a breakpoint: r, w, x. */
static bool read_access(const char *letters, uint32_t *out)
{
	static const char known[] = "rwx";
	uint32_t type = 0;

	for (; *letters != '\0'; letters++) {
		const char *at = strchr(known, *letters);

		if (at == NULL)
			return false;
		type |= 1u << (at - known);
	}
	*out = type;
	return type != 0;
}

/* mem:ADDRESS[/LENGTH][:rwx] */
static int parse_breakpoint(struct parser *p, size_t len)
{
	enum { DEFAULT_BYTES = 4, EXECUTES = 4 };
	struct record_event *e = record_events_add_event(p, p->at, len);
	char *address = mem_strndup(p->at + 4, len - 4);
	char *access = strchr(address, ':'), *bytes;
	bool is_good = true;

	if (access != NULL)
		*access++ = '\0';
	bytes = strchr(address, '/');
	if (bytes != NULL) {
		*bytes++ = '\0';
		is_good = event_number(bytes, 0, &e->attr.config2);
	}
	e->attr.type = ATTR_TYPE_BREAKPOINT;
	is_good = is_good && event_number(address, 0, &e->attr.config1) &&
		  read_access(access != NULL ? access : "rw", &e->attr.bp_type);
	/* For code the kernel requires the size of a pointer. */
	if (bytes == NULL)
		e->attr.config2 = e->attr.bp_type == EXECUTES ? sizeof(void *) : DEFAULT_BYTES;
	free(address);
	p->at += len;
	if (!is_good)
		return err_set(
			p->err, ERR_USAGE, ERR_NOWHERE,
			"event '%s': wanted a breakpoint of the form mem:ADDRESS[/BYTES][:rwx]",
			e->name);
	return 0;
}

static void take_spec(struct parser *p, const struct event_spec *spec, size_t len)
{
	struct record_event *e = record_events_add_event(p, p->at, len);

	e->attr = spec->attr;
	e->pmu = spec->pmu;
	e->has_period = spec->attr.sample_period != 0;
	e->names_modes = spec->has_privilege;
	if (spec->is_pinned)
		attr_set(&e->attr, ATTR_PINNED);
}

/* Parses the event at p->at and moves on behind it. Mixed cores give an event for each PMU. */
static int parse_record_event(struct parser *p)
{
	size_t first = p->events->list.n, first_spec = p->events->specs.list.n;
	size_t len = event_text_length(p->at), modifiers = modifiers_at(p->at, len);
	struct text plain = { 0 };
	int rc;

	if (strncmp(p->at, "mem:", 4) == 0)
		return parse_breakpoint(p, len);
	text_add(&plain, p->at, modifiers);
	take_own(p, first, p->at + modifiers, len - modifiers, &plain);
	if (plain.n > 0 && plain.bytes[plain.n - 1] == ':' && plain.n == modifiers)
		plain.n--;
	text_char(&plain, '\0');
	rc = event_specs_parse(&p->events->specs, plain.bytes, p->pmus, p->finder, p->err);
	for (size_t i = first_spec; i < p->events->specs.list.n && rc == 0; i++)
		take_spec(p, &p->events->specs.list.items[i], len);
	text_reset(&plain);
	take_own(p, first, p->at + modifiers, len - modifiers, &plain);
	text_release(&plain);
	p->at += len;
	return rc;
}

/* The first event of the group on the same PMU: the leader. `i` if there is none before it. */
static size_t find_leader(const struct record_events *events, size_t first, size_t i)
{
	const struct pmu *pmu = events->list.items[i].pmu;
	size_t leader = first;

	while (leader < i && pmu != NULL && events->list.items[leader].pmu != NULL &&
	       events->list.items[leader].pmu != pmu)
		leader++;
	return leader;
}

/*
 * Ends a group. Modifiers behind the brace are for all its events; only those of recording are left
 * here.
 */
static int end_group(struct parser *p, size_t first)
{
	size_t n = *p->at == ':' ? event_text_length(p->at) - 1 : 0;
	struct text rest = { 0 };
	bool has_rest;

	for (size_t i = first; i < p->events->list.n; i++)
		p->events->list.items[i].leader = find_leader(p->events, first, i);
	if (n == 0)
		return 0;
	take_own(p, first, p->at + 1, n, &rest);
	has_rest = rest.n > 0;
	text_release(&rest);
	if (has_rest)
		return err_set(p->err, ERR_USAGE, ERR_NOWHERE,
			       "'%s' after a group: only S, P, e and I apply to a whole group; add "
			       "other modifiers to each event",
			       p->at);
	p->at += n + 1;
	return 0;
}

static int parse_group(struct parser *p)
{
	size_t first = p->events->list.n;

	do {
		p->at++;
		if (parse_record_event(p) < 0)
			return -1;
	} while (*p->at == ',');
	if (*p->at != '}')
		return err_set(p->err, ERR_USAGE, ERR_NOWHERE, "a group of events lacks its '}'");
	p->at++;
	return end_group(p, first);
}

int record_events_add(struct record_events *events, const char *text, struct pmus *pmus,
		      const struct event_finder *finder, struct err *err)
{
	struct parser p = {
		.events = events, .pmus = pmus, .finder = finder, .at = text, .err = err
	};

	for (;;) {
		if ((*p.at == '{' ? parse_group(&p) : parse_record_event(&p)) < 0)
			return -1;
		if (*p.at == '\0')
			return 0;
		if (*p.at != ',')
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "list of events: found '%s', wanted ','", p.at);
		p.at++;
	}
}

void record_events_release(struct record_events *events)
{
	vec_release(&events->list);
	event_specs_release(&events->specs);
	arena_release(&events->names);
}
