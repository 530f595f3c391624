/* SPDX-License-Identifier: Apache-2.0 */
#include "model/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum key_kind { KEY_TEXT, KEY_U64, KEY_U32, KEY_U16, KEY_BOOL };

static const struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
} keys[] = {
	{ "output", KEY_TEXT, offsetof(struct config, output) },
	{ "counts", KEY_TEXT, offsetof(struct config, counts) },
	{ "truth", KEY_TEXT, offsetof(struct config, truth) },
	{ "gains", KEY_TEXT, offsetof(struct config, gains) },
	{ "name", KEY_TEXT, offsetof(struct config, name) },
	{ "root", KEY_TEXT, offsetof(struct config, root) },
	{ "version", KEY_TEXT, offsetof(struct config, version) },
	{ "model", KEY_TEXT, offsetof(struct config, model) },
	{ "journal", KEY_U32, offsetof(struct config, journal) },
	{ "seed", KEY_U64, offsetof(struct config, seed) },
	{ "counters", KEY_U32, offsetof(struct config, samples.n_counters) },
	{ "branch_stack", KEY_U32, offsetof(struct config, samples.branches.depth) },
	{ "branch_filter", KEY_U32, offsetof(struct config, samples.branches.filter) },
	{ "call_chains", KEY_BOOL, offsetof(struct config, samples.has_chains) },
	{ "without_spe", KEY_BOOL, offsetof(struct config, without_spe) },
	{ "interval", KEY_U32, offsetof(struct config, sampling.interval) },
	{ "jitter", KEY_BOOL, offsetof(struct config, sampling.has_jitter) },
	{ "loads", KEY_BOOL, offsetof(struct config, sampling.loads) },
	{ "stores", KEY_BOOL, offsetof(struct config, sampling.stores) },
	{ "branches", KEY_BOOL, offsetof(struct config, sampling.branches) },
	{ "min_latency", KEY_U16, offsetof(struct config, sampling.min_latency) },
	{ "event_filter", KEY_U64, offsetof(struct config, sampling.events) },
};

static const uint64_t largest[] = {
	[KEY_U64] = UINT64_MAX,
	[KEY_U32] = UINT32_MAX,
	[KEY_U16] = UINT16_MAX,
	[KEY_BOOL] = 1,
};

static void store(struct config *c, const struct key *key, const char *text, uint64_t number)
{
	void *field = (char *)c + key->offset;

	switch (key->kind) {
	case KEY_TEXT:
		*(const char **)field = text;
		break;
	case KEY_U64:
		*(uint64_t *)field = number;
		break;
	case KEY_U32:
		*(uint32_t *)field = (uint32_t)number;
		break;
	case KEY_U16:
		*(uint16_t *)field = (uint16_t)number;
		break;
	case KEY_BOOL:
		*(bool *)field = number != 0;
		break;
	}
}

static int set_key(struct config *c, const struct key *key, const char *value, struct err *err)
{
	unsigned long long number = 0;
	char *end;

	if (key->kind != KEY_TEXT) {
		errno = 0;
		number = strtoull(value, &end, 0);
		if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 ||
		    number > largest[key->kind])
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "%s: found '%s', wanted a number up to %llu", key->name,
				       value, (unsigned long long)largest[key->kind]);
	}
	store(c, key, value, number);
	return 0;
}

static int add_sample(struct config *c, const char *value, struct err *err)
{
	struct sample_event event;

	if (c->samples.events.n == PMU_EVENTS_MOST)
		return err_set(err, ERR_LIMIT, ERR_NOWHERE, "more than %d events to sample",
			       PMU_EVENTS_MOST);
	if (sample_event_read(value, &event, err) < 0)
		return -1;
	*vec_add(&c->samples.events) = event;
	return 0;
}

static int set_entry(struct config *c, const char *name, const char *value, struct err *err)
{
	static const char param[] = "param.";

	if (strcmp(name, "argument") == 0) {
		*vec_add(&c->arguments) = value;
		return 0;
	}
	if (strcmp(name, "ideal") == 0)
		return ideal_read(value, vec_add(&c->ideals), err);
	if (strcmp(name, "sample") == 0)
		return add_sample(c, value, err);
	if (strncmp(name, param, sizeof(param) - 1) == 0)
		return params_set(&c->params, name + sizeof(param) - 1, value, err);
	for (size_t i = 0; i < COUNT(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return set_key(c, &keys[i], value, err);
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "the model has no setting '%s'", name);
}

static int read_entries(struct config *c, size_t size, struct err *err)
{
	const char *end = c->text + size;

	if (size == 0 || end[-1] != '\0')
		return err_set(err, ERR_FORMAT, size, "settings of the model: the last has no end");
	for (char *name = c->text, *next; name < end; name = next) {
		char *equals = strchr(name, '=');

		next = name + strlen(name) + 1;
		if (equals == NULL)
			return err_set(err, ERR_FORMAT, (uint64_t)(name - c->text),
				       "setting '%s' has no value", name);
		*equals = '\0';
		if (set_entry(c, name, equals + 1, err) < 0)
			return -1;
	}
	return 0;
}

/* Checks the settings that every run needs. */
static int check(const struct config *c, struct err *err)
{
	if (c->output == NULL || c->name == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "the program or the file to write is missing");
	if (c->samples.branches.depth > BRANCH_STACK_MOST ||
	    c->samples.branches.filter >= N_BRANCH_FILTERS)
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "branch stacks have 1 to %d entries",
			       BRANCH_STACK_MOST);
	if (c->without_spe)
		return 0;
	if (c->sampling.interval < c->params.min_interval || c->sampling.interval % 256 != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "interval %u: wanted a multiple of 256, at least %u",
			       c->sampling.interval, c->params.min_interval);
	return 0;
}

int config_read(char *text, size_t size, struct config *out, struct err *err)
{
	struct config c = { .text = text, .root = "", .version = "", .model = "" };

	if (read_entries(&c, size, err) < 0 || params_check(&c.params, err) < 0 ||
	    check(&c, err) < 0) {
		config_release(&c);
		return -1;
	}
	*out = c;
	return 0;
}

void config_release(struct config *c)
{
	vec_release(&c->arguments);
	for (size_t i = 0; i < c->ideals.n; i++)
		ideal_release(&c->ideals.items[i]);
	vec_release(&c->ideals);
	vec_release(&c->samples.events);
	free(c->text);
	*c = (struct config){ 0 };
}
