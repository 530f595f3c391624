/* SPDX-License-Identifier: Apache-2.0 */
#include "session/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"

static const char unknown[] = "[unknown]";

enum {
	PLACES_AT_ONCE = 64 << 10,
	/* To put more places in order takes longer than to ask before whether anything is known of their modules. */
	MANY_PLACES = 64 << 10,
	FIRST_PLACES = 1 << 10,
	COUNTING_JOBS = 16,
};

/* Without a list of places in their order: some after the other. Returns how many have a function. */
static size_t resolve_some(struct names *n, const bool *wanted, enum symbols_depth depth,
			   bool has_functions)
{
	struct place *places = mem_alloc(PLACES_AT_ONCE, sizeof(*places));
	size_t n_with = 0;

	for (uint32_t first = 0; first < n->n; first += PLACES_AT_ONCE) {
		uint32_t some = n->n - first < PLACES_AT_ONCE ? n->n - first : PLACES_AT_ONCE;

		for (uint32_t i = 0; i < some; i++)
			places[i] = session_place(n->session, n->numbers[first + i]);
		n_with += symbols_resolve_sorted(n->session->symbols, n->session->pool, places,
						 &n->numbers[first], some, wanted, depth,
						 has_functions, n->symbols);
	}
	free(places);
	return n_with;
}

/* Looks up those that are wanted (NULL: all) of the sorted places. */
static void resolve_wanted(struct names *n, const bool *wanted, enum symbols_depth depth,
			   bool has_functions)
{
	size_t n_with = n->places == NULL
				? resolve_some(n, wanted, depth, has_functions)
				: symbols_resolve_sorted(n->session->symbols, n->session->pool,
							 n->places, n->numbers, n->n, wanted, depth,
							 has_functions, n->symbols);

	n->has_functions |= n_with > 0;
	n->has_frames |= depth != SYMBOLS_FUNCTIONS && symbols_have_frames(n->session->symbols);
}

/* How many places of each module are wanted: each job counts for itself. */
struct counting {
	const struct session *session;
	const bool *wanted; /* NULL: all */
	uint32_t n_places;  /* of the session: the first ones */
	size_t n_modules;
	size_t *n; /* by job and module */
};

static void count_places(void *context, size_t job, unsigned worker)
{
	const struct counting *c = context;
	uint64_t n_places = c->n_places;
	uint32_t end = (uint32_t)(n_places * (job + 1) / COUNTING_JOBS);
	size_t *n = &c->n[job * c->n_modules];

	(void)worker;
	for (uint32_t i = (uint32_t)(n_places * job / COUNTING_JOBS), some; i < end; i += some) {
		const struct place *places;

		some = end - i;
		places = place_numbers_from(c->session->places, i, &some);
		for (uint32_t k = 0; k < some; k++)
			n[places[k].module.v] += c->wanted == NULL || c->wanted[i + k];
	}
}

/* Is nothing known of any of the first n_places that are wanted? */
static bool is_nothing_known(const struct session *s, const bool *wanted, uint32_t n_places)
{
	struct counting c = { .session = s,
			      .wanted = wanted,
			      .n_places = n_places,
			      .n_modules = timeline_modules(s->timeline)->list.n };
	bool is_so;

	c.n = mem_zalloc(COUNTING_JOBS * c.n_modules, sizeof(*c.n));
	pool_run(s->pool, COUNTING_JOBS, count_places, &c);
	for (size_t i = c.n_modules; i < COUNTING_JOBS * c.n_modules; i++)
		c.n[i % c.n_modules] += c.n[i];
	is_so = symbols_know_nothing(s->symbols, s->pool, c.n);
	free(c.n);
	return is_so;
}

void names_put_in_order(struct names *n)
{
	struct session *s = n->session;

	if (n->places != NULL)
		return;
	assert(n->n == place_numbers_n(s->places));
	n->numbers = mem_huge(n->n, sizeof(*n->numbers));
	n->places = mem_huge(n->n, sizeof(*n->places));
	n->n_in_order = n->n;
	place_numbers_restore_index(s->places);
	place_numbers_sorted(s->places, s->pool, n->numbers, n->places);
}

void names_init(struct names *out, struct session *s, const bool *wanted, enum symbols_depth depth)
{
	uint32_t n = place_numbers_n(s->places);

	*out = (struct names){ .session = s, .n = n, .depth = depth };
	/* mostly the first ones tell */
	if (depth == SYMBOLS_FUNCTIONS && n >= MANY_PLACES &&
	    is_nothing_known(s, wanted, FIRST_PLACES) && is_nothing_known(s, wanted, n)) {
		out->symbols = mem_zalloc(n, sizeof(*out->symbols));
		out->know_nothing = true;
		return;
	}
	out->is_huge = (size_t)n * sizeof(*out->symbols) >= MEM_HUGE;
	out->symbols = out->is_huge ? mem_huge(n, sizeof(*out->symbols))
				    : mem_zalloc(n, sizeof(*out->symbols));
	names_put_in_order(out);
	resolve_wanted(out, wanted, depth, false);
}

/* Takes the symbol of a place from other names, if these have one with all that is asked for. */
static bool names_take(struct names *out, uint32_t place, const struct names *known)
{
	if (known == NULL || known->depth < out->depth || place >= known->n ||
	    known->symbols[place].function.v == 0)
		return false;
	out->symbols[place] = known->symbols[place];
	out->has_functions = true;
	out->has_frames |= known->has_frames;
	return true;
}

static void free_symbols(struct names *n)
{
	if (n->is_huge)
		mem_huge_free(n->symbols, n->n, sizeof(*n->symbols));
	else
		free(n->symbols);
	n->is_huge = false;
	n->symbols = NULL;
}

/* Room for the places that the session has now. */
static void make_room(struct names *n)
{
	uint32_t n_places = place_numbers_n(n->session->places);
	struct symbol *symbols;

	if (n_places <= n->n)
		return;
	symbols = mem_zalloc(n_places, sizeof(*symbols));
	if (n->n > 0)
		memcpy(symbols, n->symbols, n->n * sizeof(*symbols));
	free_symbols(n);
	n->symbols = symbols;
	n->n = n_places;
}

void names_add_few(struct names *out, const bool *wanted, const struct names *known)
{
	struct session *s = out->session;
	uint32_t *numbers = mem_alloc(place_numbers_n(s->places) + 1u, sizeof(*numbers));
	uint32_t n_wanted = 0;
	struct place *places;
	struct symbol *symbols;

	make_room(out);
	for (uint32_t number = 0; number < out->n; number++) {
		numbers[n_wanted] = number;
		n_wanted += wanted[number] && !names_take(out, number, known);
	}
	places = mem_alloc(n_wanted, sizeof(*places));
	symbols = mem_alloc(n_wanted, sizeof(*symbols));
	for (uint32_t i = 0; i < n_wanted; i++)
		places[i] = session_place(s, numbers[i]);
	symbols_resolve(s->symbols, s->pool, places, n_wanted, out->depth, symbols);
	for (uint32_t i = 0; i < n_wanted; i++) {
		out->symbols[numbers[i]] = symbols[i];
		out->has_functions |= symbols[i].function.v != 0;
		out->has_frames |= symbols[i].n_frames > 0;
	}
	free(numbers);
	free(places);
	free(symbols);
}

void names_init_few(struct names *out, struct session *s, const bool *wanted,
		    enum symbols_depth depth, const struct names *known)
{
	uint32_t n = place_numbers_n(s->places);

	*out = (struct names){ .session = s, .n = n, .depth = depth };
	out->symbols = mem_zalloc(n, sizeof(*out->symbols));
	names_add_few(out, wanted, known);
}

void names_init_in_order(struct names *out, struct session *s, uint32_t *numbers,
			 const bool *wanted, enum symbols_depth depth)
{
	uint32_t n = place_numbers_n(s->places);

	*out = (struct names){ .session = s, .n = n, .depth = depth, .numbers = numbers };
	out->symbols = mem_zalloc(n, sizeof(*out->symbols));
	resolve_wanted(out, wanted, depth, false);
}

void names_forget_order(struct names *n)
{
	if (n->n_in_order > 0) {
		mem_huge_free(n->numbers, n->n_in_order, sizeof(*n->numbers));
		mem_huge_free(n->places, n->n_in_order, sizeof(*n->places));
	} else {
		free(n->numbers);
	}
	n->n_in_order = 0;
	n->numbers = NULL;
	n->places = NULL;
}

void names_add_inlined(struct names *n, const bool *wanted)
{
	resolve_wanted(n, wanted, SYMBOLS_INLINED, true);
}

void names_release(struct names *n)
{
	free_symbols(n);
	names_forget_order(n);
	*n = (struct names){ 0 };
}

const char *names_module(const struct session *s, struct module_id id)
{
	const struct modules *modules = timeline_modules(s->timeline);

	if (id.v == 0)
		return unknown;
	return strings_get(modules->strings, modules_get(modules, id)->name);
}

bool names_have_functions(const struct names *n)
{
	return n->has_functions || n->n <= 1; /* no place at all: none is without */
}

const char *names_function(const struct names *n, uint32_t place)
{
	struct str_id function = n->symbols[place].function;

	return function.v == 0 ? unknown
			       : strings_get(symbols_strings(n->session->symbols), function);
}

const char *names_inlined_function(const struct names *n, uint32_t place)
{
	struct str_id inlined = names_inlined(n, place);

	return inlined.v == 0 ? NULL : strings_get(symbols_strings(n->session->symbols), inlined);
}

static bool line_of_symbol(const struct symbols *symbols, const struct symbol *s,
			   const char **out_file, uint32_t *out_line)
{
	const struct symbol_frame *frame;

	if (s->n_frames == 0)
		return false;
	frame = &symbols_frames(symbols)[s->first_frame];
	if (frame->line == 0)
		return false;
	*out_file = strings_get(symbols_strings(symbols), frame->file);
	*out_line = frame->line;
	return true;
}

bool names_line(const struct names *n, uint32_t place, const char **out_file, uint32_t *out_line)
{
	return line_of_symbol(n->session->symbols, &n->symbols[place], out_file, out_line);
}

bool names_find_line(struct session *s, uint32_t place, const char **out_file, uint32_t *out_line)
{
	const struct place where = session_place(s, place);
	struct symbol symbol = { 0 };

	symbols_resolve(s->symbols, s->pool, &where, 1, SYMBOLS_LINES, &symbol);
	return line_of_symbol(s->symbols, &symbol, out_file, out_line);
}

void names_place(const struct names *n, uint32_t place, struct text *out)
{
	const struct symbol *s = &n->symbols[place];
	struct place where = session_place(n->session, place);
	uint64_t offset = where.offset;

	if (s->function.v != 0) {
		text_str(out, names_function(n, place));
		offset = s->function_offset;
	} else if (where.module.v != 0) {
		text_str(out, names_module(n->session, where.module));
	} else {
		text_hex(out, offset);
		return;
	}
	text_char(out, '+');
	text_hex(out, offset);
}
