/* SPDX-License-Identifier: Apache-2.0 */
#include "count/counts.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"

void counts_release(struct counts *c)
{
	vec_release(&c->items);
	vec_release(&c->metrics);
	vec_release(&c->intervals);
	vec_release(&c->pmus);
	for (size_t i = 0; i < c->regions.n; i++)
		vec_release(&c->regions.items[i].items);
	vec_release(&c->regions);
	arena_release(&c->memory);
	*c = (struct counts){ 0 };
}

struct count *counts_add(struct counts *c, const char *event)
{
	struct count *count = vec_add(&c->items);

	count->event = arena_strndup(&c->memory, event, strlen(event));
	count->cpu = COUNT_ANY;
	count->tid = COUNT_ANY;
	return count;
}

void counts_set_unit(struct counts *c, struct count *count, const char *unit, size_t n)
{
	static const struct {
		const char *name;
		double ns;
	} times[] = { { "msec", 1e6 }, { "sec", 1e9 }, { "ns", 1 } };

	for (size_t i = 0; i < COUNT(times); i++) {
		if (strlen(times[i].name) != n || memcmp(unit, times[i].name, n) != 0)
			continue;
		count->value *= times[i].ns;
		count->unit = "ns";
		return;
	}
	if (n > 0)
		count->unit = arena_strndup(&c->memory, unit, n);
}

const struct count *counts_find(const struct counts *c, const char *event)
{
	for (size_t i = 0; i < c->items.n; i++)
		if (strcasecmp(c->items.items[i].event, event) == 0)
			return &c->items.items[i];
	return NULL;
}

static const char *region_name_at(const void *context, size_t i)
{
	const struct counts *c = context;

	return i < c->regions.n ? c->regions.items[i].name : NULL;
}

int counts_take_region(struct counts *c, const char *name, struct err *err)
{
	char names[256];
	const char *nearest = nearest_word(name, region_name_at, c);

	for (size_t i = 0; i < c->regions.n; i++) {
		struct count_region *r = &c->regions.items[i];

		if (strcmp(r->name, name) != 0)
			continue;
		c->items.n = 0;
		for (size_t k = 0; k < r->items.n; k++)
			*vec_add(&c->items) = r->items.items[k];
		c->elapsed_ns = r->n_threads == 1 ? r->time_ns : 0;
		return 0;
	}
	if (c->regions.n == 0)
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "region '%s': the counts are of a whole program; regions are what "
			       "libcyclops writes (cyclops_measure(3))",
			       name);
	return err_set(err, ERR_USAGE, ERR_NOWHERE, "there is no region '%s'; %s%s", name,
		       nearest != NULL ? "did you mean " : "there are ",
		       nearest != NULL ? nearest
				       : list_words(region_name_at, c, names, sizeof(names)));
}

uint64_t counts_interval_ns(const struct counts *c, uint32_t interval)
{
	uint64_t begin = interval == 0 ? 0 : c->intervals.items[interval - 1].end_ns,
		 end = c->intervals.items[interval].end_ns;

	return end > begin ? end - begin : 0;
}

double count_coverage(const struct count *c)
{
	if (c->enabled_ns == 0)
		return 1;
	return (double)c->running_ns / (double)c->enabled_ns;
}

double counts_elapsed_ns(const struct counts *counts)
{
	double ns = (double)counts->elapsed_ns;

	for (size_t i = 0; i < counts->items.n && counts->elapsed_ns == 0; i++)
		if (counts->items.items[i].state == COUNT_COUNTED &&
		    strcmp(counts->items.items[i].event, "duration_time") == 0)
			ns += counts->items.items[i].value;
	return ns;
}
