/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locations are expressions (section 2.6 of the DWARF standard). Of the many that there can be,
 * those that compilers write for what is in a register or in the frame are understood:
 *
 *	reg5				a pointer in the register: what it points to is accessed
 *	breg5 -8, stack_value		the same; the pointer is the register's value - 8
 *	breg31 16			a variable in memory, 16 from the register
 *	fbreg -24			a variable in the frame, whose base is the function's affair:
 *					reg29, breg31 0, or the CFA of the unwind tables
 */
#include "dwarf/location.h"

#include <dwarf.h>
#include <stdlib.h>

bool location_is_memory(const Dwarf_Op *op, struct location *out)
{
	out->is_known = true;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		out->base = op->atom - DW_OP_breg0;
		out->offset = (int64_t)op->number;
		return true;
	}
	out->base = op->number;
	out->offset = (int64_t)op->number2;
	return op->atom == DW_OP_bregx;
}

bool location_is_register(const Dwarf_Op *op, struct location *out)
{
	out->is_known = true;
	out->offset = 0;
	out->base = op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

bool location_find(Dwarf_Die *die, unsigned attribute, uint64_t address, Dwarf_Op **ops, size_t *n)
{
	Dwarf_Attribute location;

	return dwarf_attr_integrate(die, attribute, &location) != NULL &&
	       dwarf_getlocation_addr(&location, address, ops, n, 1) == 1 && *n > 0;
}

static bool cfa_by(Dwarf_CFI *cfi, uint64_t address, struct location *out)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	bool is_found = cfi != NULL && dwarf_cfi_addrframe(cfi, address, &frame) == 0 &&
			dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 &&
			location_is_memory(&ops[0], out);

	free(frame);
	return is_found;
}

struct location location_frame_base(Dwarf_Die *function, uint64_t address, Dwarf_CFI *unwind,
				    Dwarf_CFI *debug_unwind)
{
	struct location out = { 0 };
	Dwarf_Op *ops;
	size_t n;

	if (!location_find(function, DW_AT_frame_base, address, &ops, &n) || n != 1)
		return out;
	if (location_is_memory(&ops[0], &out) || location_is_register(&ops[0], &out))
		return out;
	if (ops[0].atom == DW_OP_call_frame_cfa &&
	    (cfa_by(unwind, address, &out) || cfa_by(debug_unwind, address, &out)))
		return out;
	return (struct location){ 0 };
}
