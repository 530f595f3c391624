/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of metrics: defaults, and those of a CPU. */
#include "cpu/internal.h"

#include <string.h>
#include <strings.h>

#include "cpu/json_read.h"

/* The index of a threshold among the first `n`, or `n`. */
static size_t cpu_thresholds_place_of(const struct cpu_threshold *items, size_t n, const char *name)
{
	size_t at = 0;

	while (at < n && strcasecmp(items[at].name, name) != 0)
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
	if (json_object_size(object) > CATALOG_LIST_MOST)
		return err_set(err, ERR_FORMAT, ERR_NOWHERE,
			       "thresholds: found %zu entries, wanted at most %d",
			       json_object_size(object), CATALOG_LIST_MOST);
	items = json_array_memory(memory, n + json_object_size(object), sizeof(*items));
	if (n > 0)
		memcpy(items, list->items, n * sizeof(*items));
	json_object_foreach(object, name, entry)
	{
		const json_t *value =
			json_is_object(entry) ? json_object_get(entry, "value") : entry;
		size_t at = cpu_thresholds_place_of(items, n, name);

		if (!json_is_number(value)) {
			json_wrong(name, entry, "a number, or {\"value\": a number}", err);
			return err_within(err, "thresholds");
		}
		if (at == n)
			items[n++].name = arena_strndup(memory, name, strlen(name));
		items[at].value = json_number_value(value);
	}
	*list = (struct threshold_list){ items, n };
	return 0;
}

const struct cpu_threshold *cpu_threshold_find(const struct cpu_pmu *pmu, const char *name)
{
	const struct threshold_list *list = &pmu->thresholds;
	size_t at = cpu_thresholds_place_of(list->items, list->n, name);

	return at < list->n ? &list->items[at] : NULL;
}
