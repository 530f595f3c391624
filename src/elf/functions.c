/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void functions_release(struct functions *functions)
{
	vec_release(&functions->list);
	ranges_release(&functions->ranges);
	arena_release(&functions->text);
}

void functions_add(struct functions *functions, const struct function *function)
{
	if (function->start < function->limit && function->name[0] != '\0')
		*vec_add(&functions->list) = *function;
}

static int elf_functions_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

enum { COMPARED_MAX = 4096 }; /* characters of a name that matter for its rank */

/* "name@VERSION", but not the default version "name@@VERSION". */
static bool has_old_version(const char *name)
{
	const char *at = memchr(name, '@', strnlen(name, COMPARED_MAX));

	return at != NULL && at[1] != '@';
}

static size_t n_underscores(const char *name)
{
	size_t n = 0;

	while (n < COMPARED_MAX && name[n] == '_')
		n++;
	return n;
}

/* Negative if `a` is the better name for the address that both start at. */
static int compare_names(const struct function *a, const struct function *b)
{
	int order = elf_functions_compare_numbers(b->size > 0, a->size > 0);

	if (order == 0)
		order = elf_functions_compare_numbers(b->binding, a->binding);
	if (order == 0)
		order = elf_functions_compare_numbers(has_old_version(a->name),
						      has_old_version(b->name));
	if (order == 0)
		order = elf_functions_compare_numbers(n_underscores(a->name),
						      n_underscores(b->name));
	if (order == 0)
		order = elf_functions_compare_numbers(strnlen(b->name, COMPARED_MAX),
						      strnlen(a->name, COMPARED_MAX));
	if (order == 0)
		order = strncmp(a->name, b->name, COMPARED_MAX);
	return order != 0 ? order : elf_functions_compare_numbers(b->size, a->size);
}

static int elf_functions_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order = elf_functions_compare_numbers(a->start, b->start);

	return order != 0 ? order : compare_names(a, b);
}

/* Keeps the first for each start. */
static void drop_aliases(struct functions *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		if (n == 0 || f->list.items[n - 1].start != f->list.items[i].start)
			f->list.items[n++] = f->list.items[i];
	}
	f->list.n = n;
}

/* Keeps functions with a size, and those without that start outside of them. */
static void drop_labels(struct functions *f)
{
	uint64_t covered = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		struct function function = f->list.items[i];

		if (function.size == 0 && function.start < covered)
			continue;
		if (function.size > function.limit - function.start)
			function.size = function.limit - function.start;
		if (function.start + function.size > covered)
			covered = function.start + function.size;
		f->list.items[n++] = function;
	}
	f->list.n = n;
}

static uint64_t elf_functions_end_of(const struct functions *f, size_t i)
{
	const struct function *function = &f->list.items[i];

	if (function->size > 0)
		return function->start + function->size;
	if (i + 1 < f->list.n && f->list.items[i + 1].start < function->limit)
		return f->list.items[i + 1].start;
	return function->limit;
}

void functions_build(struct functions *f)
{
	ranges_release(&f->ranges);
	if (f->list.n > 0)
		qsort(f->list.items, f->list.n, sizeof(*f->list.items), elf_functions_compare);
	drop_aliases(f);
	drop_labels(f);
	for (size_t i = 0; i < f->list.n; i++) {
		struct function *function = &f->list.items[i];
		uint64_t end = elf_functions_end_of(f, i);

		function->size = end - function->start;
		ranges_add(&f->ranges, function->start, end, (uint32_t)i);
	}
	ranges_build(&f->ranges);
}

const struct function *functions_find(const struct functions *f, uint64_t address)
{
	const struct range *range = ranges_find(&f->ranges, address);

	return range == NULL ? NULL : &f->list.items[range->value];
}

void function_name(const struct function *function, enum demangle_style style, struct text *out)
{
	demangle(function->name, style, out);
	if (function->is_stub)
		text_str(out, "@plt");
}
