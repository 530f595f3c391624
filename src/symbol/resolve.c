/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves places in four steps. Sort them by module. Look up functions: a job is a stretch of one
 * module's places. Look up lines: one or more jobs for each module. Join the answers in the order
 * of places, so that ids do not depend on which worker did what.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/radix.h"
#include "base/sort.h"
#include "base/text.h"
#include "symbol/lines.h"
#include "symbol/symbols_state.h"

enum {
	/* A file's lines are looked up by one more job for each so many addresses. */
	ADDRESSES_FOR_PART = 500,
	PLACES_FOR_STRETCH = 8192,
};

#define NO_ADDRESS UINT32_MAX

/* A function with places, and its name. */
struct found_function {
	const struct function *function;
	struct str_id name; /* set by resolve_name_functions() */
};

/* Some of the places of a module: order[from] to order[to - 1]. */
struct stretch {
	struct module_id module;
	size_t from, to;
	VEC_OF(struct found_function) functions; /* by address; number 0: none */
	size_t n_without_function;
};

/* The places of one module: order[from] to order[to - 1]. */
struct group {
	struct module_id module;
	size_t from, to;

	uint64_t *addresses;	 /* ascending, each once; NULL if there are no lines */
	uint32_t *address_index; /* by place of the group: index in `addresses`, or NO_ADDRESS */
	bool *is_named;		 /* by address: there is a symbol for it */
	size_t n_addresses;
	size_t first_answer, n_answers; /* in `askings`: one for each part */
};

/* A job: looks up the lines of a part of a group's addresses. */
struct asking {
	const struct jit_lines *dumped; /* they are these; NULL: in a file with DWARF */
	struct lines_question question;
	struct lines_answer answer;
	struct str_id *global;
	uint32_t *first_frame; /* by address: index in symbols.frames + 1; 0: not copied yet */
};

struct resolving {
	struct symbols *symbols;
	const struct place *places;
	const uint32_t *numbers; /* by place: index in `out`; NULL: the same index */
	struct symbol *out;
	uint32_t *order;    /* of the places, by module and offset */
	uint32_t *function; /* by position in `order`: number of the function in its stretch */
	VEC_OF(struct group) groups;
	VEC_OF(struct stretch) stretches;
	VEC_OF(struct asking) askings;
};

/* The place at a position in `order`, and its answer. */
static const struct place *place_at(const struct resolving *r, size_t at)
{
	return &r->places[r->order[at]];
}

static struct symbol *answer_at(const struct resolving *r, size_t at)
{
	uint32_t i = r->order[at];

	return &r->out[r->numbers == NULL ? i : r->numbers[i]];
}

struct radix_pair symbols_place_key(const void *places, size_t i)
{
	const struct place *p = (const struct place *)places + i;

	return (struct radix_pair){ p->module.v, p->offset };
}

static void make_stretches(struct resolving *r, const struct group *group)
{
	for (size_t from = group->from; from < group->to; from += PLACES_FOR_STRETCH) {
		struct stretch *stretch = vec_add(&r->stretches);

		stretch->module = group->module;
		stretch->from = from;
		stretch->to = group->to - from < PLACES_FOR_STRETCH ? group->to
								    : from + PLACES_FOR_STRETCH;
	}
}

static void resolve_make_groups(struct resolving *r, size_t n)
{
	for (size_t i = 0; i < n;) {
		struct group *group = vec_add(&r->groups);

		group->module = place_at(r, i)->module;
		group->from = i;
		i = bisect_near(i, n, k, place_at(r, k)->module.v == group->module.v);
		group->to = i;
		symbols_prepare(r->symbols, group->module);
		make_stretches(r, group);
	}
}

/* A job: loads one module. */
static void resolve_load_module(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;

	(void)worker;
	symbols_load(r->symbols, r->groups.items[job].module);
}

/* Is the file of a module not here? */
static bool is_nowhere(const struct binary *b)
{
	return !b->has_segments && b->size == 0 && b->to_file == 0;
}

/* Has a module nothing to say of any place? */
static bool is_unknown(const struct binary *b)
{
	return is_nowhere(b) && b->only_name == NULL &&
	       (b->functions == NULL || b->functions->list.n == 0);
}

static bool knows_nothing(const struct resolving *r, const struct binary *b)
{
	return r->numbers != NULL && is_unknown(b);
}

/* A job: looks up the functions of a stretch. */
static void find_functions(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;
	struct stretch *stretch = &r->stretches.items[job];
	const struct binary *binary = &r->symbols->states[stretch->module.v].binary;

	(void)worker;
	vec_add(&stretch->functions);
	if (knows_nothing(r, binary))
		return;
	for (size_t i = stretch->from; i < stretch->to; i++) {
		const struct function *function = NULL;
		uint64_t address;

		if (binary_address(binary, place_at(r, i)->offset, &address))
			function = binary_find(binary, address);
		if (function != NULL &&
		    function != stretch->functions.items[stretch->functions.n - 1].function)
			vec_add(&stretch->functions)->function = function;
		r->function[i] = function == NULL ? 0 : (uint32_t)stretch->functions.n - 1;
	}
}

/* Interns the names of modules that are a single function. */
static void name_modules(struct resolving *r)
{
	for (size_t i = 0; i < r->groups.n; i++) {
		struct module_state *state = &r->symbols->states[r->groups.items[i].module.v];

		if (state->binary.only_name != NULL)
			state->only_name =
				strings_addz(&r->symbols->strings, state->binary.only_name);
	}
}

static struct str_id resolve_name_of(struct symbols *s, const struct function *function,
				     struct text *text)
{
	text_reset(text);
	function_name(function, symbols_style(s), text);
	return strings_add(&s->strings, text->bytes, text->n);
}

/* Demangles and interns the functions of all stretches, in order of modules and offsets. */
static void resolve_name_functions(struct resolving *r)
{
	const struct function *last = NULL;
	struct str_id last_name = { 0 };
	struct text text = { 0 };

	for (size_t i = 0; i < r->stretches.n; i++) {
		const struct stretch *stretch = &r->stretches.items[i];

		for (size_t at = 1; at < stretch->functions.n; at++) {
			struct found_function *found = &stretch->functions.items[at];

			if (found->function != last)
				last_name = resolve_name_of(r->symbols, found->function, &text);
			last = found->function;
			found->name = last_name;
		}
	}
	text_release(&text);
}

static struct symbol symbol_at(const struct resolving *r, const struct stretch *stretch, size_t at)
{
	const struct binary *binary = &r->symbols->states[stretch->module.v].binary;
	const struct found_function *found = &stretch->functions.items[r->function[at]];
	struct symbol symbol = { .function = found->name };

	if (!binary_address(binary, place_at(r, at)->offset, &symbol.address))
		symbol.address = 0;
	if (found->function != NULL) {
		symbol.function_offset =
			symbol.address + binary->to_function - found->function->start;
		symbol.function_size = found->function->size;
	}
	return symbol;
}

/*
 * Where nothing is known nothing is written: untouched pages take no memory. They are not read either: to write to a page
 * that was read before interrupts the other cores.
 */
static void put_answer(struct symbol *out, const struct symbol *answer)
{
	static const struct symbol nothing;

	if (memcmp(answer, &nothing, sizeof(nothing)) != 0)
		*out = *answer;
}

/* A job: writes the answers of a stretch. */
static void resolve_write_answers(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;
	struct stretch *stretch = &r->stretches.items[job];
	const struct module_state *state = &r->symbols->states[stretch->module.v];
	const struct binary *b = &state->binary;
	size_t n_without = 0; /* counted here: stretches of two workers share cache lines */

	(void)worker;
	stretch->n_without_function = stretch->to - stretch->from;
	if (knows_nothing(r, b))
		return;
	for (size_t i = stretch->from; i < stretch->to; i++) {
		struct symbol symbol = symbol_at(r, stretch, i);

		if (state->binary.only_name != NULL) {
			symbol.function = state->only_name;
			symbol.function_offset = place_at(r, i)->offset;
		}
		if (r->numbers != NULL && is_nowhere(b) && symbol.function.v == 0)
			symbol.address = 0;
		put_answer(answer_at(r, i), &symbol);
		n_without += symbol.function.v == 0;
	}
	stretch->n_without_function = n_without;
}

static int resolve_compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The addresses of a group, not yet sorted; places without one are left out. */
static void list_addresses(const struct resolving *r, struct group *group)
{
	const struct binary *binary = &r->symbols->states[group->module.v].binary;
	size_t n = group->to - group->from;

	group->addresses = mem_alloc(n, sizeof(*group->addresses));
	group->address_index = mem_alloc(n, sizeof(*group->address_index));
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = place_at(r, group->from + i)->offset;
		bool has_address =
			binary_address(binary, offset, &group->addresses[group->n_addresses]);

		group->address_index[i] = has_address ? 0 : NO_ADDRESS;
		group->n_addresses += has_address;
	}
}

/* The distinct addresses of a group, and where each place's address is among them. */
static void gather_addresses(const struct resolving *r, struct group *group)
{
	size_t n, at = 0;

	list_addresses(r, group);
	n = group->n_addresses;
	group->n_addresses = 0;
	sort_unless_sorted(group->addresses, n, sizeof(*group->addresses),
			   resolve_compare_addresses);
	for (size_t i = 0; i < n; i++) {
		if (group->n_addresses == 0 ||
		    group->addresses[group->n_addresses - 1] != group->addresses[i])
			group->addresses[group->n_addresses++] = group->addresses[i];
	}
	group->is_named = mem_zalloc(group->n_addresses + 1, sizeof(*group->is_named));
	for (size_t i = 0; n > 0 && i < group->to - group->from; i++) {
		const struct symbol *symbol = answer_at(r, group->from + i);

		/* places are in order, and their addresses are, but where segments are not */
		if (at == group->n_addresses || group->addresses[at] > symbol->address)
			at = 0;
		at = bisect_near(at, group->n_addresses, k, group->addresses[k] < symbol->address);
		if (group->address_index[i] == NO_ADDRESS || at == group->n_addresses ||
		    group->addresses[at] != symbol->address)
			continue;
		group->address_index[i] = (uint32_t)at;
		group->is_named[at] = symbol->function.v != 0;
	}
}

/*
 * How many jobs share a file. Only one if its DWARF is compressed: each would decompress all of it.
 */
static size_t count_parts(const struct group *group, const struct binary *binary, size_t n_workers)
{
	size_t n = 1 + group->n_addresses / ADDRESSES_FOR_PART;

	if (binary->is_compressed || binary->lines_path == NULL)
		return 1;
	return n < n_workers ? n : n_workers;
}

static void make_askings(struct resolving *r, size_t n_workers, enum symbols_depth depth)
{
	for (size_t g = 0; g < r->groups.n; g++) {
		struct group *group = &r->groups.items[g];
		const struct binary *binary = &r->symbols->states[group->module.v].binary;

		if (binary->lines_path == NULL && binary->dump_lines.list.n == 0)
			continue;
		gather_addresses(r, group);
		if (group->n_addresses == 0)
			continue;
		group->first_answer = r->askings.n;
		group->n_answers = count_parts(group, binary, n_workers);
		for (size_t part = 0; part < group->n_answers; part++) {
			struct asking *asking = vec_add(&r->askings);

			if (binary->lines_path == NULL)
				asking->dumped = &binary->dump_lines;
			asking->question = (struct lines_question){
				.path = binary->lines_path,
				.alt_path = binary->alt_path,
				.root = binary->root,
				.style = symbols_style(r->symbols),
				.addresses = group->addresses,
				.n = group->n_addresses,
				.is_named = group->is_named,
				.part = part,
				.n_parts = group->n_answers,
				.without_lines = depth == SYMBOLS_INLINED,
			};
		}
	}
}

static void resolve_ask(void *context, size_t job, unsigned worker)
{
	struct resolving *r = context;
	struct asking *asking = &r->askings.items[job];

	(void)worker;
	if (asking->dumped != NULL)
		jit_lines_ask(asking->dumped, &asking->question, &asking->answer);
	else
		lines_ask(&asking->question, &asking->answer);
}

/* Translates an id of an answer's strings to one of symbols_strings(); `global` caches it. */
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
 * Copies the frames of an address to symbols.frames, once. Returns the index of the first. The
 * outermost frame gets the name of the symbol table, which DWARF does not always have.
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

static void finish_place(struct resolving *r, const struct group *group, uint32_t address,
			 struct symbol *out)
{
	for (size_t i = 0; i < group->n_answers && address != NO_ADDRESS; i++) {
		struct asking *asking = &r->askings.items[group->first_answer + i];
		uint32_t n = asking->answer.chains[address].n;
		const struct symbol_frame *first;

		if (n == 0)
			continue;
		out->first_frame = copy_frames(r->symbols, asking, address, out->function);
		out->n_frames = n;
		first = &r->symbols->frames.items[out->first_frame];
		out->inlined = first->is_inlined ? first->function : (struct str_id){ 0 };
		return;
	}
}

/* Copies frames in order of modules and offsets, so that ids do not depend on the workers. */
static void finish_lines(struct resolving *r)
{
	for (size_t g = 0; g < r->groups.n; g++) {
		const struct group *group = &r->groups.items[g];
		struct module_state *state = &r->symbols->states[group->module.v];
		uint64_t n_without = group->n_answers > 0 ? 0 : group->to - group->from;

		for (size_t i = group->from; i < group->to && group->n_answers > 0; i++) {
			struct symbol *out = answer_at(r, i);

			finish_place(r, group, group->address_index[i - group->from], out);
			n_without += out->n_frames == 0;
		}
		if (n_without > state->n_without_line)
			state->n_without_line = n_without;
	}
}

/* Adds up what stretches found missing of each module. Returns how many places have a function. */
static size_t count_missing(struct resolving *r)
{
	size_t n_with = 0;

	for (size_t i = 0; i < r->stretches.n;) {
		struct module_id module = r->stretches.items[i].module;
		struct module_state *state = &r->symbols->states[module.v];
		uint64_t n = 0;

		for (; i < r->stretches.n && r->stretches.items[i].module.v == module.v; i++) {
			const struct stretch *stretch = &r->stretches.items[i];

			n += stretch->n_without_function;
			n_with += stretch->to - stretch->from - stretch->n_without_function;
		}
		if (n > state->n_without_function)
			state->n_without_function = n;
	}
	return n_with;
}

static void ask_for_lines(struct resolving *r, struct pool *pool, enum symbols_depth depth)
{
	make_askings(r, pool_size(pool), depth);
	pool_run(pool, r->askings.n, resolve_ask, r);
	for (size_t i = 0; i < r->askings.n; i++)
		diags_merge(&r->symbols->diags, &r->askings.items[i].answer.diags);
	finish_lines(r);
}

static void resolving_release(struct resolving *r)
{
	for (size_t i = 0; i < r->groups.n; i++) {
		free(r->groups.items[i].addresses);
		free(r->groups.items[i].address_index);
		free(r->groups.items[i].is_named);
	}
	for (size_t i = 0; i < r->stretches.n; i++)
		vec_release(&r->stretches.items[i].functions);
	for (size_t i = 0; i < r->askings.n; i++) {
		lines_answer_release(&r->askings.items[i].answer);
		free(r->askings.items[i].global);
		free(r->askings.items[i].first_frame);
	}
	vec_release(&r->groups);
	vec_release(&r->stretches);
	vec_release(&r->askings);
	free(r->function);
	free(r->order);
}

/* Looks up the functions of all groups. Returns how many places have one. */
static size_t resolve_functions(struct resolving *r, struct pool *pool, size_t n)
{
	r->function = mem_alloc(n, sizeof(*r->function));
	pool_run(pool, r->groups.n, resolve_load_module, r);
	pool_run(pool, r->stretches.n, find_functions, r);
	name_modules(r);
	resolve_name_functions(r);
	pool_run(pool, r->stretches.n, resolve_write_answers, r);
	return count_missing(r);
}

/*
 * Resolves the places at the positions in r->order, which it frees. Returns how many got a function, which they may have
 * already.
 */
static size_t resolve_ordered(struct resolving *r, struct pool *pool, size_t n,
			      enum symbols_depth depth, bool has_functions)
{
	size_t n_with = 0;

	resolve_make_groups(r, n);
	if (!has_functions)
		n_with = resolve_functions(r, pool, n);
	if (depth != SYMBOLS_FUNCTIONS)
		ask_for_lines(r, pool, depth);
	resolving_release(r);
	symbols_update_missing(r->symbols);
	return n_with;
}

size_t symbols_resolve_sorted(struct symbols *s, struct pool *pool, const struct place *places,
			      const uint32_t *numbers, size_t n, const bool *wanted,
			      enum symbols_depth depth, bool has_functions, struct symbol *out)
{
	struct resolving r = { .symbols = s, .places = places, .numbers = numbers, .out = out };
	size_t n_wanted = 0;

	r.order = mem_alloc(n + 1, sizeof(*r.order));
	for (size_t i = 0; i < n; i++) {
		r.order[n_wanted] = (uint32_t)i;
		n_wanted += wanted == NULL || wanted[numbers[i]];
	}
	if (n_wanted > 0)
		return resolve_ordered(&r, pool, n_wanted, depth, has_functions);
	free(r.order);
	return 0;
}

void symbols_resolve(struct symbols *s, struct pool *pool, const struct place *places, size_t n,
		     enum symbols_depth depth, struct symbol *out)
{
	struct resolving r = { .symbols = s, .places = places, .out = out };

	if (n == 0)
		return;
	memset(out, 0, n * sizeof(*out));
	r.order = radix_order(places, n, symbols_place_key);
	resolve_ordered(&r, pool, n, depth, false);
}

bool symbols_know_nothing(struct symbols *s, struct pool *pool, const size_t *n_places)
{
	struct resolving r = { .symbols = s };
	bool is_all_unknown = true;

	for (uint32_t i = 0; i < s->modules->list.n; i++) {
		if (n_places[i] == 0)
			continue;
		vec_add(&r.groups)->module = (struct module_id){ i };
		symbols_prepare(s, (struct module_id){ i });
	}
	pool_run(pool, r.groups.n, resolve_load_module, &r);
	for (size_t i = 0; i < r.groups.n; i++)
		is_all_unknown &= is_unknown(&s->states[r.groups.items[i].module.v].binary);
	for (size_t i = 0; i < r.groups.n && is_all_unknown; i++) {
		uint32_t module = r.groups.items[i].module.v;

		if (n_places[module] > s->states[module].n_without_function)
			s->states[module].n_without_function = n_places[module];
	}
	if (is_all_unknown)
		symbols_update_missing(s);
	vec_release(&r.groups);
	return is_all_unknown;
}
