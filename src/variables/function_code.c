/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/function_code.h"

#include <string.h>

#include "symbol/symbols_state.h"
#include "variables/code.h"

enum { MOST_CODE = 1 << 20 };

/* Is it the cold part of a function ("name.cold")? It has a symbol of its own. */
static bool is_part(const struct function *f)
{
	return strstr(f->name, ".cold") != NULL;
}

static bool may_return(void *context, uint64_t target)
{
	const struct function *f = binary_find(context, target);

	return f == NULL || f->start != target || is_part(f);
}

/* Follows the code. A cold part may be entered anywhere, so nothing is known at its start. */
static struct isa_followed *function_code_follow(struct symbols *s, struct module_id module,
						 const struct function *around, enum isa isa)
{
	struct binary *b = &s->states[module.v].binary;
	struct isa_function function = {
		.isa = isa,
		.may_return = may_return,
		.context = b,
	};
	struct place start = { .module = module };
	struct code code;

	if (around->size > MOST_CODE || is_part(around) || (isa != ISA_A64 && isa != ISA_X86_64) ||
	    !binary_offset(b, around->start, &start.offset) ||
	    !symbols_code(s, start, around->size, &code) || code.size != around->size)
		return NULL;
	function.code = code.bytes;
	function.size = code.size;
	function.address = around->start;
	return isa_follow(&function);
}

const struct isa_followed *function_code_at(struct function_code *f, struct symbols *s,
					    struct module_id module, uint64_t address, enum isa isa)
{
	struct binary *b = &s->states[module.v].binary;
	const struct function *around;

	if (f->module.v == module.v && address - f->start < f->size)
		return f->followed;
	function_code_release(f);
	around = binary_find(b, address);
	if (around == NULL || around->size == 0 || b->to_function != 0)
		return NULL;
	f->module = module;
	f->start = around->start;
	f->size = around->size;
	f->followed = function_code_follow(s, module, around, isa);
	return f->followed;
}

void function_code_release(struct function_code *f)
{
	isa_followed_free(f->followed);
	*f = (struct function_code){ 0 };
}
