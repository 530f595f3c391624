/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/parameters.h"

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/scopes.h"
#include "dwarf/types_dwarf.h"
#include "symbol/symbols_state.h"
#include "variables/code.h"
#include "variables/passing.h"

enum {
	MAX_PARAMETERS = 64, /* of one function */
	STEPS_FOR_TYPES = 1 << 22,
};

/* The functions of one module. */
struct module_work {
	struct symbols *symbols;
	struct signatures *out;
	enum isa isa;
	struct dwarf_file file;
	struct strings strings; /* for names of types */
	struct types types;
	struct types_reader reader;
	struct scopes scopes;
	struct text name; /* scratch */
};

/* Where a function begins. */
struct entry {
	uint64_t address; /* in the module's file */
	uint32_t unit;
	uint32_t number; /* in the question */
};

/* The register that the parameter is in at the address; -1: somewhere else, -2: nowhere. */
static int register_at(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Attribute location;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(die, DW_AT_location, &location) == NULL ||
	    dwarf_getlocation_addr(&location, address, &ops, &n, 1) != 1 || n == 0)
		return -2;
	if (n != 1)
		return -1;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return ops[0].atom - DW_OP_reg0;
	return ops[0].atom == DW_OP_regx && ops[0].number <= UINT8_MAX ? (int)ops[0].number : -1;
}

static struct str_id parameters_intern(struct module_work *w, const char *text)
{
	return text == NULL ? (struct str_id){ 0 }
			    : strings_add(&w->symbols->strings, text, strnlen(text, PATH_MAX));
}

static struct str_id type_name(struct module_work *w, Dwarf_Die *die)
{
	text_reset(&w->name);
	types_reader_name(&w->reader, die, &w->name);
	return strings_add(&w->symbols->strings, w->name.bytes, w->name.n);
}

/* What the convention says of the registers that a function has had so far. */
struct convention {
	unsigned n_used;
	bool is_clone; /* the compiler made it of another one, and changed what it takes */
};

/* The register by the convention, -1 if none; counts what the parameter takes. */
static int next_register(enum isa isa, struct convention *c, const struct passing *p)
{
	unsigned first = c->n_used + (p->is_aligned && c->n_used % 2 == 1);

	if (p->n_registers == 0)
		return -1;
	if (passing_register(isa, first + p->n_registers - 1) < 0) {
		/* AAPCS64: once something did not fit, nothing behind it is in a register. */
		if (isa == ISA_A64)
			c->n_used = UINT_MAX / 2;
		return -1;
	}
	c->n_used = first + p->n_registers;
	return passing_register(isa, first);
}

static void signature_add_parameter(struct module_work *w, Dwarf_Die *die, uint64_t address,
				    struct convention *c)
{
	Dwarf_Die type;
	bool has_type = dwarf_type_of(die, &type);
	struct passing p = passing_of(w->isa, has_type ? &type : NULL);
	int by_convention = next_register(w->isa, c, &p);
	int found = register_at(die, address);

	if (found == -2 && c->is_clone)
		return;
	if (found < 0)
		found = c->is_clone ? -1 : by_convention;
	if (p.kind == PASSED_OTHERWISE || found < 0 || !passing_is_general(w->isa, (uint64_t)found))
		return;
	*vec_add(&w->out->parameters) = (struct parameter){
		.name = parameters_intern(w, dwarf_diename(die)),
		.type = type_name(w, &type),
		.kind = p.kind == PASSED_POINTER  ? PARAMETER_POINTER
			: p.kind == PASSED_SIGNED ? PARAMETER_SIGNED
						  : PARAMETER_UNSIGNED,
		.size = p.size,
		.dwarf_register = (uint8_t)found,
	};
}

static void parameters_set_place(struct module_work *w, Dwarf_Die *function, struct signature *out)
{
	uint64_t file = 0, line = 0;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_number(function, DW_AT_decl_line, &line) || line > UINT32_MAX)
		return;
	out->line = (uint32_t)line;
	if (dwarf_number(function, DW_AT_decl_file, &file) &&
	    dwarf_diecu(function, &unit, NULL, NULL) != NULL &&
	    dwarf_getsrcfiles(&unit, &files, &n) == 0 && file < n)
		out->file = parameters_intern(w, dwarf_filesrc(files, file, NULL, NULL));
}

static bool is_clone(const struct binary *b, uint64_t address)
{
	const struct function *f = binary_find(b, address);

	return f != NULL && strchr(f->name, '.') != NULL;
}

static void read_function(struct module_work *w, const struct binary *b, Dwarf_Die *function,
			  const struct entry *entry)
{
	struct signature *s = &w->out->list[entry->number];
	struct convention c = { .is_clone = is_clone(b, entry->address) };
	Dwarf_Die die, result;
	int more = dwarf_child(function, &die);

	s->is_known = true;
	s->first = (uint32_t)w->out->parameters.n;
	parameters_set_place(w, function, s);
	if (dwarf_type_of(function, &result) && passing_has_hidden_result(w->isa, &result))
		c.n_used = 1;
	for (unsigned i = 0; more == 0 && i < MAX_PARAMETERS; more = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		signature_add_parameter(w, &die, entry->address, &c);
		i++;
	}
	s->n = (uint32_t)w->out->parameters.n - s->first;
}

/* The entries of one unit, by address. */
static void parameters_read_unit(struct module_work *w, const struct binary *b,
				 const struct entry *entries, size_t n)
{
	const struct dwarf_unit *unit = &w->file.units.items[entries[0].unit];
	uint64_t *addresses = mem_alloc(n, sizeof(*addresses));
	uint32_t *found = mem_alloc(n, sizeof(*found));
	Dwarf_Die tree;

	for (size_t i = 0; i < n; i++)
		addresses[i] = entries[i].address;
	(void)dwarf_unit_tree(unit, &tree);
	(void)scopes_find(&w->scopes, &tree, addresses, n, scopes_budget(unit, &tree, n), found);
	for (size_t i = 0; i < n; i++) {
		struct scope *scope = &w->scopes.list.items[found[i]];

		while (scope->is_inlined)
			scope = &w->scopes.list.items[scope->parent];
		if (scope != w->scopes.list.items)
			read_function(w, b, &scope->die, &entries[i]);
	}
	free(addresses);
	free(found);
}

static int parameters_compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->unit != b->unit)
		return (a->unit > b->unit) - (a->unit < b->unit);
	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->number > b->number) - (a->number < b->number);
}

/* The entries that lie in a unit, by unit and address; returns how many. */
static size_t find_units(const struct module_work *w, const struct binary *b,
			 const struct place *places, const uint32_t *order, size_t n,
			 struct entry *out)
{
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct range *range;
		uint64_t address;

		if (!binary_address(b, places[order[i]].offset, &address))
			continue;
		range = ranges_find(&w->file.ranges, address);
		if (range != NULL)
			out[n_found++] = (struct entry){ address, range->value, order[i] };
	}
	if (n_found > 0)
		qsort(out, n_found, sizeof(*out), parameters_compare_entries);
	return n_found;
}

static void read_units(struct module_work *w, const struct binary *b, const struct place *places,
		       const uint32_t *order, size_t n)
{
	struct entry *entries = mem_alloc(n, sizeof(*entries));
	size_t n_found = find_units(w, b, places, order, n, entries), end;

	for (size_t i = 0; i < n_found; i = end) {
		for (end = i + 1; end < n_found && entries[end].unit == entries[i].unit;)
			end++;
		parameters_read_unit(w, b, entries + i, end - i);
	}
	free(entries);
}

/* The places order[0] … order[n - 1], which are of one module. */
static void read_module(struct symbols *s, const struct place *places, const uint32_t *order,
			size_t n, struct signatures *out)
{
	struct module_id module = places[order[0]].module;
	const struct binary *b = &s->states[module.v].binary;
	struct module_work w = { .symbols = s, .out = out, .isa = symbols_isa(s, module) };
	struct err err;

	if (b->lines_path == NULL ||
	    dwarf_file_open(&w.file, b->lines_path, b->alt_path, b->root, &s->diags, &err) < 0)
		return;
	strings_init(&w.strings);
	types_init(&w.types, &w.strings);
	types_reader_init(&w.reader, &w.types, STEPS_FOR_TYPES);
	read_units(&w, b, places, order, n);
	types_reader_release(&w.reader);
	types_release(&w.types);
	strings_release(&w.strings);
	scopes_release(&w.scopes);
	dwarf_file_release(&w.file);
	text_release(&w.name);
}

void symbols_signatures(struct symbols *s, const struct place *entries, size_t n,
			struct signatures *out)
{
	uint32_t *order = mem_alloc(n + 1, sizeof(*order));
	uint64_t *keys = mem_alloc(n + 1, sizeof(*keys));
	size_t end;

	*out = (struct signatures){ .list = mem_zalloc(n + 1, sizeof(*out->list)) };
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		keys[i] = entries[i].module.v;
	}
	radix_sort(order, n, keys);
	for (size_t i = 0; i < n; i = end) {
		uint32_t module = entries[order[i]].module.v;

		for (end = i + 1; end < n && entries[order[end]].module.v == module;)
			end++;
		if (module != 0)
			read_module(s, entries, order + i, end - i, out);
	}
	free(order);
	free(keys);
}

void signatures_release(struct signatures *s)
{
	free(s->list);
	vec_release(&s->parameters);
	*s = (struct signatures){ 0 };
}
