/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

void functions_release(struct functions *functions)
{
	vec_release(&functions->list);
	ranges_release(&functions->ranges);
	vec_release(&functions->aliases);
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

/* The kernel's second name for code that also runs before it is where it was linked to. */
static bool is_early_alias(const char *name)
{
	return strncmp(name, "__pi_", 5) == 0;
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
		order = elf_functions_compare_numbers(is_early_alias(a->name),
						      is_early_alias(b->name));
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

static int elf_functions_compare_aliases(const void *left, const void *right)
{
	const struct function_alias *a = left, *b = right;
	int order = elf_functions_compare_numbers(a->start, b->start);

	return order != 0 ? order : strncmp(a->name, b->name, COMPARED_MAX);
}

/* Keeps the first for each start. Other names of it, each once, become aliases. */
static void move_aliases(struct functions *f)
{
	struct function_alias *aliases;
	size_t n = 0, n_aliases = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct function *function = &f->list.items[i];

		if (n == 0 || f->list.items[n - 1].start != function->start)
			f->list.items[n++] = *function;
		else if (strncmp(f->list.items[n - 1].name, function->name, COMPARED_MAX) != 0)
			*vec_add(&f->aliases) =
				(struct function_alias){ function->start, function->name };
	}
	f->list.n = n;
	aliases = f->aliases.items;
	if (f->aliases.n > 1)
		qsort(aliases, f->aliases.n, sizeof(*aliases), elf_functions_compare_aliases);
	for (size_t i = 0; i < f->aliases.n; i++)
		if (i == 0 ||
		    elf_functions_compare_aliases(&aliases[n_aliases - 1], &aliases[i]) != 0)
			aliases[n_aliases++] = aliases[i];
	f->aliases.n = n_aliases;
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
	move_aliases(f);
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

const struct function_alias *functions_aliases(const struct functions *f, uint64_t start,
					       size_t *out_n)
{
	const struct function_alias *aliases = f->aliases.items;
	size_t first = bisect(0, f->aliases.n, i, aliases[i].start < start), end = first;

	while (end < f->aliases.n && aliases[end].start == start)
		end++;
	*out_n = end - first;
	return *out_n > 0 ? aliases + first : NULL;
}

void function_alias_name(const struct function_alias *alias, enum demangle_style style,
			 struct text *out)
{
	size_t from = out->n;
	const char *version;

	demangle(alias->name, style, out);
	version = memchr(out->bytes + from, '@', out->n - from);
	if (version != NULL)
		out->n = (size_t)(version - out->bytes);
}
