/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

void diags_release(struct diags *d)
{
	vec_release(&d->list);
	arena_release(&d->text);
}

static struct diag *entry(struct diags *d, enum diag_level level, const char *text)
{
	struct diag *e;

	for (size_t i = 0; i < d->list.n; i++) {
		e = &d->list.items[i];
		if (e->level == level && strcmp(e->text, text) == 0)
			return e;
	}
	e = vec_add(&d->list);
	e->level = level;
	e->text = arena_strndup(&d->text, text, strlen(text));
	e->first = UINT64_MAX;
	return e;
}

void diags_add_n(struct diags *d, enum diag_level level, uint64_t n, uint64_t at, uint64_t bytes,
		 const char *text)
{
	struct diag *e;

	if (n == 0)
		return;
	e = entry(d, level, text);
	e->n += n;
	e->bytes += bytes;
	if (at < e->first)
		e->first = at;
}

void diags_add(struct diags *d, enum diag_level level, uint64_t at, uint64_t bytes,
	       const char *text)
{
	diags_add_n(d, level, 1, at, bytes, text);
}

void diags_merge(struct diags *d, const struct diags *from)
{
	for (size_t i = 0; i < from->list.n; i++) {
		const struct diag *e = &from->list.items[i];

		diags_add_n(d, e->level, e->n, e->first, e->bytes, e->text);
	}
}

static int diag_compare(const void *left, const void *right)
{
	const struct diag *a = left, *b = right;

	if (a->level != b->level)
		return (a->level < b->level) - (a->level > b->level);
	if (a->first != b->first)
		return (a->first > b->first) - (a->first < b->first);
	return strcmp(a->text, b->text);
}

void diags_sort(struct diags *d)
{
	if (d->list.n > 1)
		qsort(d->list.items, d->list.n, sizeof(*d->list.items), diag_compare);
}

uint64_t diags_bytes(const struct diags *d, enum diag_level least)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < d->list.n; i++)
		if (d->list.items[i].level >= least)
			bytes += d->list.items[i].bytes;
	return bytes;
}
