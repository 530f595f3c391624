/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/event_terms.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"

enum { WORD_MAX = 256 };

/* A term "name=value". "name" alone means 1. */
struct term {
	char name[WORD_MAX];
	uint64_t value;
	bool is_asked; /* "name=?": the user has to give the value */
};

bool event_number(const char *text, int base, uint64_t *out)
{
	char *end;

	if (*text == '\0' || *text == '-' || *text == '+' || *text == ' ')
		return false;
	errno = 0;
	*out = strtoull(text, &end, base);
	return *end == '\0' && errno == 0;
}

/* Reads the next term and moves on behind its comma. */
static int next_term(const char *event, const char **at, struct term *out, struct err *err)
{
	size_t length = strcspn(*at, ",");
	char *value;

	if (length == 0 || length >= sizeof(out->name))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "event '%s': %s", event,
			       length == 0 ? "an empty term" : "a term is too long");
	memcpy(out->name, *at, length);
	out->name[length] = '\0';
	*at += length + ((*at)[length] == ',');
	out->value = 1;
	value = strchr(out->name, '=');
	if (value == NULL)
		return 0;
	*value++ = '\0';
	out->is_asked = strcmp(value, "?") == 0;
	if (out->is_asked || event_number(value, 0, &out->value))
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "event '%s': '%s' of %s is not a number", event,
		       value, out->name);
}

/* Terms that all PMUs have: the whole value goes to a field of the attr. */
static const struct {
	const char *name;
	size_t offset; /* of a uint64_t in struct attr */
} common_terms[] = {
	{ "config", offsetof(struct attr, config) },
	{ "config1", offsetof(struct attr, config1) },
	{ "config2", offsetof(struct attr, config2) },
	{ "config3", offsetof(struct attr, config3) },
	{ "config4", offsetof(struct attr, config4) },
	{ "period", offsetof(struct attr, sample_period) },
};

/* The index of a common term; -1 if it is none. */
static int common_term(const char *name)
{
	for (size_t i = 0; i < COUNT(common_terms); i++)
		if (strcmp(common_terms[i].name, name) == 0)
			return (int)i;
	return -1;
}

static const char *format_at(const void *context, size_t i)
{
	const struct pmu *pmu = context;

	return i < pmu->n_formats ? pmu->formats[i].name : NULL;
}

static const char *alias_at(const void *context, size_t i)
{
	const struct pmu *pmu = context;

	return i < pmu->n_aliases ? pmu->aliases[i].name : NULL;
}

static int unknown_term(const char *event, const struct pmu *pmu, const char *name, struct err *err)
{
	const char *nearest = nearest_word(name, alias_at, pmu);
	char words[256];

	if (nearest != NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "event '%s': %s has no term or event '%s'; did you mean '%s'?",
			       event, pmu->name, name, nearest);
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "event '%s': %s has no term or event '%s'; its terms are config, config1, "
		       "config2, config3, config4, period%s%s",
		       event, pmu->name, name, pmu->n_formats > 0 ? ", " : "",
		       list_words(format_at, pmu, words, sizeof(words)));
}

/* Sets the bits of a term, replacing their old value. */
static int place_term(struct event_spec *spec, const struct term *term, struct err *err)
{
	const struct pmu_format *format = pmu_format_find(spec->pmu, term->name);
	int common = common_term(term->name);
	uint64_t *words[] = { &spec->attr.config, &spec->attr.config1, &spec->attr.config2,
			      &spec->attr.config3, &spec->attr.config4 };

	if (term->is_asked)
		return 0;
	if (format != NULL && term->value > pmu_format_max(format))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "event '%s': %s is %llu, the largest possible is %llu", spec->name,
			       term->name, (unsigned long long)term->value,
			       (unsigned long long)pmu_format_max(format));
	if (format != NULL) {
		*words[format->word] &= ~format->bits;
		*words[format->word] |= pmu_format_place(format, term->value);
		return 0;
	}
	if (common < 0)
		return unknown_term(spec->name, spec->pmu, term->name, err);
	memcpy((char *)&spec->attr + common_terms[common].offset, &term->value,
	       sizeof(term->value));
	return 0;
}

static bool has_term(const char *terms, const char *name)
{
	size_t length = strlen(name);

	while (*terms != '\0') {
		if (strncmp(terms, name, length) == 0 && terms[length] == '=')
			return true;
		terms += strcspn(terms, ",");
		terms += *terms == ',';
	}
	return false;
}

/*
 * Fails if terms of the event that are left to the user, as in "event=0x2,domain=?", are missing.
 */
static int check_asked(const struct event_spec *spec, const struct pmu_alias *alias,
		       const char *terms, struct err *err)
{
	const char *at = alias->terms;

	while (*at != '\0') {
		struct term term = { 0 };

		if (next_term(spec->name, &at, &term, err) < 0)
			return -1;
		if (term.is_asked && !has_term(terms, term.name))
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "event '%s': %s needs %s=, as in %s/%s,%s=1/", spec->name,
				       alias->name, term.name, spec->pmu->name, alias->name,
				       term.name);
	}
	return 0;
}

/* Places the terms of a named event. `terms`: those that the user wrote. */
static int alias_place(struct event_spec *spec, const struct pmu_alias *alias, const char *terms,
		       struct err *err)
{
	const char *at = alias->terms;

	spec->unit = alias->unit;
	spec->scale = alias->scale;
	while (*at != '\0') {
		struct term term = { 0 };

		if (next_term(spec->name, &at, &term, err) < 0 || place_term(spec, &term, err) < 0)
			return -1;
	}
	return check_asked(spec, alias, terms, err);
}

static bool is_alias(const struct event_spec *spec, const char *name)
{
	return pmu_format_find(spec->pmu, name) == NULL && common_term(name) < 0 &&
	       pmu_alias_find(spec->pmu, name) != NULL;
}

/* Places the user's terms, without the name of an event among them. */
static int place_terms(struct event_spec *spec, const char *terms, struct err *err)
{
	while (*terms != '\0') {
		struct term term = { 0 };

		if (next_term(spec->name, &terms, &term, err) < 0)
			return -1;
		if (!is_alias(spec, term.name) && place_term(spec, &term, err) < 0)
			return -1;
	}
	return 0;
}

int event_alias_place(struct event_spec *spec, const struct pmu_alias *alias, struct err *err)
{
	return alias_place(spec, alias, "", err);
}

/* The named event goes first, so that the other terms of the user replace its own. */
int event_terms_place(struct event_spec *spec, const char *terms, struct err *err)
{
	const char *at = terms;

	while (*at != '\0') {
		struct term term = { 0 };

		if (next_term(spec->name, &at, &term, err) < 0)
			return -1;
		if (is_alias(spec, term.name) &&
		    alias_place(spec, pmu_alias_find(spec->pmu, term.name), terms, err) < 0)
			return -1;
	}
	return place_terms(spec, terms, err);
}
