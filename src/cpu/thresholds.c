/* SPDX-License-Identifier: Apache-2.0 */
/* Values from which on a metric is worth a word: the usual ones, and those of a CPU. */
#include "cpu/internal.h"

#include <string.h>
#include <strings.h>

#include "cpu/json_read.h"

/* The threshold of that name among the first `n`, or the one behind them. */
static struct cpu_threshold *cpu_thresholds_place_of(struct cpu_threshold *items, size_t n,
						     const char *name)
{
	struct cpu_threshold *at = items;

	while (at < items + n && strcasecmp(at->name, name) != 0)
		at++;
	return at;
}

int thresholds_read(struct arena *memory, json_t *object, struct threshold_list *list,
		    struct err *err)
{
	struct cpu_threshold *items;
	size_t n = list->n;
	const char *name;
	json_t *entry;

	if (object == NULL || json_is_null(object))
		return 0;
	if (!json_is_object(object))
		return json_wrong("thresholds", object, "an object of names and values", err);
	items = json_array_memory(memory, n + json_object_size(object), sizeof(*items));
	if (n > 0)
		memcpy(items, list->items, n * sizeof(*items));
	json_object_foreach(object, name, entry)
	{
		const json_t *value =
			json_is_object(entry) ? json_object_get(entry, "value") : entry;
		struct cpu_threshold *t = cpu_thresholds_place_of(items, n, name);

		if (!json_is_number(value)) {
			json_wrong(name, entry, "a number, or {\"value\": a number}", err);
			return err_within(err, "thresholds");
		}
		if (t == items + n)
			items[n++].name = arena_strndup(memory, name, strlen(name));
		t->value = json_number_value(value);
	}
	*list = (struct threshold_list){ items, n };
	return 0;
}

const struct cpu_threshold *cpu_threshold_find(const struct cpu_pmu *pmu, const char *name)
{
	struct cpu_threshold *found =
		cpu_thresholds_place_of(pmu->thresholds.items, pmu->thresholds.n, name);

	return found == pmu->thresholds.items + pmu->thresholds.n ? NULL : found;
}
