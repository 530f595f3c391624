/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads catalog files, of --catalog and of `cyclops catalog`. Format: catalog/schema.md. Unknown keys are ignored.
 */
#include "cpu/internal.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/json_read.h"
#include "cpu/telemetry.h"

/* Largest plausible cache line in bytes: CTR_EL0 cannot express more than 2^15 words. */
enum { CACHE_LINE_MAX = 1 << 17 };

/* Most plausible lines in the private caches of a core: 1 GiB of 32 bytes. */
enum { OWN_CACHE_LINES_MAX = 1 << 25 };

/* Values of spe.data_source that stand for no encoding. */
static const char *const no_encoding[] = { "none", "not-in-linux-decode-list", "unknown" };

static const char *catalog_read_copy(struct catalog *c, const char *text)
{
	return arena_strndup(&c->memory, text, strlen(text));
}

static void *catalog_array(struct catalog *c, size_t n, size_t size)
{
	return json_array_memory(&c->memory, n, size);
}

static int read_part(const json_t *object, struct midr_part *out, struct err *err)
{
	uint64_t implementer = 0, part = 0;

	if (json_read_code(object, "implementer", 0xff, &implementer, err) < 0 ||
	    json_read_code(object, "part", 0xfff, &part, err) < 0)
		return -1;
	*out = (struct midr_part){ .implementer = (uint8_t)implementer, .part = (uint16_t)part };
	return 0;
}

static int catalog_read_value(struct catalog *c, const json_t *object, struct cpu_source *out,
			      struct err *err)
{
	const json_t *level = json_object_get(object, "level");
	const json_t *spe_parser = json_object_get(object, "spe_parser");
	int known = json_is_string(level) ? source_level_find(json_string_value(level)) : -1;
	uint64_t value = 0;

	if (json_read_code(object, "value", UINT16_MAX, &value, err) < 0 ||
	    json_read_text(&c->memory, object, "name", &out->name, err) < 0)
		return -1;
	if (known < 0)
		return json_wrong("level", level, "a level such as \"L2\" or \"peer-core\"", err);
	out->value = (uint16_t)value;
	out->level = (enum source_level)known;
	out->is_modified = json_is_true(json_object_get(object, "modified"));
	out->spe_parser = json_is_string(spe_parser);
	if (out->spe_parser)
		out->spe_parser_name = catalog_read_copy(c, json_string_value(spe_parser));
	return 0;
}

/* Indexes the sources by value; values are small numbers. */
static void index_values(struct catalog *c, struct encoding *e)
{
	const struct cpu_source **by_value;

	for (size_t i = 0; i < e->n_values; i++)
		if (e->values[i].value >= e->n_by_value)
			e->n_by_value = e->values[i].value + 1u;
	by_value = catalog_array(c, e->n_by_value, sizeof(*by_value));
	e->by_value = by_value;
	for (size_t i = 0; i < e->n_values; i++)
		by_value[e->values[i].value] = &e->values[i];
}

static int read_encoding(struct catalog *c, const json_t *object, struct err *err)
{
	struct encoding *e = catalog_array(c, 1, sizeof(*e));
	const json_t *values = NULL;
	struct cpu_source *read;

	if (json_read_text(&c->memory, object, "id", &e->id, err) < 0 ||
	    json_read_list(object, "values", &values, err) < 0)
		return -1;
	e->n_values = json_array_size(values);
	read = catalog_array(c, e->n_values, sizeof(*read));
	e->values = read;
	for (size_t i = 0; i < e->n_values; i++)
		if (catalog_read_value(c, json_array_get(values, i), &read[i], err) < 0)
			return err_within(err, "%s: values[%zu]", e->id, i);
	index_values(c, e);
	*vec_add(&c->encodings) = e;
	return 0;
}

static int read_other_names(struct catalog *c, const json_t *object, struct cpu *cpu,
			    struct err *err)
{
	const json_t *list = NULL;
	const char **aliases;

	if (json_read_list(object, "aliases", &list, err) < 0)
		return -1;
	cpu->n_aliases = json_array_size(list);
	aliases = catalog_array(c, cpu->n_aliases, sizeof(*aliases));
	cpu->aliases = aliases;
	for (size_t i = 0; i < cpu->n_aliases; i++) {
		const json_t *alias = json_array_get(list, i);

		if (!json_is_string(alias))
			return json_wrong("aliases", alias, "texts", err);
		aliases[i] = catalog_read_copy(c, json_string_value(alias));
	}
	return 0;
}

/*
 * Reads how a CPU is recognised. Only Arm CPUs are recognised by MIDR; other entries are skipped.
 */
static int read_match(struct catalog *c, const json_t *object, struct cpu *cpu, struct err *err)
{
	const json_t *list = NULL;
	struct named_part *parts;

	if (json_read_list(object, "match", &list, err) < 0)
		return -1;
	cpu->n_parts = 0;
	parts = catalog_array(c, json_array_size(list), sizeof(*parts));
	cpu->parts = parts;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		struct named_part part = { 0 };

		if (json_object_get(entry, "vendor") != NULL)
			continue;
		if (read_part(entry, &part.key, err) < 0 ||
		    (json_object_get(entry, "name") != NULL &&
		     json_read_text(&c->memory, entry, "name", &part.name, err) < 0))
			return err_within(err, "match[%zu]", i);
		parts[cpu->n_parts++] = part;
	}
	return 0;
}

static int read_cache_line(struct catalog *c, const json_t *object, struct cpu *cpu,
			   struct err *err)
{
	const json_t *value = json_object_get(object, "cache_line");
	json_int_t bytes = json_integer_value(value);

	(void)c;
	if (json_is_null(value)) {
		cpu->cache_line = 0;
		return 0;
	}
	if (bytes < 4 || bytes > CACHE_LINE_MAX || (bytes & (bytes - 1)) != 0)
		return json_wrong("cache_line", value, "bytes, a power of two, or null", err);
	cpu->cache_line = (unsigned)bytes;
	return 0;
}

static int read_own_cache_lines(struct catalog *c, const json_t *object, struct cpu *cpu,
				struct err *err)
{
	const json_t *value = json_object_get(object, "own_cache_lines");
	json_int_t n = json_integer_value(value);

	(void)c;
	if (!json_is_null(value) && (n < 1 || n > OWN_CACHE_LINES_MAX))
		return json_wrong("own_cache_lines", value, "a number of lines, or null", err);
	cpu->own_cache_lines = (unsigned)n;
	return 0;
}

static int read_load_to_use(struct catalog *c, const json_t *object, struct cpu *cpu,
			    struct err *err)
{
	enum { LOAD_TO_USE_MAX = 99 };
	const json_t *value = json_object_get(object, "load_to_use_cycles");
	json_int_t n = json_integer_value(value);

	(void)c;
	if (!json_is_null(value) && value != NULL && (n < 1 || n > LOAD_TO_USE_MAX))
		return json_wrong("load_to_use_cycles", value, "cycles, or null", err);
	cpu->load_to_use = (unsigned)n;
	return 0;
}

static int read_errata(struct catalog *c, const json_t *object, struct cpu *cpu, struct err *err)
{
	return errata_read(&c->memory, object, cpu, err);
}

static bool names_no_encoding(const char *word)
{
	for (size_t i = 0; i < COUNT(no_encoding); i++)
		if (strcmp(word, no_encoding[i]) == 0)
			return true;
	return false;
}

/* An encoding that is not confirmed is not used: no name is better than a wrong one. */
static int read_data_source(struct catalog *c, const json_t *spe, struct cpu *cpu, struct err *err)
{
	const json_t *value = json_object_get(spe, "data_source");
	const char *word = json_string_value(value);

	if (value == NULL)
		return 0;
	cpu->encoding = word == NULL ? NULL : catalog_encoding_find(c, word);
	if (cpu->encoding == NULL && (word == NULL || !names_no_encoding(word)))
		return json_wrong("data_source", value, "the id of an encoding, or \"unknown\"",
				  err);
	if (json_is_false(json_object_get(spe, "data_source_verified")))
		cpu->encoding = NULL;
	return 0;
}

static int read_spe_events(struct catalog *c, const json_t *spe, struct cpu *cpu, struct err *err)
{
	const json_t *list = NULL;
	struct spe_event *events;

	if (json_object_get(spe, "events") == NULL)
		return 0;
	if (json_read_list(spe, "events", &list, err) < 0)
		return -1;
	cpu->n_spe_events = json_array_size(list);
	events = catalog_array(c, cpu->n_spe_events, sizeof(*events));
	cpu->spe_events = events;
	for (size_t i = 0; i < cpu->n_spe_events; i++) {
		const json_t *event = json_array_get(list, i);
		const json_t *bit = json_object_get(event, "bit");
		json_int_t number = json_integer_value(bit);

		if (!json_is_integer(bit) || number < 0 || number > 63)
			return json_wrong("bit", bit, "a number from 0 to 63", err);
		events[i].bit = (unsigned)number;
		if (json_read_text(&c->memory, event, "name", &events[i].name, err) < 0)
			return err_within(err, "events[%zu]", i);
	}
	return 0;
}

static int read_ernd(const json_t *spe, struct cpu *cpu, struct err *err)
{
	const json_t *value = json_object_get(spe, "ernd");
	json_int_t ernd = json_integer_value(value);

	if (value == NULL)
		return 0;
	if (!json_is_null(value) && (!json_is_integer(value) || ernd < 0 || ernd > 1))
		return json_wrong("ernd", value, "0, 1 or null", err);
	cpu->spe_ernd = json_is_null(value) ? 0 : (int)ernd + 1;
	return 0;
}

static int read_support(const json_t *spe, struct cpu *cpu, struct err *err)
{
	const json_t *value = json_object_get(spe, "supported");

	if (value == NULL)
		return 0;
	if (!json_is_string(value))
		return json_wrong("supported", value, "a text", err);
	cpu->lacks_spe = strcmp(json_string_value(value), "no") == 0;
	return 0;
}

static int read_spe_facts(struct catalog *c, const json_t *object, struct cpu *cpu, struct err *err)
{
	const json_t *spe = json_object_get(object, "spe");

	if (!json_is_object(spe))
		return json_wrong("spe", spe, "an object", err);
	if (read_data_source(c, spe, cpu, err) < 0 || read_spe_events(c, spe, cpu, err) < 0 ||
	    read_ernd(spe, cpu, err) < 0 || read_support(spe, cpu, err) < 0)
		return err_within(err, "spe");
	return 0;
}

static int read_cpu_name(struct catalog *c, const json_t *object, struct cpu *cpu, struct err *err)
{
	return json_read_text(&c->memory, object, "name", &cpu->name, err);
}

/* Keys of a CPU, all optional, and their readers. */
static const struct cpu_key {
	const char *name;
	int (*read)(struct catalog *, const json_t *, struct cpu *, struct err *);
} cpu_keys[] = {
	{ "name", read_cpu_name },
	{ "aliases", read_other_names },
	{ "match", read_match },
	{ "cache_line", read_cache_line },
	{ "spe", read_spe_facts },
	{ "errata", read_errata },
	{ "own_cache_lines", read_own_cache_lines },
	{ "load_to_use_cycles", read_load_to_use },
};

/*
 * Removes the CPU with that id from the list and returns it, to be appended again; NULL if there is
 * none.
 */
static const struct cpu *take_cpu(struct catalog *c, const char *id)
{
	for (size_t i = 0; i < c->cpus.n; i++) {
		const struct cpu *found = c->cpus.items[i];

		if (strcmp(found->id, id) != 0)
			continue;
		c->cpus.n--;
		memmove(&c->cpus.items[i], &c->cpus.items[i + 1],
			(c->cpus.n - i) * sizeof(*c->cpus.items));
		return found;
	}
	return NULL;
}

/* Keys of a CPU that only cpu_pmu_open() reads. */
static const char *const pmu_keys[] = {
	"events",     "metrics",	 "groups",    "topdown",       "drilldown",
	"variants",   "same_as",	 "counters",  "slots",	       "note",
	"thresholds", "linux_pmu_names", "penalties", "kernel_events",
};

static void keep_change(struct catalog *c, const json_t *object, const char *id)
{
	for (size_t i = 0; i < COUNT(pmu_keys); i++) {
		if (json_object_get(object, pmu_keys[i]) == NULL)
			continue;
		*vec_add(&c->changes) = (struct cpu_change){ id, json_deep_copy(object) };
		return;
	}
}

/* A CPU whose id is known keeps the facts that the file does not give. */
static int catalog_read_cpu(struct catalog *c, const json_t *object, struct err *err)
{
	struct cpu *cpu = catalog_array(c, 1, sizeof(*cpu));
	const struct cpu *known;
	const char *id;

	if (json_read_text(&c->memory, object, "id", &id, err) < 0)
		return -1;
	known = take_cpu(c, id);
	if (known != NULL)
		*cpu = *known;
	else if (json_object_get(object, "name") == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "cpu '%s': name: missing, and the catalog has no CPU of that id",
			       id);
	cpu->id = id;
	for (size_t i = 0; i < COUNT(cpu_keys); i++)
		if (json_object_get(object, cpu_keys[i].name) != NULL &&
		    cpu_keys[i].read(c, object, cpu, err) < 0)
			return err_within(err, "cpu '%s'", id);
	keep_change(c, object, id);
	*vec_add(&c->cpus) = cpu;
	return 0;
}

static int read_named_part(struct catalog *c, const json_t *object, struct err *err)
{
	struct named_part part = { 0 };

	if (read_part(object, &part.key, err) < 0 ||
	    json_read_text(&c->memory, object, "name", &part.name, err) < 0)
		return -1;
	*vec_add(&c->names) = part;
	return 0;
}

static int read_implementer(struct catalog *c, const json_t *object, struct err *err)
{
	const json_t *pmu_arch = json_object_get(object, "pmu_arch");
	const char *word = json_string_value(pmu_arch);
	uint64_t code = 0;
	const char *name;

	if (json_read_code(object, "implementer", 0xff, &code, err) < 0 ||
	    json_read_text(&c->memory, object, "name", &name, err) < 0)
		return -1;
	if (pmu_arch != NULL && word == NULL)
		return json_wrong("pmu_arch", pmu_arch, "a text", err);
	*vec_add(&c->implementers) = (struct implementer){
		.code = (uint8_t)code,
		.name = name,
		.has_other_pmu = word != NULL && word[0] != '\0' && strcmp(word, "pmuv3") != 0,
	};
	return 0;
}

/* The lists of a catalog file and their readers. Encodings come first, as CPUs refer to them. */
static const struct file_list {
	const char *name;
	int (*read)(struct catalog *, const json_t *, struct err *);
} file_lists[] = {
	{ "sources", read_encoding }, { "cpus", catalog_read_cpu },
	{ "names", read_named_part }, { "implementers", read_implementer },
	{ "makers", maker_read },
};

/* Adds descriptions of events, in words, by their names. */
static int read_descriptions(struct catalog *c, json_t *object, struct err *err)
{
	const char *name;
	json_t *text;

	if (object == NULL)
		return 0;
	if (!json_is_object(object))
		return json_wrong("event_descriptions", object, "an object of names and texts",
				  err);
	json_object_foreach(object, name, text) if (!json_is_string(text)) return json_wrong(
		name, text, "a text", err);
	if (c->descriptions == NULL)
		c->descriptions = json_object();
	json_object_update(c->descriptions, object);
	return 0;
}

static int read_parts(struct catalog *c, const json_t *root, struct err *err)
{
	for (size_t i = 0; i < COUNT(file_lists); i++) {
		const json_t *list = NULL;

		if (json_read_list(root, file_lists[i].name, &list, err) < 0)
			return -1;
		if (json_array_size(list) > CATALOG_LIST_MOST)
			return err_set(err, ERR_FORMAT, ERR_NOWHERE,
				       "%s: found %zu entries, wanted at most %d",
				       file_lists[i].name, json_array_size(list),
				       CATALOG_LIST_MOST);
		for (size_t j = 0; j < json_array_size(list); j++)
			if (file_lists[i].read(c, json_array_get(list, j), err) < 0)
				return err_within(err, "%s[%zu]", file_lists[i].name, j);
	}
	if (read_descriptions(c, json_object_get(root, "event_descriptions"), err) < 0)
		return -1;
	return thresholds_read(&c->memory, json_object_get(root, "thresholds"), &c->thresholds,
			       err);
}

/* The id of the CPU with that part, or NULL. */
static const char *id_of_part(const struct catalog *c, const json_t *product)
{
	struct midr_part part;
	uint64_t implementer = 0, number = 0;
	struct err ignored;

	if (json_read_code(product, "implementer", 0xff, &implementer, &ignored) < 0 ||
	    json_read_code(product, "part_num", 0xfff, &number, &ignored) < 0)
		return NULL;
	part = (struct midr_part){ (uint8_t)implementer, (uint16_t)number };
	for (size_t i = c->cpus.n; i-- > 0;)
		for (size_t j = 0; j < c->cpus.items[i]->n_parts; j++)
			if (midr_part_word(c->cpus.items[i]->parts[j].key) == midr_part_word(part))
				return c->cpus.items[i]->id;
	return NULL;
}

/* Reads a telemetry file of Arm: it changes the CPU with that part, or adds one. */
static int read_telemetry(struct catalog *c, const json_t *root, struct err *err)
{
	const json_t *product = json_object_get(root, "product_configuration");
	const char *id = id_of_part(c, product);
	json_t *object = telemetry_convert(root, id, err);
	int rc;

	if (object == NULL)
		return err_within(err, "telemetry file");
	if (id != NULL) /* names and parts of the known CPU stay */
		json_object_del(object, "match");
	rc = catalog_read_cpu(c, object, err);
	json_decref(object);
	return rc < 0 ? err_within(err, "telemetry file") : 0;
}

static int read_catalog_root(struct catalog *c, const json_t *root, struct err *err)
{
	const json_t *schema = json_object_get(root, "schema");

	if (!json_is_object(root))
		return json_wrong("contents", root, "an object in braces", err);
	if (telemetry_is_it(root))
		return read_telemetry(c, root, err);
	if (json_integer_value(schema) != 1)
		return json_wrong("schema", schema, "1", err);
	return json_object_get(root, "id") != NULL ? catalog_read_cpu(c, root, err)
						   : read_parts(c, root, err);
}

int catalog_read(struct catalog *c, const char *text, size_t size, const char *file,
		 struct err *err)
{
	json_error_t syntax;
	json_t *root = json_loadb(size == 0 ? "" : text, size, JSON_REJECT_DUPLICATES, &syntax);
	int rc;

	if (root == NULL)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE, "catalog %s: line %d, column %d: %s",
			       file, syntax.line, syntax.column, syntax.text);
	rc = read_catalog_root(c, root, err);
	json_decref(root);
	return rc < 0 ? err_within(err, "catalog %s", file) : 0;
}
