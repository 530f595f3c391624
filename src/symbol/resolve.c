/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves many places in four steps: sort them by module; look up functions, one job for
 * each module; ask for lines, one or more jobs for each module; put the answers together, in
 * their order, so that nothing depends on which worker did what.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/text.h"
#include "symbol/lines.h"
#include "symbol/symbols_state.h"

enum {
	/* A file is asked by one more worker for each so many addresses. */
	ADDRESSES_FOR_PART = 500,
};

#define NO_ADDRESS UINT32_MAX

/* One place of the question, and what is found out about it. There may be very many. */
struct item {
	uint64_t offset; /* in the group's module */
	uint64_t address;
	const struct function *function;
	uint64_t function_offset;
	uint32_t number;	/* in the question */
	struct str_id name;	/* in the group's strings */
	uint32_t address_index; /* in the group's addresses; NO_ADDRESS: no lines */
	bool has_address;
};

/* The places of one module. */
struct group {
	struct module_id module;
	struct item *items;
	size_t n;
	struct strings strings;
	struct str_id *global; /* by id in `strings`, filled in as needed */

	uint64_t *addresses; /* ascending, each once; NULL if there are no lines */
	size_t n_addresses;
	size_t first_answer, n_answers; /* in the resolving's answers: one for each part */
};

/* A part of a group's addresses, asked of one worker. */
struct asking {
	struct lines_question question;
	struct lines_answer answer;
	struct str_id *global;
	uint32_t *first_frame; /* by address: in the frames of all, plus 1 */
};

struct resolving {
	struct symbols *symbols;
	struct item *items; /* by module and offset */
	VEC_OF(struct group) groups;
	VEC_OF(struct asking) askings;
};

/* Numbers of the places, sorted by module and offset. */
static uint32_t *sort_places(const struct place *places, size_t n)
{
	uint32_t *order = mem_alloc(n, sizeof(*order));
	uint64_t *keys = mem_alloc(n, sizeof(*keys));

	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		keys[i] = places[i].offset;
	}
	radix_sort(order, n, keys);
	for (size_t i = 0; i < n; i++)
		keys[i] = places[i].module.v;
	radix_sort(order, n, keys);
	free(keys);
	return order;
}

static struct group *add_group(struct resolving *r, struct module_id module, struct item *items)
{
	struct group *group = vec_add(&r->groups);

	group->module = module;
	group->items = items;
	symbols_prepare(r->symbols, module);
	return group;
}

static void make_groups(struct resolving *r, const struct place *places, size_t n)
{
	uint32_t *order = sort_places(places, n);
	struct group *group = NULL;

	r->items = mem_zalloc(n, sizeof(*r->items));
	for (size_t i = 0; i < n; i++) {
		const struct place *place = &places[order[i]];

		if (group == NULL || group->module.v != place->module.v)
			group = add_group(r, place->module, &r->items[i]);
		r->items[i].offset = place->offset;
		r->items[i].number = order[i];
		r->items[i].address_index = NO_ADDRESS;
		group->n++;
	}
	free(order);
}

/* Looks up one place; `last` was looked up before it. */
static void find_function(const struct resolving *r, const struct binary *binary,
			  struct group *group, struct item *item, const struct item *last,
			  struct text *name)
{
	item->has_address = binary_address(binary, item->offset, &item->address);
	if (!item->has_address)
		return;
	item->function = binary_find(binary, item->address);
	if (item->function == NULL)
		return;
	item->function_offset = item->address + binary->to_function - item->function->start;
	if (last != NULL && last->function == item->function) {
		item->name = last->name;
		return;
	}
	text_reset(name);
	function_name(item->function, symbols_style(r->symbols), name);
	item->name = strings_add(&group->strings, name->bytes, name->n);
}

/* A job: loads one module and looks up all its places. */
static void find_functions(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;
	struct group *group = &r->groups.items[job];
	const struct binary *binary = &r->symbols->states[group->module.v].binary;
	struct text name = { 0 };

	(void)worker;
	symbols_load(r->symbols, group->module);
	strings_init(&group->strings);
	for (size_t i = 0; i < group->n; i++)
		find_function(r, binary, group, &group->items[i],
			      i == 0 ? NULL : &group->items[i - 1], &name);
	if (binary->only_name != NULL) {
		struct str_id only = strings_addz(&group->strings, binary->only_name);

		for (size_t i = 0; i < group->n; i++) {
			group->items[i].name = only;
			group->items[i].function_offset = group->items[i].offset;
		}
	}
	text_release(&name);
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The distinct addresses of a group, and where each item's address is among them. */
static void gather_addresses(struct group *group)
{
	size_t n = 0;

	group->addresses = mem_alloc(group->n, sizeof(*group->addresses));
	for (size_t i = 0; i < group->n; i++) {
		if (group->items[i].has_address)
			group->addresses[n++] = group->items[i].address;
	}
	if (n > 0)
		qsort(group->addresses, n, sizeof(*group->addresses), compare_numbers);
	for (size_t i = 0; i < n; i++) {
		if (group->n_addresses == 0 ||
		    group->addresses[group->n_addresses - 1] != group->addresses[i])
			group->addresses[group->n_addresses++] = group->addresses[i];
	}
	for (size_t i = 0; i < group->n; i++) {
		const uint64_t *found =
			bsearch(&group->items[i].address, group->addresses, group->n_addresses,
				sizeof(*group->addresses), compare_numbers);

		if (group->items[i].has_address && found != NULL)
			group->items[i].address_index = (uint32_t)(found - group->addresses);
	}
}

/* Big questions are split, unless each worker would have to decompress all of the DWARF. */
static size_t count_parts(const struct group *group, const struct binary *binary, size_t n_workers)
{
	size_t n = 1 + group->n_addresses / ADDRESSES_FOR_PART;

	if (binary->is_compressed)
		return 1;
	return n < n_workers ? n : n_workers;
}

static void make_askings(struct resolving *r, size_t n_workers)
{
	for (size_t g = 0; g < r->groups.n; g++) {
		struct group *group = &r->groups.items[g];
		const struct binary *binary = &r->symbols->states[group->module.v].binary;

		if (binary->lines_path == NULL)
			continue;
		gather_addresses(group);
		if (group->n_addresses == 0)
			continue;
		group->first_answer = r->askings.n;
		group->n_answers = count_parts(group, binary, n_workers);
		for (size_t part = 0; part < group->n_answers; part++)
			vec_add(&r->askings)->question = (struct lines_question){
				.path = binary->lines_path,
				.alt_path = binary->alt_path,
				.style = symbols_style(r->symbols),
				.addresses = group->addresses,
				.n = group->n_addresses,
				.part = part,
				.n_parts = group->n_answers,
			};
	}
}

static void ask(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;
	struct asking *asking = &r->askings.items[job];

	(void)worker;
	lines_ask(&asking->question, &asking->answer);
}

/* The id for all of a string that one group or answer found. */
static struct str_id globalize(struct symbols *s, const struct strings *strings,
			       struct str_id **global, struct str_id id)
{
	if (*global == NULL)
		*global = mem_zalloc(strings->texts.n, sizeof(**global));
	if (id.v != 0 && (*global)[id.v].v == 0)
		(*global)[id.v] = strings_addz(&s->strings, strings_get(strings, id));
	return id.v == 0 ? id : (*global)[id.v];
}

/*
 * Copies the frames of an address to the frames of all; once, however often it is asked. The
 * last level gets the name of the symbol table, which DWARF does not always have.
 */
static uint32_t copy_frames(struct symbols *s, struct asking *asking, size_t address,
			    struct str_id function)
{
	const struct lines_answer *answer = &asking->answer;
	struct line_chain chain = answer->chains[address];

	if (asking->first_frame == NULL)
		asking->first_frame = mem_zalloc(asking->question.n, sizeof(*asking->first_frame));
	if (asking->first_frame[address] != 0)
		return asking->first_frame[address] - 1;
	asking->first_frame[address] = (uint32_t)s->frames.n + 1;
	for (uint32_t i = 0; i < chain.n; i++) {
		struct symbol_frame frame = answer->frames.items[chain.first + i];

		frame.function = globalize(s, &answer->strings, &asking->global, frame.function);
		frame.file = globalize(s, &answer->strings, &asking->global, frame.file);
		if (i == chain.n - 1 && !frame.is_inlined && function.v != 0)
			frame.function = function;
		*vec_add(&s->frames) = frame;
	}
	return asking->first_frame[address] - 1;
}

static void finish_lines(struct resolving *r, const struct group *group, const struct item *item,
			 struct symbol *out)
{
	for (size_t i = 0; i < group->n_answers && item->address_index != NO_ADDRESS; i++) {
		struct asking *asking = &r->askings.items[group->first_answer + i];
		uint32_t n = asking->answer.chains[item->address_index].n;

		if (n == 0)
			continue;
		out->first_frame =
			copy_frames(r->symbols, asking, item->address_index, out->function);
		out->n_frames = n;
		return;
	}
}

static void finish_item(struct resolving *r, struct group *group, const struct item *item,
			struct symbol *out)
{
	*out = (struct symbol){
		.function = globalize(r->symbols, &group->strings, &group->global, item->name),
		.function_offset = item->function_offset,
		.function_size = item->function == NULL ? 0 : item->function->size,
		.address = item->has_address ? item->address : 0,
	};
	finish_lines(r, group, item, out);
}

static void count_missing(struct module_state *state, const struct group *group,
			  const struct symbol *out, enum symbols_depth depth)
{
	uint64_t n_without_function = 0, n_without_line = 0;

	for (size_t i = 0; i < group->n; i++) {
		const struct symbol *symbol = &out[group->items[i].number];

		n_without_function += symbol->function.v == 0;
		n_without_line += depth == SYMBOLS_LINES && symbol->n_frames == 0;
	}
	if (n_without_function > state->n_without_function)
		state->n_without_function = n_without_function;
	if (n_without_line > state->n_without_line)
		state->n_without_line = n_without_line;
}

/* Strings and frames get their ids in the order of modules and offsets. */
static void finish(struct resolving *r, enum symbols_depth depth, struct symbol *out)
{
	for (size_t g = 0; g < r->groups.n; g++) {
		struct group *group = &r->groups.items[g];

		for (size_t i = 0; i < group->n; i++)
			finish_item(r, group, &group->items[i], &out[group->items[i].number]);
		count_missing(&r->symbols->states[group->module.v], group, out, depth);
	}
}

static void resolving_release(struct resolving *r)
{
	for (size_t i = 0; i < r->groups.n; i++) {
		strings_release(&r->groups.items[i].strings);
		free(r->groups.items[i].global);
		free(r->groups.items[i].addresses);
	}
	for (size_t i = 0; i < r->askings.n; i++) {
		lines_answer_release(&r->askings.items[i].answer);
		free(r->askings.items[i].global);
		free(r->askings.items[i].first_frame);
	}
	vec_release(&r->groups);
	vec_release(&r->askings);
	free(r->items);
}

void symbols_resolve(struct symbols *s, struct pool *pool, const struct place *places, size_t n,
		     enum symbols_depth depth, struct symbol *out)
{
	struct resolving r = { .symbols = s };

	if (n == 0)
		return;
	make_groups(&r, places, n);
	pool_run(pool, r.groups.n, find_functions, &r);
	if (depth == SYMBOLS_LINES) {
		make_askings(&r, pool_size(pool));
		pool_run(pool, r.askings.n, ask, &r);
		for (size_t i = 0; i < r.askings.n; i++)
			diags_merge(&s->diags, &r.askings.items[i].answer.diags);
	}
	finish(&r, depth, out);
	resolving_release(&r);
	symbols_update_missing(s);
}
