/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of register values. */
#include "base/gcd.h"
#include "isa/follow.h"

static const struct isa_value anything = { .root = ISA_UNKNOWN_VALUE };

/* The absolute value of a signed distance. */
static uint64_t size_of_distance(uint64_t distance)
{
	return distance >> 63 ? 0 - distance : distance;
}

struct isa_value isa_value_moved(struct isa_value v, uint64_t by)
{
	if (v.root != ISA_UNKNOWN_VALUE)
		v.offset += by;
	return v;
}

/* Thread pointer + offset from memory or a descriptor. Unknown if there is a variable part. */
static struct isa_value thread_sum(struct isa_value thread, struct isa_value by)
{
	if ((by.root != ISA_CONTENT && by.root != ISA_DESCRIPTOR) || (thread.step | by.step) != 0)
		return anything;
	return (struct isa_value){
		.root = by.root == ISA_CONTENT ? ISA_THREAD_CONTENT : ISA_THREAD_DESCRIPTOR,
		.slot = by.slot,
		.offset = thread.offset + by.offset,
	};
}

/*
 * A value that contains its root once may be a pointer. So may one that contains it -1 times:
 * subtracting it may leave a distance.
 */
static bool may_be_pointer(const struct isa_value *v)
{
	return v->root != ISA_CONSTANT && v->root != ISA_NUMBER && (v->more == 0 || v->more == -2);
}

/* The value as a number: the unknown root becomes an unknown multiple. */
static struct isa_value value_number_of(struct isa_value v)
{
	uint64_t times = size_of_distance((uint64_t)v.more + 1);

	if (v.root == ISA_CONSTANT)
		return v;
	return (struct isa_value){
		.root = ISA_CONSTANT,
		.offset = v.offset,
		.step = gcd(v.step, times),
	};
}

static struct isa_value sum_of_same(struct isa_value a, struct isa_value b)
{
	a.offset += b.offset;
	a.step = gcd(a.step, b.step);
	if (__builtin_add_overflow(a.more, b.more, &a.more) ||
	    __builtin_add_overflow(a.more, 1, &a.more) || a.more == INT64_MIN)
		return anything;
	if (a.more == -1)
		a = (struct isa_value){ ISA_CONSTANT, 0, a.offset, a.step, 0 };
	return a;
}

struct isa_value isa_value_sum(struct isa_value a, struct isa_value b)
{
	if (a.root == ISA_UNKNOWN_VALUE || b.root == ISA_UNKNOWN_VALUE)
		return anything;
	if (a.root == b.root && a.slot == b.slot && a.root != ISA_CONSTANT)
		return sum_of_same(a, b);
	if (may_be_pointer(&a) && may_be_pointer(&b)) {
		if (a.more != 0 || b.more != 0)
			return anything;
		if (b.root == ISA_THREAD)
			return thread_sum(b, a);
		return a.root == ISA_THREAD ? thread_sum(a, b) : anything;
	}
	if (b.root == ISA_CONSTANT ? false : may_be_pointer(&b) || a.root == ISA_CONSTANT) {
		struct isa_value swapped = a;

		a = b;
		b = swapped;
	}
	/*
	 * The sum keeps the root of the pointer; if neither is a pointer, the only root there is.
	 */
	b = value_number_of(b);
	a.offset += b.offset;
	a.step = gcd(a.step, b.step);
	return a;
}

static struct isa_value negated_value(struct isa_value v)
{
	v.offset = 0 - v.offset;
	if (v.root != ISA_CONSTANT)
		v.more = -2 - v.more;
	return v;
}

struct isa_value isa_value_difference(struct isa_value a, struct isa_value b)
{
	return b.more <= INT64_MIN + 2 ? anything : isa_value_sum(a, negated_value(b));
}

struct isa_value isa_value_times(struct isa_value v, uint64_t factor)
{
	int64_t times;

	if (factor == 1 || v.root == ISA_UNKNOWN_VALUE)
		return v;
	if (factor == 0)
		return (struct isa_value){ .root = ISA_CONSTANT };
	v.offset *= factor;
	if (v.step != 0 && __builtin_mul_overflow(v.step, factor, &v.step))
		v.step = 1;
	if (v.root == ISA_CONSTANT)
		return v;
	if (factor > INT64_MAX || __builtin_mul_overflow(v.more + 1, (int64_t)factor, &times) ||
	    times <= INT64_MIN + 4)
		return anything;
	v.more = times - 1;
	return v;
}

struct isa_value isa_value_either(struct isa_value a, struct isa_value b)
{
	a.step = gcd(gcd(a.step, b.step), size_of_distance(a.offset - b.offset));
	return a;
}
