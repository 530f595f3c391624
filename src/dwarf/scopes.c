/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/scopes.h"

#include <dwarf.h>

#include "base/bisect.h"

enum {
	/* Steps granted to the walk over a unit: sound units need about one for each entry. */
	STEPS_FOR_UNIT = 1 << 16,
	STEPS_FOR_ADDRESS = 1 << 10,
	STEPS_FOR_BYTE = 4,
	STEPS_FOR_SPLIT_UNIT = 1 << 24, /* whose size is not known */
	/* Inlining and blocks nest this deep in no real program; the stack bears more. */
	MAX_DEPTH = 200,
};

/* One walk over a unit. */
struct walk {
	struct scopes *scopes;
	const uint64_t *addresses;
	uint32_t *found; /* by address: the innermost scope so far */
	uint64_t budget; /* steps left */
	bool is_cut;	 /* by the budget, the depth, or damage */
	/*
	 * Functions can stand inside functions that do not hold their addresses: lambdas and
	 * methods of local classes in C++, contained procedures in Fortran and Ada. A second,
	 * deep walk looks for them if the first one left addresses over.
	 */
	bool is_deep;
	unsigned n_around; /* functions around the entry, in the deep walk */
};

/* Addresses first … last - 1. */
struct part {
	size_t first, last;
};

/* What the walk does with an entry. */
enum role {
	SKIP,
	ENTER,	 /* holds functions, but is no code itself */
	TYPE,	 /* holds functions if it is local to a function */
	BLOCK,	 /* code inside a function */
	INLINED, /* a function inlined into another */
	FUNCTION,
};

static enum role scope_role(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		return FUNCTION;
	case DW_TAG_inlined_subroutine:
		return INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return BLOCK;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return ENTER;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return TYPE;
	default:
		return SKIP;
	}
}

static bool scopes_take_step(struct walk *w)
{
	if (w->budget == 0) {
		w->is_cut = true;
		return false;
	}
	w->budget--;
	return true;
}

/* The first of the addresses in `part` that is not below `address`. */
static size_t lower_bound(const struct walk *w, struct part part, uint64_t address)
{
	return bisect(part.first, part.last, i, w->addresses[i] < address);
}

/*
 * Moves the addresses that `die` holds from scope `from` to scope `to`. Those that an
 * earlier sibling has taken are no longer in `from`: the first one keeps them. Returns the
 * part of the addresses with all that moved; empty if none did.
 */
static struct part claim(struct walk *w, Dwarf_Die *die, struct part part, uint32_t from,
			 uint32_t to)
{
	struct part claimed = { part.last, part.first };
	uint64_t base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0 && scopes_take_step(w)) {
		for (size_t i = lower_bound(w, part, start);
		     i < part.last && w->addresses[i] < end && scopes_take_step(w); i++) {
			if (w->found[i] != from)
				continue;
			w->found[i] = to;
			if (i < claimed.first)
				claimed.first = i;
			if (i >= claimed.last)
				claimed.last = i + 1;
		}
	}
	return claimed;
}

static void scopes_visit_children(struct walk *w, Dwarf_Die *parent, struct part part,
				  uint32_t scope, unsigned depth);

/* A function, inlined or not: a scope of its own if it holds an address. */
static void scopes_visit_function(struct walk *w, Dwarf_Die *die, struct part part, uint32_t scope,
				  bool is_inlined, unsigned depth)
{
	uint32_t own = (uint32_t)w->scopes->list.n;
	struct part claimed = claim(w, die, part, scope, own);

	if (claimed.first < claimed.last) {
		*vec_add(&w->scopes->list) = (struct scope){
			.die = *die,
			.parent = scope,
			.is_inlined = is_inlined,
		};
		scopes_visit_children(w, die, claimed, own, depth + 1);
	} else if (w->is_deep && !is_inlined) {
		w->n_around++;
		scopes_visit_children(w, die, part, scope, depth + 1);
		w->n_around--;
	}
}

static void scopes_visit(struct walk *w, Dwarf_Die *die, struct part part, uint32_t scope,
			 unsigned depth)
{
	enum role role = scope_role(die);

	switch (role) {
	case SKIP:
		return;
	case BLOCK:
		/* A function in a block need not lie in the block's range. */
		if (!w->is_deep)
			part = claim(w, die, part, scope, scope);
		if (part.first < part.last)
			scopes_visit_children(w, die, part, scope, depth + 1);
		return;
	case TYPE:
		if (w->n_around > 0)
			scopes_visit_children(w, die, part, scope, depth + 1);
		return;
	case ENTER:
		scopes_visit_children(w, die, part, scope, depth + 1);
		return;
	case INLINED:
	case FUNCTION:
		scopes_visit_function(w, die, part, scope, role == INLINED, depth);
		return;
	}
}

static void scopes_visit_children(struct walk *w, Dwarf_Die *parent, struct part part,
				  uint32_t scope, unsigned depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	if (depth > MAX_DEPTH) {
		w->is_cut = true;
		return;
	}
	while (more == 0 && scopes_take_step(w)) {
		scopes_visit(w, &die, part, scope, depth);
		more = dwarf_siblingof(&die, &die);
	}
	w->is_cut |= more < 0;
}

static bool has_unfound(const uint32_t *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (found[i] == 0)
			return true;
	}
	return false;
}

uint64_t scopes_budget(const struct dwarf_unit *unit, const Dwarf_Die *tree, size_t n)
{
	bool is_split = tree->cu != unit->die.cu;

	return STEPS_FOR_UNIT + STEPS_FOR_ADDRESS * n + STEPS_FOR_BYTE * unit->size_bytes +
	       (is_split ? STEPS_FOR_SPLIT_UNIT : 0);
}

void scopes_release(struct scopes *scopes)
{
	vec_release(&scopes->list);
}

bool scopes_find(struct scopes *scopes, Dwarf_Die *unit, const uint64_t *addresses, size_t n,
		 uint64_t budget, uint32_t *out)
{
	struct walk w = {
		.scopes = scopes,
		.addresses = addresses,
		.found = out,
		.budget = budget,
	};

	scopes->list.n = 0;
	vec_add(&scopes->list);
	for (size_t i = 0; i < n; i++)
		out[i] = 0;
	scopes_visit_children(&w, unit, (struct part){ 0, n }, 0, 0);
	if (has_unfound(out, n)) {
		w.is_deep = true;
		scopes_visit_children(&w, unit, (struct part){ 0, n }, 0, 0);
	}
	return !w.is_cut;
}

void scopes_find_none(struct scopes *scopes, size_t n, uint32_t *out)
{
	scopes->list.n = 0;
	vec_add(&scopes->list);
	for (size_t i = 0; i < n; i++)
		out[i] = 0;
}

bool scopes_may_be_inlined(Dwarf_Die *unit)
{
	Dwarf_Off offset = 0;
	Dwarf_Abbrev *abbreviation;
	size_t size;

	while ((abbreviation = dwarf_getabbrev(unit, offset, &size)) != NULL && size > 0) {
		if (abbreviation == DWARF_END_ABBREV)
			return false;
		if (dwarf_getabbrevtag(abbreviation) == DW_TAG_inlined_subroutine)
			return true;
		offset += size;
	}
	return true;
}
