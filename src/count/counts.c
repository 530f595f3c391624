/* SPDX-License-Identifier: Apache-2.0 */
#include "count/counts.h"

#include <string.h>
#include <strings.h>

void counts_release(struct counts *c)
{
	vec_release(&c->items);
	vec_release(&c->metrics);
	vec_release(&c->intervals);
	vec_release(&c->pmus);
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

const struct count *counts_find(const struct counts *c, const char *event)
{
	for (size_t i = 0; i < c->items.n; i++)
		if (strcasecmp(c->items.items[i].event, event) == 0)
			return &c->items.items[i];
	return NULL;
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
