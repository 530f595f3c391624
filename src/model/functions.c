/* SPDX-License-Identifier: Apache-2.0 */
#include "model/functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "session/names.h"

/* The first process of the capture. Processes that it forks have the same addresses. */
static uint32_t first_process(const struct session *s)
{
	enum { UNKNOWN, IDLE, FIRST };

	return timeline_n_processes(s->timeline) > FIRST ? FIRST : UNKNOWN;
}

static struct ideal_range range_of_symbol(uint64_t pc, const struct symbol *symbol)
{
	uint64_t start = pc - symbol->function_offset;

	if (symbol->function.v == 0 || symbol->function_size == 0)
		return (struct ideal_range){ 0 };
	return (struct ideal_range){ start, start + symbol->function_size };
}

void model_functions_init(struct model_functions *f, struct session *s, const struct tuples *pcs)
{
	struct place *places = mem_zalloc(pcs->n + 1, sizeof(*places));
	struct symbol *symbols = mem_zalloc(pcs->n + 1, sizeof(*symbols));
	uint32_t process = first_process(s);
	struct tuples known;

	*f = (struct model_functions){ .session = s };
	tuples_init(&known, 2);
	for (uint32_t i = 0; i < pcs->n; i++)
		places[i] = timeline_place(s->timeline, process, false, *tuples_get(pcs, i),
					   ATTRIBUTION_END)
				    .place;
	symbols_resolve(s->symbols, s->pool, places, pcs->n, SYMBOLS_FUNCTIONS, symbols);
	for (uint32_t i = 0; i < pcs->n; i++) {
		const uint64_t key[] = { places[i].module.v, symbols[i].function.v };
		uint32_t number = tuples_add(&known, key);

		if (number == f->list.n)
			*vec_add(&f->list) = (struct model_function){
				.name = symbols[i].function.v == 0
						? NULL
						: strings_get(symbols_strings(s->symbols),
							      symbols[i].function),
				.module = names_module(s, places[i].module),
			};
		*vec_add(&f->of_block) = number;
		*vec_add(&f->ranges) = range_of_symbol(*tuples_get(pcs, i), &symbols[i]);
		places[i].offset -= symbols[i].function_offset;
		*vec_add(&f->starts) = places[i];
	}
	tuples_release(&known);
	free(places);
	free(symbols);
}

void model_functions_release(struct model_functions *f)
{
	vec_release(&f->list);
	vec_release(&f->of_block);
	vec_release(&f->ranges);
	vec_release(&f->starts);
}

const char *model_function_label(const struct model_function *f)
{
	return f->name != NULL ? f->name : f->module;
}

static const char *function_label_at(const void *context, size_t i)
{
	const struct model_functions *f = context;

	return i < f->list.n ? model_function_label(&f->list.items[i]) : NULL;
}

static bool is_function_named(const struct model_function *f, const char *name)
{
	size_t n = strlen(name);

	return f->name != NULL && strncmp(f->name, name, n) == 0 &&
	       (f->name[n] == '\0' || f->name[n] == '.');
}

static bool is_named_too(const struct model_functions *f, size_t block, const char *name)
{
	return symbols_has_alias(f->session->symbols, f->starts.items[block], name, strlen(name));
}

static void add_function_range(struct ideal *out, struct ideal_range range)
{
	for (size_t i = 0; i < out->ranges.n; i++)
		if (out->ranges.items[i].start == range.start)
			return;
	*vec_add(&out->ranges) = range;
}

int model_functions_find(const struct model_functions *f, const char *name, struct ideal *out,
			 struct err *err)
{
	char advice[NAME_MAX];

	for (size_t i = 0; i < f->of_block.n; i++)
		if (is_function_named(&f->list.items[f->of_block.items[i]], name) &&
		    f->ranges.items[i].end != 0)
			add_function_range(out, f->ranges.items[i]);
	for (size_t i = 0, n = out->ranges.n; i < f->of_block.n && n == 0; i++)
		if (f->ranges.items[i].end != 0 && is_named_too(f, i, name))
			add_function_range(out, f->ranges.items[i]);
	if (out->ranges.n > 0)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--what-if: no function '%s' of known size ran%s", name,
		       did_you_mean(name, function_label_at, f, "", advice, sizeof(advice)));
}
