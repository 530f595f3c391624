/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/makers.h"

#include <string.h>

#include "base/alloc.h"
#include "cpu/internal.h"
#include "cpu/json_read.h"

/* Reads an optional prefix; "" if it is missing. */
static int read_beginning(struct arena *memory, const json_t *object, const char *key,
			  const char **out, struct err *err)
{
	*out = "";
	return json_object_get(object, key) == NULL ? 0
						    : json_read_text(memory, object, key, out, err);
}

static int read_latency_events(struct catalog *c, const json_t *object, struct cpu_maker *maker,
			       struct err *err)
{
	const json_t *list = NULL;
	uint16_t *codes;

	if (json_read_list(object, "latency_events", &list, err) < 0)
		return -1;
	maker->n_latency_events = json_array_size(list);
	codes = json_array_memory(&c->memory, maker->n_latency_events, sizeof(*codes));
	maker->latency_events = codes;
	for (size_t i = 0; i < maker->n_latency_events; i++) {
		uint64_t code = 0;

		if (json_read_code(json_array_get(list, i), "code", UINT16_MAX, &code, err) < 0)
			return err_within(err, "latency_events[%zu]", i);
		codes[i] = (uint16_t)code;
	}
	return 0;
}

int maker_read(struct catalog *c, const json_t *object, struct err *err)
{
	struct cpu_maker maker = { 0 };

	if (read_beginning(&c->memory, object, "arch", &maker.arch, err) < 0 ||
	    read_beginning(&c->memory, object, "cpuid", &maker.cpuid, err) < 0 ||
	    json_read_text(&c->memory, object, "weight", &maker.weight, err) < 0 ||
	    read_latency_events(c, object, &maker, err) < 0)
		return -1;
	if (maker.arch[0] == '\0' && maker.cpuid[0] == '\0')
		return json_wrong("arch", NULL, "a text, or one of cpuid", err);
	*vec_add(&c->makers) = maker;
	return 0;
}

static bool matches_prefix(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

const struct cpu_maker *catalog_maker_find(const struct catalog *c, const char *arch,
					   const char *cpuid)
{
	for (size_t i = c->makers.n; i-- > 0;)
		if (matches_prefix(arch, c->makers.items[i].arch) &&
		    matches_prefix(cpuid, c->makers.items[i].cpuid))
			return &c->makers.items[i];
	return NULL;
}

bool cpu_maker_samples_latency(const struct cpu_maker *maker, uint64_t config)
{
	for (size_t i = 0; maker != NULL && i < maker->n_latency_events; i++)
		if (maker->latency_events[i] == (config & UINT16_MAX))
			return true;
	return false;
}
