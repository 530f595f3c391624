/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog as a whole: opening it, finding CPUs. */
#include "cpu/cpu.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cpu/internal.h"

static void begin_with(struct catalog *c, const struct catalog_index *index)
{
	for (size_t i = 0; i < index->n_encodings; i++)
		*vec_add(&c->encodings) = &index->encodings[i];
	for (size_t i = 0; i < index->n_cpus; i++)
		*vec_add(&c->cpus) = &index->cpus[i];
	for (size_t i = 0; i < index->n_names; i++)
		*vec_add(&c->names) = index->names[i];
	for (size_t i = 0; i < index->n_implementers; i++)
		*vec_add(&c->implementers) = index->implementers[i];
	for (size_t i = 0; i < index->n_makers; i++)
		*vec_add(&c->makers) = index->makers[i];
	c->thresholds = (struct threshold_list){ index->thresholds, index->n_thresholds };
}

static int read_extra_catalog(struct catalog *c, const char *path, struct err *err)
{
	struct mapped file = { 0 };
	int rc;

	if (mapped_open(&file, path, err) < 0)
		return err_within(err, "catalog");
	rc = catalog_read(c, (const char *)file.bytes, file.size, path, err);
	mapped_release(&file);
	return rc;
}

bool catalog_user_folder(struct text *out)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data != NULL && data[0] == '/') /* others do not count, by the specification */
		text_format(out, "%s/cyclops/catalog", data);
	else if (home != NULL && home[0] == '/')
		text_format(out, "%s/.local/share/cyclops/catalog", home);
	else
		return false;
	return true;
}

static int is_catalog_file(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 5, ".json") == 0;
}

/* The files that `cyclops catalog update` keeps, by name. */
static int read_user_catalog(struct catalog *c, struct err *err)
{
	struct text folder = { 0 };
	struct dirent **entries = NULL;
	int n = 0, rc = 0;

	if (catalog_user_folder(&folder)) {
		text_char(&folder, '\0');
		n = scandir(folder.bytes, &entries, is_catalog_file, alphasort);
	}
	for (int i = 0; i < n; i++) {
		struct text path = { 0 };

		text_format(&path, "%s/%s%c", folder.bytes, entries[i]->d_name, 0);
		if (rc == 0)
			rc = read_extra_catalog(c, path.bytes, err);
		if (rc < 0)
			err_within(err, "kept by cyclops catalog");
		text_release(&path);
		free(entries[i]);
	}
	free(entries);
	text_release(&folder);
	return rc;
}

static void set_part(struct catalog *c, struct midr_part key, struct part_facts facts)
{
	uint64_t word = midr_part_word(key);
	uint32_t number = tuples_add(&c->parts, &word);

	if (number == c->by_part.n)
		vec_add(&c->by_part);
	c->by_part.items[number] = facts;
}

/* Indexes CPUs by part: records look their CPU up by MIDR, millions of times. */
static void index_parts(struct catalog *c)
{
	tuples_init(&c->parts, 1);
	for (size_t i = 0; i < c->names.n; i++)
		set_part(c, c->names.items[i].key,
			 (struct part_facts){ .name = c->names.items[i].name });
	for (size_t i = 0; i < c->cpus.n; i++) {
		const struct cpu *cpu = c->cpus.items[i];

		for (size_t j = 0; j < cpu->n_parts; j++) {
			const char *name = cpu->parts[j].name;

			set_part(c, cpu->parts[j].key,
				 (struct part_facts){ .cpu = cpu,
						      .name = name != NULL ? name : cpu->name });
		}
	}
}

int catalog_open(const char *extra_path, struct catalog **out, struct err *err)
{
	struct catalog *c = mem_zalloc(1, sizeof(*c));

	begin_with(c, &catalog_index);
	if (read_user_catalog(c, err) < 0 ||
	    (extra_path != NULL && read_extra_catalog(c, extra_path, err) < 0)) {
		catalog_free(c);
		return -1;
	}
	index_parts(c);
	*out = c;
	return 0;
}

void catalog_free(struct catalog *c)
{
	if (c == NULL)
		return;
	vec_release(&c->cpus);
	vec_release(&c->encodings);
	vec_release(&c->names);
	vec_release(&c->implementers);
	vec_release(&c->makers);
	vec_release(&c->by_part);
	for (size_t i = 0; i < c->changes.n; i++)
		json_decref(c->changes.items[i].object);
	vec_release(&c->changes);
	json_decref(c->descriptions);
	tuples_release(&c->parts);
	arena_release(&c->memory);
	free(c);
}

const struct cpu *catalog_cpu_of_id(const struct catalog *c, const char *id)
{
	for (size_t i = c->cpus.n; i-- > 0;)
		if (strcmp(c->cpus.items[i]->id, id) == 0)
			return c->cpus.items[i];
	return NULL;
}

size_t catalog_n_changed(const struct catalog *c)
{
	return c->changes.n;
}

const char *catalog_changed_at(const struct catalog *c, size_t i)
{
	return c->changes.items[i].id;
}

const char *catalog_changed_last(const struct catalog *after, const struct catalog *before)
{
	return after->changes.n == before->changes.n + 1
		       ? after->changes.items[before->changes.n].id
		       : NULL;
}

size_t catalog_n_cpus(const struct catalog *c)
{
	return c->cpus.n;
}

const struct cpu *catalog_cpu_at(const struct catalog *c, size_t index)
{
	return c->cpus.items[index];
}

static const struct part_facts *find_part_facts(const struct catalog *c, uint64_t midr)
{
	uint64_t word = midr_part_word(midr_part_of(midr));
	uint32_t number = tuples_find(&c->parts, &word);

	return number == TUPLES_NONE ? NULL : &c->by_part.items[number];
}

const struct cpu *catalog_cpu_of_midr(const struct catalog *c, uint64_t midr)
{
	const struct part_facts *facts = find_part_facts(c, midr);

	return facts == NULL ? NULL : facts->cpu;
}

/*
 * Name number `i` of a CPU: its id, its name, other names, names of its parts; NULL behind the
 * last.
 */
static const char *cpu_name_at(const struct cpu *cpu, size_t i)
{
	if (i < 2)
		return i == 0 ? cpu->id : cpu->name;
	i -= 2;
	if (i < cpu->n_aliases)
		return cpu->aliases[i];
	i -= cpu->n_aliases;
	if (i >= cpu->n_parts)
		return NULL;
	return cpu->parts[i].name != NULL ? cpu->parts[i].name : cpu->name;
}

/* Compares letters and digits only, ignoring case: "graviton 4" is "Graviton4". */
static bool cpu_name_is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a != '\0' && !isalnum((unsigned char)*a))
			a++;
		while (*b != '\0' && !isalnum((unsigned char)*b))
			b++;
		if (*a == '\0' || *b == '\0')
			return *a == *b;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
	}
}

/* The name without its first word, a maker or a family: "Graviton4" of "AWS Graviton4". */
static const char *behind_first_word(const char *name)
{
	name += strcspn(name, " -");
	return name + strspn(name, " -");
}

static const struct cpu *find_called(const struct catalog *c, const char *name, bool is_short)
{
	for (size_t i = c->cpus.n; i-- > 0;) {
		const char *its_name;

		for (size_t k = 0; (its_name = cpu_name_at(c->cpus.items[i], k)) != NULL; k++)
			if (cpu_name_is_same(is_short ? behind_first_word(its_name) : its_name,
					     name))
				return c->cpus.items[i];
	}
	return NULL;
}

const struct cpu *catalog_cpu_find(const struct catalog *c, const char *name)
{
	const struct cpu *found = find_called(c, name, false);

	if (strpbrk(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL)
		return NULL;
	return found != NULL ? found : find_called(c, name, true);
}

unsigned catalog_own_cache_lines(const struct catalog *c, const struct cpu *cpu)
{
	if (cpu == NULL || cpu->own_cache_lines == 0)
		cpu = catalog_cpu_find(c, CPU_ANY);
	return cpu == NULL ? 0 : cpu->own_cache_lines;
}

static const char *any_name_at(const void *context, size_t n)
{
	const struct catalog *c = context;

	for (size_t i = 0; i < c->cpus.n; i++)
		for (size_t k = 0; cpu_name_at(c->cpus.items[i], k) != NULL; k++)
			if (n-- == 0)
				return cpu_name_at(c->cpus.items[i], k);
	return NULL;
}

bool midr_of_text(const char *text, uint64_t *out)
{
	const char *digits = text + 2;

	if (strncmp(text, "0x", 2) != 0 || digits[0] == '\0' ||
	    digits[strspn(digits, "0123456789abcdefABCDEF")] != '\0' || strlen(digits) > 16)
		return false;
	*out = strtoull(digits, NULL, 16);
	return true;
}

/* The Arm CPU of a name such as "neoverse-n2:r0p2". *midr is 0 if that is no revision. */
static const struct cpu *find_revision(const struct catalog *c, const char *name, uint64_t *midr)
{
	const char *colon = strchr(name, ':');
	const struct cpu *found;
	char *its_name;
	int revision;

	if (colon == NULL)
		return NULL;
	its_name = mem_strndup(name, (size_t)(colon - name));
	found = catalog_cpu_find(c, its_name);
	free(its_name);
	if (found == NULL || found->n_parts == 0)
		return NULL;
	revision = cpu_revision_of_text(colon + 1);
	*midr = revision < 0 ? 0 : midr_of_revision(found->parts[0].key, (unsigned)revision);
	return found;
}

const struct cpu *catalog_cpu_named(const struct catalog *c, const char *name, uint64_t *midr,
				    struct err *err)
{
	const struct cpu *found = catalog_cpu_find(c, name);
	uint64_t given = 0;
	const char *nearest;

	if (found != NULL)
		return found;
	if (midr_of_text(name, &given))
		found = catalog_cpu_of_midr(c, given);
	else
		found = find_revision(c, name, &given);
	if (found != NULL && given == 0) {
		err_set(err, ERR_USAGE, ERR_NOWHERE,
			"--cpu %s: no revision behind the colon; it is rXpY, as in %s:r0p1", name,
			found->id);
		return NULL;
	}
	if (found != NULL && midr != NULL)
		*midr = given;
	if (found != NULL)
		return found;
	if (given != 0) {
		err_set(err, ERR_USAGE, ERR_NOWHERE,
			"--cpu %s: implementer 0x%02x, part 0x%03x is not a CPU of the catalog; "
			"cyclops list cpus shows them",
			name, (unsigned)midr_part_of(given).implementer,
			(unsigned)midr_part_of(given).part);
		return NULL;
	}
	nearest = nearest_word(name, any_name_at, c);
	err_set(err, ERR_USAGE, ERR_NOWHERE,
		"--cpu %s: not one of the %zu CPUs of the catalog; %s%s%s", name, c->cpus.n,
		nearest != NULL ? "did you mean " : "cyclops list cpus shows them",
		nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
	return NULL;
}

const struct encoding *catalog_encoding_find(const struct catalog *c, const char *id)
{
	for (size_t i = c->encodings.n; i-- > 0;)
		if (strcmp(c->encodings.items[i]->id, id) == 0)
			return c->encodings.items[i];
	return NULL;
}

static const struct implementer *find_implementer(const struct catalog *c, uint8_t code)
{
	for (size_t i = c->implementers.n; i-- > 0;)
		if (c->implementers.items[i].code == code)
			return &c->implementers.items[i];
	return NULL;
}

const struct cpu *catalog_cpu_stand_in(const struct catalog *c, uint64_t midr)
{
	const struct implementer *maker = find_implementer(c, midr_part_of(midr).implementer);
	bool is_pmuv3 = midr != 0 && (maker == NULL || !maker->has_other_pmu);

	return catalog_cpu_find(c, is_pmuv3 ? CPU_ANY_ARM : CPU_ANY);
}

void midr_describe(const struct catalog *c, uint64_t midr, char *out, size_t size)
{
	struct midr_part key = midr_part_of(midr);
	const struct part_facts *facts = find_part_facts(c, midr);
	const struct implementer *maker = find_implementer(c, key.implementer);

	if (facts != NULL)
		snprintf(out, size, "%s", facts->name);
	else if (maker != NULL)
		snprintf(out, size, "%s 0x%03x", maker->name, key.part);
	else
		snprintf(out, size, "implementer 0x%02x part 0x%03x", key.implementer, key.part);
}
