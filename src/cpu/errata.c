/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/errata.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/internal.h"
#include "cpu/json_read.h"

/* Words for `affects` in the catalog. */
static const char *const effect_words[N_ERRATUM_EFFECTS] = {
	[ERRATUM_SPE_BIAS] = "spe-bias",
};

/* Revisions as numbers: variant, then revision. "r4p1" is 0x41. */
enum { NO_REVISION = -1, REVISION_MAX = 15 };

int cpu_revision_of_text(const char *text)
{
	unsigned variant, revision;
	int end = 0;

	if (text[strspn(text, "rp0123456789")] != '\0' ||
	    sscanf(text, "r%2up%2u%n", &variant, &revision, &end) != 2 || text[end] != '\0' ||
	    variant > REVISION_MAX || revision > REVISION_MAX)
		return NO_REVISION;
	return (int)(variant << 4 | revision);
}

static int revision_of_midr(uint64_t midr)
{
	return (int)((midr >> 20 & 15) << 4 | (midr & 15));
}

static int read_erratum_effect(const json_t *object, enum erratum_effect *out, struct err *err)
{
	const json_t *value = json_object_get(object, "affects");
	const char *word = json_string_value(value);

	for (unsigned i = 0; word != NULL && i < COUNT(effect_words); i++) {
		if (strcmp(word, effect_words[i]) == 0) {
			*out = (enum erratum_effect)i;
			return 0;
		}
	}
	return json_wrong("affects", value, "\"spe-bias\"", err);
}

static int read_erratum(struct arena *memory, const json_t *object, struct cpu_erratum *out,
			struct err *err)
{
	const json_t *fixed_in = json_object_get(object, "fixed_in");

	if (json_read_text(memory, object, "id", &out->id, err) < 0 ||
	    read_erratum_effect(object, &out->affects, err) < 0 ||
	    json_read_text(memory, object, "what", &out->what, err) < 0)
		return -1;
	if (fixed_in == NULL || json_is_null(fixed_in))
		return 0;
	if (!json_is_string(fixed_in) ||
	    cpu_revision_of_text(json_string_value(fixed_in)) == NO_REVISION)
		return json_wrong("fixed_in", fixed_in, "a revision such as \"r4p1\", or null",
				  err);
	return json_read_text(memory, object, "fixed_in", &out->fixed_in, err);
}

int errata_read(struct arena *memory, const json_t *object, struct cpu *cpu, struct err *err)
{
	const json_t *list = NULL;
	struct cpu_erratum *errata;

	if (json_read_list(object, "errata", &list, err) < 0)
		return -1;
	cpu->n_errata = json_array_size(list);
	errata = json_array_memory(memory, cpu->n_errata, sizeof(*errata));
	cpu->errata = errata;
	for (size_t i = 0; i < cpu->n_errata; i++)
		if (read_erratum(memory, json_array_get(list, i), &errata[i], err) < 0)
			return err_within(err, "errata[%zu]", i);
	return 0;
}

const struct cpu_erratum *cpu_erratum_find(const struct cpu *cpu, uint64_t midr,
					   enum erratum_effect effect)
{
	for (size_t i = 0; cpu != NULL && i < cpu->n_errata; i++) {
		const struct cpu_erratum *e = &cpu->errata[i];
		bool is_fixed = midr != 0 && e->fixed_in != NULL &&
				revision_of_midr(midr) >= cpu_revision_of_text(e->fixed_in);

		if (e->affects == effect && !is_fixed)
			return e;
	}
	return NULL;
}
