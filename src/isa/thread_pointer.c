/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/thread_pointer.h"

static bool is_thread(const struct isa_value *v)
{
	return (v->root == ISA_THREAD || v->root == ISA_THREAD_CONTENT ||
		v->root == ISA_THREAD_DESCRIPTOR) &&
	       v->step == 0 && v->more == 0;
}

bool isa_thread_address(const struct isa_followed *f, uint64_t at, const struct isa_operand *o,
			struct isa_thread_address *out)
{
	struct isa_value base =
		isa_value_moved(isa_followed_register(f, at, o->base), (uint64_t)o->displacement);
	struct isa_value v = isa_followed_address(f, at, o);
	bool is_known = is_thread(&v);

	if (!is_known)
		v = base;
	*out = (struct isa_thread_address){
		.offset = v.offset,
		.has_index = !is_known,
		.has_slot = v.root != ISA_THREAD,
		.is_descriptor = v.root == ISA_THREAD_DESCRIPTOR,
		.slot = v.slot,
	};
	return is_known || (o->has_index && is_thread(&v));
}
