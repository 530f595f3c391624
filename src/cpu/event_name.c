/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/event_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

/* Modifiers behind the colon (manual page perf-list). */
static const char modifiers[] = "ukhIGHpPSDWeb";

/* Terms of a raw event and their place in the config. */
static const struct term {
	const char *name;
	unsigned shift;
} terms[] = {
	{ "event", 0 }, { "config", 0 }, { "umask", 8 },  { "edge", 18 },
	{ "any", 21 },	{ "inv", 23 },	 { "cmask", 24 },
};

static bool are_modifiers(const char *text)
{
	return *text != '\0' && text[strspn(text, modifiers)] == '\0';
}

static void read_modifiers(const char *text, struct event_name *out)
{
	bool user = strchr(text, 'u') != NULL, kernel = strchr(text, 'k') != NULL;

	out->is_user_only = user && !kernel;
	out->is_kernel_only = kernel && !user;
}

static void copy_part(char *out, size_t size, const char *from, size_t len)
{
	snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), from);
}

void event_name_split(const char *text, struct event_name *out)
{
	const char *slash = strchr(text, '/');
	const char *end = slash == NULL ? NULL : strrchr(slash + 1, '/');
	const char *colon = strrchr(text, ':');

	*out = (struct event_name){ 0 };
	if (end != NULL) {
		copy_part(out->pmu, sizeof(out->pmu), text, (size_t)(slash - text));
		copy_part(out->event, sizeof(out->event), slash + 1, (size_t)(end - slash - 1));
		read_modifiers(end + 1, out);
	} else if (colon != NULL && are_modifiers(colon + 1)) {
		copy_part(out->event, sizeof(out->event), text, (size_t)(colon - text));
		read_modifiers(colon + 1, out);
	} else {
		copy_part(out->event, sizeof(out->event), text, strlen(text));
	}
}

bool cpu_is_core_pmu(const char *name)
{
	static const char *const beginnings[] = { "armv", "cpu", "apple_" };

	if (name[0] == '\0')
		return true;
	for (size_t i = 0; i < COUNT(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static int folded_letter(char c)
{
	return c == '-' || c == ' ' ? '_' : tolower((unsigned char)c);
}

bool cpu_word_is_same(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if (folded_letter(*a) != folded_letter(*b))
			return false;
	return *a == *b;
}

static const struct cpu_event *find_kernel_word(const struct cpu_pmu *pmu, const char *word)
{
	for (size_t i = 0; i < pmu->n_events; i++)
		if (cpu_word_is_same(pmu->events[i].name, word))
			return &pmu->events[i];
	for (size_t i = 0; i < pmu->n_events; i++)
		if (pmu->events[i].linux_name != NULL &&
		    cpu_word_is_same(pmu->events[i].linux_name, word))
			return &pmu->events[i];
	for (size_t i = 0; i < pmu->n_kernel_events; i++)
		if (strcasecmp(pmu->kernel_events[i].word, word) == 0)
			return pmu->kernel_events[i].event;
	return NULL;
}

static bool event_name_read_number(const char *text, size_t len, int base, uint64_t *out)
{
	char digits[24];
	char *end;

	if (len == 0 || len >= sizeof(digits) || !isxdigit((unsigned char)text[0]))
		return false;
	copy_part(digits, sizeof(digits), text, len);
	errno = 0;
	*out = strtoull(digits, &end, base);
	return *end == '\0' && errno == 0;
}

/* Adds a term "name=number", or "name", which means 1. */
static bool add_term(const char *text, size_t len, uint64_t *config)
{
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals == NULL ? len : (size_t)(equals - text);
	uint64_t value = 1;

	if (equals != NULL && !event_name_read_number(equals + 1, len - name_len - 1, 0, &value))
		return false;
	for (size_t i = 0; i < COUNT(terms); i++) {
		if (strlen(terms[i].name) != name_len ||
		    strncmp(terms[i].name, text, name_len) != 0)
			continue;
		*config |= value << terms[i].shift;
		return true;
	}
	return false;
}

/* Reads terms, "event=0x11" or "event=0x3c,umask=0x1", as a config. */
static bool read_terms(const char *text, uint64_t *out)
{
	bool has_event = false;

	*out = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, ",");

		has_event |= strncmp(text, "event=", 6) == 0 || strncmp(text, "config=", 7) == 0;
		if (!add_term(text, len, out))
			return false;
		text += len;
		text += *text == ',';
	}
	return has_event;
}

/* Reads a raw event, "r11": hexadecimal, with or without "0x". */
static bool read_raw(const char *text, uint64_t *out)
{
	return text[0] == 'r' && event_name_read_number(text + 1, strlen(text + 1), 16, out);
}

static const struct cpu_event *find_core_event(const struct cpu_pmu *pmu,
					       const struct event_name *name)
{
	const struct cpu_event *event;
	uint64_t config;

	if (!cpu_is_core_pmu(name->pmu))
		return NULL;
	event = find_kernel_word(pmu, name->event);
	if (event == NULL && !pmu->is_generic &&
	    (read_raw(name->event, &config) || read_terms(name->event, &config)))
		event = cpu_event_of_code(pmu, config);
	return event;
}

const struct cpu_event *cpu_event_of_name(const struct cpu_pmu *pmu, const char *text)
{
	struct event_name name;

	event_name_split(text, &name);
	return find_core_event(pmu, &name);
}

static void name_count(struct counts *c, struct count *count, const struct cpu_pmu *pmu)
{
	struct event_name name;
	const struct cpu_event *event;

	event_name_split(count->event, &name);
	event = find_core_event(pmu, &name);
	count->is_user_only |= name.is_user_only;
	if (name.pmu[0] != '\0')
		count->pmu = arena_strndup(&c->memory, name.pmu, strlen(name.pmu));
	if (event != NULL)
		count->event = arena_strndup(&c->memory, event->name, strlen(event->name));
	else if (name.pmu[0] == '\0')
		count->event = arena_strndup(&c->memory, name.event, strlen(name.event));
}

void counts_name(struct counts *c, const struct cpu_pmu *pmu)
{
	for (size_t i = 0; i < c->items.n; i++)
		name_count(c, &c->items.items[i], pmu);
	for (size_t i = 0; i < c->regions.n; i++)
		for (size_t k = 0; k < c->regions.items[i].items.n; k++)
			name_count(c, &c->regions.items[i].items.items[k], pmu);
}
