/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/globals.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bisect.h"

enum {
	MAX_DEPTH = 200,
	/* Entries looked at: sound units need about one for each, twice for functions and types. */
	STEPS_FOR_FILE = 1 << 20,
	STEPS_FOR_BYTE = 4,
	STEPS_FOR_SPLIT_UNIT = 1 << 24, /* whose size is not known */
};

enum global_role global_role_of(int tag)
{
	switch (tag) {
	case DW_TAG_variable:
		return GLOBAL_VARIABLE;
	case DW_TAG_subprogram:
		return GLOBAL_FUNCTION;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_common_block:
		return GLOBAL_ENTER;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_typedef:
	case DW_TAG_enumeration_type:
		return GLOBAL_TYPE;
	default:
		return GLOBAL_SKIP;
	}
}

bool global_address(Dwarf_Die *die, uint64_t *out)
{
	Dwarf_Attribute location, address;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(die, DW_AT_location, &location) == NULL ||
	    dwarf_getlocation(&location, &ops, &n) != 0 || n == 0 || n > 2)
		return false;
	if (ops[0].atom == DW_OP_addr)
		*out = ops[0].number;
	else if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
		 dwarf_getlocation_attr(&location, &ops[0], &address) != 0 ||
		 dwarf_formaddr(&address, out) != 0)
		return false;
	if (n == 2 && ops[1].atom != DW_OP_plus_uconst)
		return false;
	*out += n == 2 ? ops[1].number : 0;
	return true;
}

uint64_t globals_steps(const struct dwarf_file *file)
{
	uint64_t steps = STEPS_FOR_FILE;

	for (size_t i = 0; i < file->units.n; i++) {
		Dwarf_Die tree;

		steps += STEPS_FOR_BYTE * file->units.items[i].size_bytes;
		if (dwarf_unit_tree(&file->units.items[i], &tree) &&
		    tree.cu != file->units.items[i].die.cu)
			steps += STEPS_FOR_SPLIT_UNIT;
	}
	return steps;
}

static void globals_read_children(struct globals *g, Dwarf_Die *parent, unsigned depth,
				  uint64_t *steps)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	for (; more == 0 && *steps > 0; more = dwarf_siblingof(&die, &die)) {
		enum global_role role = global_role_of(dwarf_tag(&die));
		uint64_t address;

		--*steps;
		if (role == GLOBAL_VARIABLE && global_address(&die, &address) && address != 0)
			*vec_add(&g->list) = (struct global){ address, die };
		else if (role > GLOBAL_VARIABLE && depth < MAX_DEPTH && dwarf_haschildren(&die))
			globals_read_children(g, &die, depth + 1, steps);
	}
}

/* Equal addresses stay in the order of the file. */
static int compare_globals(const void *left, const void *right)
{
	const struct global *a = left, *b = right;
	Dwarf_Off first, second;

	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	first = dwarf_dieoffset((Dwarf_Die *)(uintptr_t)&a->die);
	second = dwarf_dieoffset((Dwarf_Die *)(uintptr_t)&b->die);
	return (first > second) - (first < second);
}

static void globals_read_all(struct globals *g, const struct dwarf_file *file)
{
	uint64_t steps = globals_steps(file);

	for (size_t i = 0; i < file->units.n; i++) {
		Dwarf_Die tree;

		(void)dwarf_unit_tree(&file->units.items[i], &tree);
		globals_read_children(g, &tree, 0, &steps);
	}
	if (g->list.n > 1)
		qsort(g->list.items, g->list.n, sizeof(*g->list.items), compare_globals);
	g->is_read = true;
}

bool globals_find(struct globals *g, const struct dwarf_file *file, uint64_t address,
		  bool (*each)(void *context, struct global *), void *context)
{
	size_t behind;

	if (!g->is_read)
		globals_read_all(g, file);
	behind = bisect(0, g->list.n, i, g->list.items[i].address <= address);
	for (size_t i = behind;
	     i-- > 0 && g->list.items[i].address == g->list.items[behind - 1].address;)
		if (each(context, &g->list.items[i]))
			return true;
	return false;
}

void globals_release(struct globals *g)
{
	vec_release(&g->list);
	*g = (struct globals){ 0 };
}
