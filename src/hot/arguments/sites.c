/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first scan: the places with sampled registers at which they hold arguments. That is at a
 * direct call (or jump to the start of another function), and from the start of a function until
 * its code overwrites them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hot/arguments/loops.h"
#include "isa/arguments.h"
#include "scan/scan.h"
#include "session/names.h"
#include "variables/code.h"

enum {
	MAX_PROLOGUE = 128, /* bytes looked at */
};

/* Samples with registers by place. */
struct seen {
	const struct argument_sites *sites;
	VEC_OF(uint64_t) by_place;
	uint64_t n_samples, n_with_registers;
};

static void *seen_new(const struct session *session, const void *options)
{
	struct seen *s = mem_zalloc(1, sizeof(*s));

	(void)session;
	s->sites = options;
	return s;
}

static void seen_free(void *partial)
{
	struct seen *s = partial;

	if (s == NULL)
		return;
	vec_release(&s->by_place);
	free(s);
}

static void sites_add_seen(struct seen *s, uint32_t place, uint64_t n)
{
	while (s->by_place.n <= place)
		vec_add(&s->by_place);
	s->by_place.items[place] += n;
}

static void seen_consume(void *partial, const struct batch *b)
{
	struct seen *s = partial;
	int event = s->sites->event;

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		if (event >= 0 && b->event[row] != (unsigned)event)
			continue;
		s->n_samples++;
		if (!(b->has[row] & HAS_REGISTERS))
			continue;
		s->n_with_registers++;
		if (b->has[row] & HAS_PLACE)
			sites_add_seen(s, b->place[row], 1);
	}
}

static void seen_merge(void *into, const void *from, const struct id_map *map)
{
	const struct seen *part = from;
	struct seen *s = into;

	(void)map;
	s->n_samples += part->n_samples;
	s->n_with_registers += part->n_with_registers;
	for (uint32_t i = 0; i < part->by_place.n; i++)
		if (part->by_place.items[i] > 0)
			sites_add_seen(s, i, part->by_place.items[i]);
}

static const struct analysis_class seen_class = {
	.new = seen_new,
	.free = seen_free,
	.consume = seen_consume,
	.merge = seen_merge,
};

/* Places, and the functions that begin or are called there. */
struct candidates {
	VEC_OF(struct place) places;
	VEC_OF(struct place) entries;
};

/* The target if the instruction at the place is a direct call or jump. */
static bool jump_target(struct session *s, struct place place, const struct symbol *symbol,
			struct place *out)
{
	struct flow flow;
	struct code code;

	if (!symbols_code(s->symbols, place, ISA_LONGEST_INSTRUCTION, &code))
		return false;
	flow = isa_direct_jump(code.isa, code.bytes, code.size, symbol->address);
	if (flow.kind == FLOW_NEXT)
		return false;
	/* Code is in one piece: offsets and addresses differ by the same everywhere. */
	*out = (struct place){ place.module, place.offset + (flow.target - symbol->address) };
	return true;
}

/* Are the argument registers still unchanged `offset` bytes behind the start of the function? */
static bool is_in_prologue(struct session *s, struct place entry, uint64_t offset)
{
	struct code code;

	if (offset == 0)
		return true;
	if (offset > MAX_PROLOGUE || !symbols_code(s->symbols, entry, MAX_PROLOGUE, &code))
		return false;
	return isa_prologue(code.isa, code.bytes, code.size) >= offset;
}

static void add_candidate(struct candidates *c, struct place place, struct place entry)
{
	*vec_add(&c->places) = place;
	*vec_add(&c->entries) = entry;
}

static void arguments_sites_look_at(struct session *s, struct place place,
				    const struct symbol *symbol, struct candidates *out)
{
	struct place entry = { place.module, place.offset - symbol->function_offset };
	struct place target;

	if (symbol->function.v == 0)
		return;
	/* A function may begin with a jump to another one: then its own arguments are meant. */
	if (is_in_prologue(s, entry, symbol->function_offset))
		add_candidate(out, place, entry);
	else if (jump_target(s, place, symbol, &target))
		add_candidate(out, place, target);
}

/* Places by module and offset, so that nothing depends on how workers numbered them. */
static int sites_compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->module.v != b->module.v)
		return (a->module.v > b->module.v) - (a->module.v < b->module.v);
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static void sites_find_candidates(struct session *s, const struct seen *seen,
				  const struct argument_sites *sites, struct candidates *out)
{
	VEC_OF(struct place) places = { 0 };
	struct symbol *symbols;

	for (uint32_t i = 0; i < seen->by_place.n; i++)
		if (seen->by_place.items[i] > 0)
			*vec_add(&places) = session_place(s, i);
	if (places.n == 0)
		return;
	qsort(places.items, places.n, sizeof(*places.items), sites_compare_places);
	symbols = mem_zalloc(places.n, sizeof(*symbols));
	symbols_resolve(s->symbols, s->pool, places.items, places.n, SYMBOLS_FUNCTIONS, symbols);
	for (size_t i = 0; i < places.n; i++)
		arguments_sites_look_at(s, places.items[i], &symbols[i], out);
	counted_loops_find(s, places.items, symbols, places.n, sites->registers, sites->loops);
	free(symbols);
	vec_release(&places);
}

static const char *arguments_sites_string_of(const struct session *s, struct str_id id)
{
	return id.v == 0 ? NULL : strings_get(symbols_strings(s->symbols), id);
}

static void add_parameters(struct argument_sites *sites, const struct session *s,
			   const struct signatures *signatures, const struct signature *signature)
{
	for (uint32_t i = 0; i < signature->n; i++) {
		const struct parameter *p = &signatures->parameters.items[signature->first + i];
		int number = registers_of_dwarf(sites->registers, p->dwarf_register);

		if (number < 0)
			continue;
		*vec_add(&sites->arguments) = (struct argument){
			.name = arguments_sites_string_of(s, p->name),
			.type = arguments_sites_string_of(s, p->type),
			.kind = p->kind,
			.size = p->size,
			.number = (uint8_t)number,
		};
	}
}

/* Without DWARF: arguments_known(), else all registers that may hold arguments. */
static void sites_add_registers(struct argument_sites *sites, const char *function)
{
	const struct argument *known;
	size_t n = sites->registers->n_arguments;

	known = arguments_known(function, &n);
	for (size_t i = 0; i < n && i < sites->registers->n_arguments; i++) {
		struct argument *a = vec_add(&sites->arguments);

		*a = known != NULL ? known[i]
				   : (struct argument){ .kind = PARAMETER_SIGNED, .size = 8 };
		a->number = sites->registers->arguments[i];
	}
}

static void sites_add_function(struct argument_sites *sites, const struct session *s,
			       struct place entry, const struct symbol *symbol,
			       const struct signatures *signatures,
			       const struct signature *signature)
{
	struct argument_function *f = vec_add(&sites->functions);

	*f = (struct argument_function){
		.entry = entry,
		.name = arguments_sites_string_of(s, symbol->function),
		.module = names_module(s, entry.module),
		.file = arguments_sites_string_of(s, signature->file),
		.line = signature->line,
		.first = (uint32_t)sites->arguments.n,
	};
	if (signature->is_known)
		add_parameters(sites, s, signatures, signature);
	else
		sites_add_registers(sites, f->name);
	f->n = (uint32_t)sites->arguments.n - f->first;
}

/* Names the functions, and keeps the candidates whose entry is the start of a function. */
static void sites_name_functions(struct session *s, const struct candidates *c,
				 struct argument_sites *sites)
{
	size_t n = c->entries.n;
	struct symbol *symbols = mem_zalloc(n + 1, sizeof(*symbols));
	struct signatures signatures;
	struct tuples entries;

	tuples_init(&entries, 2);
	symbols_resolve(s->symbols, s->pool, c->entries.items, n, SYMBOLS_FUNCTIONS, symbols);
	symbols_signatures(s->symbols, c->entries.items, n, &signatures);
	for (size_t i = 0; i < n; i++) {
		struct place place = c->places.items[i], entry = c->entries.items[i];
		uint32_t function;

		if (symbols[i].function.v == 0 || symbols[i].function_offset != 0)
			continue;
		function = tuples_add(&entries, (uint64_t[2]){ entry.module.v, entry.offset });
		if (function == sites->functions.n)
			sites_add_function(sites, s, entry, &symbols[i], &signatures,
					   &signatures.list[i]);
		tuples_add(&sites->places, (uint64_t[2]){ place.module.v, place.offset });
		*vec_add(&sites->function_of) = function;
	}
	tuples_release(&entries);
	signatures_release(&signatures);
	free(symbols);
}

void argument_sites_find(struct session *s, const struct select *select,
			 const struct registers *registers, int event, struct argument_sites *out)
{
	const struct scan_wish wish = { .with_registers = true };
	struct analysis analysis = { .class = &seen_class, .options = out };
	struct candidates candidates = { 0 };
	const struct seen *seen;

	*out = (struct argument_sites){ .registers = registers, .event = event };
	tuples_init(&out->places, 2);
	scan_part(s, select, &wish, &analysis, 1);
	seen = analysis.result;
	out->n_samples = seen->n_samples;
	out->n_with_registers = seen->n_with_registers;
	out->loops = mem_zalloc(1, sizeof(*out->loops));
	sites_find_candidates(s, seen, out, &candidates);
	if (candidates.entries.n > 0)
		sites_name_functions(s, &candidates, out);
	vec_release(&candidates.places);
	vec_release(&candidates.entries);
	seen_free(analysis.result);
}

void argument_sites_release(struct argument_sites *sites)
{
	tuples_release(&sites->places);
	vec_release(&sites->function_of);
	vec_release(&sites->functions);
	vec_release(&sites->arguments);
	if (sites->loops != NULL)
		counted_loops_release(sites->loops);
	free(sites->loops);
	*sites = (struct argument_sites){ 0 };
}
